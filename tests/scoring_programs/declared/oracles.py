"""One table of every metric that a declaration can name, with every option: how answers are made up, and an oracle.

A kind is a form of answers. Its rows are metrics, each with a function of (gold, answers, weights) that computes the
value without our code: a library, or a few lines. Where a metric is undefined, the oracle gives NaN.
"""

import itertools
import math
import random
import re
import string
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures
import jiwer
import numpy as np
import sacrebleu
from rapidfuzz.distance import LCSseq, Levenshtein
from rouge_score.rouge_scorer import RougeScorer
from scipy import stats
from seqeval import metrics as seqeval
from sklearn import metrics as sk

Oracle = Callable[[Sequence[Any], Sequence[Any], Any], float]
Row = tuple[dict[str, Any], Oracle]
Rows = Sequence[Row]
LABELS = ["a", "b", "c"]
AVERAGES = ("macro", "micro", "weighted")
PARTS = ("precision", "recall", "f1")


@dataclass(frozen=True)
class Kind:
    """A form of answers.

    Attributes:
        fields: those of the table beside its key.
        pair: how many keys → gold and answers, one for each key.
        rows: metrics with their oracles.
        gold: the column of gold, where it is not the field's.
        cells: what a value is in each column of the answers; without it the value itself is in the field's.
        gold_cells: the same of gold, where it is otherwise.
        many: whether a value is a list of rows.
    """

    fields: list[dict[str, Any]]
    pair: Callable[[random.Random, int], tuple[list[Any], list[Any]]]
    rows: Rows
    gold: str = "x"
    cells: Callable[[Any], Mapping[str, Any]] | None = None
    gold_cells: Callable[[Any], Mapping[str, Any]] | None = None
    many: bool = False


def of(function: Callable[..., Any], **options: Any) -> Oracle:
    """A function of scikit-learn as an oracle."""
    return lambda gold, answers, weight: float(
        function(np.array(gold), np.array(answers), sample_weight=weight, **options)
    )


def unweighted(function: Callable[..., Any], **options: Any) -> Oracle:
    return lambda gold, answers, _: float(function(gold, answers, **options))


def mean(of_key: Callable[[Any, Any], float]) -> Oracle:
    """The mean over keys."""
    return lambda gold, answers, weight: float(
        np.average([of_key(g, a) for g, a in zip(gold, answers, strict=True)], weights=weight)
    )


def through(convert: Callable[[Any], Any], rows: Rows, both: bool = True, **options: Any) -> list[Row]:
    """The rows for answers of another form, which `convert` takes to the rows' own; `both`: gold, too."""

    def converted(oracle: Oracle) -> Oracle:
        return lambda gold, answers, weight: oracle(
            [convert(one) for one in gold] if both else gold, [convert(one) for one in answers], weight
        )

    return [({**metric, **options}, converted(oracle)) for metric, oracle in rows]


