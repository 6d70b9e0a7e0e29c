"""Columns: keys, indexes, computed columns, and directions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gen_bundle.check.competition import Column
from gen_bundle.check.fields import as_integer, as_text
from gen_bundle.check.rules import HOUSE, SCORES, SERIALIZERS, Effect, Problem, Stage, rule
from gen_bundle.check.values import shown

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle, Entry

COLUMNS = f"{SERIALIZERS}/leaderboards.py (columns)"
STORED_DECIMALS = 10
COLUMNS_PLACE = 3
# place of checks over a whole column, and over all columns, after those of single fields
WHOLE_COLUMN, ALL_COLUMNS = 90, 10_000


def _columns(bundle: Bundle) -> Iterator[tuple[Entry, Entry]]:
    for board in bundle.entries("leaderboards"):
        for column in bundle.entries(*board.at, "columns"):
            yield board, column


def input_texts(indexes: Any) -> list[str]:
    """The column indexes of a computation as the server stores them: every item as text, then split at commas."""
    if not isinstance(indexes, (list, dict, str, set)):
        return []
    joined = ",".join(str(index) for index in indexes)
    return joined.split(",") if joined else []


@rule(
    "column-keys-equal",
    Effect.REFUSED,
    Stage.SAVE_LEADERBOARDS,
    title="two columns with the same key",
    consequence="The upload ends with `columns: Columns must have unique keys!`",
    repair="Give every column a key of its own; outer blanks do not count.",
    source=COLUMNS,
)
def column_keys_equal(bundle: Bundle) -> Iterator[Problem]:
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
def column_indexes_equal(bundle: Bundle) -> Iterator[Problem]:
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
def computation_without_inputs(bundle: Bundle) -> Iterator[Problem]:
    for board, column in _columns(bundle):
        if "computation" in column.value and "computation_indexes" not in column.value:
            order = (board.position, COLUMNS_PLACE, column.position, WHOLE_COLUMN)
            yield Problem(f"column {shown(column.get('key'))} has computation only", column.at, order=order)


@rule(
    "computation-inputs-wrong",
    Effect.REFUSED,
    Stage.SAVE_LEADERBOARDS,
    title="computation_indexes that do not fit",
    consequence="The upload ends with `Column index … does not exist …`, `Bad value for index …`, `Cannot self-reference …` "
    "or `Cannot add computation columns without a computation function set`.",
    repair="Give a list of whole numbers, each the index of another column, together with `computation`.",
    source=COLUMNS,
)
def computation_inputs_wrong(bundle: Bundle) -> Iterator[Problem]:
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
    repair="Name the columns to compute from, and avg, sum, min or max.",
    source=SCORES,
)
def computation_of_nothing(bundle: Bundle) -> Iterator[Problem]:
    for board, column in _columns(bundle):
        computation = column.get("computation")
        indexes = column.get("computation_indexes")
        empty = not input_texts(indexes) and "computation_indexes" in column.value
        if board.position == 0 and computation is not None and (computation == "" or empty):
            yield Problem(f"column {shown(column.get('key'))} computes from nothing", column.at)


@rule(
    "computation-left-out",
    Effect.TRAP,
    title="computation_indexes beside an empty computation",
    consequence="The column is not computed; nobody fills it unless the scoring program writes its key.",
    repair="Set computation to avg, sum, min or max, or delete both keys.",
    source=SCORES,
)
def computation_left_out(bundle: Bundle) -> Iterator[Problem]:
    for _, column in _columns(bundle):
        if "computation" in column.value and column.get("computation") is None:
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
def computed_from_computed(bundle: Bundle) -> Iterator[Problem]:
    columns = bundle.competition.columns
    computed = {column.index for column in columns if column.computation}
    for column in columns:
        if column.computation and computed.intersection(column.inputs):
            yield Problem(f"column {column.key} is computed from a computed column", column.at)


@rule(
    "column-id",
    Effect.REFUSED,
    Stage.SAVE_LEADERBOARDS,
    title="an `id` of a column that is no number",
    consequence="The server looks for an existing column with this id, and the upload fails.",
    repair="Delete `id`.",
    source=f"{COLUMNS}; drf-writable-nested looks up nested objects by id",
)
def column_id(bundle: Bundle) -> Iterator[Problem]:
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
def precision_negative(bundle: Bundle) -> Iterator[Problem]:
    for column in bundle.competition.columns:
        if column.precision is not None and column.precision < 0:
            yield Problem(f"column {column.key} has the precision {column.precision}", column.at)


@rule(
    "precision-beyond-stored",
    Effect.NOTE,
    title="more digits than are stored",
    consequence=f"Scores are stored with {STORED_DECIMALS} digits after the point.",
    repair=f"Use a precision of at most {STORED_DECIMALS}.",
    source=SCORES,
    reads="both",
)
def precision_beyond_stored(bundle: Bundle) -> Iterator[Problem]:
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
def column_key_with_outer_blanks(bundle: Bundle) -> Iterator[Problem]:
    for _, column in _columns(bundle):
        key = column.get("key")
        if isinstance(key, str) and key != key.strip() and key.strip():
            yield Problem(f"the key {key!r} has blanks around it", (*column.at, "key"))


HIGHER_IS_BETTER = re.compile(
    r"accuracy|acc|f1|f[_-]?score|f[_-]?measure|f[_-]?beta|precision|recall|(?:ro)?auc|auroc|auprc|map|mrr|ndcg|bleu|"
    r"rouge(?:[_-]?[12l])?|meteor|chrf|bertscore|iou|miou|dice|kappa|mcc|matthews|jaccard|pearson|spearman|r2|psnr|ssim"
)
LOWER_IS_BETTER = re.compile(r"rmse|mse|mae|mape|rmsle|wer|cer|ter|perplexity|log[_-]?loss|loss|error(?:[_-]?rate)?|brier|ece|fid|eer")
WORDS = re.compile(r"[a-z]+\d*|\d+")


def expected_direction(column: Column) -> str | None:
    """The direction of a metric with a well-known name, where key and title name exactly one kind of metric."""
    kinds: set[str] = set()
    for name in (column.key, column.title):
        plain = name.lower().strip()
        words = {plain, *WORDS.findall(plain)}
        if any(LOWER_IS_BETTER.fullmatch(word) for word in words):
            kinds.add("asc")
        if any(HIGHER_IS_BETTER.fullmatch(word) for word in words):
            kinds.add("desc")
    return kinds.pop() if len(kinds) == 1 else None


@rule(
    "metric-sorted-the-wrong-way",
    Effect.TRAP,
    title="a well-known metric that is sorted the other way",
    consequence="The worst submission ranks first.",
    repair="Set `sorting: asc` where lower is better, `desc` where higher is; rename the column if it means something else.",
    source=HOUSE,
    reads="both",
)
def metric_sorted_the_wrong_way(bundle: Bundle) -> Iterator[Problem]:
    for column in bundle.competition.columns:
        direction = expected_direction(column)
        given = "asc" if column.ascending else "desc"
        if direction is not None and direction != given:
            yield Problem(f"column {column.key} is sorted {given}, and such a metric is usually {direction}", column.at)


def scored_columns(columns: tuple[Column, ...]) -> list[Column]:
    """The columns that a scoring program has to write itself."""
    return [column for column in columns if not column.computation]


@rule(
    "column-never-written",
    Effect.TRAP,
    title="a column that the scoring program does not write",
    consequence="The cell stays empty (n/a), and tie-breaking by it is meaningless.",
    repair="Write the key in every scores.json, or delete the column. Keys count as written, without outer blanks.",
    source=SCORES,
    reads="both",
)
def column_never_written(bundle: Bundle) -> Iterator[Problem]:
    competition = bundle.competition
    for column in _unwritten(bundle):
        if column.index != competition.primary_index:
            yield Problem(f"no dry run wrote the key {column.key}", column.at)


@rule(
    "primary-never-written",
    Effect.BROKEN,
    title="the scoring program does not write the primary column",
    consequence="Rows without a primary score stand on top of a descending leaderboard.",
    repair="Write the key in every scores.json, or make another column the primary one.",
    source=f"{SCORES}; github.com/codalab/codabench issues 1284 and 2321",
    reads="both",
)
def primary_never_written(bundle: Bundle) -> Iterator[Problem]:
    for column in _unwritten(bundle):
        if column.index == bundle.competition.primary_index:
            yield Problem(f"no dry run wrote the primary key {column.key}", column.at)


def _unwritten(bundle: Bundle) -> list[Column]:
    if not bundle.scored:
        return []
    written = frozenset[str]().union(*bundle.scored)
    return [column for column in scored_columns(bundle.competition.columns) if column.key not in written]


@rule(
    "computed-key-written",
    Effect.BROKEN,
    title="the scoring program writes the key of a computed column",
    consequence="Written after its inputs, it makes the upload of scores end in a server error.",
    repair="Do not write it: the server computes the column.",
    source=SCORES,
)
def computed_key_written(bundle: Bundle) -> Iterator[Problem]:
    written = frozenset[str]().union(*(bundle.scored or []))
    for column in bundle.competition.columns:
        if column.computation and column.key in written:
            yield Problem(f"a dry run wrote the computed key {column.key}", column.at)


@rule(
    "score-without-column",
    Effect.NOTE,
    title="a score that has no column",
    consequence="It is ignored without a word.",
    repair="Add a column with this key, or leave it to the detailed results.",
    source=SCORES,
    reads="both",
)
def score_without_column(bundle: Bundle) -> Iterator[Problem]:
    keys = {column.key for column in bundle.competition.columns}
    unknown = sorted(frozenset[str]().union(*(bundle.scored or [])) - keys)
    if unknown:
        yield Problem(f"dry runs wrote keys without a column: {', '.join(unknown[:10])}", ("leaderboards",))
