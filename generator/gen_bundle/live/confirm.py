"""The journey of a bundle's own submissions through the live competition, and what came of them there and here.

Nothing is changed on the site before the dry run is done, and all that was made there is removed at the end, however
it comes.
"""

import math
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from gen_bundle.check.bundle import Bundle, open_readable_bundle
from gen_bundle.codabench.board import Board, RefusedError
from gen_bundle.codabench.competition import REPLACING_RULES, Competition, Leaderboard, Phase
from gen_bundle.codabench.dates import Instant
from gen_bundle.codabench.versions import DIFFERENCES, PlatformVersion
from gen_bundle.difference.files import packed_files, program_settings
from gen_bundle.difference.signatures import SIGNATURE
from gen_bundle.errors import UserError
from gen_bundle.live.answers import unsigned
from gen_bundle.live.competition import moment, phases_of, read_as_organiser, site_version, submission_rule
from gen_bundle.live.connection import Connection, Row
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
from gen_bundle.plain_text import counted, one_line
from gen_bundle.twin.bundle import open_bundle, read_competition
from gen_bundle.twin.engines import Engine, EngineError
from gen_bundle.twin.layout import scratch_folder
from gen_bundle.twin.plan import Planned, plan
from gen_bundle.twin.replay import DryRunRequest, closed, dry_run
from gen_bundle.twin.report import TOLERANCE, Run
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
NOTHING = "–"
_NUMBER = re.compile(r"(?<![A-Za-z_])\d+(?:[.,:]\d+)*")
LOGS = {
    "stdout.txt": "scoring_stdout",
    "stderr.txt": "scoring_stderr",
    "ingestion-stdout.txt": "scoring_ingestion_stdout",
    "ingestion-stderr.txt": "scoring_ingestion_stderr",
    "prediction-stdout.txt": "prediction_stdout",
    "prediction-stderr.txt": "prediction_stderr",
    "prediction-ingestion-stdout.txt": "prediction_ingestion_stdout",
    "prediction-ingestion-stderr.txt": "prediction_ingestion_stderr",
}
"""The logs that a dry run keeps, and what the site calls them."""


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
class Cell:
    """One thing that was held against the dry run.

    Attributes:
        what: `status`, a column's key, or `log`.
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
    cells: list[Cell] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Something was compared, all of it is equal, and no submission failed."""
        for cell in self.cells:
            if not cell.equal or (cell.what == "status" and cell.here != "Finished"):
                return False
        return bool(self.cells) and not self.problems


@dataclass(frozen=True)
class Rehearsed:
    """A submission of the bundle, and what came of it here.

    Attributes:
        submission: what is uploaded, under which name, for which tasks.
        runs: the outcome for each task, by the task's name.
        folder: what the dry run kept of the phase: what the programs printed, by task and submission.
    """

    phase: Phase
    submission: Planned
    runs: Mapping[str, Run]
    folder: Path

    @property
    def label(self) -> str:
        return f"{self.phase.name}/{self.submission.name}"


def confirm(connection: Connection, request: ConfirmRequest, engine: Engine) -> Confirmed:
    """Submit what a bundle holds to its live competition, and hold what comes of it against a dry run.

    Args:
        connection: to the server, with an organiser's token; says also what is left there should this break off.
        request: what is to be confirmed.
        engine: what runs the dry run.

    Raises:
        UserError: the user is not an organiser, the bundle cannot be run, there is no such phase, or a request failed.
    """
    site = read_as_organiser(connection, request.competition, "confirm")
    username = str(connection.get("my_profile/")["username"])
    version = request.version or site_version(connection)
    done = Confirmed(request.competition, version.value, engine.name)
    with scratch_folder() as work, ExitStack() as held:
        folder = open_bundle(request.bundle, work / "bundle")
        competition = read_competition(folder, version)
        opened: list[tuple[Phase, Row]] = []
        for row in phases_of(site, request.phase, lambda: [phase.id for phase in competition.phases]):
            phase = _same_phase(done, row, site, competition)
            if phase is None or not _is_open(done, phase, row, version):
                continue
            own = [one for one in submissions_of(connection, row["id"]) if one["owner"] == username]
            if _spares_the_board(done, phase, submission_rule(site), own):
                opened.append((phase, row))
        if site.get("enable_human_in_the_loop"):
            connection.say("each submission waits until the operator of the worker approves it")
        if opened:
            try:
                engine.prepare(competition.image)
            except EngineError as error:
                why = f"the dry run cannot take place: {error}"
                raise UserError(why, advice="Nothing was submitted.") from None
            connection.say(f"dry run as Codabench {version.value}, with the engine {engine.name}")
        bundle = open_readable_bundle(folder, datetime.now(UTC), held, version)
        rehearsal = Rehearsal(folder, work, competition, bundle, version, engine, connection)
        rehearsed = rehearsal.run([phase for phase, _ in opened])
        own_submissions = OwnSubmissions(connection, site, username)
        try:
            made: dict[int, Rehearsed] = {}
            for phase, row in opened:
                own_ones = [one for one in rehearsed if one.phase is phase]
                made |= _submitted(done, own_submissions, phase, row, own_ones)
            comparison = LiveComparison(competition.leaderboard, version, _measured_columns(bundle))
            _compare(done, own_submissions, made, comparison, request.patience_s)
        except BaseException:
            for line in own_submissions.remove():
                connection.say(f"left on the site: {line}")
            raise
        for phase, row in opened:
            _note_limits(done, phase, row, len(own_submissions.made.get(row["id"], ())))
        for numbers in own_submissions.made.values():
            done.left += [f"submission {number}" for number in numbers]
        if not request.keep:
            done.left = own_submissions.remove()
    return done


