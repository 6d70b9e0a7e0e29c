"""What metrics mean, in values worked out by hand, and what no library says; all values are in `test_oracles`."""

import json
import math
import random
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from sklearn import metrics as sk

import declared
from declared.metrics import Sample, definitions
from gen_bundle.declaration.scoring.metrics import metrics
from scoring_kit.base.field_types import LARGEST, Field
from tests.scoring_programs.declared.declaring import csv_of, gold_faults, one_table, score
from tests.scoring_programs.declared.resampled import score_and_resample, units_of

Value = pytest.approx
ROOT = Path(declared.__file__).resolve().parents[1]


def values_of(
    columns: Sequence[Any],
    field: dict[str, Any],
    gold: Mapping[str, Sequence[Any]],
    answers: Sequence[Any],
    folder: Path,
) -> list[float]:
    """The metrics of answers in the column x, whose per-unit results agree with them; the gold has several columns."""
    named = {f"c{number}": metric for number, metric in enumerate(columns)}
    options = one_table([{"field": "x", **field}], named)
    sides = []
    for side in (gold, {"x": answers}):
        rows = [[f"k{i}", *cells] for i, cells in enumerate(zip(*side.values(), strict=True))]
        sides.append(csv_of(",".join(["id", *side]), rows))
    found = score_and_resample(options, sides[0], sides[1], folder)
    return [found.value(column) for column in named]


def test_clusters_are_in_no_report(tmp_path: Path) -> None:
    """Names of clusters cannot be exchanged between systems, and a key that is drawn twice is with itself."""
    options = one_table([{"field": "x", "type": "string"}], {"ari": "ari", "em": "exact_match"})
    gold, answers = (csv_of("id,x", list(enumerate(side))) for side in ("aabb", "1122"))
    found = score_and_resample(options, gold, answers, tmp_path)
    assert (found.value("ari"), found.value("em")) == (1, 0)
    assert set(units_of(found).statistics) == {"em"}


def test_brier_of_all_labels_has_another_worst_score() -> None:
    fields: list[dict[str, Any]] = [
        {"field": "p", "type": "probabilities", "values": ["a", "b"]},
        {"field": "q", "type": "number"},
    ]
    metrics = {
        "all": {"name": "brier", "field": "p", "gold": "label"},
        "one": {"name": "brier", "field": "q", "gold": "label", "positive": "a"},
    }
    columns = one_table(fields, metrics)["metrics"]["t"]
    assert (columns["all"]["worst"], columns["one"]["worst"]) == (2, 1)


@pytest.mark.parametrize(("names", "fits"), [("01", True), (("false", "true"), True), (("no", "yes"), False)])
def test_labels_that_tell_the_positive_one(names: Sequence[str], fits: bool, tmp_path: Path) -> None:
    metrics = {"auc": {"name": "roc_auc", "gold": "y"}, "brier": {"name": "brier", "gold": "y"}}
    options = one_table([{"field": "p", "type": "number"}], metrics)
    gold = csv_of("id,y", [["k1", names[0]], ["k2", names[1]]])
    found = gold_faults(options, gold, tmp_path)
    assert ([] if fits else ["gold.csv (auc): positive is missing, and the gold has the labels no, yes"]) == found[:1]
    if fits:
        answers = csv_of("id,p", [["k1", 0.2], ["k2", 0.7]])
        scored = score(options, gold, answers, tmp_path)
        assert [scored.value("auc"), scored.value("brier")] == Value([1, (0.04 + 0.09) / 2])


def test_an_area_under_a_curve_is_of_any_number(tmp_path: Path) -> None:
    columns = [{"name": name, "gold": "y"} for name in ("roc_auc", "average_precision")]
    gold, answer = [0, 1, 1, 0, 1], [-7.5, 3, 120, 3, -1]
    expected = [sk.roc_auc_score(gold, answer), sk.average_precision_score(gold, answer)]
    assert values_of(columns, {"type": "number"}, {"y": gold}, answer, tmp_path) == Value(expected)


def test_probabilities_are_not_divided_by_their_sum(tmp_path: Path) -> None:
    gold = ["neg", "neu", "neg", "pos"]
    answers = [[0.3333, 0.3333, 0.333], [0.3334, 0.3333, 0.3333], [0.333, 0.333, 0.333], [0.332, 0.334, 0.334]]
    columns = ["neg", "neu", "pos"]
    field = {"field": "p", "type": "probabilities", "values": columns, "columns": columns}
    options = one_table([field], {name: {"name": name, "gold": "label"} for name in ("roc_auc", "log_loss")})
    files = csv_of("id,label", list(enumerate(gold)))
    sent = csv_of("id,neg,neu,pos", [[i, *own] for i, own in enumerate(answers)])
    found = score_and_resample(options, files, sent, tmp_path)
    places = [columns.index(one) for one in gold]
    areas = [sk.roc_auc_score(np.equal(places, at), np.array(answers)[:, at]) for at in range(3)]
    logs = [math.log(own[at]) for own, at in zip(answers, places, strict=True)]
    assert [found.value("roc_auc"), found.value("log_loss")] == Value([np.mean(areas), -np.mean(logs)])


