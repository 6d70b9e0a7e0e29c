"""The old format (CodaLab 1.5) as Codabench reads it; and bundles that the server exported."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import UNPACKER, Problem, Topic
from gen_bundle.check.rules.shared import NOT_SORTABLE, as_found, sorting_error
from gen_bundle.codabench.reading import (
    as_text,
    board_label,
    of_leaderboard,
    old_columns,
    old_labels,
    old_phases,
)
from gen_bundle.codabench.settings import MISSING, Stage, shown
from gen_bundle.codabench.versions import SOURCE

EXPORTS = Topic("The server's own exports", f"{SOURCE}, src/apps/competitions/tasks.py (create_competition_dump)")
COMMENT = re.compile(r"^\s*#", re.MULTILINE)
OLD = Topic("The old format", f"{UNPACKER}/v1.py", reads="v1", stage=Stage.PHASES)


@EXPORTS.trap("an export of the server")
def _server_export(bundle: Bundle) -> Iterator[Problem]:
    """It does not hold all of the competition: times of day, the primary column (0 again), public data, starting kits
    and `ingestion_only_during_scoring` are lost, and a task of several phases occurs several times.
    → Upload the original bundle if there is one (the server keeps it beside its exports), or add what is lost: quoted
    times, `primary_index`, `public_data`, `starting_kit`.
    """
    tasks, phases = bundle.entries("tasks"), bundle.entries("phases")
    # the server writes these keys into each task and each phase; people write comments, and name what it leaves out
    keys_of_server = all("is_public" in t.value for t in tasks) and all("solutions" in p.value for p in phases)
    kept = any({"public_data", "starting_kit"} & set(phase.value) for phase in phases)
    by_hand = kept or (bundle.document is not None and COMMENT.search(bundle.document.text))
    if tasks and phases and keys_of_server and not by_hand:
        yield Problem("the bundle is the server's own export", ("version",))


@OLD.refused("old format: `html` is missing or not a mapping with terms", stage=Stage.PAGES)
def _old_html(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `HTML pages could not be found in the yaml file` or `A file containing the terms …`.
    → Give `html` as a mapping of page titles to files, one of them `terms`. A bundle of the new format needs `version:
    2` instead.
    Example: `html: {overview: overview.html, terms: terms.html}`.
    """
    html = bundle.yaml.get("html", MISSING)
    if not isinstance(html, Mapping):
        yield Problem(f"html is {as_found(html)}, and must be a mapping", ("html",))
    elif "terms" not in html:
        yield Problem("html has no page called terms", ("html",))


