"""What could be meant: what a scorer's code says, declarations that its files allow, and the metric of each column."""

import ast
import itertools
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gen_bundle.author.importing.comparing import Outcome, are_equal
from gen_bundle.author.importing.tables import KEY, VALUE, FilePair, FoundTable, is_number

LARGEST_CODE = 1_000_000
CODE_ENDINGS = (".py", ".r", ".sh", ".pl", ".rb")
LONGEST_NAME = 100
"""A text in the code that is shorter may hold the name of a metric."""
QUOTED = re.compile(r"""'([^'\n]*)'|"([^"\n]*)\"""")
MOST_LABELS = 60
MOST_EACH = 12
"""With more labels than so many, none gets metrics of its own."""
PATTERNS = {
    "accuracy": r".*acc|.*accuracy.*",
    "exact_match": r".*exact_?match.*|em|.*accuracy.*",
    "balanced_accuracy": r".*bal.*acc.*|bac|bacc",
    "mcc": r".*matthews.*|mcc",
    "kappa": r".*kappa.*|qwk",
    "f1": r".*f1.*|.*f_?score.*|.*f_?measure.*",
    "precision": r".*precision.*",
    "recall": r".*recall.*|.*sensitivity.*|tpr",
    "pearson": r".*pearson.*|corrcoef|cor|corr",
    "spearman": r".*spearman.*",
    "kendall": r".*kendall.*",
    "ccc": r".*concordance.*|ccc",
    "mse": r".*mse|.*mean_squared_error.*",
    "rmse": r".*rmse.*|sqrt|root_mean_squared_error",
    "mae": r".*mae.*|.*mean_absolute_error.*",
    "r2": r".*r2.*|.*r_squared.*",
    "medae": r".*medae.*|.*median_absolute_error.*",
    "max_error": r".*max_error.*",
    "mape": r".*mape.*|.*mean_absolute_percentage_error.*",
    "smape": r".*smape.*",
    "roc_auc": r".*auc.*|roc.*",
    "average_precision": r".*average_precision.*|ap|.*pr_?auc.*",
    "log_loss": r".*log_?loss.*|.*cross_?entropy.*",
    "brier": r".*brier.*",
    "bleu": r".*bleu.*",
    "chrf": r".*chrf.*",
    "ter": r"ter",
    "rouge": r".*rouge.*",
    "token_f1": r".*f1.*",
    "wer": r".*wer|.*word_error.*",
    "cer": r".*cer|.*character_error.*",
    "edit_distance": r".*edit.*distance.*|.*levenshtein.*",
}
OF_LABELS = ("accuracy", "balanced_accuracy", "mcc", "kappa")
OF_NUMBERS = ("pearson", "spearman", "kendall", "ccc", "mse", "rmse", "mae", "r2", "medae", "max_error")
OF_CHANCES = ("roc_auc", "average_precision", "log_loss", "brier")
ONLY_NAMED = ("bleu", "chrf", "ter", "rouge", "token_f1", "wer", "cer", "edit_distance")
"""Metrics that are tried only where the code names them."""
AVERAGED = ("f1", "precision", "recall")
AVERAGES = (
    *({"average": "macro"}, {"average": "micro"}, {"average": "weighted"}),
    *({"average": "macro", "labels": "gold"}, {"average": "macro", "labels": "declared"}),
)
FORMATS = {",": "csv", "\t": "tsv"}
"""The files of tables, by what separates their cells."""
FORMS: Mapping[str, Callable[[float], float]] = {
    "{}": lambda value: value,
    "100 * {}": lambda value: 100 * value,
    "1 - {}": lambda value: 1 - value,
    "100 * (1 - {})": lambda value: 100 * (1 - value),
    "0 - {}": lambda value: -value,
}
"""What scorers write in place of a metric's own value, as an expression."""
MOST_DECIMALS = 8
SAME = 1e-6
FEWEST = 3
"""So many submissions must have values, not all the same, before a metric is taken for a column's."""


# What the code says