def safe(oracle: Oracle, *sides: Any) -> float:
    """The oracle's value, without the warnings of a library; NaN where it refuses to compute one."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return oracle(*sides)


def pairs_of(value: Callable[[random.Random], Any], right: float = 0.5) -> Callable[[random.Random, int], Any]:
    """Gold and answers of equally distributed values, a share of the answers right."""

    def pair(rng: random.Random, size: int) -> tuple[list[Any], list[Any]]:
        gold = [value(rng) for _ in range(size)]
        return gold, [one if rng.random() < right else value(rng) for one in gold]

    return pair


# Labels.


def labels_pair(rng: random.Random, size: int, values: Sequence[str] = LABELS) -> tuple[list[str], list[str]]:
    there = rng.choice([values, values, values[:2], values[1:2]]) if size < 40 else values
    gold = rng.choices(there, k=size)
    return gold, [one if rng.random() < 0.5 else rng.choice(values) for one in gold]


def listed(labels: Any, gold: Sequence[Any], values: Sequence[str]) -> Any:
    """The labels that count, as scikit-learn takes them; None: those that occur."""
    return {"present": None, "gold": sorted(set(gold) - {""}), "declared": list(values)}.get(labels, labels)


def averaged(name: str, values: Sequence[str], average: str, labels: Any, zero: int, **options: Any) -> Row:
    function = getattr(sk, f"{name}_score")
    metric = {"name": name, "average": average, "labels": labels, "zero_division": zero, **options}

    def oracle(gold: Any, answers: Any, weight: Any) -> float:
        only = listed(labels if isinstance(labels, str) else tuple(labels), gold, values)
        only = list(only) if only is not None else None
        return of(function, average=average, labels=only, zero_division=zero, **options)(gold, answers, weight)

    return metric, oracle


def binary(name: str, positive: str, zero: int, **options: Any) -> Row:
    function = of(getattr(sk, f"{name}_score"), zero_division=zero, **options)
    metric = {"name": name, "average": "binary", "positive": positive, "zero_division": zero, **options}
    return metric, lambda gold, answers, weight: function(
        [one == positive for one in gold], [one == positive for one in answers], weight
    )


def points(values: Sequence[str]) -> Row:
    """As FNC-1 scores: points reached over those that the gold would reach."""
    one, two, three = values
    matrix = {one: {one: 1, two: 0.25}, two: {one: 0.5, two: 2, three: -1}, three: {three: 0.25}}

    def oracle(gold: Sequence[str], answers: Sequence[str], _: Any) -> float:
        reached = sum(matrix[g].get(a, 0) for g, a in zip(gold, answers, strict=True))
        return reached / sum(matrix[g][g] for g in gold)

    return {"name": "points", "matrix": matrix}, oracle


def kappa(weights: str, values: Sequence[str]) -> Row:
    options = {"labels": list(values), "weights": None if weights == "none" else weights}
    return {"name": "kappa", "weights": weights}, of(sk.cohen_kappa_score, **options)


def rows_of_labels(values: Sequence[str] = LABELS, declared: bool = True) -> list[Row]:
    one = values[0]
    over: list[Any] = ["present", "gold", [values[-1], one], [one], *(["declared"] if declared else [])]
    rows = [
        ({"name": "accuracy"}, of(sk.accuracy_score)),
        ({"name": "balanced_accuracy"}, of(sk.balanced_accuracy_score)),
        ({"name": "mcc"}, of(sk.matthews_corrcoef)),
        *(averaged("f1", values, average, labels, 0) for average in AVERAGES for labels in over),
        *(averaged(part, values, average, "present", 0) for part in PARTS[:2] for average in AVERAGES),
        *(averaged(part, values, "macro", "gold", 0) for part in PARTS[:2]),
        *(averaged("fbeta", values, average, "gold", 0, beta=0.5) for average in AVERAGES),
        *(averaged(part, values, "macro", [values[1], one], 1) for part in PARTS),
        *(binary(part, values[1], zero) for part in PARTS for zero in (0, 1)),
        binary("fbeta", values[1], 1, beta=2),
    ]
    if declared:
        rows += [kappa(weights, values) for weights in ("none", "linear", "quadratic")]
        rows += [averaged("f1", values, average, "declared", 1) for average in AVERAGES]
        rows += [averaged(part, values, "macro", "declared", 1) for part in PARTS[:2]]
        rows.append(averaged("fbeta", values, "macro", "declared", 1, beta=2))
    return rows


def one_of_each(rows: Rows) -> list[Row]:
    """The first row of each metric: what labels of another form are counted by is the labels' own code."""
    first: dict[str, Row] = {}
    for metric, oracle in rows:
        first.setdefault(metric["name"], (metric, oracle))
    return list(first.values())


CLUSTERS: list[Row] = [
    ({"name": "ari"}, unweighted(sk.adjusted_rand_score)),
    ({"name": "nmi"}, unweighted(sk.normalized_mutual_info_score)),
    ({"name": "v_measure"}, unweighted(sk.v_measure_score)),
]
EXACT: Row = ({"name": "exact_match"}, mean(lambda gold, answer: gold == answer))


def left_out(rng: random.Random, size: int) -> tuple[list[str], list[str]]:
    gold, answers = labels_pair(rng, size)
    return gold, [rng.choice([one, one, ""]) for one in answers]


def kappa_with_none(gold: Sequence[str], answers: Sequence[str], weight: Any) -> float:
    there = [*LABELS, ""] if "" in answers else LABELS
    return of(sk.cohen_kappa_score, labels=there)(gold, answers, weight)


NOT_ANSWERED: list[Row] = [
    ({"name": "accuracy"}, of(sk.accuracy_score)),
    ({"name": "mcc"}, of(sk.matthews_corrcoef)),
    ({"name": "kappa"}, kappa_with_none),
    *(averaged(part, LABELS, average, "declared", 0) for part in PARTS for average in AVERAGES),
]


# Sets of labels.


def set_of_labels(rng: random.Random) -> list[str]:
    return rng.sample(LABELS, rng.randint(0, 3))


def known_sets(rng: random.Random, count: int) -> tuple[list[list[str]], list[list[str]]]:
    """Without declared labels those of the gold are known."""
    gold, answers = pairs_of(set_of_labels)(rng, count)
    return [list(LABELS), *gold[1:]], answers


def matrix(side: Sequence[Sequence[str]]) -> Any:
    """One column for each label and an empty one, so that scikit-learn takes a single label as a set, too."""
    return np.array([[label in one for label in (*LABELS, None)] for one in side], dtype=int)


def of_sets(name: str, average: str, labels: Any, zero: int, **options: Any) -> Row:
    function = getattr(sk, f"{name}_score")
    metric = {"name": name, "average": average, **options}
    if name != "jaccard":
        metric |= {"labels": labels, "zero_division": zero}

    def oracle(gold: Any, answers: Any, weight: Any) -> float:
        there = [set(itertools.chain(*side)) for side in (gold, answers)]
        only = {"present": there[0] | there[1], "gold": there[0], "declared": set(LABELS)}.get(str(labels), labels)
        if not only:  # nothing to average, or 0/0
            return math.nan if average in ("macro", "weighted") else float(zero)
        codes = [LABELS.index(label) for label in sorted(only)]
        return of(function, labels=codes, average=average, zero_division=zero, **options)(
            matrix(gold), matrix(answers), weight
        )

    return metric, oracle


