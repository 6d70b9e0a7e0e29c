"""Columns: keys, indexes, computed columns, and directions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gen_bundle.check.registry import SCORES, SERIALIZERS, Effect, Problem, rule
from gen_bundle.codabench.average_rank import AVERAGE_RANK
from gen_bundle.codabench.competition import input_texts
from gen_bundle.codabench.fields import as_integer, as_text, shown
from gen_bundle.codabench.stages import Stage

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle
    from gen_bundle.codabench.document import Entry

COLUMNS = f"{SERIALIZERS}/leaderboards.py (columns)"
STORED_DECIMALS = 10
COLUMNS_PLACE = 3
# place of checks over a whole column, and over all columns, after those of single fields
WHOLE_COLUMN, ALL_COLUMNS = 90, 10_000


def _columns(bundle: Bundle) -> Iterator[tuple[Entry, Entry]]:
    for board in bundle.entries("leaderboards"):
        for column in bundle.entries(*board.at, "columns"):
            yield board, column


@rule(
    "column-keys-equal",
    Effect.REFUSED,
    Stage.SAVE_LEADERBOARDS,
    title="two columns with the same key",
    consequence="The upload ends with `columns: Columns must have unique keys!`",
    repair="Give every column a key of its own; outer blanks do not count.",
    source=COLUMNS,
)
def _column_keys_equal(bundle: Bundle) -> Iterator[Problem]:
    for board in bundle.entries("leaderboards"):
        columns = bundle.entries(*board.at, "columns")
        counted = Counter(as_text(column.get("key")) for column in columns if as_text(column.get("key")))
        for key, count in counted.items():
            if count > 1:
                order = (board.position, COLUMNS_PLACE, ALL_COLUMNS, 1)
                yield Problem(f"the key {key!r} is used {count} times", (*board.at, "columns"), order=order)


@rule(
    "column-indexes-equal",
    Effect.REFUSED,
    Stage.SAVE_LEADERBOARDS,
    title="two columns with the same index",
    consequence="The upload ends with `columns: Columns must have unique indexes!`",
    repair="Number the columns 0, 1, 2 ….",
    source=COLUMNS,
)
def _column_indexes_equal(bundle: Bundle) -> Iterator[Problem]:
    for board in bundle.entries("leaderboards"):
        numbers = [as_integer(column.get("index")) for column in bundle.entries(*board.at, "columns")]
        for index, count in Counter(number for number in numbers if number is not None).items():
            if count > 1:
                order = (board.position, COLUMNS_PLACE, ALL_COLUMNS, 0)
                yield Problem(f"the index {index} is used {count} times", (*board.at, "columns"), order=order)


@rule(
    "computation-without-inputs",
    Effect.REFUSED,
    Stage.SAVE_LEADERBOARDS,
    title="`computation` without `computation_indexes`",
    consequence="The upload ends with `Column with computation must have at least 1 column selected …`, even when "
    "computation is null.",
    repair="Add computation_indexes with the indexes of the columns to compute from, or delete computation.",
    source=COLUMNS,
)
def _computation_without_inputs(bundle: Bundle) -> Iterator[Problem]:
    for board, column in _columns(bundle):
        if "computation" in column.value and "computation_indexes" not in column.value:
            order = (board.position, COLUMNS_PLACE, column.position, WHOLE_COLUMN)
            yield Problem(f"column {shown(column.get('key'))} has computation only", column.at, order=order)


@rule(
    "computation-inputs-wrong",
    Effect.REFUSED,
    Stage.SAVE_LEADERBOARDS,
    title="computation_indexes that do not fit",
    consequence="The upload ends with `Column index … does not exist …`, `Bad value for index …`, `Cannot "
    "self-reference …` or `Cannot add computation columns without a computation function set`.",
    repair="Give a list of whole numbers, each the index of another column, together with `computation`.",
    source=COLUMNS,
)
def _computation_inputs_wrong(bundle: Bundle) -> Iterator[Problem]:
    for board, column in _columns(bundle):
        at = (*column.at, "computation_indexes")
        indexes = column.get("computation_indexes")
        for what in _input_faults(bundle, board, column, indexes):
            yield Problem(what, at, order=(board.position, COLUMNS_PLACE, column.position, WHOLE_COLUMN))


def _input_faults(bundle: Bundle, board: Entry, column: Entry, indexes: Any) -> Iterator[str]:
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
        yield f"{name} names the column itself"
    for text in listed:
        try:
            number = int(text)
        except ValueError:
            yield f"{name} holds {shown(text)}, which is no whole number"
            continue
        if number not in existing:
            yield f"{name} names the index {number}, which no column has"


@rule(
    "computation-of-nothing",
    Effect.BROKEN,
    title="a computed column that computes from nothing, or with no function",
    consequence="Every upload of scores ends in a server error after the first stored score.",
    repair="Name the columns to compute from, and avg, sum, min, max or avg_rank.",
    source=SCORES,
)
def _computation_of_nothing(bundle: Bundle) -> Iterator[Problem]:
    for board, column in _columns(bundle):
        computation = column.get("computation")
        indexes = column.get("computation_indexes")
        empty = not input_texts(indexes) and "computation_indexes" in column.value
        if computation == AVERAGE_RANK:  # stays blank, and breaks nothing
            continue
        if board.position == 0 and computation is not None and (computation == "" or empty):
            yield Problem(f"column {shown(column.get('key'))} computes from nothing", column.at)


@rule(
    "computation-left-out",
    Effect.TRAP,
    title="computation_indexes beside an empty computation",
    consequence="The column is not computed; nobody fills it unless the scoring program writes its key.",
    repair="Set computation to avg, sum, min, max or avg_rank, or delete both keys.",
    source=SCORES,
)
def _computation_left_out(bundle: Bundle) -> Iterator[Problem]:
    for _, column in _columns(bundle):
        if "computation" not in column.value or column.get("computation") is not None:
            continue
        if input_texts(column.get("computation_indexes")):
            yield Problem(f"column {shown(column.get('key'))} has inputs and no computation", column.at)


@rule(
    "computed-from-computed",
    Effect.TRAP,
    title="a column computed from another computed column",
    consequence="The result depends on which of the two the server happens to compute first.",
    repair="Compute from columns that the scoring program writes.",
    source=SCORES,
)
def _computed_from_computed(bundle: Bundle) -> Iterator[Problem]:
    columns = bundle.competition.columns
    computed = {column.index for column in columns if column.computation}
    for column in columns:
        if column.computation not in (None, "", AVERAGE_RANK) and computed.intersection(column.inputs):
            yield Problem(f"column {column.key} is computed from a computed column", column.at)


@rule(
    "computation-input-twice",
    Effect.TRAP,
    title="a sum or mean over a column that is named twice",
    consequence="The column counts once: naming it again does not give it more weight.",
    repair="Name each column once; let the scoring program write a weighted value.",
    source=SCORES,
)
def _computation_input_twice(bundle: Bundle) -> Iterator[Problem]:
    for column in bundle.competition.columns:
        if column.computation in ("sum", "avg") and len(set(column.inputs)) < len(column.inputs):
            listed = ", ".join(map(str, column.inputs))
            yield Problem(f"column {column.key} is computed from {listed}", (*column.at, "computation_indexes"))


@rule(
    "column-id",
    Effect.REFUSED,
    Stage.SAVE_LEADERBOARDS,
    title="an `id` of a column that is no number",
    consequence="The server looks for an existing column with this id, and the upload fails.",
    repair="Delete `id`.",
    source=f"{COLUMNS}; drf-writable-nested looks up nested objects by id",
)
def _column_id(bundle: Bundle) -> Iterator[Problem]:
    for board, column in _columns(bundle):
        key = column.get("pk") or column.get("id")
        if key and as_integer(key) is None:
            order = (board.position, COLUMNS_PLACE, ALL_COLUMNS, 2)
            yield Problem(f"column {shown(column.get('key'))} has the id {shown(key)}", (*column.at, "id"), order=order)


@rule(
    "precision-negative",
    Effect.TRAP,
    title="a negative precision",
    consequence="Scores are shown rounded to tens, hundreds and so on.",
    repair="Give the number of digits after the point.",
    source=SCORES,
    reads="both",
)
def _precision_negative(bundle: Bundle) -> Iterator[Problem]:
    for column in bundle.competition.columns:
        if column.precision is not None and column.precision < 0:
            yield Problem(f"column {column.key} has the precision {column.precision}", column.at)


@rule(
    "precision-zero",
    Effect.NOTE,
    title="a precision of 0",
    consequence="Scores are shown rounded to whole numbers: 0.51 and 1.49 are both shown as 1.0.",
    repair="Give more digits where the scores are not counts or percentages.",
    source=SCORES,
    reads="both",
)
def _precision_zero(bundle: Bundle) -> Iterator[Problem]:
    for column in bundle.competition.columns:
        if column.precision == 0:
            yield Problem(f"column {column.key} has the precision 0", column.at)


@rule(
    "precision-beyond-stored",
    Effect.NOTE,
    title="more digits than are stored",
    consequence=f"Scores are stored with {STORED_DECIMALS} digits after the point.",
    repair=f"Use a precision of at most {STORED_DECIMALS}.",
    source=SCORES,
    reads="both",
)
def _precision_beyond_stored(bundle: Bundle) -> Iterator[Problem]:
    for column in bundle.competition.columns:
        if column.precision is not None and column.precision > STORED_DECIMALS:
            yield Problem(f"column {column.key} has the precision {column.precision}", column.at)


@rule(
    "column-key-with-outer-blanks",
    Effect.TRAP,
    title="a column key with blanks around it",
    consequence="The blanks are stripped: a scoring program that writes the key with them is ignored.",
    repair="Write the key without blanks, here and in the scoring program.",
    source=SERIALIZERS,
)
def _column_key_with_outer_blanks(bundle: Bundle) -> Iterator[Problem]:
    for _, column in _columns(bundle):
        key = column.get("key")
        if isinstance(key, str) and key != key.strip() and key.strip():
            yield Problem(f"the key {key!r} has blanks around it", (*column.at, "key"))