@dataclass(frozen=True)
class ScorerCode:
    """The code of a scoring program.

    Attributes:
        names: every name, attribute and word in it, in small letters.
        texts: the texts in it, whole.
    """

    names: frozenset[str]
    texts: frozenset[str]

    def names_metric(self, name: str) -> bool:
        """Whether a name in it, taken as a whole, is that of a metric."""
        return any(re.fullmatch(PATTERNS[name], one) for one in self.names)

    def takes_any_name(self, file: str) -> bool:
        """Whether it looks for a file by its suffix, and never names it whole."""
        suffix = file.rpartition(".")[2]
        if "." not in file or any(text == file or text.endswith(f"/{file}") for text in self.texts):
            return False
        return any(text in (suffix, f".{suffix}") or text.endswith(f"*.{suffix}") for text in self.texts)


def read_code(program: Path) -> ScorerCode:
    """The code in a program's folder; of what is not Python 3, the words and quoted texts alone."""
    names: set[str] = set()
    texts: set[str] = set()
    for path in sorted(program.rglob("*")):
        if path.suffix.lower() not in CODE_ENDINGS or not path.is_file() or path.stat().st_size > LARGEST_CODE:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            names.update(re.findall(r"\w+", text.lower()))
            texts.update(filter(None, itertools.chain(*re.findall(QUOTED, text))))
            continue
        for node in ast.walk(tree):
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.FunctionDef(name=name):
                    names.add(name.lower())
                case ast.alias(name=name):
                    names.add(name.rpartition(".")[2].lower())
                case ast.Constant(value=str(said)):
                    texts.add(said)
                    if len(said) < LONGEST_NAME:
                        small = said.lower()
                        names.update([small, *re.findall("[a-z0-9]+", small)])
    return ScorerCode(frozenset(names), frozenset(texts))


# Declarations that its files allow


@dataclass(frozen=True)
class ScoringProposal:
    """A declaration of what is handed in, and the metrics that may be meant, the likeliest first.

    Attributes:
        files: the keys `submission` and `reference` of a declaration; with several tables `submission` alone.
        metrics: by the key of the column that has one while it is searched.
    """

    files: Mapping[str, Any]
    metrics: Mapping[str, Mapping[str, Any]]


def proposals(pairs: Sequence[FilePair], code: ScorerCode) -> Iterator[ScoringProposal]:
    """What the files may be, the likeliest first: their columns are labels, or numbers, or texts."""
    likeliest: list[list[str]] = []
    second: list[list[str]] = []
    for pair in pairs:
        kinds = [_kinds(pair, column, code) for column in pair.fields]
        likeliest.append([one[0] for one in kinds])
        second.append([one[-1] for one in kinds])
    yield _proposal(pairs, likeliest, code)
    if second != likeliest:
        yield _proposal(pairs, second, code)


