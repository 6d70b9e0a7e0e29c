"""Pages that are made from the code say what it says."""

import runpy

import pytest

from gen_bundle.cli import VERBS
from gen_bundle.declaration.scoring.metrics import metrics
from tests.docs.pages import DOCS


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
