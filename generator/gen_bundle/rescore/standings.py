"""What scores mean on a board: the value of each column, and who is where."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gen_bundle.codabench.board import Board, NoBoardError, RefusedError, Submitted
from gen_bundle.codabench.competition import Leaderboard
from gen_bundle.rescore.scoring_job import JobResult
from gen_bundle.rescore.submissions import SubmissionFile

Results = Mapping[str, Mapping[str, JobResult]]
"""Submission → task → how it ended; a job that got lost is missing."""


@dataclass(frozen=True)
class Side:
    """Everything that one scoring gave: the old one or the new one.

    Attributes:
        leaderboard: the one of its bundle.
        tasks: the tasks of its phase.
        owners: column → the task that fills it, where there are several tasks.
        results: of every submission that was scored.
    """

    leaderboard: Leaderboard
    tasks: Sequence[str]
    owners: Mapping[str, str]
    results: Results


@dataclass(frozen=True)
class Standing:
    """A submission as one scoring sees it.

    Attributes:
        values: column → value as the platform stores it, with ten decimals.
        rank: on the board; None where it is not on it.
        failed: at least one of its tasks did not end in scores that are stored.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    rank: int | None = None
    failed: bool = False


def standings(side: Side, submissions: Sequence[SubmissionFile]) -> dict[str, Standing]:
    """The standing of every submission that was scored for all tasks, by its name.

    The board takes them in their order, as it would if all of them were run again. Under a manual rule a team has the
    submission on it that it chose, or, where that is not known, its latest.
    """
    board = Board(side.leaderboard)
    taken: dict[str, Submitted] = {}
    refused: set[str] = set()
    for submission in submissions:
        results = side.results.get(submission.name, {})
        if not all(task in results for task in side.tasks):
            continue
        whole = board.submit(submission.name, submission.team, side.tasks if len(side.tasks) > 1 else ())
        for entry, task in zip(whole.children or [whole], side.tasks, strict=True):
            if not _take(board, entry, results[task]):
                refused.add(submission.name)
        if whole.finished and side.leaderboard.is_manual and submission.chosen is not False:
            board.add_by_hand(whole)
        taken[submission.name] = whole
    try:
        rows = {row.entry: row for row in board.rows()}
    except NoBoardError:
        rows = {}
    shown = {entry: {column.key: float(text) for _, column, text in row.cells} for entry, row in rows.items()}
    return {
        name: Standing(
            {**_ranks_of(side, shown.get(entry, {})), **_values(side, entry)},
            rows[entry].rank if entry in rows else None,
            name in refused,
        )
        for name, entry in taken.items()
    }


def plain_scores(result: JobResult, leaderboard: Leaderboard) -> dict[str, object] | None:
    """The scores as the server stores them, without what is never a column's; None where it stores none."""
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
    return values | {score.column.key: float(score.value) for score in whole.scores if score.column.computation}


def _ranks_of(side: Side, shown: Mapping[str, float]) -> dict[str, float]:
    """The columns that compare rows, which are nowhere stored."""
    return {key: value for key, value in shown.items() if (one := side.leaderboard.column(key)) and one.computation}
