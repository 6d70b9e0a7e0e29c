"""Scores that were given before, from a file: what a site stored, a table, or an earlier rescoring."""

import csv
import decimal
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gen_bundle.difference.signatures import allowance
from gen_bundle.errors import UserError
from gen_bundle.rescore.opened_bundle import OpenedBundle
from gen_bundle.rescore.scoring_job import JobResult
from gen_bundle.rescore.standings import Side
from gen_bundle.rescore.submissions import fetched_name
from gen_bundle.twin.report import Status
from scoring_kit.base.submissions import allow_long_cells

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


OldResults = dict[str, dict[str, JobResult]]
"""Submission → task → what it got."""


def _result(scored: bool, scores: Mapping[str, Any]) -> JobResult:
    status: Status = "Finished" if scored else "Failed"
    return JobResult(status, None, dict(scores), "")


def _from_records(records: Sequence[Mapping[str, Any]], bundle: OpenedBundle) -> OldResults:
    """What `gen-bundle fetch` wrote: of a phase with several tasks, a submission has a child for each."""
    ids = {task.name: task.id for task in bundle.phase.tasks}
    names = {record["id"]: fetched_name(record["file"]) for record in records if record["file"]}
    found: OldResults = {name: {} for name in names.values()}
    for record in records:
        own, parent = names.get(record["id"]), names.get(record["parent"])
        taken = _result(record["status"] == "Finished", record["scores"])
        if parent is not None and record["task"] in ids:
            found[parent][ids[record["task"]]] = taken
        elif own is not None and record["status"] in ("Finished", "Failed"):
            found[own].setdefault(WHOLE, taken)
    for tasks in found.values():
        if len(tasks) > 1:
            tasks.pop(WHOLE, None)
    return found


def _from_runs(content: Mapping[str, Any]) -> OldResults:
    """An earlier rescore.json; what was not run there is not known."""
    found: OldResults = {}
    for run in content["runs"]:
        if run["status"] in ("Finished", "Failed"):
            taken = _result(run["status"] == "Finished", run["scores"] or {})
            found.setdefault(str(run["submission"]), {})[str(run["task"])] = taken
    return found


def _from_table(file: Path, text: str, bundle: OpenedBundle) -> OldScores:
    """A table; an empty cell is no score, and a line of empty cells a submission that failed."""
    allow_long_cells()
    rows = csv.DictReader(io.StringIO(text, newline=""), restval="")
    heads = list(rows.fieldnames or ())
    columns = [column.key for column in bundle.leaderboard.columns if column.key in heads]
    if "submission" not in heads or not columns:
        raise UserError(f"--scores {file}: line 1: {', '.join(heads)}. {EXPECTED}")
    problems: list[str] = []
    found: OldResults = {}
    allowed: dict[tuple[str, str], float] = {}
    for row in rows:
        name, line = row["submission"], f"--scores {file}: line {rows.line_num}"
        if name in found:
            problems.append(f"{line}: {name} comes twice. Expected a line for each.")
        scores = {}
        for key in columns:
            if cell := row[key].strip():
                scores[key] = cell
                try:
                    allowed[name, key] = allowance(cell)
                except (decimal.InvalidOperation, TypeError, OverflowError):
                    problems.append(f"{line}, {key}: {cell!r}. Expected a number or nothing.")
        found[name] = {WHOLE: _result(bool(scores), scores)}
    if problems:
        raise UserError(*problems)
    return OldScores(_old_scores(found, bundle).side, frozenset(columns), allowed)


def _old_scores(found: OldResults, bundle: OpenedBundle) -> OldScores:
    """What a file says, by the bundle's tasks; without the columns that the platform computes."""
    computed = {column.key for column in bundle.leaderboard.columns if column.computation}
    given = set(computed)
    results: OldResults = {}
    for name, own in found.items():
        results[name] = {}
        for task, result in _aligned(own, bundle).items():
            scores = _scores(result)
            given |= scores.keys()
            written = {key: value for key, value in scores.items() if key not in computed}
            results[name][task] = replace(result, sent=written)
    side = Side(bundle.leaderboard, (WHOLE,), {}, results)
    if len(bundle.tasks) > 1 and any(WHOLE not in tasks for tasks in results.values()):
        side = Side(bundle.leaderboard, bundle.tasks, bundle.owners, results)
    return OldScores(side, frozenset(given))


def _aligned(tasks: Mapping[str, JobResult], bundle: OpenedBundle) -> Mapping[str, JobResult]:
    """Scores by the bundle's tasks, or as a whole where the file has other tasks."""
    if not tasks or WHOLE in tasks or (set(bundle.tasks) <= set(tasks) and len(bundle.tasks) > 1):
        return tasks
    merged: dict[str, Any] = {}
    for result in tasks.values():
        merged = _scores(result) | merged
    return {WHOLE: _result(all(result.status == "Finished" for result in tasks.values()), merged)}


def _scores(result: JobResult) -> dict[str, Any]:
    return result.sent if isinstance(result.sent, dict) else {}
