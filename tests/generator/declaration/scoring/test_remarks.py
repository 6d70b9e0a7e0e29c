"""What a build remarks on a declaration that is not wrong."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.declaration.scoring.metrics import metrics
from tests.generator.declaration.scoring.settling import declaration, settled

FIELDS: list[dict[str, Any]] = [
    {"field": "id"},
    {"field": "label", "type": "label", "values": ["a", "b"]},
    {"field": "x", "type": "number"},
    {"field": "tags", "type": "tags"},
    {"field": "text", "type": "text"},
    {"field": "set", "type": "labels"},
    {"field": "p", "type": "number", "min": 0, "max": 1},
    {"field": "spans", "type": "spans"},
    {"field": "name", "type": "string"},
]
OF_TYPE = {
    "label": "label",
    "number": "x",
    "tags": "tags",
    "text": "text",
    "labels": "set",
    "spans": "spans",
    "string": "name",
}
MUST_BE_GIVEN: dict[str, Any] = {"beta": 2, "quantile": 0.5, "matrix": {"a": {"a": 1}}, "scale": "s", "k": 2}


def remarked(
    columns: list[dict[str, Any]], fields: list[dict[str, Any]] = FIELDS, folder: Path = Path(), **keys: Any
) -> tuple[dict[str, Any], list[str]]:
    """The declaration, completed, and what is remarked."""
    data = declaration(columns, fields=copy.deepcopy(fields), **keys)
    scoring, found = settled(data, folder)
    assert found == []
    return data, list(scoring.remarks())


def field_of(name: str) -> dict[str, Any]:
    """A field that the metric takes, and the options that it needs."""
    kind = metrics()[name]
    options = {option: MUST_BE_GIVEN[option] for option, about in kind.options.items() if about.required}
    is_share = "number" in kind.types and (kind.types[0] in kind.gold or name == "rmsle")
    return {"field": "p" if is_share else OF_TYPE[kind.types[0]], **options}


ONE = [
    name
    for name, metric in metrics().items()
    if metric.many == "never" and name != "bertscore" and set(metric.types) & set(OF_TYPE)
]


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("step", [-0.25, 0.25])
def test_a_worst_that_scores_can_pass_is_remarked_and_on_the_page(name: str, step: float) -> None:
    """A `worst` inside the metric's range, for each metric; one outside, and the default, are no news."""
    metric = metrics()[name]
    up = 1 if metric.sort == "desc" else -1
    worst = (
        metric.worst + step * up if abs(metric.worst) < 1e8 else (metric.best + 0.5 if metric.sort == "asc" else -0.5)
    )
    inside = step > 0 or abs(metric.worst) >= 1e8
    data, remarks = remarked([{"key": "k", "worst": worst, "metric": {"name": name, **field_of(name)}}])
    (column,) = data["tasks"][0]["columns"]
    said = f"No {'less' if metric.sort == 'desc' else 'more'} than {worst:g}."
    assert column["meaning"].endswith(said) is inside
    found = [text for text in remarks if ".worst: " in text]
    assert len(found) == inside
    assert not inside or f"say `undefined: {worst:g}` in the metric" in found[0]


@pytest.mark.parametrize("name", ONE)
def test_the_default_worst_is_no_news(name: str) -> None:
    data, remarks = remarked([{"key": "k", "metric": {"name": name, **field_of(name)}}])
    assert not [text for text in remarks if ".worst: " in text]
    assert "No less" not in data["tasks"][0]["columns"][0]["meaning"]


@pytest.mark.parametrize("read", [[], ["label"], ["x", "label"], ["tags", "set", "text"]], ids=str)
def test_fields_that_no_metric_reads_are_named(read: list[str]) -> None:
    columns = [{"key": f"k_{name}", "metric": {"name": "exact_match", "field": name}} for name in read]
    columns += [{"key": "p", "metric": {"name": "mae", "field": "p"}}]
    unread = [field["field"] for field in FIELDS[1:] if field["field"] not in (*read, "p")]
    (text,) = remarked(columns)[1]
    assert f"no metric reads {', '.join(unread)}, so" in text


def test_every_field_may_be_read_by_an_own_function_or_by_a_ranking(tmp_path: Path) -> None:
    own = {"key": "o", "metric": "metrics.py:mine", "sort": "desc", "worst": 0}
    (tmp_path / "metrics.py").write_text("")
    assert remarked([own], folder=tmp_path)[1] == []
    numbers = [{"field": name, "type": "number"} for name in ("score", "rank")]
    ranked = [{"field": "id"}, {"field": "item"}, *numbers]
    (text,) = remarked([{"key": "ap", "metric": "ap"}], ranked, rows="many")[1]
    assert "no metric reads rank, so" in text