def ratio(part: str, right: float, given: float, found: float, there: float) -> float:
    p, r = right / given if given else 0.0, found / there if there else 0.0
    return {"f1": 2 * p * r / (p + r) if p + r else 0.0, "precision": p, "recall": r}[part]


def of_counts(part: str, average: str, count: Callable[[Any, Any], Sequence[float]], neither: float) -> Oracle:
    """Of how much of each answer is right, and of its gold found, each before how much is there.

    Two empty sides of a key are equal; `neither` is the value where all are empty.
    """

    def oracle(gold: Any, answers: Any, weight: Any) -> float:
        counts = [count(*own) for own in zip(gold, answers, strict=True)]
        if average == "micro":
            sums = np.average(counts, axis=0, weights=weight)
            return ratio(part, *sums) if any(sums) else neither
        return float(np.average([ratio(part, *own) if any(own) else 1.0 for own in counts], weights=weight))

    return oracle


def shared(gold: Any, answer: Any) -> tuple[float, float]:
    """How many elements of the answer are right, and how many of the gold are found."""
    both = len(set(gold) & set(answer))
    return both, both


def of_elements(
    part: str, average: str, elements: Callable[[Any], Any], match: str = "exact", common: Any = shared
) -> Row:
    """A metric of sets: of the answers' elements that are right, and of the gold's that are found."""

    def count(gold: Any, answer: Any) -> Sequence[float]:
        there, given = set(elements(gold)), set(elements(answer))
        right, found = common(there, given)
        return right, len(given), found, len(there)

    metric = {"name": f"set_{part}", "average": average, **({"match": match} if match != "exact" else {})}
    return metric, of_counts(part, average, count, 0.0)


def rows_of_elements(elements: Callable[[Any], Any], **match: Any) -> list[Row]:
    return [of_elements(part, average, elements, **match) for part in PARTS for average in ("micro", "macro")]


OPEN_SETS: list[Row] = [
    of_sets("f1", average, labels, 0) for average in (*AVERAGES, "samples") for labels in ("present", "gold")
]
SETS: list[Row] = [
    *OPEN_SETS,
    *(of_sets(part, average, "present", 0) for part in PARTS[:2] for average in (*AVERAGES, "samples")),
    *(of_sets(part, average, ["c", "a"], 1) for part in PARTS for average in (*AVERAGES, "samples")),
    *(of_sets("fbeta", average, "gold", 1, beta=2) for average in (*AVERAGES, "samples")),
    *(of_sets("jaccard", average, "declared", 1) for average in (*AVERAGES, "samples")),
    *(of_sets(part, average, "declared", 0) for part in PARTS for average in AVERAGES),
    *rows_of_elements(set),
    ({"name": "exact_match"}, mean(lambda gold, answer: set(gold) == set(answer))),
]


# Numbers.


def number(rng: random.Random) -> float:
    return rng.choice([rng.randint(-3, 3) / 2, round(rng.gauss(0, 5), 3)])


def size(rng: random.Random) -> float:
    return rng.randint(1, 9) / 2


def smape(gold: float, answer: float) -> float:
    return 200 * abs(gold - answer) / (abs(gold) + abs(answer)) if gold or answer else 0.0


def r2(gold: Any, answers: Any, weight: Any) -> float:
    """As scikit-learn defines it, where gold of equal values is exactly equal."""
    counted = [i for i in range(len(gold)) if weight is None or weight[i]]
    if len(gold) > 1 and len({gold[i] for i in counted}) == 1:
        return float(all(gold[i] == answers[i] for i in counted))
    return of(sk.r2_score)(gold, answers, weight)


def ccc(gold: Any, answers: Any, _: Any) -> float:
    """Lin's definition, with population variances."""
    if len(set(gold)) < 2:
        return math.nan if set(gold) == set(answers) else 0.0
    covariance = np.mean((gold - np.mean(gold)) * (answers - np.mean(answers)))
    return float(2 * covariance / (np.var(gold) + np.var(answers) + (np.mean(gold) - np.mean(answers)) ** 2))


def correlation(function: Callable[..., Any]) -> Oracle:
    def oracle(gold: Any, answers: Any, _: Any) -> float:
        if len(set(gold)) < 2 or len(set(answers)) < 2:
            return math.nan
        return float(function(gold, answers).statistic)

    return oracle