# Which phases submissions can be sent to, without harm to the leaderboard.


def _same_phase(done: Confirmed, row: Row, site: Row, competition: Competition) -> Phase | None:
    """The bundle's phase for one of the site, if it is the same."""
    place = phases_of(site, None).index(row)
    phase = competition.phases[place] if place < len(competition.phases) else None
    if phase is None or phase.name != row["name"]:
        there = "no further phase" if phase is None else f"the phase {phase.name} in its place"
        done.problems.append(f"phase {row['name']}: not of this bundle, which has {there}.")
        return None
    ours, theirs = [task.name for task in phase.tasks], [task["name"] for task in row.get("tasks") or []]
    if len({*ours}) < len(ours):
        done.problems.append(f"phase {phase.name}: two of its tasks have the same name, and cannot be told apart.")
        return None
    if sorted(ours) != sorted(theirs):
        there = f"{', '.join(theirs) or 'none'}, in the bundle {', '.join(ours) or 'none'}"
        done.problems.append(f"phase {phase.name}: its tasks are {there}.")
        return None
    return phase


def _is_open(done: Confirmed, phase: Phase, row: Row, version: PlatformVersion) -> bool:
    dated = replace(phase, start=Instant(moment(row.get("start"))), end=Instant(moment(row.get("end"))))
    reason = closed(dated, datetime.now(UTC))
    if not reason:
        return True
    sentence = f"{reason[0].upper()}{reason[1:]}."
    if version is PlatformVersion.V1_25:
        done.notes.append(f"phase {phase.name}: sites of this version take submissions all the same. {sentence}")
        return True
    done.closed.append(
        f"phase {phase.name}: not confirmed, since the site takes submissions only within the dates. {sentence} "
        "To confirm it now, move its dates in the editor meanwhile."
    )
    return False


def _spares_the_board(done: Confirmed, phase: Phase, rule: str, rows: Sequence[Row]) -> bool:
    """Whether no submission of ours would take an earlier one of the same account from the board for good."""
    earlier, shown = [], set()
    for row in rows:
        if not str(row.get("filename") or "").startswith(PREFIX):
            if on_leaderboard(row):
                shown.add(str(row.get("parent") or row["id"]))
        elif not row.get("parent"):
            earlier.append(str(row["id"]))
    if earlier:
        ids = ", ".join(earlier)
        done.notes.append(f"phase {phase.name}: submissions of an earlier confirm are still there: {ids}.")
    if not shown or rule not in REPLACING_RULES:
        return True
    done.problems.append(
        f"phase {phase.name}: not confirmed, since a submission of yours is on its leaderboard "
        f"({', '.join(sorted(shown))}). With the rule {rule} another one of yours may take its place, and the site "
        "does not put it back. Use the account of another organiser."
    )
    return False


def _note_limits(done: Confirmed, phase: Phase, row: Row, number: int) -> None:
    """Say what counts for the limits of the account."""
    spans = (("max_submissions_per_day", "a day"), ("max_submissions_per_person", "in all"))
    if limits := [f"{row[key]} {span}" for key, span in spans if number and row.get(key)]:
        allowed = " and ".join(limits)
        done.notes.append(f"phase {phase.name}: {number} of your {allowed} count for as long as the submissions exist.")


# What the bundle's own submissions give here.


