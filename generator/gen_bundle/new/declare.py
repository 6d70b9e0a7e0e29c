"""What a proposal says in bundle.yaml, README and pages: the values that the template places."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from gen_bundle.new.code_baseline import ENTRY
from gen_bundle.new.data import (
    baseline_name,
    constant_answers,
    given,
    gold_file,
    has_candidates,
    inputs_file,
    submission_file,
    text_of_rows,
)
from gen_bundle.new.example import example
from gen_bundle.new.look import Column, text_of
from gen_bundle.new.metrics import answer_columns, fixed_columns, identifier
from gen_bundle.new.propose import Proposal

EVEN, RARE = 1.5, 5
"""How much more frequent the first label is than the last: about even below the one, rare beyond the other."""
SAMPLE = "made-up"
MEANINGS = {
    "label": "Your label.",
    "labels": "Your labels; none where none fits.",
    "number": "Your value.",
    "text": "Your text.",
    "texts": "Your text.",
    "string": "Part of your answer.",
    "tags": "Your tags, one for each token.",
    "spans": "Your spans; the end is the first position after it.",
}
TASK_NAMES = {
    "classification": "Classification",
    "multilabel": "Multi-label classification",
    "regression": "Regression",
    "spans": "Span detection",
    "tagging": "Tagging",
    "ranking": "Ranking",
    "generation": "Generation",
    "extraction": "Extraction",
}


def task_of(proposal: Proposal, phases: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """The values that templates know as `cookiecutter.task`; plain data, so that any template can use them."""
    return {
        "kind": proposal.kind,
        "name": TASK_NAMES[proposal.kind],
        "submission": _submission(proposal),
        "fields": fields(proposal),
        "reference": _reference(proposal),
        "columns": [{**column, "metric": _short(column["metric"])} for column in columns(proposal)],
        "groups": _grouped(proposal),
        "phases": list(phases),
        "counts": {phase: _count(proposal, rows) for phase, rows in phases.items()},
        "unit": "rows" if not proposal.many else "queries" if proposal.item is not None else "keys",
        "key": list(proposal.key) if not proposal.of_lines else [],
        "answers": [_about(proposal, column, phases) for column in proposal.answers],
        "inputs": inputs_file(proposal.gold) if given(proposal, first_rows(phases)) else None,
        "public": list(proposal.public),
        "candidates": proposal.item is not None and has_candidates(proposal),
        "of_lines": proposal.of_lines,
        "many": proposal.many,
        "code": ENTRY if proposal.code else None,
        "baseline": baseline_name(proposal),
        "sample": _sample(proposal),
    }


def first_rows(phases: Mapping[str, Sequence[int]]) -> Sequence[int]:
    """The rows of the first phase."""
    return next(iter(phases.values()))


def fields(proposal: Proposal) -> list[dict[str, Any]]:
    """The submission's fields as bundle.yaml lists them."""
    found: list[dict[str, Any]] = []
    for name in () if proposal.of_lines else proposal.key:
        once = "" if proposal.many or len(proposal.key) > 1 else ", each once"
        meaning = f"{'The query' if proposal.item is not None else 'Which row it is'}{once}."
        found.append({"field": name, "type": "string", "required": True, "meaning": meaning})
    for column in proposal.answers:
        entry: dict[str, Any] = {
            "field": column.name,
            # the gold may list several references where a submission is a single text
            "type": {"texts": "text"}.get(column.type, column.type),
        }
        if column.type in ("label", "labels") and column.values:
            entry["values"] = list(column.values)
        if column.type == "labels" and column.separator != "|" and not proposal.gold.is_json:
            entry["separator"] = column.separator
        if column.type == "number" and column.within_one:
            entry |= {"min": 0, "max": 1}
        found.append({**entry, "required": True, "meaning": MEANINGS[column.type]})
    if proposal.item is not None:
        found[-2]["meaning"] = "An item; each once for a query."
        found[-1]["meaning"] = "Higher ranks first."
    return found


def columns(proposal: Proposal) -> list[dict[str, Any]]:
    """The leaderboard's columns as bundle.yaml lists them."""
    if proposal.item is not None:
        item, score = (column.name for column in proposal.answers)
        named = {"item": item, "score": score, "relevance": str(proposal.relevance)}
        return fixed_columns("ranking", {option: name for option, name in named.items() if option != name})
    if proposal.many:
        return fixed_columns("rows", {})
    return answer_columns(proposal.answers)


def _short(metric: dict[str, Any]) -> Any:
    """A metric without options is its name alone."""
    return metric["name"] if len(metric) == 1 else metric


