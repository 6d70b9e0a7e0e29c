"""The journey of a bundle's own submissions through the live competition, and what came of them there and here.

Nothing is changed on the site before the dry run is done, and all that was made there is removed at the end, however
it comes.
"""

import math
import zipfile
from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from gen_bundle.check.bundle import Bundle, open_readable_bundle
from gen_bundle.codabench.board import Board, RefusedError, closed
from gen_bundle.codabench.competition import REPLACING_RULES, Phase
from gen_bundle.codabench.dates import Instant
from gen_bundle.codabench.runnable import open_bundle, read_competition
from gen_bundle.codabench.versions import DIFFERENCES, PlatformVersion
from gen_bundle.dry_run.dry_run import DryRunRequest, Planned, dry_run, plan
from gen_bundle.dry_run.engines import Engine, EngineError
from gen_bundle.dry_run.layout import scratch_folder
from gen_bundle.dry_run.report import SIGNATURE, TOLERANCE, Run
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.plain_text import one_line
from gen_bundle.ground.zips.writing import write_zip
from gen_bundle.live.competition import moment, phases_of, read_as_organiser, site_version, submission_rule
from gen_bundle.live.connection import Connection, Row
from gen_bundle.live.responses import unsigned
from gen_bundle.live.submissions import (
    FINAL,
    PREFIX,
    NotMadeError,
    OwnSubmissions,
    details_of,
    log_texts,
    message,
    on_leaderboard,
    scores,
    state,
    submissions_of,
)
from gen_bundle.look.difference.files import packed_files
from scoring_kit.base.submissions import UNREADABLE

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
NOTHING = "–"