@dataclass(frozen=True)
class Rehearsal:
    """A dry run of the bundle's solutions, and of the template in each starting kit.

    Attributes:
        folder: the unpacked bundle.
        work: a folder for what is made on the way.
        competition, bundle: what the bundle says, as the dry run reads it, and as the check does.
    """

    folder: Path
    work: Path
    competition: Competition
    bundle: Bundle
    version: PlatformVersion
    engine: Engine
    connection: Connection

    def run(self, phases: Sequence[Phase]) -> list[Rehearsed]:
        """Dry-run what the bundle holds for some phases.

        Raises:
            UserError: the bundle cannot be run.
        """
        found: list[Rehearsed] = []
        attached = {task for solution in self.competition.solutions for task in solution.tasks}
        ids = [phase.id for phase in phases if any(task.index in attached for task in phase.tasks)]
        if ids:
            plans = plan(self.competition, ids, (), None, self.work / "submissions")
            runs = self._dry_run("solutions", ids, ())
            for planned in plans:
                found += [self._rehearsed("solutions", planned.phase, one, runs) for one in planned.submissions]
        for phase in phases:
            others = [one.submission.file for one in found if one.phase is phase]
            if template := self._template(phase, others):
                name = f"{TEMPLATE}-{phase.id}"
                runs = self._dry_run(name, [phase.id], [template])
                planned_one = Planned(template, template.stem, template.stem, phase.tasks)
                found.append(self._rehearsed(name, phase, planned_one, runs))
        return found

    def _dry_run(self, name: str, phases: Sequence[str], submissions: Sequence[Path]) -> list[Run]:
        request = DryRunRequest(
            bundle=self.folder,
            out=self.work / name,
            submissions=submissions,
            phases=phases,
            version=self.version,
            on_step=self.connection.say,
            trust=True,  # the templates are those of the bundle's own kits
        )
        return dry_run(request, self.engine).runs

    def _rehearsed(self, name: str, phase: Phase, submission: Planned, runs: Sequence[Run]) -> Rehearsed:
        own = {run.task: run for run in runs if (run.phase, run.submission) == (phase.id, submission.name)}
        outcomes = {task.name: own[task.id] for task in submission.tasks}
        return Rehearsed(phase, submission, outcomes, self.work / name / phase.id)

    def _template(self, phase: Phase, others: Sequence[Path]) -> Path | None:
        """The zip of a phase's template; None without one, or where a solution of the phase is the same."""
        kit = self.bundle.competition.phases[self.competition.phases.index(phase)].files.get("starting_kit")
        unpacked = self.bundle.unpacked(kit)
        files: dict[str, bytes] = {}
        for name, node in unpacked.tree.root.files() if unpacked else ():
            if name.startswith(f"{TEMPLATE}/"):
                files[name.removeprefix(f"{TEMPLATE}/")] = node.read(node.size)
        if not files or files in [_files_of(other) for other in others]:
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


def _submitted(
    done: Confirmed, own: OwnSubmissions, phase: Phase, row: Row, rehearsed: Sequence[Rehearsed]
) -> dict[int, Rehearsed]:
    """Make the submissions to a phase; those that the site does not take become problems."""
    if not rehearsed:
        none = "the bundle has neither a solution nor a starting kit with template/ for it"
        done.problems.append(f"phase {phase.name}: {none}.")
    made = {}
    ids = {task["name"]: int(task["id"]) for task in row["tasks"]}
    for one in rehearsed:
        tasks = [ids[task] for task in one.runs] if len(one.runs) < len(ids) else None
        own.connection.say(f"submitting {one.label}")
        try:
            made[own.submit(int(row["id"]), one.submission.file, tasks)] = one
        except NotMadeError as error:
            done.problems.append(f"{one.label}: not submitted. {' '.join(error.messages)}")
    return made


def _compare(
    done: Confirmed, own: OwnSubmissions, made: Mapping[int, Rehearsed], comparison: "LiveComparison", patience_s: float
) -> None:
    """Wait for the submissions and compare them; those that do not end in time become problems."""
    if not made:
        return
    rows = own.wait({number: one.label for number, one in made.items()}, patience_s)
    for number, one in made.items():
        row = rows.get(number, {})
        parts = [rows[child] for child in row.get("children") or [] if child in rows] or [row]
        for task in one.runs:
            for part in [part for part in parts if _task(part) in (task, None)] or [{}]:
                logs = log_texts(own.connection, details_of(own.connection, part["id"])) if "id" in part else {}
                done.cells += comparison.cells(one, task, part, logs)
        if unfinished := sorted({state(part) for part in (row, *parts)} & {*WAITING}):
            minutes = f"{patience_s / 60:g} minutes"
            done.problems.append(f"{one.label}: not finished within {minutes}: {WAITING[unfinished[0]]}.")


