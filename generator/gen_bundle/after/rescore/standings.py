"""Compares boards: who changes, in which column, by how much, which ranks move.

Old scores may come from a file: what a site stored, or a table.
"""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from gen_bundle.after.rescore.scoring_job import JobResult, OpenedBundle
from gen_bundle.after.rescore.submissions import SubmissionFile
from gen_bundle.after.score_table import read_score_table
from gen_bundle.codabench.board import Board, NoBoardError, RankedRow, RefusedError, Submitted
from gen_bundle.codabench.competition import Leaderboard
from gen_bundle.dry_run.report import TOLERANCE, Status, allowance
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.fetched import name_of

Standings = Mapping[str, "SubmissionStanding"]
Allowed = Mapping[tuple[str, str], float]
"""How far a value may be off, by submission and column, where only some of its digits are known."""


@dataclass(frozen=True)
class Side:
    """Everything that one scoring gave, the old one or the new one, and what it knows of its bundle.

    Attributes:
        owners: column → the task that fills it, where there are several tasks.
        results: submission → task → how it ended; a job that got lost is missing.
        columns: the columns that it knows.
    """

    leaderboard: Leaderboard
    tasks: Sequence[str]
    owners: Mapping[str, str]
    results: Mapping[str, Mapping[str, JobResult]]
    columns: Collection[str]
    allowed: Allowed = field(default_factory=dict)


@dataclass(frozen=True)
class SubmissionStanding:
    """A submission as one scoring sees it.

    Attributes:
        values: column → value as the platform stores it, with ten decimals.
        rank: on the board, shared by equal ones (1, 2, 2, 4); None where it is not on it.
        failed: at least one of its tasks did not end in scores that are stored.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    rank: int | None = None
    failed: bool = False


def standings(side: Side, submissions: Sequence[SubmissionFile]) -> dict[str, SubmissionStanding]:
    """Return the standing of every submission that was scored for all tasks, by its name.

    The board takes them in their order, as it would if all of them were run again. Under a manual rule a team has the
    submission on it that it chose, or, where that is not known, its latest.
    """
    board, found = Board(side.leaderboard), dict[str, SubmissionStanding]()
    for submission in submissions:
        name, results = submission.name, side.results.get(submission.name, {})
        if not results.keys() >= set(side.tasks):
            continue
        whole, failed = board.submit(name, submission.team, side.tasks), False
        for entry, task in zip(whole.children or [whole], side.tasks, strict=True):
            if not _take(board, entry, results[task]):
                failed = True
        if whole.finished and side.leaderboard.is_manual and submission.chosen is not False:
            board.add_by_hand(whole)
        found[name] = SubmissionStanding(_values(side, whole), failed=failed)
    with suppress(NoBoardError):  # the platform would show none
        for row in board.rows(shared=True):
            one = found[row.entry.name]
            found[row.entry.name] = replace(one, values={**_computed_in(row), **one.values}, rank=row.rank)
    return found


def plain_scores(result: JobResult, leaderboard: Leaderboard) -> dict[str, object] | None:
    """Return the scores as the server stores them, without what is never a column's; None where it stores none."""
    board = Board(leaderboard)
    if not _take(board, board.submit("", ""), result) or not isinstance(result.sent, dict):
        return None
    return {key: value for key, value in result.sent.items() if not isinstance(value, dict | list)}


def _take(board: Board, entry: Submitted, result: JobResult) -> bool:
    """Hand the server what the worker sends; whether it stores scores."""
    if result.status == "Failed":
        board.fail(entry)
        return False
    board.finish(entry)
    try:
        board.upload(entry, result.sent)
    except RefusedError:
        return False
    return True


def _values(side: Side, whole: Submitted) -> dict[str, float]:
    values: dict[str, float] = {}
    for entry in whole.children or [whole]:
        for score in entry.scores:
            if side.owners.get(score.column.key, entry.task) == entry.task:
                values.setdefault(score.column.key, float(score.value))
    for score in whole.scores:
        if score.column.computation:
            values[score.column.key] = float(score.value)
    return values


