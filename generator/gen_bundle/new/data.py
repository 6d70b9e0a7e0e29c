"""Writes a competition's data: gold and baseline of each phase, and what participants are given."""

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gen_bundle.new.code_baseline import ENTRY, baseline_program
from gen_bundle.new.gold import Gold, Quoting
from gen_bundle.new.key import keys_of
from gen_bundle.new.look import text_of
from gen_bundle.new.propose import Proposal

ABOUT = {
    "majority": "Gives every row the most frequent label",
    "mean": "Gives every row the mean value",
    "alphabetical": "Ranks the items by the alphabet",
    "empty": "Gives empty answers",
}
"""Baseline → what it answers."""
Record = dict[str, Any]
"""Column → cell or JSON value."""


def gold_file(gold: Gold) -> str:
    """The gold's name in each phase's folder."""
    return f"gold{gold.suffix}"


def submission_file(gold: Gold) -> str:
    """The name of the participants' file."""
    return f"predictions{gold.suffix}"


def inputs_file(gold: Gold) -> str:
    """The name of the file that participants are given."""
    return f"inputs{gold.suffix}"


def write_data(folder: Path, proposal: Proposal, phases: Mapping[str, Sequence[int]]) -> None:
    """Write `<phase>/gold.*`, `public/<phase>/inputs.*` and `baselines/<phase>/<name>/predictions.*` below `folder`.

    For code, `input/<phase>/inputs.*` and `baselines/<phase>/<name>/model.py`, and no public data.
    """
    gold = proposal.gold
    constants = constant_answers(proposal, phases)
    for phase, rows in phases.items():
        records = [dict(zip(gold.names, gold.rows[at], strict=True)) for at in rows]
        _write(folder / phase / gold_file(gold), records, gold.names, gold)
        inputs = given(proposal, rows)
        baseline = folder / "baselines" / phase / baseline_name(proposal) / submission_file(gold)
        if proposal.code:
            _write(folder / "input" / phase / inputs_file(gold), inputs, list(inputs[0]), gold)
            baseline.parent.mkdir(parents=True)
            baseline.with_name(ENTRY).write_text(_program(proposal, constants), encoding="utf-8")
            continue
        if inputs:
            _write(folder / "public" / phase / inputs_file(gold), inputs, list(inputs[0]), gold)
        names = [*([] if proposal.of_lines else proposal.key), *(column.name for column in proposal.answers)]
        _write(baseline, _baseline(proposal, rows, constants), names, gold)


def write_sample(folder: Path, proposal: Proposal, rows: Sequence[int]) -> None:
    """Write what code reads, and its gold, to `input/` and `gold/` of a folder that participants get."""
    gold, inputs = proposal.gold, given(proposal, rows)
    _write(folder / "input" / inputs_file(gold), inputs, list(inputs[0]), gold)
    records = [dict(zip(gold.names, gold.rows[at], strict=True)) for at in rows]
    _write(folder / "gold" / gold_file(gold), records, gold.names, gold)


def _program(proposal: Proposal, constants: Mapping[str, Any]) -> str:
    gold, name = proposal.gold, baseline_name(proposal)
    return baseline_program(proposal, f"{ABOUT[name]}.", constants, inputs_file(gold), submission_file(gold))


def given(proposal: Proposal, rows: Sequence[int]) -> list[Record]:
    """What participants, or their code, are given of a phase: keys with the public columns, each once.

    Nothing where that is no more than what the template has; code has no template, and always gets the keys.
    """
    gold = proposal.gold
    if proposal.of_lines:
        return []
    candidates = proposal.item is not None and has_candidates(proposal)
    if not (proposal.public or proposal.many or proposal.code):
        return []
    names = [*proposal.key, *proposal.public, *([str(proposal.item)] if candidates else [])]
    columns = [gold.column(name) for name in names]
    keys = keys_of(gold, proposal.key)
    # The order of a ranking's items would show which are relevant.
    ordered = sorted(rows, key=lambda at: (keys[at], text_of(columns[-1][at]) or "")) if candidates else rows
    records: dict[tuple[str, ...], Record] = {}
    for at in ordered:
        key = (*keys[at], str(columns[-1][at])) if candidates else keys[at]
        records.setdefault(key, {name: column[at] for name, column in zip(names, columns, strict=True)})
    return list(records.values())


