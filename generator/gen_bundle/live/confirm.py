"""The journey of a bundle's own submissions through the live competition, and what came of them there and here.

Nothing is changed on the site before the dry run is done, and all that was made there is removed at the end, however
it comes.
"""

import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from gen_bundle.check.bundle import Bundle, open_readable_bundle
from gen_bundle.codabench.competition import REPLACING_RULES, Competition, Phase
from gen_bundle.codabench.dates import Instant
from gen_bundle.codabench.versions import PlatformVersion
from gen_bundle.difference.files import packed_files, program_settings
from gen_bundle.errors import UserError
from gen_bundle.live.comparison import Cell, Comparison, Rehearsed
from gen_bundle.live.competition import moment, phases_of, read_as_organiser, site_version, submission_rule
from gen_bundle.live.connection import Connection, Row
from gen_bundle.live.own_submissions import PREFIX, NotMadeError, OwnSubmissions
from gen_bundle.live.submissions import details_of, log_texts, on_leaderboard, state, submissions_of
from gen_bundle.twin.bundle import open_bundle, read_competition
from gen_bundle.twin.engines import Engine, EngineError
from gen_bundle.twin.layout import scratch_folder
from gen_bundle.twin.plan import Planned, plan
from gen_bundle.twin.replay import DryRunRequest, closed, dry_run
from gen_bundle.twin.report import Run
from gen_bundle.zips.unpacking import UNREADABLE
from gen_bundle.zips.writing import write_zip

WAITING = {
    "Submitting": "the site has not given it to a worker",
    "Submitted": "no worker took it",
    "Preparing": "a worker prepares it",
    "Running": "it runs",
    "Scoring": "it waits to be scored, or is being scored",
    "Awaiting validation": "the operator of the worker has not approved it",
}
"""Why a submission may still have a status when the wait is over."""
TEMPLATE = "template"
"""The folder of a starting kit that holds an empty submission."""

Made = dict[int, Rehearsed]
Progress = Callable[[str], None]


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
    connection: Connection, request: ConfirmRequest, engine: Engine, progress: Progress = lambda _: None
) -> Confirmed:
    """Submit what a bundle holds to its live competition, and hold what comes of it against a dry run.

    Args:
        connection: to the server, with an organiser's token.
        request: what is to be confirmed.
        engine: what runs the dry run.
        progress: called with each step, and with what is left on the site should the journey break off.

    Raises:
        UserError: the user is not an organiser, the bundle cannot be run, there is no such phase, or a request failed.
    """
    site = read_as_organiser(connection, request.competition, "confirm")
    username = str(connection.get("my_profile/")["username"])
    version = request.version or site_version(connection)
    with scratch_folder() as work:
        folder = open_bundle(request.bundle, work / "bundle")
        bundle = read_competition(folder, version)
        phases = phases_of(site, request.phase, lambda: [phase.id for phase in bundle.phases])
        chosen = _Chosen()
        for phase in phases:
            if own_phase := _choose(chosen, phase, site, bundle, version):
                rows = [one for one in submissions_of(connection, phase["id"]) if one["owner"] == username]
                if _spares_the_board(chosen, own_phase, submission_rule(site), rows):
                    chosen.open[own_phase] = phase
        if site.get("enable_human_in_the_loop"):
            progress("each submission waits until the operator of the worker approves it")
        if chosen.open:
            _prepare(engine, bundle.image)
            progress(f"dry run as Codabench {version.value}, with the engine {engine.name}")
        rehearsed, measured = _Rehearsal(folder, work, bundle, version, engine, progress).run(list(chosen.open))
        chosen.problems += _without_submission(chosen.open, rehearsed)
        own = OwnSubmissions(connection, site, username, progress)
        try:
            made = _submitted(own, chosen, rehearsed)
            comparison = Comparison(bundle.leaderboard, version, measured)
            cells = _compared(own, made, chosen, comparison, request.patience_s)
        except BaseException:
            for line in own.remove():
                progress(f"left on the site: {line}")
            raise
        chosen.notes += _counted_for_limits(chosen.open, own.made)
        left = [f"submission {number}" for numbers in own.made.values() for number in numbers]
        if not request.keep:
            left = own.remove()
    return Confirmed(
        request.competition,
        version.value,
        engine.name,
        tuple(cells),
        tuple(chosen.closed),
        tuple(chosen.problems),
        tuple(chosen.notes),
        tuple(left),
    )


# Which phases submissions can be sent to, without harm to the leaderboard.