def _task(part: Row) -> str | None:
    """The task that a submission was scored for; None for one that never came so far, or has children."""
    task = part.get("task")
    return str(task["name"]) if isinstance(task, Mapping) else None


@dataclass(frozen=True)
class LiveComparison:
    """What both sides share: the leaderboard, the version that the site follows, and the columns that show a time."""

    leaderboard: Leaderboard
    version: PlatformVersion
    measured: Set[str] = frozenset()

    def cells(self, one: Rehearsed, task: str, row: Row, logs: Mapping[str, str]) -> Iterator[Cell]:
        """All cells of a submission for a task.

        Args:
            one: the submission, and what came of it here.
            task: the task's name.
            row: the answer of `submissions/ID/`.
            logs: the texts of its logs by name; empty where the site has none.
        """
        run = one.runs[task]
        place = (one.phase.name, one.submission.name, task)
        status, reason = state(row), unsigned(message(row))
        here, there = _outcome(run.status, run.message), _outcome(status, reason)
        yield Cell(*place, "status", one_line(here), one_line(there), run.status == status)
        if status not in FINAL:
            return
        ours, theirs = self._stored(run, several=len(one.runs) > 1), scores(row)
        for key in [column.key for column in self.leaderboard.columns]:
            if key in ours or key in theirs:
                mine, other = ours.get(key), theirs.get(key)
                tolerance = math.inf if key in self.measured else TOLERANCE
                equal = False
                if isinstance(mine, float) and isinstance(other, float):
                    equal = math.isclose(mine, other, abs_tol=tolerance)
                yield Cell(*place, key, _shown(mine), one_line(_shown(other)), equal, key in self.measured)
        texts = []
        for name, other_name in LOGS.items():
            file = one.folder / run.task / one.submission.name / name
            text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
            texts.append((text, logs.get(other_name, "")))
        here, there, equal = _compared_logs(texts)
        yield Cell(*place, "log", one_line(here), one_line(unsigned(there)), equal)

    def _stored(self, run: Run, *, several: bool) -> dict[str, float]:
        """What the server would store; a computed column is made for submissions to a single task alone."""
        board = Board(self.leaderboard, DIFFERENCES[self.version])
        whole = board.submit(run.submission, run.submission, [run.task] if several else [])
        (entry,) = whole.children or [whole]
        with suppress(RefusedError):  # what was stored before stays
            board.upload(entry, run.scores or {})
        return {score.column.key: float(score.value) for score in entry.scores}


def _outcome(status: str, reason: str) -> str:
    return f"{status}: {' '.join(reason.split())}" if status == "Failed" and reason else status


def _shown(score: float | str | None) -> str:
    if isinstance(score, float):
        return f"{score:.10f}".rstrip("0").rstrip(".")
    return NOTHING if score is None else score


def _compared_logs(texts: Sequence[tuple[str, str]]) -> tuple[str, str, bool]:
    """The cell of the logs: how many lines each side has, or the first ones that differ; and whether they agree.

    The platform often has no log, or loses its beginning, and workers may be set to keep it to themselves: only a
    line that is there and not here is a difference.
    """
    for here, there in texts:
        if pair := _unlike(here, there):
            return (pair[0] or NOTHING, pair[1], False)
    numbers = []
    for side in zip(*texts, strict=True):
        lines = sum(len(text.splitlines()) for text in side)
        numbers.append(counted(lines, "line") if lines else "no log")
    return numbers[0], numbers[1], True


def _unlike(here: str, there: str) -> tuple[str, str] | None:
    """The first line of the site's log that the dry run did not print, after the dry run's line at that place; or None.

    Lines may be missing on the site, but must come in the same order. Numbers are compared only in a signature:
    elsewhere they may be times, and scores are compared by themselves. The worker loses the beginnings of logs, and
    sometimes cuts inside a line, so the first line there may be the end of one here, and the last line the beginning.
    """
    ours, theirs = _lines(here), _lines(there)
    place = 0
    for number, line in enumerate(theirs):
        may_begin_inside, may_end_inside = number == 0, number == len(theirs) - 1
        at = place
        while at < len(ours) and not (
            ours[at] == line
            or (may_begin_inside and ours[at].endswith(line))
            or (may_end_inside and ours[at].startswith(line))
        ):
            at += 1
        if at == len(ours):
            return (ours[place] if place < len(ours) else ""), line
        place = at + 1
    return None


def _lines(text: str) -> list[str]:
    """The lines that have any text; a letter that was cut in the middle is left out."""
    stripped = (line.strip().strip("\ufffd") for line in text.splitlines())
    return [line if SIGNATURE.search(line) else _NUMBER.sub("…", line) for line in stripped if line]