def _computed_in(row: RankedRow) -> dict[str, float]:
    """The columns of a row that are computed: those that compare rows are nowhere stored."""
    found = {}
    for _, column, text in row.cells:
        if column.computation:
            found[column.key] = float(text)
    return found


@dataclass(frozen=True)
class ScoreChange:
    """A score that is not the same, or, with equal scores in the primary column, a rank that is not.

    Attributes:
        old, new: None where there was or is no score.
        rank_old, rank_new: the submission's place on the board; None where it is not on it.
        size: of the change, as a share of the range of the column's values; infinite where a score comes or goes.
    """

    submission: str
    column: str
    old: float | None
    new: float | None
    rank_old: int | None
    rank_new: int | None
    size: float = 0.0


@dataclass(frozen=True)
class BoardChanges:
    """The changes that scoring again brought.

    Attributes:
        changes: the largest first.
        fails_now: submissions that were scored before, and fail now.
        works_now: submissions that failed before, and are scored now.
        uncompared: submissions of which one side is not known.
        board: every submission that is or was on the board with its score in the column that ranks, by its new rank.
    """

    changes: Sequence[ScoreChange] = ()
    fails_now: Sequence[str] = ()
    works_now: Sequence[str] = ()
    uncompared: Sequence[str] = ()
    board: Sequence[ScoreChange] = ()

    @property
    def reranked(self) -> Sequence[ScoreChange]:
        """Return the rows of the board that change: in rank, or in the column that ranks."""
        return [one for one in self.board if one.size or one.rank_old != one.rank_new]

    @property
    def answer(self) -> str:
        """How many ranks change, and whether the winner does; empty without a board."""
        if not self.board:
            return ""
        moved = sum(one.rank_old != one.rank_new for one in self.board)
        old = [one.submission for one in self.board if one.rank_old == 1]
        new = [one.submission for one in self.board if one.rank_new == 1]
        changes = "ranks changes" if moved == 1 else "ranks change"
        winner = "the winner stays"
        if old != new:
            winner = f"the winner changes: {' and '.join(old) or 'nobody'} → {' and '.join(new) or 'nobody'}"
        return f"{moved or 'none'} of {len(self.board)} {changes}; {winner}"

    @property
    def same(self) -> bool:
        """Nothing changed in what could be compared."""
        return not (self.changes or self.fails_now or self.works_now)


def compare(
    old: Standings, new: Standings, names: Sequence[str], columns: Sequence[str], allowed: Allowed
) -> BoardChanges:
    """Compare the standings of all submissions of these names; what only one side knows is not compared.

    The columns are those that both sides have, the primary one first; `allowed` is of the old values.
    """
    both = [name for name in names if name in old and name in new]
    standing = [side[name] for side in (old, new) for name in both]
    ranges = {column: _range(column, standing) for column in columns}
    changes: list[ScoreChange] = []
    board: list[ScoreChange] = []
    for name in both:
        was, now, own = old[name], new[name], list[ScoreChange]()
        for column in columns:
            before, after = was.values.get(column), now.values.get(column)
            size = _difference(before, after, allowed.get((name, column), TOLERANCE)) / ranges[column]
            own.append(ScoreChange(name, column, before, after, was.rank, now.rank, size))
        changed = [one for one in own if one.size]
        if not changed and was.rank != now.rank:
            changed = own[:1]
        changes += changed
        if was.rank is not None or now.rank is not None:
            board += own[:1]
    last = len(both) + 1
    return BoardChanges(
        changes=sorted(changes, key=lambda one: (-one.size, one.submission, one.column)),
        fails_now=[name for name in both if new[name].failed and not old[name].failed],
        works_now=[name for name in both if old[name].failed and not new[name].failed],
        uncompared=sorted({*names}.difference(both)),
        board=sorted(board, key=lambda row: (row.rank_new or last, row.rank_old or last, row.submission)),
    )


def _difference(old: float | None, new: float | None, allowed: float) -> float:
    """Infinite where a score comes or goes; 0 where it is the same."""
    if old is None or new is None:
        return 0.0 if old is new else math.inf
    by = abs(old - new)
    return 0.0 if by <= allowed else by


