"""Every formula of the kit's own against the library that it equals, on whatever hypothesis thinks of."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sk
from sklearn.preprocessing import MultiLabelBinarizer

import declared
from declared.metrics import Sample, definitions
from gen_bundle.declaration.scoring.metrics import metrics
from scoring_kit.base.field_types import Field, ordered

pytestmark = pytest.mark.slow

LABELS = ("a", "b", "c")
VALUES = ordered(LABELS)
ROOT = Path(declared.__file__).resolve().parents[1]
few = settings(max_examples=15, deadline=None)
"""Each compares many figures."""
Library = Callable[[Any, Any], float]


def value(metric: str, gold: Sequence[Any], predicted: Sequence[Any], field: Field, **options: Any) -> float:
    definition = definitions()[metric]
    return definition.value(Sample(gold, predicted, [field]), {**definition.options, **options})


def library(function: Callable[..., Any], *sides: Any, **options: Any) -> float:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return float(function(*sides, **options))


def parts(gold: Any, predicted: Any, **options: Any) -> dict[str, float]:
    """Precision, recall and F1, which scikit-learn computes together."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = sk.precision_recall_fscore_support(gold, predicted, **options)
    return dict(zip(("precision", "recall", "f1"), map(float, found[:3]), strict=True))


def same(found: float, expected: float) -> None:
    assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)


pairs_of_labels = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=30)
AVERAGES = ("macro", "micro", "weighted")
LABEL_METRICS: dict[str, Library] = {
    "accuracy": sk.accuracy_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "mcc": sk.matthews_corrcoef,
}


@pytest.mark.parametrize("declares", [True, False])
@few
@given(pairs=pairs_of_labels)
def test_metrics_of_labels(declares: bool, pairs: list[tuple[str, str]]) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    field = Field("x", "label", values=VALUES if declares else None)
    for name, function in LABEL_METRICS.items():
        same(value(name, gold, predicted, field), library(function, gold, predicted))
    over = {"present": None, "gold": sorted(set(gold)), "declared": LABELS if declares else None}
    for average in AVERAGES:
        for labels, listed in over.items():
            expected = parts(gold, predicted, labels=listed, average=average, zero_division=0)
            for part, figure in expected.items():
                same(value(part, gold, predicted, field, average=average, labels=labels), figure)
        if declares:
            figure = library(sk.fbeta_score, gold, predicted, beta=0.5, average=average, zero_division=0)
            same(value("fbeta", gold, predicted, field, average=average, beta=0.5), figure)
    is_a = [[label == "a" for label in side] for side in (gold, predicted)]
    for part, figure in parts(*is_a, average="binary", pos_label=True, zero_division=0).items():
        same(value(part, gold, predicted, field, average="binary", positive="a"), figure)


@pytest.mark.parametrize("zero_division", [0, 1])
@pytest.mark.parametrize("listed", [["b"], ["c", "a"]], ids="+".join)
@few
@given(pairs=pairs_of_labels)
def test_a_list_of_labels_and_zero_division(
    listed: list[str], zero_division: int, pairs: list[tuple[str, str]]
) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    for average in AVERAGES:
        expected = parts(gold, predicted, labels=listed, average=average, zero_division=zero_division)
        for part, figure in expected.items():
            for values in (VALUES, None):
                field = Field("x", "label", values=values)
                found = value(part, gold, predicted, field, average=average, labels=listed, zero_division=zero_division)
                same(found, figure)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
@few
@given(pairs=pairs_of_labels)
def test_kappa(weights: str, pairs: list[tuple[str, str]]) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    expected = library(
        sk.cohen_kappa_score, gold, predicted, labels=list(LABELS), weights=None if weights == "none" else weights
    )
    same(value("kappa", gold, predicted, Field("x", "label", values=VALUES), weights=weights), expected)