CORRELATIONS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
ERRORS = {
    "mse": sk.mean_squared_error,
    "rmse": sk.root_mean_squared_error,
    "mae": sk.mean_absolute_error,
    "medae": sk.median_absolute_error,
}
NUMBERS: list[Row] = [
    *(({"name": name}, of(function)) for name, function in ERRORS.items()),
    ({"name": "r2"}, r2),
    *(({"name": name}, correlation(function)) for name, function in CORRELATIONS.items()),
    *(({"name": "pinball", "quantile": q}, of(sk.mean_pinball_loss, alpha=q)) for q in (0, 0.2, 0.8)),
    ({"name": "max_error"}, unweighted(sk.max_error)),
    ({"name": "smape"}, mean(smape)),
    ({"name": "ccc"}, ccc),
    EXACT,
]
SIZES: list[Row] = [
    ({"name": "mape"}, of(sk.mean_absolute_percentage_error)),
    ({"name": "rmsle"}, of(sk.root_mean_squared_log_error)),
    ({"name": "smape"}, mean(smape)),
    ({"name": "medae"}, of(sk.median_absolute_error)),
    ({"name": "r2"}, r2),
]
"""Of numbers above 0."""


# Probabilities of one label, and of all.

SURE = ["yes", "no", "maybe"]


def probabilities_pair(rng: random.Random, count: int) -> tuple[list[str], list[float]]:
    gold = rng.choices(rng.choice([SURE, SURE[:2], SURE[:1], SURE[1:]]), k=count)
    return gold, [rng.choice([0, 0.1, 0.25, 0.5, 0.5, 0.75, 1, round(rng.random(), 3)]) for _ in gold]


def of_one(function: Oracle, *, positive: bool = False, negative: bool = False) -> Oracle:
    """Of the truth as 0 and 1; undefined where one of them must be there and is not."""

    def oracle(gold: Any, answers: Any, weight: Any) -> float:
        truth = [int(label == "yes") for label in gold]
        there = [t for t, w in zip(truth, weight or [1] * len(truth), strict=True) if w]
        if (positive and not any(there)) or (negative and all(there)):
            return math.nan
        return function(truth, answers, weight)

    return oracle


def taken(threshold: Any, function: Oracle) -> Oracle:
    """Of probabilities as labels."""
    bound = threshold["above"] if isinstance(threshold, dict) else threshold

    def label(answer: float) -> int:
        return int(answer > bound or (answer == bound and not isinstance(threshold, dict)))

    return of_one(lambda truth, answers, weight: function(truth, [label(one) for one in answers], weight))


def c_at_1(threshold: float) -> Oracle:
    def oracle(truth: Any, answers: Any, _: Any) -> float:
        right = sum((a > threshold) == t for t, a in zip(truth, answers, strict=True) if a != threshold)
        unanswered = sum(a == threshold for a in answers)
        return float((right + unanswered * right / len(truth)) / len(truth))

    return of_one(oracle)


def squares(truth: Any, answers: Any, weight: Any) -> float:
    return float(np.average((np.array(truth) - answers) ** 2, weights=weight))


TAKEN: dict[str, Oracle] = {
    "accuracy": of(sk.accuracy_score),
    "balanced_accuracy": of(sk.balanced_accuracy_score),
    "mcc": of(sk.matthews_corrcoef),
    "kappa": of(sk.cohen_kappa_score, labels=[0, 1]),
    **{part: of(getattr(sk, f"{part}_score"), zero_division=0) for part in PARTS},
}
ONE_LABEL: list[Row] = [
    ({"name": "log_loss"}, of_one(of(sk.log_loss, labels=[0, 1]))),
    ({"name": "brier"}, of_one(squares)),
    ({"name": "roc_auc"}, of_one(of(sk.roc_auc_score), positive=True, negative=True)),
    ({"name": "average_precision"}, of_one(of(sk.average_precision_score), positive=True)),
    *(
        ({"name": "accuracy", "threshold": threshold}, taken(threshold, TAKEN["accuracy"]))
        for threshold in ({"above": 0.5}, 0, {"above": 0.9})
    ),
    *(({"name": name, "threshold": 0.5}, taken(0.5, function)) for name, function in TAKEN.items()),
    *(
        (
            {"name": "fbeta", "beta": 2, "average": average, "threshold": 0.25, "zero_division": 1},
            taken(0.25, of(sk.fbeta_score, beta=2, average=average, zero_division=1)),
        )
        for average in AVERAGES
    ),
    ({"name": "c_at_1"}, c_at_1(0.5)),
    ({"name": "c_at_1", "threshold": 0.25}, c_at_1(0.25)),
]


def shares_pair(rng: random.Random, count: int) -> tuple[list[str], list[list[float]]]:
    gold, _ = labels_pair(rng, count)
    rows = []
    for _ in gold:
        shares = [rng.choice([1, 2, 5, rng.random() + 0.01]) for _ in LABELS]
        rows.append([share / sum(shares) for share in shares])
    return gold, rows


def one_hot(gold: Sequence[str]) -> Any:
    return np.array([[label == one for label in LABELS] for one in gold], dtype=float)