@OLD.refused("old format: `phases` is missing, empty or not a mapping of phases")
def _old_phases(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `No phases could be found for this competition` or a bare error.
    → Give `phases` as a mapping from numbers to phases, at least one besides a parallel parent.
    """
    phases = bundle.yaml.get("phases", MISSING)
    if not isinstance(phases, Mapping) or not phases:
        what = f"phases is {as_found(phases)}, and must be a mapping with at least one phase"
        yield Problem(what, ("phases",), order=(-2,))
        return
    for key, phase in phases.items():
        if not isinstance(phase, Mapping):
            yield Problem(f"phase {key} is {shown(phase)}, and must be a mapping", ("phases", key), order=(-2,))
    if not old_phases(bundle) and len(bundle.mappings("phases")) == len(phases):
        yield Problem("the only phase is a parallel parent, which is dropped", ("phases",), order=(10_000,))


@OLD.refused("old format: a phase without phasenumber, label or start_date")
def _old_phase_key_missing(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with the bare name of the key, such as `'start_date'`. → Add the key."""
    for key, phase in bundle.mappings("phases"):
        if "phasenumber" not in phase:
            yield Problem(f"phase {key} has no phasenumber", ("phases", key), order=(-1,))
    for number, (at, phase) in enumerate(old_phases(bundle)):
        for place, name in enumerate(("start_date", "label")):
            if name not in phase:
                yield Problem(f"phase {at[1]} has no {name}", at, order=(number, place))


@OLD.refused("old format: phase numbers that cannot be sorted", f"{NOT_SORTABLE} → Number the phases 1, 2, 3 ….")
def _old_phase_numbers_mixed(bundle: Bundle) -> Iterator[Problem]:
    error = sorting_error(phase["phasenumber"] for _, phase in bundle.mappings("phases") if "phasenumber" in phase)
    if error:
        yield Problem(f"the phases' numbers cannot be compared: {error}", ("phases",), order=(-1,))


@OLD.trap("old format: several phases")
def _old_phases_lose_a_day(bundle: Bundle) -> Iterator[Problem]:
    """Each phase ends one day before the next one starts. → Use the new format, in which phases have ends."""
    for phase in bundle.competition.phases[:-1]:
        if phase.end.moment is not None:
            yield Problem(f"phase {phase.name} ends {phase.end.moment:%Y-%m-%d}, one day before the next one", phase.at)


@OLD.broken("old format: a phase without a scoring program")
def _old_phase_without_scorer(bundle: Bundle) -> Iterator[Problem]:
    """It is accepted, but every submission fails. → Add `scoring_program`."""
    for phase in bundle.competition.phases:
        if "scoring_program" not in phase.tasks[0].files:
            yield Problem(f"phase {phase.name} has no scoring program", phase.at)


@OLD.note("old format: CodaLab 1.5")
def _old_format(bundle: Bundle) -> Iterator[Problem]:
    """It is read as far as Codabench knows its keys; many are ignored. → Make a project of it: `gen-bundle import`."""
    if "html" in bundle.yaml:
        yield Problem("the bundle is in the format of CodaLab 1.5", ("html",))


OLD_BOARD = Topic("The old format's leaderboard", f"{UNPACKER}/v1.py", reads="v1", stage=Stage.LEADERBOARDS)
BOARDS, COLUMNS = ("leaderboard", "leaderboards"), ("leaderboard", "columns")


def _label(board: Any) -> Any:
    return board.get("label") if isinstance(board, Mapping) else None


@OLD_BOARD.refused("old format: leaderboard, its leaderboards or its columns are not mappings")
def _old_leaderboard(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Could not find leaderboard in the competition yaml`, `… leaderboards declared …`, `…
    columns declared …`, or a bare error.
    → Give `leaderboard` with the mappings `leaderboards` and `columns`; every leaderboard needs a `label`, every column
    `leaderboard: {label: …}`.
    Example: the column `f1: {leaderboard: {label: Results}}` of the leaderboard `one: {label: Results}`.
    """
    leaderboard = bundle.yaml.get("leaderboard", MISSING)
    if not isinstance(leaderboard, Mapping):
        yield Problem(f"leaderboard is {as_found(leaderboard)}, and must be a mapping", BOARDS[:1], order=(0,))
        return
    is_whole = True
    for place, at in enumerate((BOARDS, COLUMNS), start=1):
        part = leaderboard.get(at[-1], MISSING)
        if not isinstance(part, Mapping):
            is_whole = False
            yield Problem(f"{at[-1]} is {as_found(part)}, and must be a mapping", at, order=(place,))
    if is_whole:
        yield from _faulty_boards_and_columns(leaderboard["leaderboards"], leaderboard["columns"])


def _faulty_boards_and_columns(boards: Mapping[Any, Any], columns: Mapping[Any, Any]) -> Iterator[Problem]:
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
    "old format: column ranks that cannot be sorted", f"{NOT_SORTABLE} → Give every column a whole number as rank."
)
def _old_ranks_mixed(bundle: Bundle) -> Iterator[Problem]:
    error = sorting_error(column.get("rank", 1) for _, column in old_columns(bundle.yaml))
    if error:
        yield Problem(f"the columns' ranks cannot be compared: {error}", COLUMNS, order=(2,))


@OLD_BOARD.refused("old format: two columns of a leaderboard with the same key", stage=Stage.SAVE_LEADERBOARDS)
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


@OLD_BOARD.refused("old format: a leaderboard without columns", stage=Stage.SAVE_LEADERBOARDS)
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