def _range(column: str, standing: Sequence[SubmissionStanding]) -> float:
    """Between the least and the largest value of a column; 1 where there is only one value."""
    values = [one.values[column] for one in standing if column in one.values]
    return (max(values, default=0.0) - min(values, default=0.0)) or 1.0


WHOLE = "whole"
"""The task of scores that belong to a submission as a whole, whatever its tasks."""
Scores = Mapping[str, Any] | None
"""By columns; None where the submission failed."""
EXPECTED = (
    "Expected submissions.json of gen-bundle fetch, or a CSV table with a column `submission` and the columns of the "
    "board."
)


def read_old_scores(file: Path, bundle: OpenedBundle) -> Side:
    """Read a file of scores, as the leaderboard of a bundle ranks them.

    Columns that the platform computes are computed again.

    Raises:
        UserError: it cannot be read, or is something else.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--scores {file}: cannot be read ({error}). {EXPECTED}") from error
    if file.suffix.lower() == ".csv":
        return _from_table(file, text, bundle)
    try:
        return _from_records(json.loads(text, parse_constant=_refuse), bundle)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(f"--scores {file}: not a file of scores. {EXPECTED}") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no score")


def _from_records(records: Sequence[Mapping[str, Any]], bundle: OpenedBundle) -> Side:
    """Read the records of `gen-bundle fetch`: of a phase with several tasks, a submission has a child for each."""
    if not isinstance(records, list):
        raise TypeError(records)
    names = {record["id"]: name_of(record) for record in records if record["file"]}
    tasks = {task.name: task.id for task in bundle.phase.tasks}
    if len(bundle.tasks) == 1:
        tasks = dict.fromkeys(tasks, WHOLE)  # its queues
    wholes: dict[str, dict[str, Scores]] = {}
    parts: dict[str, dict[str, Scores]] = {}
    for record in records:
        own, parent = names.get(record["id"]), names.get(record["parent"])
        scores = record["scores"] if record["status"] == "Finished" else None
        if parent is not None and record["task"] in tasks:
            parts.setdefault(parent, {})[tasks[record["task"]]] = scores
        elif own is not None and record["status"] in ("Finished", "Failed"):
            wholes[own] = {WHOLE: scores}
    return _old_side(wholes | parts, bundle)


def _from_table(file: Path, text: str, bundle: OpenedBundle) -> Side:
    """A table; an empty cell is no score, and a line of empty cells a submission that failed."""
    keys = [column.key for column in bundle.leaderboard.columns]
    rows = read_score_table(file, text, "submission", keys, EXPECTED, more=True)
    given: dict[str, dict[str, Scores]] = {}
    allowed: dict[tuple[str, str], float] = {}
    for name, row in rows.items():
        scores = {}
        for key, cell in row.items():
            if cell:
                scores[key], allowed[name, key] = cell, allowance(cell)
        given[name] = {WHOLE: scores or None}
        columns = list(row)
    return replace(_old_side(given, bundle), columns=columns, allowed=allowed)


def _old_side(given: Mapping[str, Mapping[str, Scores]], bundle: OpenedBundle) -> Side:
    """Return the scores of a file by the bundle's tasks, or as a whole where the file knows no tasks."""
    tasks: Sequence[str] = (WHOLE,)
    owners: Mapping[str, str] = {}
    computed = {column.key for column in bundle.leaderboard.columns if column.computation}
    columns = set(computed)
    results: dict[str, dict[str, JobResult]] = {}
    for name, own in given.items():
        results[name] = {}
        if WHOLE not in own:
            tasks, owners = bundle.tasks, bundle.owners
        for task, scores in own.items():
            sent = {key: value for key, value in (scores or {}).items() if key not in computed}
            columns.update(sent)
            status: Status = "Failed" if scores is None else "Finished"
            results[name][task] = JobResult(status, None, sent, "")
    return Side(bundle.leaderboard, tasks, owners, results, columns)