def _grouped(proposal: Proposal) -> list[dict[str, Any]]:
    """The first column's metric in each group, as suggestions."""
    first = columns(proposal)[0]
    return [
        {
            "key": f"{first['key']}_by_{identifier(column.name, 'group')}"[:36],
            "metric": {**first["metric"], "by": column.name},
        }
        for column in proposal.groups
    ]


def _submission(proposal: Proposal) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": "code", "entry": ENTRY} if proposal.code else {}
    found["file"] = submission_file(proposal.gold)
    if not proposal.of_lines:
        found["key"] = proposal.key[0] if len(proposal.key) == 1 else list(proposal.key)
    if proposal.many:
        found["rows"] = "many"
    if proposal.gold.quoting == "none":
        found["quoting"] = "none"
    return found


def _reference(proposal: Proposal) -> dict[str, Any]:
    found: dict[str, Any] = {"file": gold_file(proposal.gold)}
    if proposal.gold.quoting == "none":
        found["quoting"] = "none"
    if proposal.public:
        found["public"] = list(proposal.public)
    return found


def _count(proposal: Proposal, rows: Sequence[int]) -> int:
    """How many keys participants answer in a phase."""
    if not proposal.many:
        return len(rows)
    texts = [proposal.gold.column(name) for name in proposal.key]
    return len({tuple(text_of(column[at]) for column in texts) for at in rows})


def _about(proposal: Proposal, column: Column, phases: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """What a page says of an answer: nothing that shows how often a label occurs."""
    about: dict[str, Any] = {"name": column.name, "type": column.type, "values": list(column.values), "balance": ""}
    if column.type == "label" and not proposal.many and len(column.values) > 1:
        values = proposal.gold.column(column.name)
        counts = Counter(text_of(values[at]) for rows in phases.values() for at in rows)
        ratio = max(counts.values()) / min(counts.values())
        about["balance"] = "even" if ratio <= EVEN else "uneven" if ratio <= RARE else "rare"
    return about


def _sample(proposal: Proposal) -> str:
    """A submission's first lines, of made-up data: of ids that no phase has."""
    sample, rows = example(proposal, [SAMPLE])
    gold = sample.gold
    names = [*([] if sample.of_lines else sample.key), *(column.name for column in sample.answers)]
    records = []
    for place, at in enumerate(rows[SAMPLE][:3]):
        row = dict(zip(gold.names, gold.rows[at], strict=True))
        if sample.item is not None:
            score = 1 / (place + 1)
            row[sample.answers[-1].name] = score if gold.is_json else f"{score:.2f}"
        for column in sample.answers:
            if column.type == "texts":
                row[column.name] = "An example answer"
        records.append({name: row[name] for name in names})
    return text_of_rows(records, names, gold.suffix, gold.quoting).rstrip("\n")


def summary(proposal: Proposal, phases: Mapping[str, Sequence[int]]) -> list[str]:
    """What was understood, line by line, for the organiser."""
    gold = proposal.gold
    hint = " (--public COLUMN gives one to participants)" if proposal.secret else ""
    metric_names = ", ".join(column["key"] for column in columns(proposal))
    constants = constant_answers(proposal, phases)
    baseline = ", ".join(f"{name} {value!r}" for name, value in constants.items() if value not in ("", [], "[]"))
    candidates = f", {proposal.item}" if proposal.item is not None and has_candidates(proposal) else ""
    lines = [
        ("rows", f"{len(gold.rows)} in {gold.file}" + (", quoting: none" if gold.quoting == "none" else "")),
        ("key", ("the line" if proposal.of_lines else ", ".join(proposal.key)) + (", many rows" * proposal.many)),
        ("answers", "; ".join(_shown(column) for column in proposal.answers)),
        ("given", (", ".join(proposal.public) or "the keys") + candidates),
        ("secret", ", ".join(proposal.secret) + hint),
        ("metrics", metric_names),
        ("phases", ", ".join(f"{phase} {_count(proposal, rows)}" for phase, rows in phases.items())),
        ("baseline", f"{baseline_name(proposal)}{f' ({baseline})' if baseline else ''}"),
    ]
    if gold.unnamed:
        lines.append(("left out", f"{gold.unnamed} columns without a name"))
    return [f"{name:9} {text}" for name, text in lines if text]


def _shown(column: Column) -> str:
    listed = ", ".join(column.values[:8]) + (" …" if len(column.values) > 8 else "")
    return f"{column.name}: {column.type}{f' ({listed})' if listed else ''}"
