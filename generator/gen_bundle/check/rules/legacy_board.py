"""The old format's leaderboard (CodaLab 1.5) as Codabench reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gen_bundle.check.registry import UNPACKER, Effect, Problem, rule
from gen_bundle.codabench.fields import as_text, shown
from gen_bundle.codabench.old_competition import board_label, old_columns, old_labels
from gen_bundle.codabench.stages import Stage

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

V1 = f"{UNPACKER}/v1.py"


def _board(bundle: Bundle) -> Mapping[Any, Any]:
    board = bundle.yaml.get("leaderboard")
    return board if isinstance(board, Mapping) else {}


@rule(
    "old-leaderboard",
    Effect.REFUSED,
    Stage.LEADERBOARDS,
    title="old format: leaderboard, its leaderboards or its columns are missing or no mappings",
    consequence="The upload ends with `Could not find leaderboard in the competition yaml`, `… leaderboards declared "
    "…`, `… columns declared …`, or a bare error.",
    repair="Give `leaderboard` with the mappings `leaderboards` and `columns`; every leaderboard needs a `label`, "
    "every column `leaderboard: {label: …}`.",
    source=V1,
    reads="v1",
)
def _old_leaderboard(bundle: Bundle) -> Iterator[Problem]:
    board = bundle.yaml.get("leaderboard")
    if not isinstance(board, Mapping):
        what = shown(board) if "leaderboard" in bundle.yaml else "missing"
        yield Problem(f"leaderboard is {what}, and must be a mapping", ("leaderboard",), order=(0,))
        return
    for place, part in enumerate(("leaderboards", "columns"), start=1):
        if not isinstance(board.get(part), Mapping):
            what = shown(board[part]) if part in board else "missing"
            yield Problem(f"{part} is {what}, and must be a mapping", ("leaderboard", part), order=(place,))
    boards, columns = board.get("leaderboards"), board.get("columns")
    if not isinstance(boards, Mapping) or not isinstance(columns, Mapping):
        return
    for name, one in boards.items():
        label = one.get("label") if isinstance(one, Mapping) else None
        if not isinstance(label, str) and (label is None or columns):
            yield Problem(f"the leaderboard {name} has no label", ("leaderboard", "leaderboards", name), order=(3,))
    for name, column in columns.items():
        if not isinstance(column, Mapping):
            what = f"the column {name} is {shown(column)}, and must be a mapping"
            yield Problem(what, ("leaderboard", "columns", name), order=(2,))
        elif boards and board_label(column) is None:
            yield Problem(f"the column {name} names no leaderboard", ("leaderboard", "columns", name), order=(4,))


@rule(
    "old-ranks-mixed",
    Effect.REFUSED,
    Stage.LEADERBOARDS,
    title="old format: column ranks that cannot be sorted",
    consequence="The upload ends with `'<' not supported between instances of …`.",
    repair="Give every column a whole number as rank.",
    source=V1,
    reads="v1",
)
def _old_ranks_mixed(bundle: Bundle) -> Iterator[Problem]:
    try:
        sorted(column.get("rank", 1) for _, column in old_columns(bundle.yaml))
    except TypeError as error:
        yield Problem(f"the columns' ranks cannot be compared: {error}", ("leaderboard", "columns"), order=(2,))


@rule(
    "old-column-keys-equal",
    Effect.REFUSED,
    Stage.SAVE_LEADERBOARDS,
    title="old format: two columns of a leaderboard with the same key",
    consequence="The upload ends with `columns: Columns must have unique keys!`",
    repair="Give every column a key of its own; a column's `title` replaces its key, and 1 and '1' are the same.",
    source=V1,
    reads="v1",
)
def _old_column_keys_equal(bundle: Bundle) -> Iterator[Problem]:
    labels = old_labels(bundle.yaml)
    seen: set[tuple[str, str]] = set()
    for name, column in old_columns(bundle.yaml):
        label, key = board_label(column), as_text(column.get("title", name))
        if label is None or label not in labels or not key:
            continue
        if (label, key) in seen:
            yield Problem(f"two columns have the key {key!r}", ("leaderboard", "columns", name), order=(0, 3, 10_000))
        seen.add((label, key))


@rule(
    "old-board-without-columns",
    Effect.REFUSED,
    Stage.SAVE_LEADERBOARDS,
    title="old format: a leaderboard that no column names",
    consequence="The upload ends with `columns: Leaderboards require at least 1 column`, or `list index out of range` "
    "where there is no leaderboard.",
    repair="Name the leaderboard's label in its columns.",
    source=V1,
    reads="v1",
)
def _old_board_without_columns(bundle: Bundle) -> Iterator[Problem]:
    boards = _board(bundle).get("leaderboards")
    if boards == {}:
        yield Problem("there is no leaderboard", ("leaderboard", "leaderboards"))
    named = {board_label(column) for _, column in old_columns(bundle.yaml)}
    for position, (name, one) in enumerate(boards.items() if isinstance(boards, Mapping) else ()):
        label = one.get("label") if isinstance(one, Mapping) else None
        if isinstance(label, str) and label.lower() not in named:
            what = f"no column belongs to the leaderboard {name}"
            yield Problem(what, ("leaderboard", "leaderboards", name), order=(position, 3))


@rule(
    "old-column-lost",
    Effect.TRAP,
    title="old format: a column that belongs to no leaderboard",
    consequence="It is lost without a word.",
    repair="Name the label of an existing leaderboard.",
    source=V1,
    reads="v1",
)
def _old_column_lost(bundle: Bundle) -> Iterator[Problem]:
    labels = old_labels(bundle.yaml)
    for name, column in old_columns(bundle.yaml):
        label = board_label(column)
        if label is not None and label not in labels:
            yield Problem(f"the column {name} belongs to no leaderboard", ("leaderboard", "columns", name))


@rule(
    "old-boards-several",
    Effect.TRAP,
    title="old format: more than one leaderboard",
    consequence="Only the first one is used; it is attached to every phase.",
    repair="Put all columns into one leaderboard.",
    source=V1,
    reads="v1",
)
def _old_boards_several(bundle: Bundle) -> Iterator[Problem]:
    boards = _board(bundle).get("leaderboards")
    for name in list(boards)[1:] if isinstance(boards, Mapping) else ():
        yield Problem(f"the leaderboard {name} is never shown", ("leaderboard", "leaderboards", name))


@rule(
    "old-column-computed",
    Effect.TRAP,
    title="old format: a computed column",
    consequence="`computed` is ignored: the column stays empty.",
    repair="Let the scoring program write the value, or use the new format's computation.",
    source=f"{V1}; github.com/codalab/codabench issue 368",
    reads="v1",
)
def _old_column_computed(bundle: Bundle) -> Iterator[Problem]:
    for name, column in old_columns(bundle.yaml):
        if column.get("computed"):
            yield Problem(f"the column {name} is computed", ("leaderboard", "columns", name, "computed"))
