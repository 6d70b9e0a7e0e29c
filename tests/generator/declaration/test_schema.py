import json
import runpy

import jsonschema
import pytest

from gen_bundle.declaration.source import read_source
from gen_bundle.ground.resources import REAL_TASKS, competitions, resource
from tests.docs.pages import DOCS
from tests.yaml_text import loaded

SCHEMA = json.loads((resource("bundles") / "bundle.schema.json").read_text(encoding="utf-8"))
PAGE = runpy.run_path(str(DOCS / "make_bundle_yaml.py"))


@pytest.mark.slow
def test_every_declaration_keeps_to_the_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for folder in competitions().values():
        validator.validate(loaded((folder / "bundle.yaml").read_text(encoding="utf-8")))


@pytest.mark.slow
def test_declarations_without_python_keep_to_the_schema() -> None:
    """Of real tasks, which leave out whatever their metrics say; misspelt options do not."""
    validator = jsonschema.Draft202012Validator(SCHEMA)
    frame = loaded((competitions()["clarity2026"] / "bundle.yaml").read_text(encoding="utf-8"))
    files = sorted(REAL_TASKS.glob("*/declaration.yaml"))
    assert files
    for file in files:
        declared = frame | {"scoring_program": "declared"} | read_source(file).data
        assert list(validator.iter_errors(declared)) == [], file.parent.name
    declared["tasks"][0]["columns"][0]["metric"] = {"name": "f1", "avrage": "macro"}
    assert not validator.is_valid(declared)


@pytest.mark.parametrize("example", [PAGE["MINIMAL_FOREIGN"], PAGE["WHOLE_FOREIGN"]])
def test_competitions_with_programs_of_others_keep_to_the_schema(example: str) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    declared = loaded(example)
    assert list(validator.iter_errors(declared)) == []
    assert list(validator.iter_errors(declared | {"scoring_program": "declared"}))
    del declared["programs"]
    assert list(validator.iter_errors(declared)), "another model holds without"