def curves(function: Callable[..., Any], average: str) -> Oracle:
    """Each label against the others, over those for which the area is defined."""

    def oracle(gold: Any, answers: Any, weight: Any) -> float:
        weight = weight or [1] * len(gold)
        areas, supports = [], []
        for at, label in enumerate(LABELS):
            support = sum(w for g, w in zip(gold, weight, strict=True) if g == label)
            if support and (function is sk.average_precision_score or support < sum(weight)):
                own = [one == label for one in gold], [row[at] for row in answers]
                areas.append(function(*own, sample_weight=weight))
                supports.append(support)
        return float(np.average(areas, weights=supports if average == "weighted" else None)) if areas else math.nan

    return oracle


def ece(bins: int) -> Oracle:
    def oracle(gold: Any, rows: Any, _: Any) -> float:
        found = 0.0
        for at in range(bins):
            own = [i for i, row in enumerate(rows) if at / bins < max(row) <= (at + 1) / bins]
            if own:
                right = float(np.mean([top(rows[i]) == gold[i] for i in own]))
                found += len(own) / len(rows) * abs(right - float(np.mean([max(rows[i]) for i in own])))
        return found

    return oracle


def top(row: Sequence[float]) -> str:
    return LABELS[int(np.argmax(row))]


ALL_LABELS: list[Row] = [
    ({"name": "log_loss"}, of(sk.log_loss, labels=LABELS)),
    (
        {"name": "brier"},
        lambda gold, rows, weight: float(np.average(((rows - one_hot(gold)) ** 2).sum(axis=1), weights=weight)),
    ),
    *(({"name": "top_k_accuracy", "k": k}, of(sk.top_k_accuracy_score, k=k, labels=LABELS)) for k in (1, 2)),
    *(
        ({"name": name, "average": average}, curves(getattr(sk, f"{name}_score"), average))
        for name in ("roc_auc", "average_precision")
        for average in ("macro", "weighted")
    ),
    ({"name": "ece"}, ece(10)),
    ({"name": "ece", "bins": 4}, ece(4)),
    *through(top, [points(LABELS), *one_of_each(rows_of_labels())], both=False),
]


# Tags and spans.


def tags_pair(rng: random.Random, count: int) -> tuple[list[list[str]], list[list[str]]]:
    every = ["O", "B-x", "I-x", "B-y-z", "I-y-z"]
    gold = [rng.choices(every, k=rng.randint(1, 6)) for _ in range(count)]
    return gold, [[tag if rng.random() < 0.6 else rng.choice(every) for tag in own] for own in gold]


def of_tags(part: str, average: str) -> Row:
    def oracle(gold: Any, answers: Any, _: Any) -> float:
        if {tag for own in (*gold, *answers) for tag in own} == {"O"}:
            return math.nan if average == "macro" else 0.0
        return float(getattr(seqeval, f"{part}_score")(gold, answers, average=average, zero_division=0))

    return {"name": f"span_{part}", "average": average}, oracle


TAGS: list[Row] = [EXACT, *(of_tags(part, average) for part in PARTS for average in ("micro", "macro"))]


def spans(rng: random.Random) -> list[list[Any]]:
    starts = rng.choices(range(4), k=rng.randint(0, 3))  # some are the same
    return [[start, start + rng.randint(1, 3), rng.choice("xy")] for start in starts]


def tuples(own: Any) -> list[tuple[Any, ...]]:
    return [tuple(one) for one in own]


def characters(own: Any) -> set[tuple[int, str]]:
    return {(at, kind) for start, end, kind in own for at in range(start, end)}


def overlapping(gold: Any, answer: Any) -> tuple[int, int]:
    """How many spans of the answer and of the gold share a character with one of the other side."""
    sides = gold, answer
    found = [
        sum(any(characters([one]) & characters([two]) for two in sides[1 - side]) for one in own)
        for side, own in enumerate(sides)
    ]
    return found[1], found[0]


def iou(covered: Callable[[Any], set[Any]]) -> Oracle:
    def of_key(gold: Any, answer: Any) -> float:
        either = covered(gold) | covered(answer)
        return len(covered(gold) & covered(answer)) / len(either) if either else 1.0

    return mean(of_key)


SPANS: list[Row] = [
    *rows_of_elements(tuples),
    *rows_of_elements(characters, match="characters"),
    *rows_of_elements(tuples, match="overlap", common=overlapping),
    ({"name": "span_iou"}, iou(characters)),
    ({"name": "exact_match"}, mean(lambda gold, answer: set(tuples(gold)) == set(tuples(answer)))),
]
OFFSETS: list[Row] = [
    *rows_of_elements(set),
    ({"name": "span_iou"}, iou(set)),
    ({"name": "exact_match"}, mean(lambda gold, answer: set(gold) == set(answer))),
]


def offsets(rng: random.Random) -> list[int]:
    return rng.sample(range(6), rng.randint(0, 4))