@dataclass(frozen=True)
class ConfirmRequest:
    """A competition that is to be confirmed.

    Attributes:
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
class Cell:
    """One thing that was held against the dry run.

    Attributes:
        what: `status`, a column's key, or `signature`: what the scores depend on, as the program printed it.
        here: what the dry run gave, as text.
        there: what the live site gave.
        equal: whether both are the same; of a measured column, whether both have a value.
        measured: a column that shows a time, which differs from run to run.
    """

    phase: str
    submission: str
    task: str
    what: str
    here: str
    there: str
    equal: bool
    measured: bool = False


@dataclass
class Confirmed:
    """A comparison of a competition with its dry run, and what was not compared.

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
    cells: list[Cell] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Something was compared, all of it is equal, and there is no problem, such as a submission that failed."""
        return bool(self.cells) and not self.problems and all(cell.equal for cell in self.cells)


@dataclass(frozen=True)
class Rehearsed:
    """A submission of the bundle, and what came of it here.

    Attributes:
        row: the phase on the site.
        submission: what is uploaded, under which name, for which tasks.
        runs: the outcome for each task, by the task's name.
        folder: what the dry run kept of the phase: what the programs printed, by task and submission.
    """

    phase: Phase
    row: Row
    submission: Planned
    runs: Mapping[str, Run]
    folder: Path

    @property
    def label(self) -> str:
        return f"{self.phase.name}/{self.submission.name}"


def confirm(connection: Connection, request: ConfirmRequest, engine: Engine) -> Confirmed:
    """Submit what a bundle holds to its live competition, and hold what comes of it against a dry run by an engine.

    The connection says each step, and what is left on the site should this break off.

    Raises:
        UserError: the user is not an organiser, the bundle cannot be run, there is no such phase, or a request failed.
    """
    with scratch_folder() as work, ExitStack() as held:
        return _Journey(connection, request, engine, work, held).run()


class _Journey:
    """One confirmation: choose the phases, rehearse here, submit, wait, compare, remove."""

    def __init__(
        self, connection: Connection, request: ConfirmRequest, engine: Engine, work: Path, held: ExitStack
    ) -> None:
        self.connection, self.request, self.engine, self.work = connection, request, engine, work
        self.site = read_as_organiser(connection, request.competition, "confirm")
        self.own = OwnSubmissions(connection, self.site, str(connection.get("my_profile/")["username"]))
        self.version = request.version or site_version(connection)
        self.folder = open_bundle(request.bundle, work / "bundle")
        self.competition = read_competition(self.folder, self.version)
        self.bundle = open_readable_bundle(self.folder, datetime.now(UTC), held, self.version)
        self.done = Confirmed(request.competition, self.version.value, engine.name)

    def run(self) -> Confirmed:
        done, own = self.done, self.own
        opened = list(self._opened())
        if self.site.get("enable_human_in_the_loop"):
            self.connection.say("each submission waits until the operator of the worker approves it")
        rehearsed = self._rehearsed(opened)
        try:
            if made := self._submitted(rehearsed):
                own.wait({number: one.label for number, one in made.items()}, self.request.patience_s)
                self._compare(made)
        except BaseException:
            for line in own.remove():
                self.connection.say(f"left on the site: {line}")
            raise
        for phase, row in opened:
            spans = (("max_submissions_per_day", "a day"), ("max_submissions_per_person", "in all"))
            limits = [f"{row[key]} {span}" for key, span in spans if row.get(key)]
            if limits and (made_there := len(own.made.get(row["id"], ()))):
                counts = f"{made_there} of your {' and '.join(limits)} count for as long as the submissions exist"
                done.notes.append(f"phase {phase.name}: {counts}.")
        done.left = own.in_words() if self.request.keep else own.remove()
        return done

    # Which phases submissions can be sent to, without harm to the leaderboard.

    def _opened(self) -> Iterator[tuple[Phase, Row]]:
        for row in phases_of(self.site, self.request.phase, lambda: [phase.id for phase in self.competition.phases]):
            phase = self._same_phase(row)
            if phase is not None and self._is_open(phase, row) and self._spares_the_board(phase, row):
                yield phase, row

    def _same_phase(self, row: Row) -> Phase | None:
        """Return the bundle's phase for one of the site, if it is the same."""
        place = phases_of(self.site, None).index(row)
        if place >= len(self.competition.phases):
            self.done.problems.append(f"phase {row['name']}: not of this bundle, which has no further phase.")
            return None
        phase = self.competition.phases[place]
        ours, theirs = [task.name for task in phase.tasks], [task["name"] for task in row.get("tasks") or []]
        if phase.name != row["name"]:
            problem = f"not of this bundle, which has the phase {phase.name} in its place"
        elif len({*ours}) < len(ours):
            problem = "two of its tasks have the same name, and cannot be told apart"
        elif sorted(ours) != sorted(theirs):
            problem = f"its tasks are {', '.join(theirs) or 'none'}, in the bundle {', '.join(ours) or 'none'}"
        else:
            return phase
        self.done.problems.append(f"phase {row['name']}: {problem}.")
        return None

    def _is_open(self, phase: Phase, row: Row) -> bool:
        dated = replace(phase, start=Instant(moment(row.get("start"))), end=Instant(moment(row.get("end"))))
        reason = closed(dated, datetime.now(UTC))
        if not reason:
            return True
        sentence = f"{reason[0].upper()}{reason[1:]}."
        if self.version is PlatformVersion.V1_25:
            taken = "sites of this version take submissions all the same"
            self.done.notes.append(f"phase {phase.name}: {taken}. {sentence}")
            return True
        self.done.closed.append(
            f"phase {phase.name}: not confirmed, since the site takes submissions only within the dates. {sentence} "
            "To confirm it now, move its dates in the editor meanwhile."
        )
        return False

    def _spares_the_board(self, phase: Phase, row: Row) -> bool:
        """Return whether no submission of ours would take another of the same account from the board for good."""
        earlier, shown = [], set()
        for one in submissions_of(self.connection, row["id"]).values():
            if one["owner"] != self.own.username:
                continue
            if str(one.get("filename") or "").startswith(PREFIX):
                if not one.get("parent"):
                    earlier.append(str(one["id"]))
            elif on_leaderboard(one):
                shown.add(str(one.get("parent") or one["id"]))
        if ids := ", ".join(earlier):
            self.done.notes.append(f"phase {phase.name}: submissions of an earlier confirm are still there: {ids}.")
        rule = submission_rule(self.site)
        if not shown or rule not in REPLACING_RULES:
            return True
        self.done.problems.append(
            f"phase {phase.name}: not confirmed, since a submission of yours is on its leaderboard "
            f"({', '.join(sorted(shown))}). With the rule {rule} another one of yours may take its place, and the site "
            "does not put it back. Use the account of another organiser."
        )
        return False

    # What the bundle's own submissions give here.

    def _rehearsed(self, opened: Sequence[tuple[Phase, Row]]) -> list[Rehearsed]:
        """Dry-run the bundle's solutions for some phases, and the template in each starting kit."""
        if not opened:
            return []
        try:
            self.engine.prepare(self.competition.image)
        except EngineError as error:
            raise UserError(f"the dry run cannot take place: {error}", advice="Nothing was submitted.") from None
        self.connection.say(f"dry run as Codabench {self.version.value}, with the engine {self.engine.name}")
        with_solution: set[Hashable] = set()
        for solution in self.competition.solutions:
            with_solution.update(solution.tasks)
        found: list[Rehearsed] = []
        for phase, row in opened:
            own: list[Rehearsed] = []
            if with_solution & {task.index for task in phase.tasks}:
                plans = plan(self.competition, [phase.id], (), None, self.work / "submissions")
                planned = {one.phase.id: one.submissions for one in plans}  # a phase may be called like another's id
                own += self._dry_run("solutions", phase, row, planned[phase.id], ())
            if template := self._template(phase, own):
                one = Planned(template, template.stem, template.stem, phase.tasks)
                own += self._dry_run(TEMPLATE, phase, row, [one], [template])
            if not own:
                none = "the bundle has neither a solution nor a starting kit with template/ for it"
                self.done.problems.append(f"phase {phase.name}: {none}.")
            found += own
        return found

    def _dry_run(
        self, name: str, phase: Phase, row: Row, planned: Sequence[Planned], submissions: Sequence[Path]
    ) -> Iterator[Rehearsed]:
        """Yield what comes of planned submissions, which are those given, or else the bundle's solutions."""
        request = DryRunRequest(
            bundle=self.folder,
            out=self.work / f"{name}-{phase.id}",
            submissions=submissions,
            phases=[phase.id],
            version=self.version,
            on_step=self.connection.say,
            trust=True,  # the templates are those of the bundle's own kits
        )
        runs = {(run.phase, run.submission, run.task): run for run in dry_run(request, self.engine).runs}
        for one in planned:
            by_task = {task.name: runs[phase.id, one.name, task.id] for task in one.tasks}
            yield Rehearsed(phase, row, one, by_task, request.out / phase.id)

    def _template(self, phase: Phase, solutions: Sequence[Rehearsed]) -> Path | None:
        """Return the zip of a phase's template; None without one, or where a solution of the phase is the same."""
        kit = self.bundle.competition.phases[self.competition.phases.index(phase)].files.get("starting_kit")
        files: dict[str, bytes] = {}
        for name, node in (packed_files(self.bundle, kit) or {}).items():
            if name.startswith(f"{TEMPLATE}/"):
                files[name.removeprefix(f"{TEMPLATE}/")] = node.read(node.size)
        if not files or any(files == _files_of(one.submission.file) for one in solutions):
            return None
        target: Path = self.work / "templates" / phase.id / f"{TEMPLATE}.zip"
        target.parent.mkdir(parents=True)
        write_zip(target, files)
        return target

    # What the site makes of them.

    def _submitted(self, rehearsed: Sequence[Rehearsed]) -> dict[int, Rehearsed]:
        """Make the submissions; those that the site does not take become problems."""
        made = {}
        for one in rehearsed:
            ids = {task["name"]: int(task["id"]) for task in one.row["tasks"]}
            tasks = [ids[task] for task in one.runs] if len(one.runs) < len(ids) else None
            self.connection.say(f"submitting {one.label}")
            try:
                made[self.own.submit(int(one.row["id"]), one.submission.file, tasks)] = one
            except NotMadeError as error:
                self.done.problems.append(f"{one.label}: not submitted. {' '.join(error.messages)}")
        return made

    def _compare(self, made: Mapping[int, Rehearsed]) -> None:
        """Compare submissions with their last states; those that have not ended become problems."""
        measured, rows = _measured_columns(self.bundle), self.own.rows
        for number, one in made.items():
            row = rows.get(number, {})
            parts = [rows[child] for child in row.get("children") or [] if child in rows] or [row]
            for task, run in one.runs.items():
                part = next((part for part in parts if _task(part) in (task, None)), {})
                self.done.cells += self._cells(one, task, part, measured)
                if run.status == state(part) == "Failed":
                    outcome = one_line(_outcome(run.status, run.message)).rstrip(".")
                    self.done.problems.append(f"{one.label}: did not pass the dry run either. {outcome}.")
            if unfinished := sorted({state(part) for part in (row, *parts)} & {*WAITING}):
                minutes = f"{self.request.patience_s / 60:g} minutes"
                self.done.problems.append(f"{one.label}: not finished within {minutes}: {WAITING[unfinished[0]]}.")

    def _cells(self, one: Rehearsed, task: str, part: Row, measured: Set[str]) -> Iterator[Cell]:
        """Yield all cells of a submission for a task, of which the site gives a row."""
        run = one.runs[task]
        place = (one.phase.name, one.submission.name, task)
        status, reason = state(part), unsigned(message(part))
        here, there = _outcome(run.status, run.message), _outcome(status, reason)
        yield Cell(*place, "status", one_line(here), one_line(there), run.status == status)
        if status not in FINAL:
            return
        ours, theirs = self._stored(run, several=len(one.runs) > 1), scores(part)
        for column in self.competition.leaderboard.columns:
            key = column.key
            if key in ours or key in theirs:
                mine, other = ours.get(key), theirs.get(key)
                equal = False
                if isinstance(mine, float) and isinstance(other, float):
                    equal = key in measured or math.isclose(mine, other, abs_tol=TOLERANCE)
                yield Cell(*place, key, _shown(mine), one_line(_shown(other)), equal, key in measured)
        # Workers lose logs, and may be set to keep them: where the site has no signature there is nothing to compare.
        if "id" in part and (there := self._signature_on_site(part["id"])):
            log = one.folder / run.task / one.submission.name / "stdout.txt"
            here = _signature(log.read_text(encoding="utf-8", errors="replace")) if log.is_file() else ""
            yield Cell(*place, "signature", here or NOTHING, there, here.startswith(there))

    def _signature_on_site(self, submission: int) -> str:
        details = details_of(self.connection, submission)
        return _signature(log_texts(self.connection, details, ["scoring_stdout"]).get("scoring_stdout", ""))

    def _stored(self, run: Run, *, several: bool) -> dict[str, float]:
        """Return what the server would store; a computed column is made for submissions to a single task alone."""
        board = Board(self.competition.leaderboard, DIFFERENCES[self.version])
        parts = [run.task] if several else []
        whole = board.submit(run.submission, run.submission, parts)
        (entry,) = whole.children or [whole]
        with suppress(RefusedError):  # what was stored before stays
            board.upload(entry, run.scores or {})
        return {score.column.key: float(score.value) for score in entry.scores}