@dataclass
class _Chosen:
    """The phases of the bundle that take its submissions, with the site's own rows; and why others do not."""

    open: dict[Phase, Row] = field(default_factory=dict)
    closed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def _choose(chosen: _Chosen, row: Row, site: Row, bundle: Competition, version: PlatformVersion) -> Phase | None:
    """The bundle's phase for one of the site, if it is the same, and takes submissions now."""
    name = f"phase {row['name']}"
    place = phases_of(site, None).index(row)
    phase = bundle.phases[place] if place < len(bundle.phases) else None
    if phase is None or phase.name != row["name"]:
        there = "no further phase" if phase is None else f"the phase {phase.name} in its place"
        chosen.problems.append(f"{name}: not of this bundle, which has {there}.")
        return None
    ours, theirs = [task.name for task in phase.tasks], [task["name"] for task in row.get("tasks") or []]
    if len({*ours}) < len(ours):
        chosen.problems.append(f"{name}: two of its tasks have the same name, and cannot be told apart.")
        return None
    if sorted(ours) != sorted(theirs):
        chosen.problems.append(f"{name}: its tasks are {_list(theirs)}, in the bundle {_list(ours)}.")
        return None
    start, end = Instant(moment(row.get("start"))), Instant(moment(row.get("end")))
    reason = closed(replace(phase, start=start, end=end), datetime.now(UTC))
    if reason and version is not PlatformVersion.V1_25:
        chosen.closed.append(
            f"{name}: not confirmed, since the site takes submissions only within the dates. {_sentence(reason)} "
            "To confirm it now, move its dates in the editor meanwhile."
        )
        return None
    if reason:
        chosen.notes.append(f"{name}: sites of this version take submissions all the same. {_sentence(reason)}")
    return phase


def _spares_the_board(chosen: _Chosen, phase: Phase, rule: str, rows: Sequence[Row]) -> bool:
    """Whether no submission of ours would take an earlier one of the same account from the board for good."""
    earlier = [one for one in rows if str(one.get("filename") or "").startswith(PREFIX)]
    if ids := [str(one["id"]) for one in earlier if not one.get("parent")]:
        chosen.notes.append(f"phase {phase.name}: submissions of an earlier confirm are still there: {_list(ids)}.")
    shown = {str(one.get("parent") or one["id"]) for one in rows if one not in earlier and on_leaderboard(one)}
    if not shown or rule not in REPLACING_RULES:
        return True
    chosen.problems.append(
        f"phase {phase.name}: not confirmed, since a submission of yours is on its leaderboard "
        f"({_list(sorted(shown))}). With the rule {rule} another one of yours may take its place, and the site "
        "does not put it back. Use the account of another organiser."
    )
    return False


def _without_submission(phases: Mapping[Phase, Row], rehearsed: Sequence[Rehearsed]) -> Iterator[str]:
    entered = {one.phase for one in rehearsed}
    for phase in phases:
        if phase not in entered:
            yield f"phase {phase.name}: the bundle has neither a solution nor a starting kit with template/ for it."


def _counted_for_limits(phases: Mapping[Phase, Row], made: Mapping[int, Sequence[int]]) -> Iterator[str]:
    """What counts for the limits of the account."""
    spans = (("max_submissions_per_day", "a day"), ("max_submissions_per_person", "in all"))
    for phase, row in phases.items():
        limits = [f"{row[key]} {span}" for key, span in spans if row.get(key)]
        number = len(made.get(row["id"], ()))
        if number and limits:
            allowed = " and ".join(limits)
            yield f"phase {phase.name}: {number} of your {allowed} count for as long as the submissions exist."


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


# What the bundle's own submissions give here.


def _prepare(engine: Engine, image: str) -> None:
    try:
        engine.prepare(image)
    except EngineError as error:
        raise UserError(f"the dry run cannot take place: {error}", advice="Nothing was submitted.") from None


