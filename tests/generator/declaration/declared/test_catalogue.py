"""docs/metrics.md is what the catalogue of metrics prints; tests/docs scores its examples."""

from __future__ import annotations

from pathlib import Path

from gen_bundle.declaration.declared.catalogue import catalogue, examples
from gen_bundle.declaration.declared.metrics import metrics


def test_the_page_is_current() -> None:
    page = (Path(__file__).parents[4] / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert page == catalogue(), "run `python -m gen_bundle.declaration.declared.catalogue > docs/metrics.md`"


def test_every_metric_has_an_example() -> None:
    assert set(examples()["metrics"]) == set(metrics())
