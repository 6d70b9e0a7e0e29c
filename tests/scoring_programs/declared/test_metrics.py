"""Every metric against its library, called directly on generated answers whose rows come in another order."""

from __future__ import annotations

import json
import math
import random
import statistics
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.preprocessing import MultiLabelBinarizer

from declared.metrics import Sample, definitions
from scoring_kit.base.field_types import LARGEST, Field
from tests.scoring_programs.declared.declaring import csv_of, one_table
from tests.scoring_programs.declared.resampled import score_and_resample as score

SEEDS = range(8)
LABELS = ["neg", "neu", "pos"]
Rows = list[tuple[str, Any]]


def shuffled(rows: Sequence[Any], rng: random.Random) -> list[Any]:
    return rng.sample(list(rows), len(rows))


def scored(
    metrics: Sequence[Any], field: dict[str, Any], sides: Sequence[list[str]], folder: Path, rng: random.Random
) -> dict[str, float]:
    """Metric, as JSON → its value for cells of gold and answers; the submission's rows are shuffled."""
    gold, answers = sides
    columns = {f"c{number}": metric for number, metric in enumerate(metrics)}
    options = one_table([{"field": "x", **field}], columns)
    gold_text = csv_of("id,x", [[f"k{i}", cell] for i, cell in enumerate(gold)])
    answer_text = csv_of("id,x", shuffled([[f"k{i}", cell] for i, cell in enumerate(answers)], rng))
    found = score(options, {"gold.csv": gold_text}, {"predictions.csv": answer_text}, folder)
    return {json.dumps(metric): found.value(column) for column, metric in columns.items()}


def labels_metric(function: Callable[..., float], **options: Any) -> Callable[[list[str], list[str]], float]:
    return lambda gold, answers: float(function(gold, answers, **options))


LABEL_CASES: list[tuple[Any, Callable[[list[str], list[str]], float]]] = [
    ("accuracy", labels_metric(sk.accuracy_score)),
    ("mcc", labels_metric(sk.matthews_corrcoef)),
    ("kappa", labels_metric(sk.cohen_kappa_score, labels=LABELS)),
    (
        {"name": "kappa", "weights": "quadratic"},
        labels_metric(sk.cohen_kappa_score, labels=LABELS, weights="quadratic"),
    ),
    ({"name": "kappa", "weights": "linear"}, labels_metric(sk.cohen_kappa_score, labels=LABELS, weights="linear")),
    ("f1", labels_metric(sk.f1_score, average="macro", zero_division=0)),
    ({"name": "f1", "average": "micro"}, labels_metric(sk.f1_score, average="micro", zero_division=0)),
    ({"name": "f1", "average": "weighted"}, labels_metric(sk.f1_score, average="weighted", zero_division=0)),
    ({"name": "precision", "average": "macro"}, labels_metric(sk.precision_score, average="macro", zero_division=0)),
    ({"name": "recall", "average": "weighted"}, labels_metric(sk.recall_score, average="weighted", zero_division=0)),
    ({"name": "f1", "labels": "declared"}, labels_metric(sk.f1_score, average="macro", labels=LABELS, zero_division=0)),
    (
        {"name": "f1", "labels": "gold"},
        lambda gold, answers: float(
            sk.f1_score(gold, answers, labels=sorted(set(gold)), average="macro", zero_division=0)
        ),
    ),
    (
        {"name": "f1", "average": "binary", "positive": "pos"},
        lambda gold, answers: float(
            sk.f1_score([g == "pos" for g in gold], [a == "pos" for a in answers], zero_division=0)
        ),
    ),
]


