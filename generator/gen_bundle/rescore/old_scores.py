"""Scores that were given before, from a file: what a site stored, a table, or an earlier rescoring."""

import csv
import decimal
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gen_bundle.difference.signatures import allowance
from gen_bundle.errors import UserError
from gen_bundle.rescore.opened_bundle import OpenedBundle
from gen_bundle.rescore.scoring_job import JobResult
from gen_bundle.rescore.standings import Side
from gen_bundle.rescore.submissions import fetched_name

MAX_BYTES = 256 * 1024 * 1024
WHOLE = "whole"
"""The task of scores that belong to a submission as a whole, whatever its tasks."""
EXPECTED = (
    "Expected submissions.json of gen-bundle fetch, an earlier rescore.json, or a CSV table with a column `submission` "
    "and the columns of the board."
)


@dataclass(frozen=True)
class OldScores:
    """What a file says.

    Attributes:
        side: the scores, ranked on the leaderboard of the new bundle.
        columns: the columns that the file has.
        allowed: how far a value may be off, by submission and column, where the file has only some of its digits.
    """

    side: Side
    columns: frozenset[str]
    allowed: Mapping[tuple[str, str], float] = field(default_factory=dict)


def read_old_scores(file: Path, bundle: OpenedBundle) -> OldScores:
    """Read a file of scores; columns that the platform computes are computed again.

    Raises:
        UserError: it cannot be read, or is something else.
    """
    try:
        with file.open("rb") as opened:
            text = opened.read(MAX_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--scores {file}: cannot be read ({error}). {EXPECTED}") from error
    if file.suffix.lower() == ".csv":
        return _from_table(file, text, bundle)
    try:
        content = json.loads(text)
        by_task = _from_records(content, bundle) if isinstance(content, list) else _from_runs(content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(f"--scores {file}: not a file of scores. {EXPECTED}") from error
    return _old_scores(by_task, bundle)


Scores = dict[str, dict[str, tuple[bool, dict[str, Any]]]]
"""Submission → task → whether it was scored, and the scores."""


def _from_records(records: Sequence[Mapping[str, Any]], bundle: OpenedBundle) -> Scores:
    """What `gen-bundle fetch` wrote: of a phase with several tasks, a submission has a child for each."""
    ids = {task.name: task.id for task in bundle.phase.tasks}
    names = {record["id"]: fetched_name(record["file"]) for record in records if record["file"]}
    found: Scores = {name: {} for name in names.values()}
    for record in records:
        own, parent = names.get(record["id"]), names.get(record["parent"])
        taken = (record["status"] == "Finished", dict(record["scores"]))
        if parent is not None and record["task"] in ids:
            found[parent][ids[record["task"]]] = taken
        elif own is not None and record["status"] in ("Finished", "Failed"):
            found[own].setdefault(WHOLE, taken)
    for tasks in found.values():
        if len(tasks) > 1:
            tasks.pop(WHOLE, None)
    return found


def _from_runs(content: Mapping[str, Any]) -> Scores:
    """An earlier rescore.json; what was not run there is not known."""
    found: Scores = {}
    for run in content["runs"]:
        if run["status"] in ("Finished", "Failed"):
            taken = (run["status"] == "Finished", dict(run["scores"] or {}))
            found.setdefault(str(run["submission"]), {})[str(run["task"])] = taken
    return found


def _from_table(file: Path, text: str, bundle: OpenedBundle) -> OldScores:
    """A table; an empty cell is no score, and a line of empty cells a submission that failed."""
    rows = csv.DictReader(io.StringIO(text, newline=""))
    heads = list(rows.fieldnames or ())
    columns = [column.key for column in bundle.leaderboard.columns if column.key in heads]
    problems = [] if "submission" in heads and columns else [f"--scores {file}: line 1: {', '.join(heads)}. {EXPECTED}"]
    found: Scores = {}
    allowed: dict[tuple[str, str], float] = {}
    for row in rows if not problems else ():
        name = row["submission"]
        cells = {key: (row[key] or "").strip() for key in columns}
        if name in found:
            problems.append(f"--scores {file}: line {rows.line_num}: {name} comes twice. Expected a line for each.")
        for key, cell in cells.items():
            try:
                allowed[name, key] = allowance(cell) if cell else 0.0
            except (decimal.InvalidOperation, TypeError, OverflowError):
                problems.append(
                    f"--scores {file}: line {rows.line_num}, {key}: {cell!r}. Expected a number or nothing."
                )
        scores = {key: cell for key, cell in cells.items() if cell}
        found[name] = {WHOLE: (bool(scores), scores)}
    if problems:
        raise UserError(*problems)
    old = _old_scores(found, bundle)
    return OldScores(old.side, frozenset(columns), allowed)


def _old_scores(found: Scores, bundle: OpenedBundle) -> OldScores:
    computed = {column.key for column in bundle.leaderboard.columns if column.computation}
    by_task = {name: _aligned(tasks, bundle) for name, tasks in found.items()}
    several = any(WHOLE not in tasks for tasks in by_task.values()) and len(bundle.tasks) > 1
    tasks = bundle.tasks if several else (WHOLE,)
    results = {
        name: {
            task: JobResult(
                "Finished" if scored else "Failed",
                None,
                {key: value for key, value in scores.items() if key not in computed},
                "",
            )
            for task, (scored, scores) in own.items()
        }
        for name, own in by_task.items()
    }
    given = {key for own in by_task.values() for _, scores in own.values() for key in scores}
    return OldScores(
        Side(bundle.leaderboard, tasks, bundle.owners if several else {}, results), frozenset(given | computed)
    )


def _aligned(
    tasks: Mapping[str, tuple[bool, dict[str, Any]]], bundle: OpenedBundle
) -> Mapping[str, tuple[bool, dict[str, Any]]]:
    """Scores by the bundle's tasks, or as a whole where the file has other tasks."""
    if WHOLE in tasks or (set(bundle.tasks) <= set(tasks) and len(bundle.tasks) > 1):
        return tasks
    if not tasks:
        return {}
    merged: dict[str, Any] = {}
    for _, scores in tasks.values():
        merged = {**scores, **merged}
    return {WHOLE: (all(scored for scored, _ in tasks.values()), merged)}
