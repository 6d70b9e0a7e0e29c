"""The journey of a bundle's own submissions through the live competition, and what came of them there and here.

Nothing is changed on the site before the dry run is done, and all that was made there is removed at the end, however
it comes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gen_bundle.codabench.versions import PlatformVersion
from gen_bundle.errors import UserError
from gen_bundle.live.comparison import Cell, Comparison, Scored
from gen_bundle.live.connection import Connection
from gen_bundle.live.own_submissions import NotMadeError, OwnSubmissions
from gen_bundle.live.phase_selection import PhaseSelection, site_version
from gen_bundle.live.rehearsal import Rehearsal, Rehearsed
from gen_bundle.live.submissions import log_texts, phases_of, state
from gen_bundle.twin.bundle import open_bundle
from gen_bundle.twin.competition_yaml import read_competition
from gen_bundle.twin.engines import Engine, EngineError
from gen_bundle.twin.sweep import scratch_folder

WAITING = {
    "Submitting": "the site has not given it to a worker",
    "Submitted": "no worker took it",
    "Preparing": "a worker prepares it",
    "Running": "it runs",
    "Scoring": "it waits to be scored, or is being scored",
    "Awaiting validation": "the operator of the worker has not approved it",
}
"""Why a submission may still have a status when the wait is over."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class ConfirmRequest:
    """What is to be confirmed.

    Attributes:
        competition: its id.
        bundle: the bundle that it was made from.
        phase: the id, index or name of one phase; all of them without.
        version: the platform's that the dry run follows; None: what the site's answers show.
        patience_s: how long to wait for the scores, in seconds.
        keep: leave the submissions on the site.
    """

    competition: int
    bundle: Path
    phase: str | None = None
    version: PlatformVersion | None = None
    patience_s: float = 3600
    keep: bool = False


@dataclass(frozen=True)
class Confirmed:
    """What was compared, and what was not.

    Attributes:
        platform_version: the platform's that the dry run followed.
        engine: what ran it.
        cells: everything that was compared.
        closed: the phases that take no submission now, with their dates.
        problems: what else was not confirmed, and why.
        notes: what is worth knowing.
        left: what is still on the site.
    """

    competition: int
    platform_version: str
    engine: str
    cells: tuple[Cell, ...] = ()
    closed: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Something was compared, all of it is equal, and no submission failed."""
        failed = any(cell.what == "status" and cell.here != "Finished" for cell in self.cells)
        return bool(self.cells) and all(cell.equal for cell in self.cells) and not failed and not self.problems


def confirm(
    connection: Connection, request: ConfirmRequest, engine: Engine, progress: Callable[[str], None] = lambda _: None
) -> Confirmed:
    """Submit what a bundle holds to its live competition, and hold what comes of it against a dry run.

    Args:
        connection: to the server, with an organiser's token.
        request: what is to be confirmed.
        engine: what runs the dry run.
        progress: hears of each step, and of what is left on the site should the journey break off.

    Raises:
        UserError: the bundle cannot be run, there is no such phase, or a request failed.
    """
    username = str(connection.get("my_profile/")["username"])
    site = connection.get(f"competitions/{request.competition}/")
    wanted = phases_of(site, request.phase)
    version = request.version or site_version(connection, wanted)
    with scratch_folder() as work:
        folder = open_bundle(request.bundle, work / "bundle")
        bundle = read_competition(folder, version)
        selection = PhaseSelection(connection, site, username, version, datetime.now(UTC))
        for phase in wanted:
            selection.look_at(phase, bundle)
        if site.get("enable_human_in_the_loop"):
            progress("each submission waits until the operator of the worker approves it")
        if selection.open:
            _prepare(engine, bundle.image)
            progress(f"dry run as Codabench {version.value}, with the engine {engine.name}")
        rehearsal = Rehearsal(folder, work, bundle, version, engine, progress)
        rehearsed = rehearsal.run(list(selection.open))
        selection.without_submission({one.phase for one in rehearsed})
        own = OwnSubmissions(connection, site, username, progress)
        cells: list[Cell] = []
        try:
            made = _submitted(own, selection, rehearsed)
            comparison = Comparison(bundle.leaderboard, version)
            cells = _compared(own, made, selection, comparison, request.patience_s)
        except BaseException:
            for line in own.remove():
                progress(f"left on the site: {line}")
            raise
        selection.quota(own.made)
        left = [f"submission {number}" for numbers in own.made.values() for number in numbers]
        left = left if request.keep else own.remove()
    return Confirmed(
        request.competition,
        version.value,
        engine.name,
        tuple(cells),
        tuple(selection.closed),
        tuple(selection.problems),
        tuple(selection.notes),
        tuple(left),
    )


def _prepare(engine: Engine, image: str) -> None:
    try:
        engine.prepare(image)
    except EngineError as error:
        raise UserError(f"the dry run cannot take place: {error}", advice="Nothing was submitted.") from None


Made = dict[int, Rehearsed]


def _submitted(own: OwnSubmissions, selection: PhaseSelection, rehearsed: Sequence[Rehearsed]) -> Made:
    """Make the submissions; those that the site does not take become problems."""
    made: Made = {}
    for one in rehearsed:
        row = selection.open[one.phase]
        ids = {task["name"]: int(task["id"]) for task in row["tasks"]}
        chosen = [ids[task] for task in one.runs]
        own.progress(f"submitting {_label(one)}")
        try:
            tasks = chosen if len(chosen) < len(ids) else None
            made[own.submit(int(row["id"]), one.submission.file, tasks)] = one
        except NotMadeError as error:
            selection.problems.append(f"{_label(one)}: not submitted. {' '.join(error.messages)}")
    return made


def _compared(
    own: OwnSubmissions, made: Made, selection: PhaseSelection, comparison: Comparison, patience_s: float
) -> list[Cell]:
    """Wait for the submissions and compare them; those that do not end in time become problems, too."""
    if not made:
        return []
    rows = own.wait({number: _label(one) for number, one in made.items()}, patience_s)
    cells: list[Cell] = []
    for number, one in made.items():
        row = rows.get(number, {})
        parts = [rows[int(child)] for child in row.get("children") or [] if int(child) in rows] or [row]
        for task in one.runs:
            for part in [part for part in parts if _task(part) in (task, None)] or [{}]:
                logs = log_texts(own.connection, part["id"]) if "id" in part else {}
                cells += comparison.cells(one, task, Scored(part, logs))
        if unfinished := sorted({state(part) for part in (row, *parts)} & {*WAITING}):
            selection.problems.append(
                f"{_label(one)}: not finished within {patience_s / 60:g} minutes: {WAITING[unfinished[0]]}."
            )
    return cells


def _task(part: Row) -> str | None:
    """The task that a submission was scored for; None for one that never came so far, or has children."""
    task = part.get("task")
    return str(task["name"]) if isinstance(task, Mapping) else None


def _label(one: Rehearsed) -> str:
    return f"{one.phase.name}/{one.submission.name}"
