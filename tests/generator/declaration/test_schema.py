import json

import jsonschema
import yaml

from gen_bundle.declaration.schema import schema_text
from gen_bundle.resources import competitions, resource


def test_the_committed_schema_is_current() -> None:
    committed = (resource("bundles") / "bundle.schema.json").read_text(encoding="utf-8")
    assert committed == schema_text(), "run: make schema"


def test_every_declaration_keeps_to_the_schema() -> None:
    schema = json.loads(schema_text())
    for folder in competitions().values():
        jsonschema.validate(yaml.safe_load((folder / "bundle.yaml").read_text(encoding="utf-8")), schema)
