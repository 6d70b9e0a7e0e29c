"""Columns: keys, indexes, computed columns, and precision."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import SCORES, SERIALIZERS, Check, Problem, Topic
from gen_bundle.codabench.competition import AVERAGE_RANK
from gen_bundle.codabench.fields import as_integer, as_text, shown
from gen_bundle.codabench.reading import YamlItem, input_texts
from gen_bundle.codabench.stages import Stage

VALIDATED = Topic("Columns", f"{SERIALIZERS}/leaderboards.py (columns)", stage=Stage.SAVE_LEADERBOARDS)
COMPUTED = Topic("Columns", SCORES)
SHOWN = Topic("Columns", SCORES, reads="both")
STORED_DECIMALS = 10
COLUMNS_PLACE = 3
# place of checks over a whole column, and over all columns, after those of single fields
WHOLE_COLUMN, ALL_COLUMNS = 90, 10_000


def _columns(bundle: Bundle) -> Iterator[tuple[YamlItem, YamlItem]]:
    for board in bundle.entries("leaderboards"):
        for column in bundle.entries(*board.at, "columns"):
            yield board, column


def _repeated(name: str, values: Callable[[list[YamlItem]], Iterable[Any]], place: int) -> Check:
    """The check for a value that two columns of a leaderboard must not share; None is not a value."""

    def check(bundle: Bundle) -> Iterator[Problem]:
        for board in bundle.entries("leaderboards"):
            at = (*board.at, "columns")
            for value, count in Counter(values(bundle.entries(*at))).items():
                if count > 1 and value is not None:
                    order = (board.position, COLUMNS_PLACE, ALL_COLUMNS, place)
                    yield Problem(f"the {name} {value!r} is used {count} times", at, order=order)

    return check


VALIDATED.refused(
    "column-keys-equal",
    "two columns with the same key",
    "The upload ends with `columns: Columns must have unique keys!` "
    "→ Give every column a key of its own; blanks around it do not count.",
)(_repeated("key", lambda columns: (as_text(column.get("key")) or None for column in columns), 1))

VALIDATED.refused(
    "column-indexes-equal",
    "two columns with the same index",
    "The upload ends with `columns: Columns must have unique indexes!` → Number the columns 0, 1, 2 ….",
)(_repeated("index", lambda columns: (as_integer(column.get("index")) for column in columns), 0))


@VALIDATED.refused("computation-without-inputs", "`computation` without `computation_indexes`")
def _computation_without_inputs(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Column with computation must have at least 1 column selected …`, even if computation is
    null.
    → Add computation_indexes with the indexes of the columns to compute from, or delete computation.
    """
    for board, column in _columns(bundle):
        if "computation" in column.value and "computation_indexes" not in column.value:
            order = (board.position, COLUMNS_PLACE, column.position, WHOLE_COLUMN)
            what = f"column {shown(column.get('key'))} has a computation, but no computation_indexes"
            yield Problem(what, column.at, order=order)


@VALIDATED.refused("computation-inputs-wrong", "`computation_indexes` that do not fit")
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


@COMPUTED.broken("computation-of-nothing", "a computed column without inputs, or without a function")
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


@COMPUTED.trap("computation-left-out", "`computation_indexes` with an empty `computation`")
def _computation_left_out(bundle: Bundle) -> Iterator[Problem]:
    """The column is not computed; it stays empty unless the scoring program writes its key.
    → Set computation to avg, sum, min, max or avg_rank, or delete both keys.
    """
    for _, column in _columns(bundle):
        is_empty = "computation" in column.value and column.get("computation") is None
        if is_empty and input_texts(column.get("computation_indexes")):
            yield Problem(f"column {shown(column.get('key'))} has inputs, but no computation", column.at)


@VALIDATED.refused(
    "column-id",
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


@COMPUTED.trap("column-key-with-outer-blanks", "a column key with blanks around it", source=SERIALIZERS)
def _column_key_with_outer_blanks(bundle: Bundle) -> Iterator[Problem]:
    """The blanks are stripped: scores that the scoring program writes under the key with blanks are ignored.
    → Write the key without blanks, here and in the scoring program.
    """
    for _, column in _columns(bundle):
        key = column.get("key")
        if isinstance(key, str) and key != key.strip() and key.strip():
            yield Problem(f"the key {key!r} has blanks around it", (*column.at, "key"))


@COMPUTED.trap("computed-from-computed", "a column computed from another computed column")
def _computed_from_computed(bundle: Bundle) -> Iterator[Problem]:
    """The result depends on which of the two the server computes first. → Compute from written columns only."""
    columns = bundle.competition.columns
    computed = {column.index for column in columns if column.computation}
    for column in columns:
        if column.computation not in (None, AVERAGE_RANK) and computed.intersection(column.inputs):
            yield Problem(f"column {column.key} is computed from a computed column", column.at)


@COMPUTED.trap("computation-input-twice", "a sum or mean that lists a column twice")
def _computation_input_twice(bundle: Bundle) -> Iterator[Problem]:
    """The column counts once: listing it again does not give it more weight.
    → List each column once; let the scoring program write a weighted value.
    """
    for column in bundle.competition.columns:
        if column.computation in ("sum", "avg") and len(set(column.inputs)) < len(column.inputs):
            inputs = ", ".join(map(str, column.inputs))
            yield Problem(f"column {column.key} is computed from {inputs}", (*column.at, "computation_indexes"))


def _precision(is_odd: Callable[[int], bool]) -> Check:
    """The check for columns with an odd number of digits."""

    def check(bundle: Bundle) -> Iterator[Problem]:
        for column in bundle.competition.columns:
            if column.precision is not None and is_odd(column.precision):
                yield Problem(f"column {column.key} has the precision {column.precision}", column.at)

    return check


SHOWN.trap(
    "precision-negative",
    "a negative precision",
    "Scores are shown rounded to tens, hundreds and so on. → Give the number of digits after the decimal point.",
)(_precision(lambda digits: digits < 0))

SHOWN.note(
    "precision-zero",
    "a precision of 0",
    "Scores are shown rounded to whole numbers: 0.51 and 1.49 are both shown as 1.0. "
    "→ Give more digits unless the scores are counts or percentages.",
)(_precision(lambda digits: digits == 0))

SHOWN.note(
    "precision-beyond-stored",
    "more digits than are stored",
    f"Scores are stored with {STORED_DECIMALS} digits after the decimal point. "
    f"→ Use a precision of at most {STORED_DECIMALS}.",
)(_precision(lambda digits: digits > STORED_DECIMALS))
