"""docs/metrics.md is what the table of metrics says; `test_declared_examples` scores its examples."""

import runpy

from gen_bundle.declaration.scoring.metrics import metrics
from tests.docs.pages import DOCS

WRITER = runpy.run_path(str(DOCS / "make_metrics.py"))


def test_the_page_is_current() -> None:
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")
    assert page == WRITER["page"](), "write it anew: python docs/make_metrics.py"


def test_every_metric_has_an_example() -> None:
    assert set(WRITER["EXAMPLES"]["metrics"]) == set(metrics())