def _kinds(pair: FilePair, column: str, code: ScorerCode) -> list[str]:
    """What a column may hold, the likeliest first, two at most: label, number, chance (of a label), string or text."""
    answers, gold = pair.answer.column(column), pair.gold_values(column)
    labels = set(map(str, gold))
    few = len(labels) <= min(MOST_LABELS, max(2, len(gold) // 2))
    if not all(map(is_number, answers)):
        kinds = ["text", "string"]
        if few:
            kinds[0] = "label"
    elif not all(map(is_number, gold)):
        kinds = ["chance"]
    elif few and set(map(str, answers)) <= labels:
        kinds = ["label", "number"]
        if any(map(code.names_metric, OF_NUMBERS)):
            kinds.reverse()
    else:
        kinds = ["number"]
        if few and len(labels) == 2:
            kinds.append("chance")
    return kinds


def _proposal(pairs: Sequence[FilePair], kinds: Sequence[Sequence[str]], code: ScorerCode) -> ScoringProposal:
    tables: dict[str, dict[str, Any]] = {}
    metrics: list[dict[str, Any]] = []
    for pair, of_pair in zip(pairs, kinds, strict=True):
        name = pair.answer.name.rpartition("/")[2].partition(".")[0].replace("-", "_")
        if not name.isidentifier() or name in tables:
            name = f"table{len(tables) + 1}"
        tables[name] = {**_submission(pair, of_pair, code), "reference": _reference(pair)}
        for metric in _metrics(pair, of_pair):
            if metric["name"] not in ONLY_NAMED or code.names_metric(metric["name"]):
                metrics.append({"table": name, **metric})

    def likeliness(metric: Mapping[str, Any]) -> tuple[bool, bool]:
        options = {metric.get("average"), metric.get("weights")}
        return code.names_metric(metric["name"]), not code.names.isdisjoint(options)

    metrics.sort(key=likeliness, reverse=True)
    likely = dict(zip(map("m{}".format, itertools.count()), metrics, strict=False))
    if len(pairs) > 1:
        return ScoringProposal({"submission": {"tables": tables}}, likely)
    for metric in metrics:
        del metric["table"]
    (table,) = tables.values()
    reference = table.pop("reference")
    return ScoringProposal({"submission": table, "reference": reference}, likely)


def _submission(pair: FilePair, kinds: Sequence[str], code: ScorerCode) -> dict[str, Any]:
    answer = pair.answer
    file = answer.name
    if code.takes_any_name(file):
        file = f"*.{file.rpartition('.')[2]}"
    kind_of = dict(zip(pair.fields, kinds, strict=True))
    fields: list[dict[str, Any]] = []
    for column in answer.columns:
        if column in pair.key:
            fields.append(_field(column, "string", "What the row answers."))
        elif column in kind_of:
            fields.append(_answer_field(pair, column, kind_of[column]))
        elif answer.form == "cells" and not answer.header:
            fields.append({**_field(column, "text", "Not read."), "required": False})
    key: Any = list(pair.key) or ["line"]
    if len(key) == 1:
        (key,) = key
    return {"file": file, **_form(answer), "key": key, "fields": fields}


def _field(name: str, kind: str, meaning: str) -> dict[str, Any]:
    return {"field": name, "type": kind, "required": True, "meaning": meaning}


def _answer_field(pair: FilePair, column: str, kind: str) -> dict[str, Any]:
    field = _field(column, kind, "The answer.")
    if kind == "label":
        field["values"] = _labels(pair.gold_values(column))
    if kind == "chance":
        field["type"] = "number"
        if all(0 <= float(value) <= 1 for value in pair.answer.column(column)):
            field |= {"min": 0, "max": 1}
    return field


def _labels(values: Sequence[Any]) -> list[str]:
    """The labels, as texts: numbers in their order, others by the alphabet."""
    labels = sorted(set(map(str, values)))
    if all(map(is_number, labels)):
        labels.sort(key=float)
    return labels


def _form(table: FoundTable) -> dict[str, Any]:
    """How a file is read, where its suffix does not say so."""
    suffix = table.name.rpartition(".")[2].lower()
    if table.form != "cells":
        return {}
    is_table = suffix in FORMATS.values()
    if not table.delimiter and is_table:
        return {"header": "none"}  # one cell a line
    form: dict[str, Any] = {}
    if not is_table and suffix != "txt":
        suffix = form["format"] = FORMATS.get(table.delimiter, "txt")
    if not table.delimiter:
        return form
    if FORMATS.get(table.delimiter) != suffix:
        form["delimiter"] = table.delimiter
    if not table.header:
        form["header"] = "none"
    return form


def _reference(pair: FilePair) -> dict[str, Any]:
    gold = pair.gold
    said: dict[str, Any] = {"file": gold.name, **_form(gold)}
    own = {theirs: mine for mine, theirs in (pair.key | pair.fields).items()}
    if len(gold.columns) == 1:
        return said
    if gold.form == "cells" and not gold.header:
        return {**said, "columns": [own.get(column, f"gold_{column}") for column in gold.columns]}
    others = {mine: {"column": theirs} for theirs, mine in own.items() if theirs not in (mine, KEY, VALUE)}
    if others:
        said["fields"] = others
    return said


# Metrics


def _metrics(pair: FilePair, kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Every metric that fits a pair's columns, and the means over those of one kind."""
    columns = list(pair.fields)
    found = []
    for column, kind in zip(columns, kinds, strict=True):
        found.append(list(_of_kind(kind, pair.gold_values(column))))
        for metric in found[-1]:
            yield {"name": metric["name"], "field": column, **metric}
    if len(columns) > 1:
        yield {"name": "exact_match", "fields": columns}
    if len(columns) > 1 and len(set(kinds)) == 1:
        for metric in found[0]:
            if all(map(operator.contains, found, itertools.repeat(metric))):
                yield {"name": metric["name"], "fields": columns, **metric}


def _of_kind(kind: str, gold: Sequence[Any]) -> Iterator[dict[str, Any]]:
    if kind == "label":
        yield from _of_labels(_labels(gold))
        return
    if kind == "chance":
        yield from _of_chances(_labels(gold))
        return
    names = ["exact_match"]
    if kind == "number":
        names = [*OF_NUMBERS, "exact_match", "smape"]
        if 0 not in map(float, gold):
            names.append("mape")
    elif kind == "text":
        names += ONLY_NAMED
    for name in names:
        yield {"name": name}


def _of_labels(labels: Sequence[str]) -> Iterator[dict[str, Any]]:
    for name in OF_LABELS:
        yield {"name": name}
    for weights in ("linear", "quadratic"):
        yield {"name": "kappa", "weights": weights}
    for name in AVERAGED:
        for options in AVERAGES:
            yield {"name": name, **options}
        if len(labels) <= MOST_EACH:
            for label in reversed(labels):
                yield {"name": name, "average": "binary", "positive": label}


def _of_chances(labels: Sequence[str]) -> Iterator[dict[str, Any]]:
    for positive in reversed(labels):
        for name in OF_CHANCES:
            yield {"name": name, "positive": positive}
        for name in ("accuracy", *AVERAGED):
            yield {"name": name, "threshold": 0.5, "positive": positive}


# Choosing


@dataclass(frozen=True)
class ChosenMetric:
    """What gives a column its values: a metric, or an expression of it.

    Attributes:
        decimals: to which the original rounds them; None: not at all.
    """

    metric: Mapping[str, Any]
    form: str = "{}"
    decimals: int | None = None

    @property
    def said(self) -> str:
        """As a declaration would say it."""
        options = ", ".join(f"{name}: {value}" for name, value in self.metric.items() if name != "name")
        words = self.form.format(f"{self.metric['name']} ({options})")
        if self.decimals is None:
            return words
        return f"{words}, rounded to {self.decimals} decimals"


def choose(
    column: str, proposal: ScoringProposal, originals: Sequence[Outcome], declared: Sequence[Outcome]
) -> ChosenMetric | None:
    """The first metric whose values are the column's; None where none's are."""
    wanted: list[float] = []
    scored: list[Outcome] = []
    for original, ours in zip(originals, declared, strict=True):
        value = original.value(column)
        if value is not None:
            wanted.append(value)
            scored.append(ours)
    if len(wanted) < FEWEST or max(wanted) - min(wanted) < SAME:
        return None
    return next(_giving(wanted, scored, proposal), None)


def _giving(wanted: Sequence[float], scored: Sequence[Outcome], proposal: ScoringProposal) -> Iterator[ChosenMetric]:
    """The metrics that gave the wanted values, or gave them before they were rounded."""
    decimals = max(len(f"{value:.12f}".rstrip("0").partition(".")[2]) for value in wanted)
    for form, applied in FORMS.items():
        for key, metric in proposal.metrics.items():
            got = []
            for one in scored:
                value = one.value(key)
                if value is not None:
                    got.append(applied(value))
            if len(got) < len(wanted):
                continue
            if all(map(are_equal, wanted, got)):
                yield ChosenMetric(metric, form)
            elif decimals <= MOST_DECIMALS and all(map(are_equal, wanted, map(round, got, itertools.repeat(decimals)))):
                yield ChosenMetric(metric, form, decimals)