def _files_of(path: Path) -> dict[str, bytes] | None:
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    except UNREADABLE:
        return None


def _measured_columns(bundle: Bundle) -> frozenset[str]:
    """Return the columns that show how long submitted code ran, as the bundle or programs of ours say."""
    found = {column.key for column in bundle.competition.columns if column.measured}
    for task in bundle.competition.tasks:
        columns = bundle.program_json(task.files.get("scoring_program")).get("columns")
        for column in columns if isinstance(columns, list) else ():
            if isinstance(column, Mapping) and column.get("measured"):
                found.add(str(column.get("key")))
    return frozenset(found)


def _task(part: Row) -> str | None:
    """Return the task that a submission was scored for; None for one that never came so far, or has children."""
    task = part.get("task")
    return str(task["name"]) if isinstance(task, Mapping) else None


def _outcome(status: str, reason: str) -> str:
    return f"{status}: {' '.join(reason.split())}" if status == "Failed" and reason else status


def _signature(log: str) -> str:
    """Return the part of a log that says what the scores depend on; it may be cut at its end."""
    found = SIGNATURE.search(log)
    return found.group() if found else ""


def _shown(score: float | str | None) -> str:
    if isinstance(score, float):
        return f"{score:.10f}".rstrip("0").rstrip(".")
    return NOTHING if score is None else score