def entities(rng: random.Random) -> list[tuple[str, str]]:
    """Rows of a key: names, each with a label."""
    return [(f"e{at}", rng.choice("ab")) for at in rng.sample(range(5), rng.randint(1, 3))]


ENTITIES: list[Row] = [
    *rows_of_elements(tuples),
    ({"name": "exact_match"}, mean(lambda gold, answer: set(gold) == set(answer))),
]


# Texts.


def text(rng: random.Random) -> str:
    words = ["The", "cat", "a dog", "sat", "on", "mats.", "running", "STRASSE", "straße", "@@"]
    return " ".join(rng.choices(words, k=rng.randint(0, 6)))


def bleu(gold: Any, answers: Any, **options: Any) -> float:
    return float(sacrebleu.corpus_bleu(answers, [gold], **options).score)


def ter(gold: Any, answers: Any, **options: Any) -> float:
    return float(sacrebleu.corpus_ter(answers, [gold], **options).score)


def chrf(order: int, lower: bool) -> Row:
    library = sacrebleu.CHRF(word_order=order, lowercase=lower)
    return (
        {"name": "chrf", "word_order": order, "lowercase": lower},
        lambda gold, answers, _: float(library.corpus_score(answers, [gold]).score),
    )


def rouge(kind: str, stem: bool) -> Oracle:
    scorer = RougeScorer([kind], use_stemmer=stem)
    of_key: Oracle = mean(lambda gold, answer: float(scorer.score(gold, answer)[kind].fmeasure))
    return lambda gold, answers, _: of_key(gold, answers, None)


def rate(function: Callable[..., Any]) -> Oracle:
    return lambda gold, answers, _: float(function(gold, answers)) if any(gold) else math.nan


def folded(one: str) -> str:
    return one.strip().casefold()


