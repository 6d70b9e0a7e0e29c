"""The old format's leaderboard (CodaLab 1.5) as Codabench reads it."""

from collections.abc import Iterator, Mapping
from typing import Any

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import UNPACKER, Problem, Topic
from gen_bundle.check.rules.shared import NOT_SORTABLE, as_found, sorting_error
from gen_bundle.codabench.fields import MISSING, as_text, shown
from gen_bundle.codabench.reading import board_label, of_leaderboard, old_columns, old_labels
from gen_bundle.codabench.stages import Stage

OLD_BOARD = Topic("The old format's leaderboard", f"{UNPACKER}/v1.py", reads="v1", stage=Stage.LEADERBOARDS)
BOARDS, COLUMNS = ("leaderboard", "leaderboards"), ("leaderboard", "columns")


def _label(board: Any) -> Any:
    return board.get("label") if isinstance(board, Mapping) else None


@OLD_BOARD.refused("old-leaderboard", "old format: leaderboard, its leaderboards or its columns are not mappings")
def _old_leaderboard(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Could not find leaderboard in the competition yaml`, `… leaderboards declared …`, `…
    columns declared …`, or a bare error.
    → Give `leaderboard` with the mappings `leaderboards` and `columns`; every leaderboard needs a `label`, every column
    `leaderboard: {label: …}`.
    """
    leaderboard = bundle.yaml.get("leaderboard", MISSING)
    if not isinstance(leaderboard, Mapping):
        yield Problem(f"leaderboard is {as_found(leaderboard)}, and must be a mapping", BOARDS[:1], order=(0,))
        return
    boards, columns = leaderboard.get("leaderboards", MISSING), leaderboard.get("columns", MISSING)
    for place, (at, part) in enumerate(((BOARDS, boards), (COLUMNS, columns)), start=1):
        if not isinstance(part, Mapping):
            yield Problem(f"{at[-1]} is {as_found(part)}, and must be a mapping", at, order=(place,))
    if not isinstance(boards, Mapping) or not isinstance(columns, Mapping):
        return
    for name, board in boards.items():
        label = _label(board)
        if not isinstance(label, str) and (label is None or columns):
            yield Problem(f"the leaderboard {name} has no label", (*BOARDS, name), order=(3,))
    for name, column in columns.items():
        if not isinstance(column, Mapping):
            what = f"the column {name} is {shown(column)}, and must be a mapping"
            yield Problem(what, (*COLUMNS, name), order=(2,))
        elif boards and board_label(column) is None:
            yield Problem(f"the column {name} has no leaderboard", (*COLUMNS, name), order=(4,))


@OLD_BOARD.refused(
    "old-ranks-mixed",
    "old format: column ranks that cannot be sorted",
    f"{NOT_SORTABLE} → Give every column a whole number as rank.",
)
def _old_ranks_mixed(bundle: Bundle) -> Iterator[Problem]:
    error = sorting_error(column.get("rank", 1) for _, column in old_columns(bundle.yaml))
    if error:
        yield Problem(f"the columns' ranks cannot be compared: {error}", COLUMNS, order=(2,))


@OLD_BOARD.refused(
    "old-column-keys-equal", "old format: two columns of a leaderboard with the same key", stage=Stage.SAVE_LEADERBOARDS
)
def _old_column_keys_equal(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `columns: Columns must have unique keys!`
    → Give every column a key of its own; a column's `title` replaces its key, and 1 and '1' are the same.
    """
    labels = old_labels(bundle.yaml)
    seen: set[tuple[str, str]] = set()
    for name, column in old_columns(bundle.yaml):
        label, key = board_label(column), as_text(column.get("title", name))
        if label is None or label not in labels or not key:
            continue
        if (label, key) in seen:
            yield Problem(f"two columns have the key {key!r}", (*COLUMNS, name), order=(0, 3, 10_000))
        seen.add((label, key))


@OLD_BOARD.refused(
    "old-board-without-columns", "old format: a leaderboard without columns", stage=Stage.SAVE_LEADERBOARDS
)
def _old_board_without_columns(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `columns: Leaderboards require at least 1 column`, or `list index out of range` if there is
    no leaderboard.
    → Give columns the leaderboard's label.
    """
    if bundle.value(BOARDS) == {}:
        yield Problem("there is no leaderboard", BOARDS)
    named = {board_label(column) for _, column in old_columns(bundle.yaml)}
    for position, (name, board) in enumerate(of_leaderboard(bundle.yaml, "leaderboards").items()):
        label = _label(board)
        if isinstance(label, str) and label.lower() not in named:
            yield Problem(f"the leaderboard {name} has no columns", (*BOARDS, name), order=(position, 3))


@OLD_BOARD.trap("old-column-lost", "old format: a column that belongs to no leaderboard")
def _old_column_lost(bundle: Bundle) -> Iterator[Problem]:
    """It is silently dropped. → Give it the label of an existing leaderboard."""
    for name, column in old_columns(bundle.yaml):
        label = board_label(column)
        if label is not None and label not in old_labels(bundle.yaml):
            yield Problem(f"the column {name} belongs to no leaderboard", (*COLUMNS, name))


@OLD_BOARD.trap("old-boards-several", "old format: more than one leaderboard")
def _old_boards_several(bundle: Bundle) -> Iterator[Problem]:
    """Only the first one is used, for every phase. → Put all columns into one leaderboard."""
    for name in list(of_leaderboard(bundle.yaml, "leaderboards"))[1:]:
        yield Problem(f"the leaderboard {name} is never shown", (*BOARDS, name))


@OLD_BOARD.trap(
    "old-column-computed",
    "old format: a computed column",
    source=f"{OLD_BOARD.source}; github.com/codalab/codabench issue 368",
)
def _old_column_computed(bundle: Bundle) -> Iterator[Problem]:
    """`computed` is ignored: the column stays empty.
    → Let the scoring program write the value, or use the new format's computation.
    """
    for name, column in old_columns(bundle.yaml):
        if column.get("computed"):
            yield Problem(f"the column {name} is computed", (*COLUMNS, name, "computed"))
