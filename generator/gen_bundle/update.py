"""The journey from a bundle to the competition on a site that is to become it: look, change, rerun."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.opening import open_readable_bundle
from gen_bundle.check.report import OVER
from gen_bundle.codabench.competition import TASK_FILES, Task
from gen_bundle.difference.aspects import differences
from gen_bundle.difference.changes import Difference, Effect
from gen_bundle.difference.files import use_changes
from gen_bundle.errors import UserError
from gen_bundle.live.applying import Application, write_backup
from gen_bundle.live.connection import AnswerError, Connection
from gen_bundle.live.edits import EDITOR, Edit, by_hand, edits
from gen_bundle.live.readiness import readiness
from gen_bundle.live.request_parts import Tick
from gen_bundle.live.reruns import Cost, Rerun, estimated, rerunnable
from gen_bundle.live.site_bundle import UNKNOWN, Pairs, SiteBundle, pairs
from gen_bundle.live.snapshot import Snapshot, read_snapshot
from gen_bundle.live.submissions import DELETED, FINAL, state, submissions_of
from gen_bundle.live.update_record import Reruns, UpdateRecord, read_record
from gen_bundle.live.upload import queues_of
from gen_bundle.plain_text import counted

PUBLIC_QUEUE_RERUNS = 30  # that the site's own button allows on its public queue
BY_OWNERS = ("Add", "Add_And_Delete", "Add_And_Delete_Multiple")  # rules under which owners fill the board

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Change:
    """A difference between the competition and the bundle, and how it is removed.

    Attributes:
        by_hand: what to click; None where `--apply` does it.
    """

    difference: Difference
    by_hand: str | None

    def as_dict(self) -> dict[str, Any]:
        return self.difference.as_dict() | {"by_hand": self.by_hand}


@dataclass
class Update:
    """What a competition would become.

    Attributes:
        bundle: the bundle's zip.
        before: what the site holds.
        wanted: the opened bundle.
        changes: all differences.
        edits: the requests that remove those which need no hand.
        rerun_phases: the phases whose submissions are to be rerun after the edits.
        obstacles: what speaks against the bundle, as for `upload`.
        warnings: what organisers should know before they agree.
    """

    connection: Connection
    bundle: Path
    before: Snapshot
    wanted: Bundle
    record: UpdateRecord
    changes: tuple[Change, ...]
    edits: tuple[Edit, ...]
    rerun_phases: tuple[int, ...]
    obstacles: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    @property
    def differences(self) -> list[Difference]:
        """All differences, in the words of `diff`."""
        return [change.difference for change in self.changes]

    def due(self, phase: int) -> list[int]:
        """The submissions to a phase that are to be rerun: those of earlier replacements, or all after a new one."""
        own = self.record.reruns.get(phase, Reruns())
        if phase not in self.rerun_phases:
            return own.pending
        return Reruns(rerunnable(submissions_of(self.connection, phase)), own.done).pending

    def costs(self) -> list[Cost]:
        """What the reruns would take, by phase.

        Raises:
            AnswerError: the server refuses.
        """
        return [
            estimated(self.connection, phase, due) for phase in self.before.phases if (due := self.due(phase["id"]))
        ]

    def apply(self, progress: Progress = lambda _: None, tick: Tick = lambda *_: None) -> Path | None:
        """Make the changes, or undo them; the backup of what was there before, None where there was nothing to change.

        Raises:
            UpdateError: not all could be made; says what was restored, and what could not be.
            UserError: a file cannot be stored, or the site cannot be read; nothing was changed.
        """
        if not self.edits:
            return None
        backup = write_backup(self.before, self.connection.server, self.bundle, datetime.now(UTC))
        progress(f"what the site holds is kept in {backup}")
        changes = Application(self.connection, self.before, self.wanted, self.record, self._note_due, progress, tick)
        changes.run(self.edits, backup)
        return backup

    def _note_due(self) -> None:
        for phase in self.rerun_phases:
            self.record.reruns.setdefault(phase, Reruns()).due = self.due(phase)
        self.record.save()

    def rerun(self, progress: Progress = lambda _: None) -> list[str]:
        """Rerun what is due, portion by portion; what could not be rerun, and which reruns failed.

        Raises:
            UserError: reruns that fail all at once or do not move; called again, the rest is rerun.
        """
        return [
            fault
            for phase in self.before.phases
            if phase["id"] in self.record.reruns and self.record.reruns[phase["id"]].pending
            for fault in Rerun(self.connection, phase, self.record, progress).run()
        ]


def look(
    connection: Connection,
    competition: int,
    bundle: Path,
    held: ExitStack,
    progress: Progress = lambda _: None,
    tick: Tick = lambda *_: None,
) -> Update:
    """Compare a competition with a bundle; nothing is changed.

    Args:
        connection: to the server, with an organiser's token.
        competition: its id.
        bundle: the zip that it is to become.
        held: what is open for as long as the update is used.
        progress: hears of each step.
        tick: hears how much of the site's own bundle was fetched.

    Raises:
        UserError: the bundle cannot be read or is of the old format, or a request failed.
    """
    now = datetime.now(UTC)
    progress("checking")
    ready = readiness(bundle, now, [*queues_of(connection)])
    wanted = open_readable_bundle(bundle, now, held)
    if wanted.format != "v2":
        raise UserError(f"{bundle}: is of CodaLab's format. Convert it first: gen-bundle convert {bundle}")
    progress("reading the competition")
    before = read_snapshot(connection, competition)
    record = read_record(connection.server, competition)
    paired = pairs(before, wanted)
    site = SiteBundle(before, wanted, paired, _original(connection, competition, held, tick), record.contents).bundle()
    by_task = {number: _file_changes(site, wanted, task) for number, task in paired.tasks.items()}
    replaced = {number: frozenset(found) for number, found in by_task.items()}
    made = tuple(edits(before, wanted, paired, replaced))
    found = tuple(_changes(site, wanted, before, paired, None if made else EDITOR))
    rerun_tasks = {
        edit.place[1]
        for edit in made
        if edit.place
        and ((*edit.place, "ingestion_only_during_scoring") in edit.expected or _reruns(by_task.get(edit.place[1], {})))
    }
    phases = [one for one in before.phases if rerun_tasks & {task["id"] for task in one.get("tasks") or []}]
    update = Update(
        connection,
        bundle,
        before,
        wanted,
        record,
        found,
        made,
        tuple(phase["id"] for phase in phases),
        tuple(one for one in ready.obstacles if not one.startswith(f"{OVER}:")),  # pages are edited after the end, too
    )
    update.warnings = tuple(_warnings(update, phases, paired))
    return update


def _original(connection: Connection, competition: int, held: ExitStack, tick: Tick) -> Bundle | None:
    """The bundle of which the competition was made, where the site still has it."""
    try:
        given = connection.get(f"competitions/{competition}/get_files/").get("bundle") or {}
        if not given.get("url"):
            return None
        file = Path(held.enter_context(tempfile.TemporaryDirectory())) / "original.zip"
        connection.download(str(given["url"]), file, tick)
        return open_readable_bundle(file, datetime.now(UTC), held)
    except AnswerError as error:
        if error.unclear:
            raise
        return None
    except UserError:  # it is not what it was
        return None


def _file_changes(site: Bundle, wanted: Bundle, task: Task) -> dict[str, list[Difference]]:
    """The differences of a task's programs and data, by role."""
    stored = next(one for one in site.competition.tasks if one.index == task.index)
    by_role = {
        role: list(use_changes(role, task.name, site, stored.files.get(role), wanted, task.files.get(role)))
        for role in TASK_FILES
        if role in stored.files or role in task.files
    }
    return {role: found for role, found in by_role.items() if found}


