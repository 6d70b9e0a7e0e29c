"""Leaderboards: structure, primary column, submission rule; columns: keys, indexes, computations, precision."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import SCORES, SERIALIZERS, UNPACKER, Problem, Topic
from gen_bundle.check.rules.shared import list_faults
from gen_bundle.codabench.competition import AVERAGE_RANK, Column, Competition
from gen_bundle.codabench.reading import YamlItem, as_boolean, as_integer, as_text, input_texts
from gen_bundle.codabench.settings import MISSING, Stage, shown
from gen_bundle.codabench.versions import DIFFERENCES

SAVING = f"{UNPACKER}/base_unpacker.py (saving the competition)"
BOARDS = Topic("Leaderboards", SCORES)
SAVED = Topic("Leaderboards", f"{SERIALIZERS}/leaderboards.py", stage=Stage.SAVE_LEADERBOARDS)
BOTH_FORMATS = Topic("Leaderboards", SCORES, reads="both")


@SAVED.refused("`leaderboards` is missing", source=f"{UNPACKER}/v2.py (leaderboards)", stage=Stage.LEADERBOARDS)
def _leaderboards_missing(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Could not find leaderboards in the competition yaml`.
    → Add `leaderboards`, in the plural, as a list.
    """
    if "leaderboards" not in bundle.yaml:
        hint = "; there is `leaderboard`, which belongs to the old format" if "leaderboard" in bundle.yaml else ""
        yield Problem(f"leaderboards is missing{hint}", ("leaderboards",))


