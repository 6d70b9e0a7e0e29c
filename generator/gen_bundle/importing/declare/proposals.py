"""Declarations that may say what a scorer does: tables as its files show them, and every metric that may be meant."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gen_bundle.importing.declare.pairs import FilePair
from gen_bundle.importing.declare.scorer_code import ScorerCode
from gen_bundle.importing.declare.tables import KEY, VALUE, FoundTable, is_number

MOST_LABELS = 60
MOST_KINDS = 2
MOST_EACH = 12
"""With more labels than so many, none gets metrics of its own."""
SUFFIXES = ("csv", "tsv", "jsonl", "json", "txt")
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
    "rmsle": r".*rmsle.*|.*squared_log.*",
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
OF_LABELS = ("accuracy", "balanced_accuracy", "mcc")
OF_NUMBERS = ("pearson", "spearman", "kendall", "ccc", "mse", "rmse", "mae", "r2", "medae", "max_error", "exact_match")
OF_CHANCES = ("roc_auc", "average_precision", "log_loss", "brier")
ONLY_NAMED = ("bleu", "chrf", "ter", "rouge", "token_f1", "wer", "cer", "edit_distance")
"""Metrics that are tried only where the code names them."""
AVERAGED = ("f1", "precision", "recall")


@dataclass(frozen=True)
class ScoringProposal:
    """A declaration of what is handed in, and the metrics that may be meant, the likeliest first."""

    submission: Mapping[str, Any]
    reference: Mapping[str, Any] | None
    metrics: tuple[Mapping[str, Any], ...]


def proposals(pairs: Sequence[FilePair], code: ScorerCode) -> Iterator[ScoringProposal]:
    """What the files may be, the likeliest first: their columns are labels, or numbers, or texts."""
    made: list[list[list[str]]] = []
    for turn in range(MOST_KINDS):
        chosen = [_kinds_of_turn(pair, code, turn) for pair in pairs]
        if chosen not in made:
            made.append(chosen)
            yield _proposal(pairs, chosen, code)


def _kinds_of_turn(pair: FilePair, code: ScorerCode, turn: int) -> list[str]:
    """What each column may hold, in the order of likeliness; the last that it may where there are no more."""
    kinds = [_kinds(pair, *field, code) for field in pair.fields]
    return [one[min(turn, len(one) - 1)] for one in kinds]


def _kinds(pair: FilePair, answered: str, wanted: str, code: ScorerCode) -> list[str]:
    """What a column may hold, the likeliest first: label, number, chance (of a label), string or text."""
    answers, gold = pair.answer.column(answered), pair.gold_values(wanted)
    few = len(set(map(str, gold))) <= min(MOST_LABELS, max(2, len(gold) // 2))
    if all(map(is_number, answers)):
        if not all(map(is_number, gold)):
            return ["chance"]
        if not few:
            return ["number"]
        if not set(map(str, answers)) <= set(map(str, gold)):
            return ["number", "chance"] if len(set(map(str, gold))) == 2 else ["number"]
        numeric = any(code.names_metric(PATTERNS[one]) for one in OF_NUMBERS[:-1])
        return ["number", "label"] if numeric else ["label", "number"]
    return ["label", "string"] if few else ["text", "string"]


def _proposal(pairs: Sequence[FilePair], kinds: Sequence[Sequence[str]], code: ScorerCode) -> ScoringProposal:
    if len(pairs) == 1:
        metrics = _metrics(pairs[0], kinds[0], code)
        return ScoringProposal(
            _submission(pairs[0], kinds[0], code), _reference(pairs[0]), tuple(_sorted(metrics, code))
        )
    tables: dict[str, Any] = {}
    found: list[dict[str, Any]] = []
    for pair, of_pair in zip(pairs, kinds, strict=True):
        name = _table_name(pair, len(tables))
        tables[name] = {**_submission(pair, of_pair, code), "reference": _reference(pair)}
        found += [{"table": name, **metric} for metric in _metrics(pair, of_pair, code)]
    return ScoringProposal({"tables": tables}, None, tuple(_sorted(found, code)))


def _table_name(pair: FilePair, number: int) -> str:
    stem = pair.answer.name.rpartition("/")[2].partition(".")[0].replace("-", "_")
    return stem if stem.isidentifier() else f"table{number + 1}"


def _submission(pair: FilePair, kinds: Sequence[str], code: ScorerCode) -> dict[str, Any]:
    answer = pair.answer
    file = answer.name
    if code.takes_any_name(file):
        file = f"*.{file.rpartition('.')[2]}"
    typed = dict(zip([column for column, _ in pair.fields], kinds, strict=True))
    keys = [column for column, _ in pair.key]
    wanted = dict(pair.fields)
    fields: list[dict[str, Any]] = []
    for column in answer.columns:
        if column in keys:
            fields.append(_field(column, "string", "What the row answers."))
        elif column in typed:
            fields.append(_typed(pair, column, wanted[column], typed[column]))
        elif answer.form == "cells" and not answer.header:
            fields.append({**_field(column, "text", "Not read."), "required": False})
    key: Any = keys or "line"
    if len(keys) == 1:
        key = keys[0]
    return {"file": file, **_form(answer), "key": key, "fields": fields}


def _field(name: str, kind: str, meaning: str) -> dict[str, Any]:
    return {"field": name, "type": kind, "required": True, "meaning": meaning}


def _typed(pair: FilePair, column: str, wanted: str, kind: str) -> dict[str, Any]:
    if kind == "label":
        return {**_field(column, kind, "The answer."), "values": labels_of(pair.gold_values(wanted))}
    if kind != "chance":
        return _field(column, kind, "The answer.")
    field = _field(column, "number", "The answer.")
    numbers = [float(value) for value in pair.answer.column(column)]
    return {**field, "min": 0, "max": 1} if min(numbers) >= 0 and max(numbers) <= 1 else field


def labels_of(values: Sequence[Any]) -> list[str]:
    """The labels, as texts: numbers in their order, others by the alphabet."""
    labels = sorted(set(map(str, values)))
    return sorted(labels, key=float) if all(map(is_number, labels)) else labels


def _form(table: FoundTable) -> dict[str, Any]:
    """How a file is read, where its suffix does not say so."""
    suffix = table.name.rpartition(".")[2].lower()
    if table.form != "cells":
        return {}
    usual = {"csv": ",", "tsv": "\t", "txt": ""}
    if not table.delimiter and suffix in ("csv", "tsv"):
        return {"header": "none"}  # one cell a line
    form: dict[str, Any] = {}
    if not table.delimiter and suffix != "txt":
        return {"format": "txt"}
    if suffix not in usual:
        form["format"] = {",": "csv", "\t": "tsv"}.get(table.delimiter, "txt")
    if table.delimiter not in (usual.get(suffix), "", {"csv": ",", "tsv": "\t"}.get(form.get("format", ""))):
        form["delimiter"] = table.delimiter
    if not table.header and table.delimiter:
        form["header"] = "none"
    return form


def _reference(pair: FilePair) -> dict[str, Any]:
    gold = pair.gold
    said: dict[str, Any] = {"file": gold.name, **_form(gold)}
    own = {theirs: mine for mine, theirs in (*pair.key, *pair.fields)}
    if len(gold.columns) == 1:
        return said
    if gold.form == "cells" and not gold.header:
        said["columns"] = [own.get(column, f"gold_{column}") for column in gold.columns]
        return said
    others = {mine: {"column": theirs} for theirs, mine in own.items() if theirs not in (mine, KEY, VALUE)}
    return {**said, "fields": others} if others else said


# Metrics


def _sorted(metrics: Sequence[Mapping[str, Any]], code: ScorerCode) -> list[Mapping[str, Any]]:
    """Those that the code names first."""

    def likeliness(metric: Mapping[str, Any]) -> tuple[bool, bool]:
        options = [metric.get(option) for option in ("average", "weights")]
        is_named = code.names_metric(PATTERNS[metric["name"]])
        return is_named, any(option in code.names for option in options)

    return sorted(metrics, key=likeliness, reverse=True)


def _metrics(pair: FilePair, kinds: Sequence[str], code: ScorerCode) -> list[dict[str, Any]]:
    """Every metric that fits a pair's columns, and the means over those of one kind."""
    found: list[dict[str, Any]] = []
    for (column, wanted), kind in zip(pair.fields, kinds, strict=True):
        gold = pair.gold_values(wanted)
        found += [{"field": column, **metric} for metric in _of_kind(kind, gold, code)]
    columns = [column for column, _ in pair.fields]
    if len(columns) > 1:
        found.append({"name": "exact_match", "fields": columns})
    if len(columns) > 1 and len(set(kinds)) == 1:
        shared = _of_kind(kinds[0], pair.gold_values(pair.fields[0][1]), code)
        for _, wanted in pair.fields[1:]:
            others = _of_kind(kinds[0], pair.gold_values(wanted), code)
            shared = [metric for metric in shared if metric in others]
        found += [{"fields": columns, **metric} for metric in shared]
    return [{"name": metric.pop("name"), **metric} for metric in found]


