"""The JSON Schema of bundle.yaml, for editors: `python -m gen_bundle.declaration.schema` (`make schema`)."""

import json

from gen_bundle.declaration.model import Competition


def schema_text() -> str:
    """The schema as it stands in `bundles/bundle.schema.json`."""
    schema = Competition.model_json_schema()
    schema["title"] = "bundle.yaml"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")