@SAVED.refused("`leaderboards` is not a list of leaderboards")
def _leaderboards_no_list(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Invalid data. Expected a dictionary …` or a bare type error.
    → Give `leaderboards` as a list with one mapping: title, key and columns.
    """
    return list_faults(bundle.yaml, ("leaderboards",), accepted=lambda value: value is MISSING)


@SAVED.refused("an empty list of leaderboards", source=SAVING, stage=Stage.SAVE_PHASES)
def _leaderboards_empty(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with the bare error `list index out of range`. → Add a leaderboard."""
    if bundle.yaml.get("leaderboards") == []:
        yield Problem("leaderboards is an empty list", ("leaderboards",), order=(0, 1))


@SAVED.refused("a leaderboard without a list of columns")
def _columns_no_list(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `columns: This field is required.`, `Leaderboards require at least 1 column` or the like.
    → Give `columns` as a list of mappings with title, key and index.
    """
    for board in bundle.entries("leaderboards"):
        yield from list_faults(board.value, (*board.at, "columns"), needs_item=True, order=(board.position, 3))


@BOARDS.trap("more than one leaderboard", source=SAVING)
def _leaderboards_several(bundle: Bundle) -> Iterator[Problem]:
    """Only the first one is used, for every phase. → Put all columns into one, or make several competitions."""
    for board in bundle.entries("leaderboards")[1:]:
        yield Problem(f"leaderboards[{board.position}] is never shown", board.at)


@BOTH_FORMATS.broken("no column has the primary index")
def _primary_column_missing(bundle: Bundle) -> Iterator[Problem]:
    """The leaderboard answers with an error; with Force_Best so does every upload of scores.
    → Number the columns from 0, or set `primary_index` to the index of the official metric.
    Example: with columns of `index: 0` and `index: 1`, not `primary_index: 2`, but `primary_index: 1`.
    """
    competition = bundle.competition
    if competition.columns and competition.leaderboard.primary is None:
        given = "primary_index" in bundle.mapping(("leaderboards", 0))
        at = ("leaderboards", 0, "primary_index") if given else competition.columns[0].at
        indexes = ", ".join(str(column.index) for column in competition.columns)
        yield Problem(f"the primary index is {competition.primary_index}, but the columns have {indexes}", at)


@BOTH_FORMATS.broken("all columns are hidden")
def _columns_all_hidden(bundle: Bundle) -> Iterator[Problem]:
    """The leaderboard answers with the error `No columns exist on the leaderboard`. → Show at least one column."""
    columns = bundle.competition.columns
    if columns and all(column.hidden for column in columns):
        yield Problem("every column is hidden", columns[0].at)


@BOTH_FORMATS.note("the primary column is hidden")
def _primary_column_hidden(bundle: Bundle) -> Iterator[Problem]:
    """Ranks follow a column that participants do not see. → Show it, or make another column the primary one."""
    for column in bundle.competition.columns:
        if column.hidden and column.index == bundle.competition.primary_index:
            yield Problem(f"the primary column {column.key} is hidden", column.at)


@BOARDS.note("the leaderboard is hidden")
def _leaderboard_hidden(bundle: Bundle) -> Iterator[Problem]:
    """Only organisers see it. → Set `hidden: false` when the ranking is to be public."""
    for board in bundle.entries("leaderboards")[:1]:
        if as_boolean(board.get("hidden")):
            yield Problem("the leaderboard is hidden", (*board.at, "hidden"))


def _of_several_tasks(competition: Competition) -> list[str]:
    """The names of the phases with several tasks."""
    return [phase.name for phase in competition.phases if len(phase.tasks) > 1]


def _rule_over_several_tasks(bundle: Bundle, rule: str) -> Iterator[Problem]:
    phases = _of_several_tasks(bundle.competition)
    if phases and bundle.competition.submission_rule == rule:
        yield Problem(f"{rule} with the several tasks of phase {phases[0]}", ("leaderboards", 0, "submission_rule"))


@BOARDS.trap(
    "an automatic submission rule in a phase with several tasks",
    source=f"{SCORES}; github.com/codalab/codabench issues 1022 and 2211",
)
def _automatic_rule_with_several_tasks(bundle: Bundle) -> Iterator[Problem]:
    """Force_Last keeps the task that finishes last, and Force_Best with lower-is-better the best task: the other tasks
    show n/a.
    → Use Add, Add_And_Delete or Force_Latest_Multiple, or one task that writes a column for each subtask.
    """
    yield from _rule_over_several_tasks(bundle, "Force_Last")
    primary = bundle.competition.leaderboard.primary
    if primary is not None and primary.ascending:
        yield from _rule_over_several_tasks(bundle, "Force_Best")


@BOARDS.note("Force_Best in a phase with several tasks")
def _best_of_several_tasks(bundle: Bundle) -> Iterator[Problem]:
    """The submission as a whole competes with its own tasks, with the sum of their primary scores: all tasks are kept
    as long as the scores are positive.
    → Use Force_Latest_Multiple, or one task that writes a column for each subtask.
    """
    primary = bundle.competition.leaderboard.primary
    if primary is not None and not primary.ascending:
        yield from _rule_over_several_tasks(bundle, "Force_Best")


def _blank(competition: Competition) -> Iterator[tuple[Column, str]]:
    """The columns that stay blank because a phase has several tasks, each with the names of such phases."""
    phases = _of_several_tasks(competition)
    named = f"phase{'s' if phases[1:] else ''} {' and '.join(phases)}"
    for column in competition.columns if phases else ():
        if column.computation and column.computation != AVERAGE_RANK:
            yield column, named


@BOARDS.broken("a computed primary column in a phase with several tasks")
def _primary_computed_with_several_tasks(bundle: Bundle) -> Iterator[Problem]:
    """It is computed over all tasks together, for a row that is not shown: the column that ranks stays blank.
    → Let one task write all scores (layout joint), or rank by a column that the scoring program writes.
    """
    for column, phases in _blank(bundle.competition):
        if column == bundle.competition.leaderboard.primary:
            yield Problem(f"the primary column {column.key} stays blank in {phases}", column.at)


@BOARDS.trap("a computed column in a phase with several tasks")
def _computed_with_several_tasks(bundle: Bundle) -> Iterator[Problem]:
    """It is computed over all tasks together, for a row that is not shown: the column stays blank.
    → Let the scoring program write the value.
    """
    for column, phases in _blank(bundle.competition):
        if column != bundle.competition.leaderboard.primary:
            yield Problem(f"the computed column {column.key} stays blank in {phases}", column.at)


VALIDATED = Topic("Columns", f"{SERIALIZERS}/leaderboards.py (columns)", stage=Stage.SAVE_LEADERBOARDS)
COMPUTED = Topic("Columns", SCORES)
SHOWN = Topic("Columns", SCORES, reads="both")
COLUMNS_PLACE = 3
# place of checks over a whole column, and over all columns, after those of single fields
WHOLE_COLUMN, ALL_COLUMNS = 90, 10_000


def _columns(bundle: Bundle) -> Iterator[tuple[YamlItem, YamlItem]]:
    for board in bundle.entries("leaderboards"):
        for column in bundle.entries(*board.at, "columns"):
            yield board, column


def _repeated(bundle: Bundle, key: str, read: Callable[[Any], Any], place: int) -> Iterator[Problem]:
    """Find values that two columns of a leaderboard share; None is not a value."""
    for board in bundle.entries("leaderboards"):
        at = (*board.at, "columns")
        for value, count in Counter(read(column.get(key)) for column in bundle.entries(*at)).items():
            if count > 1 and value is not None:
                order = (board.position, COLUMNS_PLACE, ALL_COLUMNS, place)
                yield Problem(f"the {key} {value!r} is used {count} times", at, order=order)


@VALIDATED.refused("two columns with the same key")
def _column_keys_equal(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `columns: Columns must have unique keys!`
    → Give every column a key of its own; blanks around it do not count.
    """
    return _repeated(bundle, "key", lambda value: as_text(value) or None, 1)


@VALIDATED.refused("two columns with the same index")
def _column_indexes_equal(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `columns: Columns must have unique indexes!` → Number the columns 0, 1, 2 …."""
    return _repeated(bundle, "index", as_integer, 0)


@VALIDATED.refused("`computation` without `computation_indexes`")
def _computation_without_inputs(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Column with computation must have at least 1 column selected …`, even if computation is
    null.
    → Add computation_indexes with the indexes of the columns to compute from, or delete computation.
    Example: `computation: avg` with `computation_indexes: [0, 1]`.
    """
    for board, column in _columns(bundle):
        if "computation" in column.value and "computation_indexes" not in column.value:
            order = (board.position, COLUMNS_PLACE, column.position, WHOLE_COLUMN)
            what = f"column {shown(column.get('key'))} has a computation, but no computation_indexes"
            yield Problem(what, column.at, order=order)


@VALIDATED.refused("`computation_indexes` that do not fit")
def _computation_inputs_wrong(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Column index … does not exist …`, `Bad value for index …`, `Cannot self-reference …` or
    `Cannot add computation columns without a computation function set`.
    → Give a list of whole numbers, each the index of another column, together with `computation`.
    """
    for board, column in _columns(bundle):
        at = (*column.at, "computation_indexes")
        for what in _input_faults(bundle, board, column, column.get("computation_indexes")):
            yield Problem(what, at, order=(board.position, COLUMNS_PLACE, column.position, WHOLE_COLUMN))


def _input_faults(bundle: Bundle, board: YamlItem, column: YamlItem, indexes: Any) -> Iterator[str]:
    name = f"computation_indexes of {shown(column.get('key'))}"
    if indexes is None:
        return
    if not isinstance(indexes, (list, dict, str, set)):
        yield f"{name} is {shown(indexes)}, and must be a list"
        return
    if isinstance(indexes, str) and not indexes.strip():
        yield f"{name} is blank"
        return
    listed = input_texts(indexes)
    if not listed:
        return
    if "computation" not in column.value:
        yield f"{name} is given without computation"
    existing = {as_integer(other.get("index")) for other in bundle.entries(*board.at, "columns")}
    if str(as_integer(column.get("index"))) in listed:
        yield f"{name} refers to the column itself"
    for text in listed:
        try:
            number = int(text)
        except ValueError:
            yield f"{name} contains {shown(text)}, which is not a whole number"
            continue
        if number not in existing:
            yield f"{name} refers to the index {number}, which no column has"


@COMPUTED.broken("a computed column without inputs, or without a function")
def _computation_of_nothing(bundle: Bundle) -> Iterator[Problem]:
    """Every upload of scores ends in a server error after the first stored score.
    → Give the columns to compute from, and avg, sum, min, max or avg_rank.
    """
    for board, column in _columns(bundle):
        computation = column.get("computation")
        empty = "computation_indexes" in column.value and not input_texts(column.get("computation_indexes"))
        # an average rank of nothing stays blank, and breaks nothing
        if board.position == 0 and computation not in (None, AVERAGE_RANK) and (computation == "" or empty):
            missing = "function" if computation == "" else "inputs"
            yield Problem(f"the computed column {shown(column.get('key'))} has no {missing}", column.at)


@VALIDATED.refused(
    "an `id` of a column that is not a number",
    source=f"{VALIDATED.source}; drf-writable-nested looks up nested objects by id",
)
def _column_id(bundle: Bundle) -> Iterator[Problem]:
    """The server looks for an existing column with this id, and the upload fails. → Delete `id`."""
    for board, column in _columns(bundle):
        key = column.get("pk") or column.get("id")
        if key and as_integer(key) is None:
            order = (board.position, COLUMNS_PLACE, ALL_COLUMNS, 2)
            yield Problem(f"column {shown(column.get('key'))} has the id {shown(key)}", (*column.at, "id"), order=order)


@COMPUTED.trap("a column computed from another computed column")
def _computed_from_computed(bundle: Bundle) -> Iterator[Problem]:
    """The result depends on which of the two the server computes first. → Compute from written columns only."""
    columns = bundle.competition.columns
    computed = {column.index for column in columns if column.computation}
    for column in columns:
        if column.computation not in (None, AVERAGE_RANK) and computed.intersection(column.inputs):
            yield Problem(f"column {column.key} is computed from a computed column", column.at)


@COMPUTED.trap("a sum or mean that lists a column twice")
def _computation_input_twice(bundle: Bundle) -> Iterator[Problem]:
    """The column counts once: listing it again does not give it more weight.
    → List each column once; let the scoring program write a weighted value.
    """
    for column in bundle.competition.columns:
        if column.computation in ("sum", "avg") and len(set(column.inputs)) < len(column.inputs):
            inputs = ", ".join([str(one) for one in column.inputs])
            yield Problem(f"column {column.key} is computed from {inputs}", (*column.at, "computation_indexes"))


def _precisions(bundle: Bundle, is_odd: Callable[[int], bool]) -> Iterator[Problem]:
    for column in bundle.competition.columns:
        if column.precision is not None and is_odd(column.precision):
            yield Problem(f"column {column.key} has the precision {column.precision}", column.at)


@SHOWN.trap("a negative precision")
def _precision_negative(bundle: Bundle) -> Iterator[Problem]:
    """Scores are shown rounded to tens, hundreds and so on. → Give the number of digits after the decimal point."""
    return _precisions(bundle, lambda digits: digits < 0)


@SHOWN.note("a precision of 0")
def _precision_zero(bundle: Bundle) -> Iterator[Problem]:
    """Scores are shown rounded to whole numbers: 0.51 and 1.49 are both shown as 1.0.
    → Give more digits unless the scores are counts or percentages.
    """
    return _precisions(bundle, lambda digits: digits == 0)


# Columns with `computation: avg_rank`, which newer versions of the platform know.
RANKS = Topic("Average ranks", "Codabench source @ 70f08eff, src/apps/leaderboards/ranking.py")


def _average_ranks(bundle: Bundle) -> list[Column]:
    if AVERAGE_RANK not in DIFFERENCES[bundle.platform].computations:
        return []
    return [column for column in bundle.competition.columns if column.computation == AVERAGE_RANK]


@RANKS.trap("an average rank sorted in descending order")
def _average_rank_descending(bundle: Bundle) -> Iterator[Problem]:
    """Rank 1 is the best, so the worst row comes first. → Set `sorting: asc`; the default is desc."""
    for column in _average_ranks(bundle):
        if column.index == bundle.competition.primary_index and not column.ascending:
            yield Problem(f"the primary column {column.key} is an average rank, sorted desc", column.at)


@RANKS.trap("an average rank that is never computed")
def _average_rank_blank(bundle: Bundle) -> Iterator[Problem]:
    """The column stays blank: a hidden one is not computed, and hidden columns and other average ranks do not count.
    → Show the column, and compute it from columns that are shown.
    """
    ranks = {column.index for column in _average_ranks(bundle)}
    counted = {column.index for column in bundle.competition.columns if not column.hidden} - ranks
    for column in _average_ranks(bundle):
        if column.hidden:
            yield Problem(f"the average rank {column.key} is hidden", column.at)
        elif not counted.intersection(column.inputs):
            yield Problem(f"no visible column counts for the average rank {column.key}", column.at)


@RANKS.trap("an average rank that leaves columns out")
def _average_rank_incomplete(bundle: Bundle) -> Iterator[Problem]:
    """Hidden columns silently do not count. → Show them, or delete them from `computation_indexes`."""
    hidden = {column.index: column.key for column in bundle.competition.columns if column.hidden}
    for column in _average_ranks(bundle):
        left_out = [hidden[index] for index in column.inputs if index in hidden]
        if left_out and len(left_out) < len(set(column.inputs)):
            yield Problem(f"the average rank {column.key} leaves out {', '.join(left_out)}", column.at)


@RANKS.trap("Force_Best with an average rank as the primary column")
def _average_rank_best(bundle: Bundle) -> Iterator[Problem]:
    """A rank is not stored, so the remaining columns decide which submission is the best, from left to right.
    → Use Force_Last or Force_Latest_Multiple, or rank by a column that the scoring program writes.
    """
    competition = bundle.competition
    for column in _average_ranks(bundle):
        if column.index == competition.primary_index and competition.submission_rule == "Force_Best":
            yield Problem(f"Force_Best, and {column.key} is an average rank", ("leaderboards", 0, "submission_rule"))