@pytest.mark.parametrize("seed", SEEDS)
def test_label_metrics(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    size = rng.choice([4, 9, 60])
    there = LABELS[: rng.choice([2, 3])]
    gold = [*there, *(rng.choice(there) for _ in range(size))]
    answers = [rng.choice(LABELS) if rng.random() < 0.5 else label for label in gold]
    field = {"type": "label", "values": LABELS}
    expected = {json.dumps(metric): library(gold, answers) for metric, library in LABEL_CASES}
    found = scored([metric for metric, _ in LABEL_CASES], field, [gold, answers], tmp_path, rng)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.parametrize("seed", SEEDS)
def test_balanced_accuracy(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    gold = [rng.choice(LABELS[:2]) for _ in range(30)]
    answers = [rng.choice(LABELS) for _ in gold]
    field = {"type": "label"}
    (found,) = scored(["balanced_accuracy"], {**field, "values": LABELS}, [gold, answers], tmp_path, rng).values()
    assert found == pytest.approx(sk.balanced_accuracy_score(gold, answers), abs=1e-12)


SET_METRICS = [
    {"name": name, "average": average}
    for name in ("f1", "precision", "recall", "jaccard")
    for average in ("macro", "micro", "weighted", "samples")
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", SEEDS)
def test_metrics_of_sets_of_labels(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    gold = [set(rng.sample(LABELS, rng.randint(0, 3))) for _ in range(20)]
    answers = [set(rng.sample(LABELS, rng.randint(0, 3))) for _ in gold]
    binarizer = MultiLabelBinarizer(classes=LABELS).fit(gold)
    sides = binarizer.transform(gold), binarizer.transform(answers)
    expected = {
        json.dumps(metric): getattr(sk, f"{metric['name']}_score")(
            *sides, average=metric["average"], zero_division=1 if metric["name"] == "jaccard" else 0
        )
        for metric in SET_METRICS
    }
    cells = [["|".join(shuffled(sorted(one), rng)) for one in side] for side in (gold, answers)]
    found = scored(SET_METRICS, {"type": "labels", "values": LABELS}, cells, tmp_path, rng)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("field", [{"values": ["tox"]}, {}], ids=["declared", "open"])
def test_sets_of_a_single_label(field: dict[str, Any], tmp_path: Path) -> None:
    gold, answers = ["tox", "", "tox", "", "tox", ""], ["tox", "tox", "", "", "tox", ""]
    found = scored(SET_METRICS, {"type": "labels", **field}, [gold, answers], tmp_path, random.Random(1))
    sides = [[cell == "tox" for cell in side] for side in (gold, answers)]
    expected = {}
    for metric in SET_METRICS:
        name = metric["name"]
        binary = getattr(sk, f"{name}_score")(*sides)
        of_keys = np.mean([g == a if name == "jaccard" else g and a for g, a in zip(*sides, strict=True)])
        expected[json.dumps(metric)] = of_keys if metric["average"] == "samples" else binary
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("centre", "spread"), [(0.3, 1e-5), (0.3, 1e-6), (20000, 1), (20000, 1e-3)])
@pytest.mark.parametrize("by", [{}, {"by": "x"}], ids=["whole", "by"])
def test_predictions_that_hardly_differ(centre: float, spread: float, by: dict[str, str], tmp_path: Path) -> None:
    """Per-unit results keep the digits that scipy keeps."""
    rng = random.Random(1)
    gold = [[f"k{i}", f"{rng.random():.3f}", "ab"[i % 2]] for i in range(60)]
    answers = [[key, repr(centre + spread * rng.gauss(0, 1))] for key, *_ in gold]
    options = one_table([{"field": "n", "type": "number"}], {"c": {"name": "pearson", **by}})
    files = {"gold.csv": csv_of("id,n,x", gold)}, {"predictions.csv": csv_of("id,n", answers)}
    groups = [[i for i, row in enumerate(gold) if not by or row[2] == group] for group in ("ab" if by else "a")]
    sides = [([Fraction(gold[i][1]) for i in own], [Fraction(answers[i][1]) for i in own]) for own in groups]
    exact = np.mean([statistics.correlation(*map(from_the_mean, pair)) for pair in sides])
    assert score(options, *files, tmp_path).value("c") == pytest.approx(exact, rel=1e-8)


def from_the_mean(values: list[Fraction]) -> list[float]:
    """Exact differences."""
    return [float(value - sum(values) / len(values)) for value in values]


NUMBER_CASES = {
    "pearson": lambda g, a: __import__("scipy.stats").stats.pearsonr(g, a).statistic,
    "spearman": lambda g, a: __import__("scipy.stats").stats.spearmanr(g, a).statistic,
    "kendall": lambda g, a: __import__("scipy.stats").stats.kendalltau(g, a).statistic,
    "mse": sk.mean_squared_error,
    "rmse": sk.root_mean_squared_error,
    "mae": sk.mean_absolute_error,
    "r2": sk.r2_score,
}


@pytest.mark.parametrize("seed", SEEDS)
def test_metrics_of_numbers(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    gold = [rng.randint(0, 6) / 2 for _ in range(25)]
    answers = [value + rng.gauss(0, 1) for value in gold]
    cells = [list(map(repr, side)) for side in (gold, answers)]
    found = scored(list(NUMBER_CASES), {"type": "number"}, cells, tmp_path, rng)
    expected = {json.dumps(name): float(library(gold, answers)) for name, library in NUMBER_CASES.items()}
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", NUMBER_CASES)
@pytest.mark.parametrize("low", [-LARGEST, 0.0, 4.999])
def test_metrics_of_the_largest_numbers_are_finite_over_a_million_rows(name: str, low: float) -> None:
    # arrays: making them of lists would take longer than the metrics
    gold: Any = np.tile([low, LARGEST if low < 0 else 5.0], 500_000)
    predicted: Any = np.roll(gold, 250_001) if low < 0 else np.where(gold == low, LARGEST, -LARGEST)
    sample = Sample(gold, predicted, [Field("x", "number")])
    assert math.isfinite(definitions()[name].value(sample, {}))


PROBABILITY_CASES = {
    "roc_auc": sk.roc_auc_score,
    "average_precision": sk.average_precision_score,
    "log_loss": sk.log_loss,
    "brier": sk.brier_score_loss,
}


@pytest.mark.parametrize("seed", SEEDS)
def test_metrics_of_probabilities(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    gold = ["yes", "no", *(rng.choice(["yes", "no"]) for _ in range(25))]
    answers = [round(rng.random(), 2) for _ in gold]
    options = one_table(
        [{"field": "p", "type": "number", "min": 0, "max": 1}],
        {name: {"name": name, "positive": "yes", "gold": "answer"} for name in PROBABILITY_CASES},
    )
    gold_text = csv_of("id,answer", [[i, label] for i, label in enumerate(gold)])
    rows = shuffled([[i, value] for i, value in enumerate(answers)], rng)
    result = score(options, {"gold.csv": gold_text}, {"predictions.csv": csv_of("id,p", rows)}, tmp_path)
    is_yes = [label == "yes" for label in gold]
    expected = {name: float(library(is_yes, answers)) for name, library in PROBABILITY_CASES.items()}
    assert {name: result.value(name) for name in expected} == pytest.approx(expected, abs=1e-12)


def random_tags(length: int, rng: random.Random) -> list[str]:
    return [rng.choice(["O", "B-per", "I-per", "B-loc", "I-loc"]) for _ in range(length)]


PARTS = [(part, average) for part in ("f1", "precision", "recall") for average in ("micro", "macro")]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", SEEDS)
def test_metrics_of_tagged_spans(seed: int, tmp_path: Path) -> None:
    from seqeval import metrics as seqeval

    rng = random.Random(seed)
    gold = [random_tags(rng.randint(1, 8), rng) for _ in range(12)]
    answers = [[tag if rng.random() < 0.7 else "O" for tag in tags] for tags in gold]
    cells = [list(map(" ".join, side)) for side in (gold, answers)]
    metrics = [{"name": f"span_{part}", "average": average} for part, average in PARTS]
    found = scored(metrics, {"type": "tags"}, cells, tmp_path, rng)
    libraries = [getattr(seqeval, f"{part}_score") for part, _ in PARTS]
    expected = {
        json.dumps(metric): float(library(gold, answers, average=metric["average"], zero_division=0))
        for metric, library in zip(metrics, libraries, strict=True)
    }
    assert found == pytest.approx(expected, abs=1e-12)


def random_text(rng: random.Random) -> str:
    return " ".join(
        rng.choice(["The", "cat", "dog", "sat", "on", "a", "mat.", "running"]) for _ in range(rng.randint(1, 9))
    )


TEXT_CASES: list[dict[str, Any]] = [
    {"name": "bleu"},
    {"name": "bleu", "lowercase": True, "tokenize": "char"},
    {"name": "chrf"},
    {"name": "chrf", "word_order": 2},
    {"name": "ter"},
    {"name": "ter", "lowercase": True},
    {"name": "rouge"},
    {"name": "rouge", "type": "rouge2", "stem": True},
    {"name": "rouge", "type": "rouge1"},
    {"name": "wer"},
    {"name": "cer", "lowercase": True},
]


def text_library(metric: dict[str, Any], gold: list[str], answers: list[str]) -> float:
    name, lower = metric["name"], metric.get("lowercase", False)
    if name == "rouge":
        from rouge_score.rouge_scorer import RougeScorer

        kind = metric.get("type", "rougeL")
        scorer = RougeScorer([kind], use_stemmer=metric.get("stem", False))
        return float(np.mean([scorer.score(g, a)[kind].fmeasure for g, a in zip(gold, answers, strict=True)]))
    if name in ("wer", "cer"):
        import jiwer

        texts = [[text.lower() for text in side] if lower else side for side in (gold, answers)]
        return float(getattr(jiwer, name)(*texts))
    import sacrebleu

    if name == "bleu":
        tokenize = metric.get("tokenize", "13a")
        return float(sacrebleu.corpus_bleu(answers, [gold], lowercase=lower, tokenize=tokenize).score)
    if name == "chrf":
        return float(sacrebleu.corpus_chrf(answers, [gold], word_order=metric.get("word_order", 0)).score)
    return float(sacrebleu.corpus_ter(answers, [gold], case_sensitive=not lower).score)


@pytest.mark.parametrize("seed", range(3))
def test_metrics_of_texts(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    gold = [random_text(rng) for _ in range(10)]
    answers = [text if rng.random() < 0.4 else random_text(rng) for text in gold]
    found = scored(TEXT_CASES, {"type": "text"}, [gold, answers], tmp_path, rng)
    expected = {json.dumps(metric): text_library(metric, gold, answers) for metric in TEXT_CASES}
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("gold", "answer", "squad", "none"),
    [
        ("The cat sat.", "a cat sat", 1.0, 1 / 3),
        ("cat", "dog", 0.0, 0.0),
        ("the", "", 1.0, 0.0),  # nothing is left of either
        ("cat sat", "", 0.0, 0.0),
        ("x x y", "x y y", 2 / 3, 2 / 3),
    ],
)
def test_token_f1(gold: str, answer: str, squad: float, none: float, tmp_path: Path) -> None:
    rng = random.Random(0)
    metrics = [{"name": "token_f1", "normalise": normalise} for normalise in ("squad", "none")]
    found = scored(metrics, {"type": "text"}, [[gold], [answer]], tmp_path, rng)
    assert list(found.values()) == pytest.approx([squad, none])


RANKINGS = {"ndcg": "nDCG", "ap": "AP", "rr": "RR", "precision_at": "P", "recall_at": "R"}


@pytest.mark.parametrize("seed", range(4))
def test_metrics_of_rankings(seed: int, tmp_path: Path) -> None:
    """Without ties, so that the libraries behind ir-measures agree; a query without an answer counts 0."""
    import ir_measures

    rng = random.Random(seed)
    gold: list[Any] = []
    answers: list[Any] = []
    for query in range(6):
        items = [f"d{i}" for i in range(8)]
        gold += [[f"q{query}", item, rng.choice([0, 1, 2])] for item in items[:5]] + [[f"q{query}", "d7", 1]]
        if query:
            answers += [[f"q{query}", item, score] for item, score in zip(items, rng.sample(range(99), 8), strict=True)]
    metrics: dict[str, dict[str, Any]] = {}
    measures: dict[str, Any] = {}
    for name, library in RANKINGS.items():
        for cutoff in (1, 3):
            metrics[f"{name}_{cutoff}"] = {"name": name, "cutoff": cutoff}
            measures[f"{name}_{cutoff}"] = getattr(ir_measures, library) @ cutoff
        if not name.endswith("_at"):  # which need a cutoff
            metrics[name], measures[name] = {"name": name}, getattr(ir_measures, library)
    judgements = [ir_measures.Qrel(*row) for row in gold]
    run = [ir_measures.ScoredDoc(query, item, float(value)) for query, item, value in answers]
    calculated = ir_measures.calc_aggregate(list(measures.values()), judgements, run)
    expected = {column: calculated[measure] for column, measure in measures.items()}
    fields = [{"field": "item", "type": "string"}, {"field": "score", "type": "number"}]
    options = one_table(fields, metrics, rows="many")
    files = {"predictions.csv": csv_of("id,item,score", shuffled(answers, rng))}
    result = score(options, {"gold.csv": csv_of("id,item,relevance", gold)}, files, tmp_path)
    assert {column: result.value(column) for column in expected} == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("cutoff", [None, 2])
def test_ties_of_a_ranking_are_broken_as_trec_eval_does(cutoff: int | None, tmp_path: Path) -> None:
    """Of equal scores the later name comes first: b, then a."""
    metric = {"name": "rr", **({"cutoff": cutoff} if cutoff else {})}
    fields = [{"field": "item", "type": "string"}, {"field": "score", "type": "number"}]
    options = one_table(fields, {"c": metric}, rows="many")
    gold = csv_of("id,item,relevance", [["q", "a", 1], ["q", "b", 0]])
    answers = {"predictions.csv": csv_of("id,item,score", [["q", "a", 1], ["q", "b", 1]])}
    assert score(options, {"gold.csv": gold}, answers, tmp_path).value("c") == 0.5


def test_items_without_scores_rank_in_their_order(tmp_path: Path) -> None:
    options = one_table([{"field": "item", "type": "string"}], {"c": "rr"}, rows="many")
    gold = csv_of("id,item,relevance", [["q", "a", 1], ["q", "b", 0]])
    answers = {"predictions.csv": csv_of("id,item", [["q", "b"], ["q", "z"], ["q", "a"]])}
    assert score(options, {"gold.csv": gold}, answers, tmp_path).value("c") == pytest.approx(1 / 3)


def set_oracle(sides: Sequence[list[set[Any]]], part: str, average: str) -> float:
    """Independent of the scorer: counts by hand."""

    def ratio(tp: int, predicted: int, there: int) -> float:
        p, r = (tp / predicted if predicted else 0.0), (tp / there if there else 0.0)
        return {"f1": 2 * p * r / (p + r) if p + r else 0.0, "precision": p, "recall": r}[part]

    counts = [(len(g & a), len(a), len(g)) for g, a in zip(*sides, strict=True)]
    if average == "micro":
        return ratio(*(sum(column) for column in zip(*counts, strict=True)))
    return float(np.mean([1.0 if not (p or g) else ratio(tp, p, g) for tp, p, g in counts]))


@pytest.mark.parametrize("seed", range(4))
def test_metrics_of_sets(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    metrics = [{"name": f"set_{part}", "average": average} for part, average in PARTS]

    def spans() -> list[list[Any]]:
        return [
            [start, start + rng.randint(1, 3), rng.choice("xy")] for start in rng.sample(range(6), rng.randint(0, 3))
        ]

    gold, answers = [spans() for _ in range(9)], [spans() for _ in range(9)]
    repeated = [json.dumps([*one, *one]) for one in answers]
    found = scored(metrics, {"type": "spans"}, [list(map(json.dumps, gold)), repeated], tmp_path, rng)
    sets = [[{tuple(span) for span in one} for one in side] for side in (gold, answers)]
    expected = [set_oracle(sets, part, average) for part, average in PARTS]
    assert found == pytest.approx(dict(zip(found, expected, strict=True)), abs=1e-12)
    characters = [[{(i, kind) for s, e, kind in one for i in range(s, e)} for one in side] for side in (gold, answers)]
    found = scored(
        [{**metric, "match": "characters"} for metric in metrics],
        {"type": "spans"},
        [list(map(json.dumps, side)) for side in (gold, answers)],
        tmp_path,
        rng,
    )
    expected = [set_oracle(characters, part, average) for part, average in PARTS]
    assert found == pytest.approx(dict(zip(found, expected, strict=True)), abs=1e-12)


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_rows_of_a_key_are_a_set_of_tuples(average: str, tmp_path: Path) -> None:
    fields: list[dict[str, Any]] = [
        {"field": "start", "type": "number"},
        {"field": "type", "type": "label", "values": ["x", "y"]},
    ]
    reference = {"file": "gold.csv", "keys": "docs.csv"}
    metric = {"name": "set_f1", "fields": ["start", "type"], "average": average}
    options = one_table(fields, {"c": metric}, rows="many", reference=reference)
    gold = {
        "gold.csv": csv_of("id,start,type", [["a", 1, "x"], ["a", 2, "y"], ["b", 3, "x"]]),
        "docs.csv": "id\na\nb\nc\n",
    }
    answers = [["a", "1.0", "x"], ["a", "1", "x"], ["b", 3, "y"], ["c", 9, "x"]]
    found = score(options, gold, {"predictions.csv": csv_of("id,start,type", answers)}, tmp_path).value("c")
    sets = [{(1.0, "x"), (2.0, "y")}, {(3.0, "x")}, set()], [{(1.0, "x")}, {(3.0, "y")}, {(9.0, "x")}]
    assert found == pytest.approx(set_oracle(sets, "f1", average), abs=1e-12)


def test_exact_match_of_several_fields(tmp_path: Path) -> None:
    fields: list[dict[str, Any]] = [
        {"field": "text", "type": "text"},
        {"field": "tags", "type": "labels", "values": ["a", "b"]},
        {"field": "n", "type": "number"},
    ]
    options = one_table(fields, {"c": {"name": "exact_match", "fields": ["text", "tags", "n"]}})
    gold = csv_of("id,text,tags,n", [["1", " x ", "a|b", "1"], ["2", "y", "", "2"], ["3", "z", "a", "3"]])
    answers = csv_of("id,text,tags,n", [["3", "z", "a", "3.5"], ["2", "y", "", "2.0"], ["1", "x", "b|a", "1e0"]])
    assert score(options, {"gold.csv": gold}, {"predictions.csv": answers}, tmp_path).value("c") == pytest.approx(2 / 3)


def test_exact_match_of_lists_of_texts_is_without_blanks_at_their_ends(tmp_path: Path) -> None:
    options = one_table([{"field": "x", "type": "texts"}], {"c": "exact_match"})
    gold = csv_of("id,x", [[1, '["a ", "b"]'], [2, '["a", "b"]'], [3, '["a b"]'], [4, "[]"]])
    answers = csv_of("id,x", [[1, '["a", " b"]'], [2, '["b", "a"]'], [3, '["ab"]'], [4, "[]"]])
    assert score(options, {"gold.csv": gold}, {"predictions.csv": answers}, tmp_path).value("c") == 2 / 4


def test_the_best_of_several_references_counts(tmp_path: Path) -> None:
    import sacrebleu

    options = one_table([{"field": "text", "type": "text"}], {"em": "exact_match", "f": "token_f1", "b": "bleu"})
    references = [["the cat sat on it", "a cat sat there now"], ["yes it was so indeed"]]
    gold = csv_of("id,text", [[i, json.dumps(texts)] for i, texts in enumerate(references)])
    answers = ["a cat sat there now", "no it was so indeed"]
    sent = {"predictions.csv": csv_of("id,text", list(enumerate(answers)))}
    result = score(options, {"gold.csv": gold}, sent, tmp_path)
    assert result.value("em") == 0.5
    assert result.value("f") == pytest.approx((1 + 0.8) / 2)
    streams: Any = [[references[0][0], references[1][0]], [references[0][1], None]]
    assert result.value("b") == pytest.approx(sacrebleu.corpus_bleu(answers, streams).score)


def test_a_worst_value_stands_in_where_a_metric_is_undefined(tmp_path: Path) -> None:
    options = one_table([{"field": "x", "type": "number"}], {"p": "pearson", "by": {"name": "pearson", "by": "lang"}})
    gold = csv_of("id,x,lang", [[i, i, "ab"[i % 2]] for i in range(8)])
    answers = {"predictions.csv": csv_of("id,x", [[i, 1 if i % 2 else i] for i in range(8)])}
    result = score(options, {"gold.csv": gold}, answers, tmp_path)
    assert result.value("by") == pytest.approx((1 + -1) / 2)
    assert any("undefined for b" in text for text in result.all_warnings)
    constant = {"predictions.csv": csv_of("id,x", [[i, 1] for i in range(8)])}
    assert score(options, {"gold.csv": gold}, constant, tmp_path).value("p") == -1
    assert not math.isnan(score(options, {"gold.csv": gold}, constant, tmp_path).value("by"))
