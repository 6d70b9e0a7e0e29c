"""The JSON Schema of bundle.yaml, for editors: `python -m gen_bundle.declaration.schema` (`make schema`)."""

import json
from functools import cache

from gen_bundle.declaration.declared.schema import metric_schema, place_definitions
from gen_bundle.declaration.model import DeclaredCompetition

GIVEN_BY_METRICS = {
    "DeclaredColumn": ("title", "sort", "meaning"),
    "SubmissionField": ("type", "required", "meaning"),
    "DeclaredSubmission": ("file", "fields"),
}
"""Keys that may be left out with scoring_program: declared; the reader asks others for them."""


@cache
def schema_text() -> str:
    """The schema as written to `bundles/bundle.schema.json`."""
    schema = DeclaredCompetition.model_json_schema()
    schema["title"] = "bundle.yaml"
    for name, keys in GIVEN_BY_METRICS.items():
        model = schema["$defs"][name]
        model["required"] = [key for key in model["required"] if key not in keys]
    schema["$defs"]["DeclaredColumn"]["properties"]["metric"] = metric_schema()
    schema["$defs"].update(place_definitions())
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")