@few
@given(pairs=st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from((*LABELS, None))), min_size=1))
def test_no_label_is_wrong_for_every_label_and_a_false_positive_of_none(pairs: list[tuple[str, str | None]]) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    texts = [label or "none" for label in predicted]
    field = Field("x", "label", values=VALUES)
    same(value("accuracy", gold, predicted, field), library(sk.accuracy_score, gold, texts))
    same(value("mcc", gold, predicted, field), library(sk.matthews_corrcoef, gold, texts))
    with_none = [*LABELS, "none"] if None in predicted else list(LABELS)
    same(value("kappa", gold, predicted, field), library(sk.cohen_kappa_score, gold, texts, labels=with_none))
    for average in AVERAGES:
        for part, figure in parts(gold, texts, labels=LABELS, average=average, zero_division=0).items():
            same(value(part, gold, predicted, field, average=average, labels="declared"), figure)


sets_of_labels = st.frozensets(st.sampled_from(LABELS))


@few
@given(pairs=st.lists(st.tuples(sets_of_labels, sets_of_labels), min_size=1, max_size=20))
def test_metrics_of_sets_of_labels(pairs: list[tuple[frozenset[str], frozenset[str]]]) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    binarizer = MultiLabelBinarizer(classes=LABELS).fit([LABELS])
    sides = [binarizer.transform(side) for side in (gold, predicted)]
    field = Field("x", "labels", values=VALUES)
    there = [code for code, label in enumerate(LABELS) if any(label in one for one in gold)]
    for average in (*AVERAGES, "samples"):
        for part, figure in parts(*sides, average=average, zero_division=0).items():
            same(value(part, gold, predicted, field, average=average, labels="declared"), figure)
        if there:
            for part, figure in parts(*sides, labels=there, average=average, zero_division=0).items():
                same(value(part, gold, predicted, field, average=average, labels="gold"), figure)
        for part, figure in parts(*sides, labels=[2, 0], average=average, zero_division=1).items():
            found = value(part, gold, predicted, field, average=average, labels=["c", "a"], zero_division=1)
            same(found, figure)
        expected = library(sk.jaccard_score, *sides, average=average, zero_division=1)
        same(value("jaccard", gold, predicted, field, average=average), expected)


names = st.sampled_from(["one", "two", "3", ""])


@given(pairs=st.lists(st.tuples(names, names), min_size=1, max_size=30))
def test_metrics_of_clusters(pairs: list[tuple[str, str]]) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    field = Field("x", "string")
    same(value("ari", gold, predicted, field), library(sk.adjusted_rand_score, gold, predicted))
    same(value("nmi", gold, predicted, field), library(sk.normalized_mutual_info_score, gold, predicted))
    same(value("v_measure", gold, predicted, field), library(sk.v_measure_score, gold, predicted))
    renamed = [f"another {name}" for name in predicted]
    same(value("ari", gold, renamed, field), value("ari", gold, predicted, field))


numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, width=32))


@given(pairs=st.lists(st.tuples(numbers, numbers), min_size=2, max_size=30))
def test_errors_of_numbers(pairs: list[tuple[float, float]]) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    field = Field("x", "number")
    for name, function in (
        ("mse", sk.mean_squared_error),
        ("rmse", sk.root_mean_squared_error),
        ("mae", sk.mean_absolute_error),
        ("mape", sk.mean_absolute_percentage_error),
        ("medae", sk.median_absolute_error),
        ("max_error", sk.max_error),
    ):
        expected = library(function, gold, predicted)
        assert value(name, gold, predicted, field) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    if len(set(gold)) == 1 or np.ptp(gold) > 1e-3 * np.abs(gold).max():
        expected = library(sk.r2_score, gold, predicted)
        assert value("r2", gold, predicted, field) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(pairs=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30), quantile=st.floats(0, 1))
def test_further_errors_of_numbers(pairs: list[tuple[float, float]], quantile: float) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    field = Field("x", "number")
    expected = library(sk.mean_pinball_loss, gold, predicted, alpha=quantile)
    assert value("pinball", gold, predicted, field, quantile=quantile) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    shares = [abs(g - p) / (abs(g) + abs(p)) if g or p else 0.0 for g, p in pairs]
    same(value("smape", gold, predicted, field), 200 * math.fsum(shares) / len(shares))
    sizes, guesses = ([abs(number) for number in side] for side in (gold, predicted))
    same(value("rmsle", sizes, guesses, field), library(sk.root_mean_squared_log_error, sizes, guesses))
    if len(set(gold)) > 1 and np.ptp(gold) > 1e-3 * np.abs(gold).max():
        covariance = np.mean((gold - np.mean(gold)) * (predicted - np.mean(predicted)))
        spread = np.var(gold) + np.var(predicted) + (np.mean(gold) - np.mean(predicted)) ** 2
        same(value("ccc", gold, predicted, field), float(2 * covariance / spread))


