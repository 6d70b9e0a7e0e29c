"""Leaderboards: structure, the primary column, and the submission rule."""

from collections.abc import Iterator

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import SCORES, SERIALIZERS, UNPACKER, Problem, Topic
from gen_bundle.check.rules.shared import list_faults
from gen_bundle.codabench.competition import AVERAGE_RANK, Column, Competition
from gen_bundle.codabench.fields import MISSING, as_boolean
from gen_bundle.codabench.stages import Stage

SAVING = f"{UNPACKER}/base_unpacker.py (saving the competition)"
BOARDS = Topic("Leaderboards", SCORES)
SAVED = Topic("Leaderboards", f"{SERIALIZERS}/leaderboards.py", stage=Stage.SAVE_LEADERBOARDS)
BOTH_FORMATS = Topic("Leaderboards", SCORES, reads="both")


@SAVED.refused(
    "leaderboards-missing",
    "`leaderboards` is missing",
    source=f"{UNPACKER}/v2.py (leaderboards)",
    stage=Stage.LEADERBOARDS,
)
def _leaderboards_missing(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Could not find leaderboards in the competition yaml`.
    → Add `leaderboards`, in the plural, as a list.
    """
    if "leaderboards" not in bundle.yaml:
        hint = "; there is `leaderboard`, which belongs to the old format" if "leaderboard" in bundle.yaml else ""
        yield Problem(f"leaderboards is missing{hint}", ("leaderboards",))


@SAVED.refused("leaderboards-no-list", "`leaderboards` is not a list of leaderboards")
def _leaderboards_no_list(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Invalid data. Expected a dictionary …` or a bare type error.
    → Give `leaderboards` as a list with one mapping: title, key and columns.
    """
    return list_faults(bundle.yaml, ("leaderboards",), accepted=lambda value: value is MISSING)


@SAVED.refused("leaderboards-empty", "an empty list of leaderboards", source=SAVING, stage=Stage.SAVE_PHASES)
def _leaderboards_empty(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with the bare error `list index out of range`. → Add a leaderboard."""
    if bundle.yaml.get("leaderboards") == []:
        yield Problem("leaderboards is an empty list", ("leaderboards",), order=(0, 1))


@SAVED.refused("columns-no-list", "a leaderboard without a list of columns")
def _columns_no_list(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `columns: This field is required.`, `Leaderboards require at least 1 column` or the like.
    → Give `columns` as a list of mappings with title, key and index.
    """
    for board in bundle.entries("leaderboards"):
        yield from list_faults(board.value, (*board.at, "columns"), needs_item=True, order=(board.position, 3))


@BOARDS.trap("leaderboards-several", "more than one leaderboard", source=SAVING)
def _leaderboards_several(bundle: Bundle) -> Iterator[Problem]:
    """Only the first one is used, for every phase. → Put all columns into one, or make several competitions."""
    for board in bundle.entries("leaderboards")[1:]:
        yield Problem(f"leaderboards[{board.position}] is never shown", board.at)


@BOTH_FORMATS.broken("primary-column-missing", "no column has the primary index")
def _primary_column_missing(bundle: Bundle) -> Iterator[Problem]:
    """The leaderboard answers with an error; with Force_Best so does every upload of scores.
    → Number the columns from 0, or set `primary_index` to the index of the official metric.
    """
    competition = bundle.competition
    if competition.columns and _primary(competition) is None:
        given = any("primary_index" in board.value for board in bundle.entries("leaderboards")[:1])
        at = ("leaderboards", 0, "primary_index") if given else competition.columns[0].at
        indexes = ", ".join(str(column.index) for column in competition.columns)
        yield Problem(f"the primary index is {competition.primary_index}, but the columns have {indexes}", at)


def _primary(competition: Competition) -> Column | None:
    return next((column for column in competition.columns if column.index == competition.primary_index), None)


@BOTH_FORMATS.broken("columns-all-hidden", "all columns are hidden")
def _columns_all_hidden(bundle: Bundle) -> Iterator[Problem]:
    """The leaderboard answers with the error `No columns exist on the leaderboard`. → Show at least one column."""
    columns = bundle.competition.columns
    if columns and all(column.hidden for column in columns):
        yield Problem("every column is hidden", columns[0].at)


@BOTH_FORMATS.note("primary-column-hidden", "the primary column is hidden")
def _primary_column_hidden(bundle: Bundle) -> Iterator[Problem]:
    """Ranks follow a column that participants do not see. → Show it, or make another column the primary one."""
    for column in bundle.competition.columns:
        if column.hidden and column.index == bundle.competition.primary_index:
            yield Problem(f"the primary column {column.key} is hidden", column.at)


@BOARDS.note("leaderboard-hidden", "the leaderboard is hidden")
def _leaderboard_hidden(bundle: Bundle) -> Iterator[Problem]:
    """Only organisers see it. → Set `hidden: false` when the ranking is to be public."""
    for board in bundle.entries("leaderboards")[:1]:
        if as_boolean(board.get("hidden")):
            yield Problem("the leaderboard is hidden", (*board.at, "hidden"))


def _phase_of_several_tasks(competition: Competition) -> str | None:
    return next((phase.name for phase in competition.phases if len(phase.tasks) > 1), None)


def _rule_over_several_tasks(bundle: Bundle, rule: str) -> Iterator[Problem]:
    phase = _phase_of_several_tasks(bundle.competition)
    if phase is not None and bundle.competition.submission_rule == rule:
        yield Problem(f"{rule} with the several tasks of phase {phase}", ("leaderboards", 0, "submission_rule"))


@BOARDS.trap(
    "automatic-rule-with-several-tasks",
    "an automatic submission rule in a phase with several tasks",
    source=f"{SCORES}; github.com/codalab/codabench issues 1022 and 2211",
)
def _automatic_rule_with_several_tasks(bundle: Bundle) -> Iterator[Problem]:
    """Force_Last keeps the task that finishes last, and Force_Best with lower-is-better the best task: the other tasks
    show n/a.
    → Use Add, Add_And_Delete or Force_Latest_Multiple, or one task that writes a column for each subtask.
    """
    yield from _rule_over_several_tasks(bundle, "Force_Last")
    primary = _primary(bundle.competition)
    if primary is not None and primary.ascending:
        yield from _rule_over_several_tasks(bundle, "Force_Best")


@BOARDS.note("best-of-several-tasks", "Force_Best in a phase with several tasks")
def _best_of_several_tasks(bundle: Bundle) -> Iterator[Problem]:
    """The submission as a whole competes with its own tasks, with the sum of their primary scores: all tasks are kept
    as long as the scores are positive.
    → Use Force_Latest_Multiple, or one task that writes a column for each subtask.
    """
    primary = _primary(bundle.competition)
    if primary is not None and not primary.ascending:
        yield from _rule_over_several_tasks(bundle, "Force_Best")


def _blank(competition: Competition) -> Iterator[tuple[Column, str]]:
    """The columns that stay blank because a phase has several tasks, each with the names of such phases."""
    phases = [phase.name for phase in competition.phases if len(phase.tasks) > 1]
    named = f"phase{'s' if phases[1:] else ''} {' and '.join(phases)}"
    for column in competition.columns if phases else ():
        if column.computation and column.computation != AVERAGE_RANK:
            yield column, named


@BOARDS.broken("primary-computed-with-several-tasks", "a computed primary column in a phase with several tasks")
def _primary_computed_with_several_tasks(bundle: Bundle) -> Iterator[Problem]:
    """It is computed over all tasks together, for a row that is not shown: the column that ranks stays blank.
    → Let one task write all scores (layout joint), or rank by a column that the scoring program writes.
    """
    for column, phases in _blank(bundle.competition):
        if column == _primary(bundle.competition):
            yield Problem(f"the primary column {column.key} stays blank in {phases}", column.at)


@BOARDS.trap("computed-with-several-tasks", "a computed column in a phase with several tasks")
def _computed_with_several_tasks(bundle: Bundle) -> Iterator[Problem]:
    """It is computed over all tasks together, for a row that is not shown: the column stays blank.
    → Let the scoring program write the value.
    """
    for column, phases in _blank(bundle.competition):
        if column != _primary(bundle.competition):
            yield Problem(f"the computed column {column.key} stays blank in {phases}", column.at)
