"""docs/metrics.md is what the catalogue of metrics prints, and its examples have the scores that it shows."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from gen_bundle.declaration.declared.catalogue import catalogue, examples
from gen_bundle.declaration.declared.metrics import metrics
from tests.scoring_programs.declared.declaring import options_of, score


def test_the_page_is_current() -> None:
    page = (Path(__file__).parents[4] / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert page == catalogue(), "run `python -m gen_bundle.declaration.declared.catalogue > docs/metrics.md`"


def test_every_metric_has_an_example() -> None:
    assert set(examples()["metrics"]) == set(metrics())


@pytest.mark.parametrize("name", [name for name in metrics() if name != "bertscore"])
def test_an_example_has_the_score_that_the_page_shows(name: str, tmp_path: Path) -> None:
    example = examples()["metrics"][name]
    sample = examples()["samples"][example["sample"]]
    gold, answers = (next(file for file in sample if file.startswith(start)) for start in ("gold.", "predictions."))
    submission = {
        "file": answers,
        "key": "id",
        "rows": sample.get("rows", "one"),
        "fields": [{"field": "id", "type": "string"}, *map(yaml.safe_load, sample["fields"])],
    }
    metric = yaml.safe_load(example["metric"])
    column = {"key": "score", "metric": metric}
    tasks = [{"id": "t", "columns": [column]}]
    options = options_of({"submission": submission, "reference": {"file": gold}, "tasks": tasks})
    found = score(options, {gold: sample[gold]}, {answers: sample[answers]}, tmp_path)
    assert round(found.value("score"), 4) == example["score"]
    assert name == (metric if isinstance(metric, str) else metric["name"])