def has_candidates(proposal: Proposal) -> bool:
    """Whether a ranking's items can be given: each query has some that are not relevant."""
    gold = proposal.gold
    relevances = gold.column(str(proposal.relevance))
    keys = keys_of(gold, proposal.key)
    return {key for key, value in zip(keys, relevances, strict=True) if int(text_of(value) or 0) == 0} == set(keys)


def baseline_name(proposal: Proposal) -> str:
    """What the baseline answers everywhere."""
    if proposal.item is not None:
        return "alphabetical" if has_candidates(proposal) else "empty"
    if proposal.many:
        return "empty"
    return {"label": "majority", "number": "mean"}.get(proposal.answers[0].type, "empty")


def constant_answers(proposal: Proposal, phases: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Column → the answer that the baseline gives everywhere: the most frequent label, the mean, or nothing.

    Labels and mean are those of the first phase, since participants see the baseline; the mean in two digits, so that
    it does not give a single value away.
    """
    gold = proposal.gold
    rows = next(iter(phases.values()))
    answers: dict[str, Any] = {}
    for column in () if proposal.many else proposal.answers:
        values = gold.column(column.name)
        if column.type == "label":
            counts = Counter(text_of(values[at]) for at in rows)
            answers[column.name] = min(counts, key=lambda label: (-counts[label], str(label)))
        elif column.type == "number":
            mean = float(f"{sum(float(values[at]) for at in rows) / len(rows):.2g}")
            answers[column.name] = mean if gold.is_json else f"{mean:g}"
        elif column.type in ("spans", "labels"):
            answers[column.name] = [] if gold.is_json else "[]" if column.type == "spans" else ""
        elif column.type != "tags":
            answers[column.name] = ""
    return answers


def _baseline(proposal: Proposal, rows: Sequence[int], constants: Mapping[str, Any]) -> list[Record]:
    gold = proposal.gold
    if proposal.item is not None and has_candidates(proposal):
        item, score = (column.name for column in proposal.answers)
        records = given(proposal, rows)
        places: Counter[tuple[Any, ...]] = Counter()
        for record in records:
            query = tuple(record[name] for name in proposal.key)
            places[query] += 1
            value = 1 / places[query]
            record[score] = value if gold.is_json else f"{value:.4f}"
        return [{name: record[name] for name in (*proposal.key, item, score)} for record in records]
    if proposal.many:
        return []
    answers = []
    columns = {name: gold.column(name) for name in (*proposal.key, *(column.name for column in proposal.answers))}
    for at in rows:
        answer: Record = {name: columns[name][at] for name in proposal.key if not proposal.of_lines}
        for column in proposal.answers:
            if column.type == "tags":
                value = columns[column.name][at]
                tags = ["O"] * len(value if isinstance(value, list) else value.split(" ") if value else [])
                answer[column.name] = tags if gold.is_json else " ".join(tags)
            else:
                answer[column.name] = constants[column.name]
        answers.append(answer)
    return answers


def text_of_rows(records: Sequence[Record], names: Sequence[str], suffix: str, quoting: Quoting = "rfc4180") -> str:
    """Records as a file of the format that `suffix` says."""
    if suffix == ".jsonl":
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    if suffix == ".json":
        rows = ",\n".join(json.dumps(record, ensure_ascii=False) for record in records)
        return f"[\n{rows}\n]\n" if records else "[]\n"
    cells = [[record[name] for name in names] for record in records]
    if suffix == ".txt":
        return "".join(f"{row[-1]}\n" for row in cells)
    delimiter = "\t" if suffix == ".tsv" else ","
    if quoting == "none":
        return "".join(delimiter.join(row) + "\n" for row in [names, *cells])
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator="\n").writerows([names, *cells])
    return buffer.getvalue()


def _write(path: Path, records: Sequence[Record], names: Sequence[str], gold: Gold) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = text_of_rows(records, names, gold.suffix, gold.quoting)
    path.write_text(text, encoding="utf-8", newline="")
