"""The old format (CodaLab 1.5) as Codabench reads it: pages, phases and the leaderboard's structure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gen_bundle.check.old_competition import board_label, old_columns, old_phases
from gen_bundle.check.rules import UNPACKER, Effect, Problem, Stage, rule
from gen_bundle.check.values import shown

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

V1 = f"{UNPACKER}/v1.py"


@rule(
    "old-html",
    Effect.REFUSED,
    Stage.PAGES,
    title="old format: html is missing or no mapping with terms",
    consequence="The upload ends with `HTML pages could not be found in the yaml file` or `A file containing the "
    "terms …`.",
    repair="Give `html` as a mapping of page titles to files, one of them `terms`. A bundle of the new format needs "
    "`version: 2` instead.",
    source=V1,
    reads="v1",
)
def _old_html(bundle: Bundle) -> Iterator[Problem]:
    html = bundle.yaml.get("html")
    if not isinstance(html, Mapping):
        yield Problem(
            f"html is {shown(html) if 'html' in bundle.yaml else 'missing'}, and must be a mapping", ("html",)
        )
    elif "terms" not in html:
        yield Problem("html has no page called terms", ("html",))


@rule(
    "old-phases",
    Effect.REFUSED,
    Stage.PHASES,
    title="old format: phases is missing, empty or no mapping of phases",
    consequence="The upload ends with `No phases could be found for this competition` or a bare error.",
    repair="Give `phases` as a mapping from numbers to phases, at least one besides a parallel parent.",
    source=V1,
    reads="v1",
)
def _old_phases_wrong(bundle: Bundle) -> Iterator[Problem]:
    phases = bundle.yaml.get("phases")
    if not isinstance(phases, Mapping) or not phases:
        what = "missing" if "phases" not in bundle.yaml else "empty" if phases == {} else shown(phases)
        yield Problem(f"phases is {what}, and must be a mapping with at least one phase", ("phases",), order=(-2,))
        return
    for key, phase in phases.items():
        if not isinstance(phase, Mapping):
            yield Problem(f"phase {key} is {shown(phase)}, and must be a mapping", ("phases", key), order=(-2,))
    if not old_phases(bundle) and all(isinstance(phase, Mapping) for phase in phases.values()):
        yield Problem("the only phase is a parallel parent, which is dropped", ("phases",), order=(10_000,))


@rule(
    "old-phase-key-missing",
    Effect.REFUSED,
    Stage.PHASES,
    title="old format: a phase without phasenumber, label or start_date",
    consequence="The upload ends with the bare name of the key, such as `'start_date'`.",
    repair="Add the key.",
    source=V1,
    reads="v1",
)
def _old_phase_key_missing(bundle: Bundle) -> Iterator[Problem]:
    phases = bundle.yaml.get("phases")
    for key, phase in phases.items() if isinstance(phases, Mapping) else ():
        if isinstance(phase, Mapping) and "phasenumber" not in phase:
            yield Problem(f"phase {key} has no phasenumber", ("phases", key), order=(-1,))
    for number, (at, phase) in enumerate(old_phases(bundle)):
        for place, name in enumerate(("start_date", "label")):
            if name not in phase:
                yield Problem(f"phase {at[1]} has no {name}", at, order=(number, place))


@rule(
    "old-phase-numbers-mixed",
    Effect.REFUSED,
    Stage.PHASES,
    title="old format: phase numbers that cannot be sorted",
    consequence="The upload ends with `'<' not supported between instances of …`.",
    repair="Number the phases 1, 2, 3 ….",
    source=V1,
    reads="v1",
)
def _old_phase_numbers_mixed(bundle: Bundle) -> Iterator[Problem]:
    phases = bundle.yaml.get("phases")
    values = [phase for phase in phases.values() if isinstance(phase, Mapping)] if isinstance(phases, Mapping) else []
    numbers = [phase["phasenumber"] for phase in values if "phasenumber" in phase]
    try:
        sorted(numbers)
    except TypeError as error:
        yield Problem(f"the phases' numbers cannot be compared: {error}", ("phases",), order=(-1,))


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
    boards = _board(bundle).get("leaderboards")
    labels = {
        one["label"].lower()
        for one in (boards.values() if isinstance(boards, Mapping) else ())
        if isinstance(one, Mapping) and isinstance(one.get("label"), str)
    }
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


@rule(
    "old-parent-dropped",
    Effect.TRAP,
    title="old format: parallel phases",
    consequence="The first phase, taken for the parent, is dropped, and the others follow one another.",
    repair="Use the new format, with tasks of one phase or a competition for each track.",
    source=V1,
    reads="v1",
)
def _old_parent_dropped(bundle: Bundle) -> Iterator[Problem]:
    phases = bundle.yaml.get("phases")
    total = [phase for phase in phases.values() if isinstance(phase, Mapping)] if isinstance(phases, Mapping) else []
    if len(old_phases(bundle)) < len(total):
        yield Problem("the first phase is dropped, since phases are marked as parallel", ("phases",))


@rule(
    "old-phases-lose-a-day",
    Effect.TRAP,
    title="old format: several phases",
    consequence="Each phase ends one day before the next one starts: a day is lost.",
    repair="Use the new format, which has ends.",
    source=V1,
    reads="v1",
)
def _old_phases_lose_a_day(bundle: Bundle) -> Iterator[Problem]:
    for phase in bundle.competition.phases[:-1]:
        if phase.end.moment is not None:
            yield Problem(f"phase {phase.name} ends {phase.end.moment:%Y-%m-%d}, one day before the next one", phase.at)


@rule(
    "old-phase-without-scorer",
    Effect.BROKEN,
    title="old format: a phase without scoring program",
    consequence="It is accepted, and every submission fails.",
    repair="Add `scoring_program`.",
    source=V1,
    reads="v1",
)
def _old_phase_without_scorer(bundle: Bundle) -> Iterator[Problem]:
    for phase in bundle.competition.phases:
        if "scoring_program" not in phase.tasks[0].files:
            yield Problem(f"phase {phase.name} has no scoring program", phase.at)


@rule(
    "old-format",
    Effect.NOTE,
    title="old format: CodaLab 1.5",
    consequence="It is read as far as it has a meaning here; much of it is ignored.",
    repair="Convert it with `gen-bundle convert`.",
    source=V1,
    reads="v1",
)
def _old_format(bundle: Bundle) -> Iterator[Problem]:
    if "html" in bundle.yaml:
        yield Problem("the bundle is in the format of CodaLab 1.5", ("html",))
