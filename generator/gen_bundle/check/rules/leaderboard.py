"""Leaderboards: structure, the primary column, and the submission rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from gen_bundle.check.registry import SCORES, SERIALIZERS, UNPACKER, Effect, Problem, rule
from gen_bundle.codabench.average_rank import AVERAGE_RANK
from gen_bundle.codabench.fields import as_boolean, shown
from gen_bundle.codabench.stages import Stage

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

BOARDS = f"{SERIALIZERS}/leaderboards.py"


@rule(
    "leaderboards-missing",
    Effect.REFUSED,
    Stage.LEADERBOARDS,
    title="`leaderboards` is missing",
    consequence="The upload ends with `Could not find leaderboards in the competition yaml`.",
    repair="Add `leaderboards`, in the plural, as a list.",
    source=f"{UNPACKER}/v2.py (leaderboards)",
)
def _leaderboards_missing(bundle: Bundle) -> Iterator[Problem]:
    if "leaderboards" not in bundle.yaml:
        hint = "; there is `leaderboard`, which belongs to the old format" if "leaderboard" in bundle.yaml else ""
        yield Problem(f"leaderboards is missing{hint}", ("leaderboards",))


@rule(
    "leaderboards-no-list",
    Effect.REFUSED,
    Stage.SAVE_LEADERBOARDS,
    title="leaderboards is no list of leaderboards",
    consequence="The upload ends with `Invalid data. Expected a dictionary …` or a bare type error.",
    repair="Give `leaderboards` as a list with one mapping: title, key and columns.",
    source=BOARDS,
)
def _leaderboards_no_list(bundle: Bundle) -> Iterator[Problem]:
    boards = bundle.yaml.get("leaderboards")
    if "leaderboards" in bundle.yaml and boards != [] and not isinstance(boards, list):
        yield Problem(f"leaderboards is {shown(boards)}, and must be a list", ("leaderboards",))
    for number, board in enumerate(boards if isinstance(boards, list) else ()):
        if not isinstance(board, Mapping):
            what = f"leaderboards[{number}] is {shown(board)}, and must be a mapping"
            yield Problem(what, ("leaderboards", number), order=(number, 0))


@rule(
    "leaderboards-empty",
    Effect.REFUSED,
    Stage.SAVE_PHASES,
    title="an empty list of leaderboards",
    consequence="The upload ends with the bare error `list index out of range`.",
    repair="Add a leaderboard.",
    source=f"{UNPACKER}/base_unpacker.py (saving the competition)",
)
def _leaderboards_empty(bundle: Bundle) -> Iterator[Problem]:
    if bundle.yaml.get("leaderboards") == []:
        yield Problem("leaderboards is an empty list", ("leaderboards",), order=(0, 1))


@rule(
    "columns-no-list",
    Effect.REFUSED,
    Stage.SAVE_LEADERBOARDS,
    title="a leaderboard without a list of columns",
    consequence="The upload ends with `columns: This field is required.`, `Leaderboards require at least 1 column` or "
    "the like.",
    repair="Give `columns` as a list of mappings with title, key and index.",
    source=BOARDS,
)
def _columns_no_list(bundle: Bundle) -> Iterator[Problem]:
    for board in bundle.entries("leaderboards"):
        columns = board.get("columns")
        if not isinstance(columns, list) or not columns:
            what = "empty" if columns == [] else shown(columns) if "columns" in board.value else "missing"
            yield Problem(
                f"columns of leaderboards[{board.position}] is {what}, and must be a list with at least one column",
                (*board.at, "columns"),
                order=(board.position, 3),
            )
        for number, column in enumerate(columns if isinstance(columns, list) else ()):
            if not isinstance(column, Mapping):
                what = f"columns[{number}] of leaderboards[{board.position}] is {shown(column)}, and must be a mapping"
                yield Problem(what, (*board.at, "columns", number), order=(board.position, 3, number))


@rule(
    "leaderboards-several",
    Effect.TRAP,
    title="more than one leaderboard",
    consequence="Only the first one is used; it is attached to every phase.",
    repair="Put all columns into one leaderboard, or make a competition of its own for each.",
    source=f"{UNPACKER}/base_unpacker.py (saving the competition)",
)
def _leaderboards_several(bundle: Bundle) -> Iterator[Problem]:
    for board in bundle.entries("leaderboards")[1:]:
        yield Problem(f"leaderboards[{board.position}] is never shown", board.at)


@rule(
    "primary-column-missing",
    Effect.BROKEN,
    title="no column has the index that is primary",
    consequence="The leaderboard answers with an error; with Force_Best so does every upload of scores.",
    repair="Number the columns from 0, or set `primary_index` to the index of the official metric.",
    source=SCORES,
    reads="both",
)
def _primary_column_missing(bundle: Bundle) -> Iterator[Problem]:
    competition = bundle.competition
    indexes = [column.index for column in competition.columns]
    if indexes and competition.primary_index not in indexes:
        given = "leaderboards" in bundle.yaml and any(
            "primary_index" in board.value for board in bundle.entries("leaderboards")[:1]
        )
        at = ("leaderboards", 0, "primary_index") if given else competition.columns[0].at
        have = ", ".join(str(index) for index in indexes)
        yield Problem(f"the primary index is {competition.primary_index}, and the columns have {have}", at)


@rule(
    "columns-all-hidden",
    Effect.BROKEN,
    title="all columns are hidden",
    consequence="The leaderboard answers with the error `No columns exist on the leaderboard`.",
    repair="Show at least one column.",
    source=SCORES,
    reads="both",
)
def _columns_all_hidden(bundle: Bundle) -> Iterator[Problem]:
    columns = bundle.competition.columns
    if columns and all(column.hidden for column in columns):
        yield Problem("every column is hidden", columns[0].at)


@rule(
    "primary-column-hidden",
    Effect.NOTE,
    title="the primary column is hidden",
    consequence="Ranks follow a column that nobody sees.",
    repair="Show it, or make another column the primary one.",
    source=SCORES,
    reads="both",
)
def _primary_column_hidden(bundle: Bundle) -> Iterator[Problem]:
    competition = bundle.competition
    for column in competition.columns:
        if column.hidden and column.index == competition.primary_index:
            yield Problem(f"the primary column {column.key} is hidden", column.at)


@rule(
    "leaderboard-hidden",
    Effect.NOTE,
    title="the leaderboard is hidden",
    consequence="Only organisers see it.",
    repair="Set `hidden: false` when the ranking is to be public.",
    source=SCORES,
)
def _leaderboard_hidden(bundle: Bundle) -> Iterator[Problem]:
    for board in bundle.entries("leaderboards")[:1]:
        if as_boolean(board.get("hidden")):
            yield Problem("the leaderboard is hidden", (*board.at, "hidden"))


def _several_tasks(bundle: Bundle) -> str | None:
    return next((phase.name for phase in bundle.competition.phases if len(phase.tasks) > 1), None)


@rule(
    "automatic-rule-with-several-tasks",
    Effect.TRAP,
    title="an automatic submission rule in a phase with several tasks",
    consequence="Force_Last keeps the task that finishes last, and Force_Best with lower-is-better the best task: the "
    "other tasks show n/a.",
    repair="Use Add, Add_And_Delete or Force_Latest_Multiple, or one task that writes a column for each subtask.",
    source=f"{SCORES}; github.com/codalab/codabench issues 1022 and 2211",
)
def _automatic_rule_with_several_tasks(bundle: Bundle) -> Iterator[Problem]:
    competition = bundle.competition
    phase = _several_tasks(bundle)
    primary = next((column for column in competition.columns if column.index == competition.primary_index), None)
    lower_is_better = primary is not None and primary.ascending
    rule_loses_tasks = competition.submission_rule == "Force_Last" or (
        competition.submission_rule == "Force_Best" and lower_is_better
    )
    if phase is not None and rule_loses_tasks:
        what = f"{competition.submission_rule} with the several tasks of phase {phase}"
        yield Problem(what, ("leaderboards", 0, "submission_rule"))


@rule(
    "best-of-several-tasks",
    Effect.NOTE,
    title="Force_Best in a phase with several tasks",
    consequence="The submission as a whole competes with its own tasks, with the sum of their primary scores: all "
    "tasks are kept as long as the scores are positive.",
    repair="Use Force_Latest_Multiple, or one task that writes a column for each subtask.",
    source=SCORES,
)
def _best_of_several_tasks(bundle: Bundle) -> Iterator[Problem]:
    competition = bundle.competition
    phase = _several_tasks(bundle)
    primary = next((column for column in competition.columns if column.index == competition.primary_index), None)
    if phase is not None and competition.submission_rule == "Force_Best" and primary and not primary.ascending:
        yield Problem(f"Force_Best with the several tasks of phase {phase}", ("leaderboards", 0, "submission_rule"))


@rule(
    "computed-with-several-tasks",
    Effect.TRAP,
    title="a computed column in a phase with several tasks",
    consequence="It is computed over all tasks together, for a row that is not shown: the column stays blank.",
    repair="Let the scoring program write the value.",
    source=SCORES,
)
def _computed_with_several_tasks(bundle: Bundle) -> Iterator[Problem]:
    phase = _several_tasks(bundle)
    for column in bundle.competition.columns if phase is not None else ():
        if column.computation and column.computation != AVERAGE_RANK:
            yield Problem(f"the computed column {column.key} stays blank in phase {phase}", column.at)
