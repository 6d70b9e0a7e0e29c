"""Pages and the schema that are made from the code say what it says, and every key says what it means."""

import runpy
import shutil
from pathlib import Path

import pytest
from pydantic import BaseModel

from gen_bundle.cli import VERBS
from gen_bundle.declaration import model, ready_programs
from gen_bundle.declaration.read import read_competition, read_foreign
from gen_bundle.declaration.scoring.metrics import metrics
from gen_bundle.ground.resources import resource
from tests.docs.pages import DOCS
from tests.yaml_text import dumped, loaded

WRITER = runpy.run_path(str(DOCS / "make_bundle_yaml.py"))
DEFINED = {**vars(model), **vars(ready_programs)}
MODELS = [one for one in DEFINED.values() if isinstance(one, type) and issubclass(one, BaseModel)]
FIELDS = {f"{one.__name__}.{key}": field for one in MODELS for key, field in one.model_fields.items()}
KEYS = list(FIELDS)


@pytest.mark.parametrize("name", ["bundle_yaml", "cli", "metrics", "outputs", "real_tasks"])
def test_a_page_is_what_the_code_says(name: str) -> None:
    page = (DOCS / f"{name.replace('_', '-')}.md").read_text(encoding="utf-8")
    assert page == runpy.run_path(str(DOCS / f"make_{name}.py"))["page"](), f"write it anew: python docs/make_{name}.py"


def test_every_verb_is_on_the_page() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert all(f"\n## {verb}\n" in page for verb in VERBS)


def test_every_metric_has_an_example() -> None:
    """`test_declared_examples` scores them."""
    assert set(runpy.run_path(str(DOCS / "make_metrics.py"))["EXAMPLES"]["metrics"]) == set(metrics())


def test_the_schema_is_current() -> None:
    committed = (resource("bundles") / "bundle.schema.json").read_text(encoding="utf-8")
    assert committed == WRITER["schema"](), "run: make schema"


@pytest.mark.parametrize("key", KEYS)
def test_every_key_has_a_description(key: str) -> None:
    name, _, field = key.partition(".")
    description = DEFINED[name].model_fields[field].description
    assert description, key
    assert description.endswith("."), "a sentence, since error messages and the page join it to others"


def test_every_key_is_on_the_page() -> None:
    page = WRITER["page"]()
    written = {
        key: field.alias or key.partition(".")[2] for key, field in FIELDS.items() if not key.startswith("Table.")
    }
    assert [key for key, name in written.items() if f"| `{name}` |" not in page] == []


@pytest.mark.parametrize("example", WRITER["EXAMPLES"].values(), ids=WRITER["EXAMPLES"])
def test_the_examples_can_be_written(example: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(resource("bundles") / "clpsych2025", tmp_path / "clpsych2025"))
    file = folder / "bundle.yaml"
    declaration = loaded(file.read_text(encoding="utf-8")) | loaded(example)
    file.write_text(dumped(declaration, sort_keys=True), encoding="utf-8")
    assert read_competition(folder)


@pytest.mark.parametrize("example", [WRITER["MINIMAL_FOREIGN"], WRITER["WHOLE_FOREIGN"]])
def test_the_foreign_examples_can_be_written(example: str, tmp_path: Path) -> None:
    files = ("logo.png", "pages/overview.html", "pages/overview.md", "pages/terms.md", "programs/ingest.zip")
    folders = ("programs/score", "programs/final", "data/dev", "data/test", "data/input/dev", "solutions/baseline")
    for name in (*files, "data/large.zip", *(f"{folder}/file" for folder in folders)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text", encoding="utf-8")
    (tmp_path / "bundle.yaml").write_text(example, encoding="utf-8")
    assert read_foreign(tmp_path).programs.scoring == "programs/score"