steps = st.integers(-5, 5).map(lambda number: number / 4)


@few
@given(pairs=st.lists(st.tuples(steps, steps), min_size=1, max_size=30), shift=st.sampled_from([0.0, 1e3]))
def test_correlations(pairs: list[tuple[float, float]], shift: float) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    predicted = [one + shift for one in predicted]
    for name, function in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
        found = value(name, gold, predicted, Field("x", "number"))
        if len(set(gold)) < 2 or len(set(predicted)) < 2:
            assert math.isnan(found)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                same(found, float(function(gold, predicted).statistic))


probabilities = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0])


@given(pairs=st.lists(st.tuples(st.sampled_from(["yes", "no"]), probabilities), min_size=1, max_size=30))
def test_metrics_of_probabilities(pairs: list[tuple[str, float]]) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    outcome = [label == "yes" for label in gold]

    def ours(name: str) -> float:
        return value(name, gold, predicted, Field("x", "number"), positive="yes")

    same(ours("log_loss"), library(sk.log_loss, outcome, predicted, labels=[False, True]))
    same(ours("brier"), float(np.mean((np.array(outcome) - predicted) ** 2)))
    if any(outcome):
        same(ours("average_precision"), library(sk.average_precision_score, outcome, predicted))
    else:
        assert math.isnan(ours("average_precision"))
    if 0 < sum(outcome) < len(outcome):
        same(ours("roc_auc"), library(sk.roc_auc_score, outcome, predicted))
    else:
        assert math.isnan(ours("roc_auc"))


tags = st.sampled_from(["O", "B-x", "I-x", "B-y-z", "I-y-z"])
tagged = st.lists(tags, min_size=1, max_size=6).flatmap(
    lambda gold: st.tuples(st.just(gold), st.lists(tags, min_size=len(gold), max_size=len(gold)))
)


@few
@given(pairs=st.lists(tagged, min_size=1, max_size=6))
def test_metrics_of_tags(pairs: list[tuple[list[str], list[str]]]) -> None:
    from seqeval import metrics as seqeval

    gold, predicted = map(list, zip(*pairs, strict=True))
    nothing = all(tag == "O" for side in (gold, predicted) for own in side for tag in own)
    for part in ("f1", "precision", "recall"):
        for average in ("micro", "macro"):
            found = value(f"span_{part}", gold, predicted, Field("x", "tags"), average=average)
            if nothing:
                assert math.isnan(found) if average == "macro" else found == 0
            else:
                score = getattr(seqeval, f"{part}_score")
                same(found, library(score, gold, predicted, average=average, zero_division=0))


texts = st.lists(st.sampled_from(["The", "cat", "sat", "on", "mats."]), max_size=8).map(" ".join)


@few
@given(pairs=st.lists(st.tuples(texts, texts), min_size=1, max_size=5))
def test_metrics_of_texts(pairs: list[tuple[str, str]]) -> None:
    """sacrebleu and jiwer count; the sums of their counts give what they give for all texts together."""
    import jiwer
    import sacrebleu

    gold, predicted = map(list, zip(*pairs, strict=True))
    field = Field("x", "text")
    for lowercase in (False, True):
        same(
            value("bleu", gold, predicted, field, lowercase=lowercase),
            sacrebleu.corpus_bleu(predicted, [gold], lowercase=lowercase).score,
        )
        same(
            value("ter", gold, predicted, field, lowercase=lowercase),
            sacrebleu.corpus_ter(predicted, [gold], case_sensitive=not lowercase).score,
        )
    for order in (0, 2):
        expected = sacrebleu.corpus_chrf(predicted, [gold], word_order=order).score
        same(value("chrf", gold, predicted, field, word_order=order), expected)
    if any(gold):
        same(value("wer", gold, predicted, field), jiwer.wer(gold, predicted))
        same(value("cer", gold, predicted, field), jiwer.cer(gold, predicted))


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