def squad(one: str) -> str:
    """As SQuAD's official script normalises."""
    kept = "".join(c for c in one.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def shared_tokens(gold: str, answer: str) -> float:
    one, two = gold.split(), answer.split()
    if not one or not two:
        return float(one == two)
    both = sum((Counter(one) & Counter(two)).values())
    return 2 * both / (len(one) + len(two))


CUTS: list[tuple[Any, Callable[[str], list[str]]]] = [
    ("character", list),
    ("word", str.split),
    ({"separator": "@@"}, lambda one: one.split("@@") if one else []),
]


def of_subsequences(part: str, average: str, unit: Any, cut: Callable[[str], list[str]]) -> Row:
    def count(gold: str, answer: str) -> Sequence[float]:
        common = LCSseq.similarity(cut(gold), cut(answer))
        return common, len(cut(answer)), common, len(cut(gold))

    return {"name": f"lcs_{part}", "average": average, "unit": unit}, of_counts(part, average, count, 1.0)


def of_edits(average: str, unit: Any, cut: Callable[[str], list[str]]) -> Row:
    def oracle(gold: Any, answers: Any, weight: Any) -> float:
        found = [Levenshtein.distance(cut(one), cut(two)) for one, two in zip(gold, answers, strict=True)]
        return float(np.average(found, weights=weight) if average == "macro" else np.dot(found, weight or 1).sum())

    return {"name": "edit_distance", "average": average, "unit": unit}, oracle


TOKENS: Row = ({"name": "token_f1"}, mean(shared_tokens))
RATES: list[Row] = [({"name": "wer"}, rate(jiwer.wer)), ({"name": "cer"}, rate(jiwer.cer))]
TEXTS: list[Row] = [
    ({"name": "bleu"}, unweighted(bleu)),
    ({"name": "bleu", "lowercase": True, "tokenize": "char"}, unweighted(bleu, lowercase=True, tokenize="char")),
    *(chrf(order, lower) for order, lower in ((0, False), (2, True))),
    ({"name": "ter", "lowercase": False}, unweighted(ter, case_sensitive=True)),
    ({"name": "ter", "lowercase": True}, unweighted(ter)),
    *(
        ({"name": "rouge", "type": kind, "stem": stem}, rouge(kind, stem))
        for kind, stem in (("rouge1", False), ("rouge2", True), ("rougeL", False), ("rougeLsum", True))
    ),
    *RATES,
    *through(str.lower, RATES, lowercase=True),
    ({"name": "exact_match"}, mean(lambda gold, answer: gold.strip() == answer.strip())),
    *through(folded, [EXACT], case="ignore"),
    *through(squad, [EXACT], normalise="squad"),
    *through(squad, [TOKENS], normalise="squad"),
    *through(str, [TOKENS], normalise="none"),
    *through(folded, [TOKENS], normalise="none", case="ignore"),
    *(of_subsequences(part, average, *cut) for part in PARTS for average in ("macro", "micro") for cut in CUTS),
    *(of_edits(average, *cut) for average in ("macro", "micro") for cut in CUTS),
]


# Rankings.


def ranking_pair(rng: random.Random, count: int) -> tuple[list[Any], list[Any]]:
    """Judged items of each query, of which one at least is relevant, and ranked ones with scores, some equal."""
    items = [f"d{at}" for at in range(9)]
    gold: list[Any] = []
    answers: list[Any] = []
    for _ in range(count):
        judged = rng.sample(items, 6)
        gold.append([(item, 1 if item == judged[0] else rng.choice([0, 0, 1, 2])) for item in judged])
        answers.append(
            [(item, rng.randint(1, 6)) for item in rng.sample(items, rng.choice([0, 4, 9] if answers else [4, 9]))]
        )
    return gold, answers


def ordered(rows: Any, ties: str, rank: bool) -> list[str]:
    """Items from the first to the last: of equal ones the later name, as trec_eval has it, or the earlier row."""
    if ties == "trec":
        rows = sorted(rows, key=lambda row: row[0], reverse=True)
    return [item for item, _ in sorted(rows, key=lambda row: row[1] if rank else -row[1])]


def of_rankings(name: str, measure: Any, ties: str, rank: bool, **options: Any) -> Row:
    def oracle(gold: Any, answers: Any, _: Any) -> float:
        judged = [ir_measures.Qrel(str(q), item, level) for q, own in enumerate(gold) for item, level in own]
        if options.get("gain") == "exponential":  # as Burges has it
            judged = [one._replace(relevance=2**one.relevance - 1) for one in judged]
        run = []
        for query, rows in enumerate(answers):
            for at, item in enumerate(ordered(rows, ties, rank)):
                run.append(ir_measures.ScoredDoc(str(query), item, -at))
        by_query = {one.query_id: one.value for one in ir_measures.iter_calc([measure], judged, run)}
        return sum(by_query.values()) / len(gold)

    metric = {"name": name, **options, **({"ties": ties} if ties == "order" else {})}
    return {**metric, **({"rank": "place"} if rank else {})}, oracle


def rankings(rank: bool) -> Iterator[Row]:
    measures: dict[str, Any] = {"ndcg": ir_measures.nDCG, "ap": ir_measures.AP, "rr": ir_measures.RR}
    at = {**measures, "precision_at": ir_measures.P, "recall_at": ir_measures.R}
    names = {"item": "doc", "relevance": "grade"} if rank else {}
    for ties in ("trec", "order"):
        for name, measure in measures.items():
            yield of_rankings(name, measure, ties, rank, **names)
        for (name, measure), cutoff in itertools.product(at.items(), (1, 3)):
            yield of_rankings(name, measure @ cutoff, ties, rank, cutoff=cutoff, **names)
        yield of_rankings("r_precision", ir_measures.Rprec, ties, rank, **names)
        yield of_rankings("ndcg", ir_measures.nDCG, ties, rank, gain="exponential", **names)


LABEL = {"field": "x", "type": "label", "values": LABELS}
WORDS = ["low", "mid", "high"]
CODES = ["1", "2", "5"]


def ordinals(values: list[str], numbers: Mapping[str, float]) -> Kind:
    rows = [*one_of_each(rows_of_labels(values)), *(kappa(weights, values) for weights in ("linear", "quadratic"))]
    rows += [points(values), EXACT, *through(numbers.__getitem__, [*NUMBERS[:-1], *SIZES[2:]])]
    if 0 not in numbers.values():
        rows += through(numbers.__getitem__, SIZES[:2])
    pair = lambda rng, count: labels_pair(rng, count, values)  # noqa: E731
    return Kind([{"field": "x", "type": "ordinal", "values": values}], pair, rows)


def series(field: dict[str, Any], value: Callable[[random.Random], Any], number: Callable[[Any], float]) -> Kind:
    """Each key's error is relative to a number of its own."""

    def pair(rng: random.Random, count: int) -> tuple[list[Any], list[Any]]:
        return [(value(rng), rng.randint(1, 4)) for _ in range(count)], [value(rng) for _ in range(count)]

    error = mean(lambda gold, answer: abs(number(gold[0]) - number(answer)) / gold[1])
    rows: list[Row] = [({"name": "mase", "scale": "naive"}, error)]
    return Kind([field], pair, rows, gold_cells=lambda one: {"x": one[0], "naive": one[1]})


def places_pair(rng: random.Random, size: int) -> tuple[list[list[str]], list[list[str]]]:
    """Lists of labels, as long on both sides."""
    sizes = [rng.randint(1, 4) for _ in range(size)]
    gold, answers = labels_pair(rng, sum(sizes))
    ends = list(itertools.accumulate(sizes))
    cuts = list(zip([0, *ends], ends, strict=False))
    return [gold[start:end] for start, end in cuts], [answers[start:end] for start, end in cuts]


def place_by_place(oracle: Oracle) -> Oracle:
    """An oracle of labels over all places of lists of them, each weighing as its key."""

    def whole(gold: Any, answers: Any, weight: Any) -> float:
        weights = None if weight is None else np.repeat(weight, list(map(len, gold)))
        return oracle(list(itertools.chain(*gold)), list(itertools.chain(*answers)), weights)

    return whole


def of_components(function: Callable[..., Any]) -> list[tuple[str, Oracle]]:
    """A function of scikit-learn of each key's numbers, averaged over keys; and of all numbers at once."""

    def pooled(gold: Any, answers: Any, weight: Any) -> float:
        weights = None if weight is None else np.repeat(weight, list(map(len, gold)))
        return float(function(np.concatenate(gold), np.concatenate(answers), sample_weight=weights))

    return [("key", mean(lambda gold, answer: float(function(gold, answer)))), ("pooled", pooled)]


COMPONENTS: list[Row] = [
    ({"name": name, "average": average}, oracle)
    for name in ("mse", "rmse", "mae")
    for average, oracle in of_components(ERRORS[name])
]
RANKED = [{"field": "doc", "type": "string"}, {"field": "place", "type": "number"}]
SCORED = [{"field": "item", "type": "string"}, {"field": "score", "type": "number"}]
KINDS: dict[str, Kind] = {
    "labels": Kind([LABEL], labels_pair, [*rows_of_labels(), points(LABELS), EXACT]),
    "open_labels": Kind([{"field": "x", "type": "label"}], labels_pair, [*rows_of_labels(declared=False), *CLUSTERS]),
    "labels_left_out": Kind([{**LABEL, "required": False}], left_out, NOT_ANSWERED),
    "names": Kind([{"field": "x", "type": "string"}], labels_pair, [EXACT, *CLUSTERS]),
    "ordinals_of_numbers": ordinals(CODES, {one: float(one) for one in CODES}),
    "ordinals_of_words": ordinals(WORDS, {one: float(at) for at, one in enumerate(WORDS)}),
    "sets": Kind([{"field": "x", "type": "labels", "values": LABELS}], pairs_of(set_of_labels), SETS),
    "open_sets": Kind([{"field": "x", "type": "labels"}], known_sets, OPEN_SETS),
    "numbers": Kind([{"field": "x", "type": "number"}], pairs_of(number, 0.2), NUMBERS),
    "sizes": Kind([{"field": "x", "type": "number", "min": 0}], pairs_of(size, 0.2), SIZES),
    "series": series({"field": "x", "type": "number"}, size, float),
    "series_of_ordinals": series(
        {"field": "x", "type": "ordinal", "values": CODES}, lambda rng: rng.choice(CODES), float
    ),
    "probability": Kind(
        [{"field": "x", "type": "number", "min": 0, "max": 1}],
        probabilities_pair,
        [({**metric, "positive": "yes", "gold": "label"}, oracle) for metric, oracle in ONE_LABEL],
        gold="label",
    ),
    "probabilities": Kind(
        [{"field": "x", "type": "probabilities", "values": LABELS, "columns": ["p_a", "p_b", "p_c"]}],
        shares_pair,
        [({**metric, "gold": "label"}, oracle) for metric, oracle in ALL_LABELS],
        gold="label",
        cells=lambda row: dict(zip(["p_a", "p_b", "p_c"], row, strict=True)),
    ),
    "tags": Kind([{"field": "x", "type": "tags"}], tags_pair, TAGS),
    "spans": Kind([{"field": "x", "type": "spans"}], pairs_of(spans), SPANS),
    "offsets": Kind([{"field": "x", "type": "offsets"}], pairs_of(offsets), OFFSETS),
    "texts": Kind([{"field": "x", "type": "text"}], pairs_of(text, 0.3), TEXTS),
    "lists_of_numbers": Kind(
        [{"field": "x", "type": "numbers"}], pairs_of(lambda rng: [number(rng), number(rng)]), [*COMPONENTS, EXACT]
    ),
    "lists_of_labels": Kind(
        [{**LABEL, "type": "tags", "scheme": "none"}],
        places_pair,
        [(metric, place_by_place(oracle)) for metric, oracle in one_of_each(rows_of_labels())],
    ),
    "lists_of_texts": Kind(
        [{"field": "x", "type": "texts"}], pairs_of(lambda rng: [text(rng) for _ in range(rng.randint(1, 2))]), [EXACT]
    ),
    "rows": Kind(
        [{"field": "name", "type": "string"}, {"field": "kind", "type": "label", "values": ["a", "b"]}],
        pairs_of(entities),
        ENTITIES,
        cells=lambda row: {"name": row[0], "kind": row[1]},
        many=True,
    ),
    "rankings_by_score": Kind(
        SCORED,
        ranking_pair,
        list(rankings(rank=False)),
        cells=lambda row: {"item": row[0], "score": row[1]},
        gold_cells=lambda row: {"item": row[0], "relevance": row[1]},
        many=True,
    ),
    "rankings_by_rank": Kind(
        RANKED,
        ranking_pair,
        list(rankings(rank=True)),
        cells=lambda row: {"doc": row[0], "place": row[1]},
        gold_cells=lambda row: {"doc": row[0], "grade": row[1]},
        many=True,
    ),
}
"""By name."""