def _of_kind(kind: str, gold: Sequence[Any], code: ScorerCode) -> list[dict[str, Any]]:
    if kind == "label":
        return list(_of_labels(labels_of(gold)))
    if kind == "number":
        names = [*OF_NUMBERS, *_of_these_numbers(list(map(float, gold)))]
        return [{"name": name} for name in names]
    if kind == "chance":
        return list(_of_chances(labels_of(gold)))
    named = [{"name": name} for name in ONLY_NAMED if code.names_metric(PATTERNS[name])]
    if kind == "string":
        named = []
    return [{"name": "exact_match"}, *named]


def _of_these_numbers(gold: Sequence[float]) -> list[str]:
    """The metrics that some gold does not allow."""
    found = ["smape"]
    if 0 not in gold:
        found.append("mape")
    return found


def _of_labels(labels: Sequence[str]) -> Iterator[dict[str, Any]]:
    yield from ({"name": name} for name in OF_LABELS)
    yield {"name": "kappa"}
    yield from ({"name": "kappa", "weights": weights} for weights in ("linear", "quadratic"))
    for name in AVERAGED:
        for average in ("macro", "micro", "weighted"):
            yield {"name": name, "average": average}
        yield {"name": name, "average": "macro", "labels": "gold"}
        yield {"name": name, "average": "macro", "labels": "declared"}
        if len(labels) <= MOST_EACH:
            yield from ({"name": name, "average": "binary", "positive": label} for label in reversed(labels))


def _of_chances(labels: Sequence[str]) -> Iterator[dict[str, Any]]:
    for positive in reversed(labels):
        yield from ({"name": name, "positive": positive} for name in OF_CHANCES)
        yield {"name": "accuracy", "threshold": 0.5, "positive": positive}
        for name in AVERAGED:
            yield {"name": name, "threshold": 0.5, "positive": positive}