@pytest.mark.parametrize(("centre", "spread"), [(0.3, 1e-5), (0.3, 1e-6), (20000, 1), (20000, 1e-3)])
@pytest.mark.parametrize("by", [{}, {"by": "x"}], ids=["whole", "by"])
def test_predictions_that_hardly_differ(centre: float, spread: float, by: dict[str, str], tmp_path: Path) -> None:
    """Per-unit results keep the digits that scipy keeps."""
    rng = random.Random(1)
    gold = [[f"k{i}", f"{rng.random():.3f}", "ab"[i % 2]] for i in range(60)]
    answers = [[key, repr(centre + spread * rng.gauss(0, 1))] for key, *_ in gold]
    options = one_table([{"field": "n", "type": "number"}], {"c": {"name": "pearson", **by}})
    files = csv_of("id,n,x", gold), csv_of("id,n", answers)
    groups = [[i for i, row in enumerate(gold) if not by or row[2] == group] for group in ("ab" if by else "a")]
    sides = [([Fraction(gold[i][1]) for i in own], [Fraction(answers[i][1]) for i in own]) for own in groups]
    exact = np.mean([statistics.correlation(*map(from_the_mean, pair)) for pair in sides])
    assert score_and_resample(options, *files, tmp_path).value("c") == pytest.approx(exact, rel=1e-8)


def from_the_mean(values: list[Fraction]) -> list[float]:
    """Exact differences."""
    return [float(value - sum(values) / len(values)) for value in values]


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall", "mse", "rmse", "mae", "r2"])
@pytest.mark.parametrize("low", [-LARGEST, 0.0, 4.999])
def test_metrics_of_the_largest_numbers_are_finite_over_many_rows(name: str, low: float) -> None:
    # arrays: making them of lists would take longer than the metrics
    gold: Any = np.tile([low, LARGEST if low < 0 else 5.0], 100_000)
    predicted: Any = np.roll(gold, 50_001) if low < 0 else np.where(gold == low, LARGEST, -LARGEST)
    sample = Sample(gold, predicted, [Field("x", "number")])
    assert math.isfinite(definitions()[name].value(sample, {}))


def test_exact_match_of_several_fields(tmp_path: Path) -> None:
    fields: list[dict[str, Any]] = [
        {"field": "text", "type": "text"},
        {"field": "tags", "type": "labels", "values": ["a", "b"]},
        {"field": "n", "type": "number"},
    ]
    options = one_table(fields, {"c": {"name": "exact_match", "fields": ["text", "tags", "n"]}})
    gold = csv_of("id,text,tags,n", [["1", " x ", "a|b", "1"], ["2", "y", "", "2"], ["3", "z", "a", "3"]])
    answers = csv_of("id,text,tags,n", [["3", "z", "a", "3.5"], ["2", "y", "", "2.0"], ["1", "x", "b|a", "1e0"]])
    assert score_and_resample(options, gold, answers, tmp_path).value("c") == pytest.approx(2 / 3)


def test_exact_match_of_lists_of_texts_is_without_blanks_at_their_ends(tmp_path: Path) -> None:
    options = one_table([{"field": "x", "type": "texts"}], {"c": "exact_match"})
    gold = csv_of("id,x", [[1, '["a ", "b"]'], [2, '["a", "b"]'], [3, '["a b"]'], [4, "[]"]])
    answers = csv_of("id,x", [[1, '["a", " b"]'], [2, '["b", "a"]'], [3, '["ab"]'], [4, "[]"]])
    assert score_and_resample(options, gold, answers, tmp_path).value("c") == 2 / 4


def test_the_best_of_several_references_counts(tmp_path: Path) -> None:
    options = one_table([{"field": "text", "type": "text"}], {"em": "exact_match", "f": "token_f1", "b": "bleu"})
    references = [["the cat sat on it", "a cat sat there now"], ["yes it was so indeed"]]
    gold = csv_of("id,text", [[i, json.dumps(texts)] for i, texts in enumerate(references)])
    answers = ["a cat sat there now", "no it was so indeed"]
    sent = csv_of("id,text", list(enumerate(answers)))
    result = score_and_resample(options, gold, sent, tmp_path)
    assert result.value("em") == 0.5
    assert result.value("f") == pytest.approx((1 + 0.8) / 2)
    streams: Any = [[references[0][0], references[1][0]], [references[0][1], None]]
    assert result.value("b") == pytest.approx(sacrebleu.corpus_bleu(answers, streams).score)


def test_metrics_that_the_kit_computes_import_no_library() -> None:
    """SciPy or scikit-learn would take longer to import than a small job takes."""
    samples = {
        "label": "a",
        "labels": ["a"],
        "number": 0.5,
        "tags": ["B-x"],
        "string": "one",
        "spans": [[0, 2, "x"]],
        "text": "one",
        "offsets": [1, 2],
        "probabilities": [0.5, 0.5],
    }
    own = []
    for m in metrics().values():
        compared = m.types if m.module in ("probabilities", "sets") else m.types[:1]
        if not m.libraries:
            own += [(m.name, kind, m.gold.get(kind, kind)) for kind in compared if kind in samples]
    code = (
        "import sys\n"
        "from scoring_kit.base.field_types import Field\n"
        "from declared.metrics import Sample, definitions\n"
        f"values = {samples!r}\n"
        "values.update({kind: frozenset(values[kind]) for kind in ('labels', 'offsets')})\n"
        "values['spans'] = [tuple(one) for one in values['spans']]\n"
        f"for name, kind, gold in {own!r}:\n"
        "    metric = definitions()[name]\n"
        "    sides = [[values[gold]] * 3, [values[kind]] * 3]\n"
        "    sides = [[(one,) for one in side] for side in sides] if metric.joint else sides\n"
        "    options = {**metric.options, 'positive': 'a', 'beta': 2, 'quantile': 0.5, 'matrix': {}, 'k': 1}\n"
        "    field = Field('x', kind, values={'a': 0, 'b': 1})\n"
        "    metric.value(Sample(*sides, [field], weight=[1, 2, 3], scale=[1, 1, 1]), options)\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert len(own) > 20
    assert "numpy" in done.stdout.split()
    assert not {"scipy", "sklearn", "seqeval", "pandas"} & set(done.stdout.split())