def _reruns(by_role: Mapping[str, list[Difference]]) -> bool:
    return any(one.effect is Effect.RERUN for found in by_role.values() for one in found)


def _changes(site: Bundle, wanted: Bundle, before: Snapshot, paired: Pairs, otherwise: str | None) -> Iterator[Change]:
    """The differences, and how each is removed; solutions, the logo and tasks without a phase are not compared."""
    used = {task.name for task in wanted.competition.used_tasks}
    foreign = {task.name for number, task in paired.tasks.items() if number not in before.tasks}
    for one in differences(site, wanted):
        if one.part == "solutions" or (one.part == "tasks" and one.what == "added" and one.item not in used):
            continue
        if one.what == "path" and (one.old or "").startswith(UNKNOWN):
            one = Difference(one.part, one.item, "content", one.effect, (one.old or "").replace(": ", ", ", 1), one.new)
        whose = "the task is not yours: its owner must change it" if one.item in foreign and one.part == "tasks" else ""
        yield Change(one, whose or by_hand(one) or otherwise)


def _warnings(update: Update, phases: list[Mapping[str, Any]], paired: Pairs) -> Iterator[str]:
    before = update.before
    if update.edits and before.competition.get("published"):
        yield "the competition is published: participants see changes at once."
    for number, task in paired.tasks.items():
        if number not in before.tasks:
            yield f"task {task.name} is not yours: its files cannot be compared or replaced. Ask its owner to."
    for phase in phases:
        rows = [row for row in submissions_of(update.connection, phase["id"]) if not row.get("parent")]
        running = sum(state(row) not in (*FINAL, DELETED) for row in rows)
        scored = len(rerunnable(rows)) - running
        if running:
            waiting = counted(running, "submission")
            yield f"phase {phase['name']}: {waiting} not ended yet may be scored with old and new files."
        if scored:
            yield (
                f"phase {phase['name']}: {counted(scored, 'submission')} scored with the old files. Without --rerun, "
                "old scores stand beside new ones."
            )


def rerun_warnings(update: Update, costs: Sequence[Cost]) -> Iterator[str]:
    """What organisers should know before they have submissions rerun."""
    total = sum(cost.submissions for cost in costs)
    if total > PUBLIC_QUEUE_RERUNS and update.before.competition.get("queue") is None:
        yield (
            f"{total} reruns on the site's public queue: its own button allows {PUBLIC_QUEUE_RERUNS} at most, and asks "
            "to write to its administrators for more. Write to them, or attach a queue of your own."
        )
    rules = {str(board.get("submission_rule")) for board in update.before.competition.get("leaderboards") or []}
    if total and rules & set(BY_OWNERS):
        yield (
            f"the leaderboard's rule is {', '.join(sorted(rules))}: it shows the old submissions until their owners "
            "put the reruns on it."
        )