@dataclass(frozen=True)
class _Rehearsal:
    """A dry run of the bundle's solutions, and of the template in each starting kit.

    Attributes:
        folder: the unpacked bundle.
        work: a folder for what is made on the way.
    """

    folder: Path
    work: Path
    competition: Competition
    version: PlatformVersion
    engine: Engine
    progress: Progress

    def run(self, phases: Sequence[Phase]) -> tuple[list[Rehearsed], frozenset[str]]:
        """Dry-run what the bundle holds for some phases; also the keys of the columns that show a time.

        Raises:
            UserError: the bundle cannot be run.
        """
        found = [*self._solutions(phases)]
        with ExitStack() as held:
            bundle = open_readable_bundle(self.folder, datetime.now(UTC), held, self.version)
            for phase in phases:
                others = [one.submission.file for one in found if one.phase is phase]
                if template := self._template(bundle, phase, others):
                    name = f"{TEMPLATE}-{phase.id}"
                    runs = self._dry_run(name, [phase.id], [template])
                    planned = Planned(template, template.stem, template.stem, phase.tasks)
                    found.append(self._rehearsed(name, phase, planned, runs))
            measured = _measured_columns(bundle)
        return sorted(found, key=lambda one: phases.index(one.phase)), measured

    def _solutions(self, phases: Sequence[Phase]) -> Iterator[Rehearsed]:
        attached = frozenset[object]().union(*(solution.tasks for solution in self.competition.solutions))
        ids = [phase.id for phase in phases if any(task.index in attached for task in phase.tasks)]
        if not ids:
            return
        plans = plan(self.competition, ids, (), None, self.work / "submissions")
        runs = self._dry_run("solutions", ids)
        for planned in plans:
            for submission in planned.submissions:
                yield self._rehearsed("solutions", planned.phase, submission, runs)

    def _dry_run(self, name: str, phases: Sequence[str], submissions: Sequence[Path] = ()) -> list[Run]:
        request = DryRunRequest(
            bundle=self.folder,
            out=self.work / name,
            submissions=submissions,
            phases=phases,
            version=self.version,
            on_step=self.progress,
            trust=True,  # the templates are those of the bundle's own kits
        )
        return dry_run(request, self.engine).runs

    def _rehearsed(self, name: str, phase: Phase, submission: Planned, runs: Sequence[Run]) -> Rehearsed:
        own = {run.task: run for run in runs if (run.phase, run.submission) == (phase.id, submission.name)}
        folder = self.work / name / phase.id
        outcomes = {task.name: own[task.id] for task in submission.tasks}
        logs = {task.name: folder / task.id / submission.name for task in submission.tasks}
        return Rehearsed(phase, submission, outcomes, logs)

    def _template(self, bundle: Bundle, phase: Phase, others: Sequence[Path]) -> Path | None:
        """The zip of a phase's template; None without one, or where a solution of the phase is the same."""
        kit = bundle.competition.phases[self.competition.phases.index(phase)].files.get("starting_kit")
        unpacked = bundle.unpacked(kit) if kit else None
        files: dict[str, bytes] = {}
        for name, node in unpacked.tree.root.files() if unpacked else ():
            if name.startswith(f"{TEMPLATE}/"):
                files[name.removeprefix(f"{TEMPLATE}/")] = node.read(node.size)
        if not files or any(_files_of(other) == files for other in others):
            return None
        target: Path = self.work / "templates" / phase.id / f"{TEMPLATE}.zip"
        target.parent.mkdir(parents=True)
        write_zip(target, files)
        return target


def _files_of(path: Path) -> dict[str, bytes] | None:
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    except UNREADABLE:
        return None


def _measured_columns(bundle: Bundle) -> frozenset[str]:
    """The columns that show how long submitted code ran, as programs of ours say of themselves."""
    found: set[str] = set()
    for task in bundle.competition.tasks:
        settings = program_settings(packed_files(bundle, task.files.get("scoring_program")) or {})
        columns = settings.get("columns") if isinstance(settings, Mapping) else None
        for column in columns if isinstance(columns, list) else ():
            if isinstance(column, Mapping) and column.get("measured"):
                found.add(str(column.get("key")))
    return frozenset(found)


# What the site makes of them.


def _submitted(own: OwnSubmissions, chosen: _Chosen, rehearsed: Sequence[Rehearsed]) -> Made:
    """Make the submissions; those that the site does not take become problems."""
    made: Made = {}
    for one in rehearsed:
        row = chosen.open[one.phase]
        ids = {task["name"]: int(task["id"]) for task in row["tasks"]}
        tasks = [ids[task] for task in one.runs]
        own.progress(f"submitting {one.label}")
        try:
            number = own.submit(int(row["id"]), one.submission.file, tasks if len(tasks) < len(ids) else None)
            made[number] = one
        except NotMadeError as error:
            chosen.problems.append(f"{one.label}: not submitted. {' '.join(error.messages)}")
    return made


def _compared(
    own: OwnSubmissions, made: Made, chosen: _Chosen, comparison: Comparison, patience_s: float
) -> list[Cell]:
    """Wait for the submissions and compare them; those that do not end in time become problems."""
    if not made:
        return []
    rows = own.wait({number: one.label for number, one in made.items()}, patience_s)
    cells: list[Cell] = []
    for number, one in made.items():
        row = rows.get(number, {})
        parts = [rows[child] for child in row.get("children") or [] if child in rows] or [row]
        for task in one.runs:
            for part in [part for part in parts if _task(part) in (task, None)] or [{}]:
                cells += comparison.cells(one, task, part, _logs(own.connection, part))
        if unfinished := sorted({state(part) for part in (row, *parts)} & {*WAITING}):
            minutes = f"{patience_s / 60:g} minutes"
            chosen.problems.append(f"{one.label}: not finished within {minutes}: {WAITING[unfinished[0]]}.")
    return cells


def _logs(connection: Connection, part: Row) -> Mapping[str, str]:
    return log_texts(connection, details_of(connection, part["id"])) if "id" in part else {}


def _task(part: Row) -> str | None:
    """The task that a submission was scored for; None for one that never came so far, or has children."""
    task = part.get("task")
    return str(task["name"]) if isinstance(task, Mapping) else None
