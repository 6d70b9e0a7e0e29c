"""The journey from a bundle to the competition on a site that is to become it: look, store, change, rerun, look again.

Each request that changes something is followed by a look at everything. Refused requests were seen to have emptied
fields, and answers of 500 to have come after the change was made. So an answer decides nothing: what the site holds
afterwards does. What stops the changes, the competition ends as it should, or as it was where the site lets it be
restored. After reruns the leaderboard is read, since most rules leave scores on it that replaced files gave.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gen_bundle.bugs import bug_report
from gen_bundle.check.bundle import Bundle, open_readable_bundle
from gen_bundle.check.report import OVER
from gen_bundle.codabench.competition import Phase, Task
from gen_bundle.difference.aspects import differences
from gen_bundle.difference.changes import Difference, Effect
from gen_bundle.difference.files import use_changes
from gen_bundle.errors import UserError
from gen_bundle.fetched import whole_submissions
from gen_bundle.json_files import private
from gen_bundle.live.competition import original_bundle, submission_rule
from gen_bundle.live.connection import AnswerError, Connection, Tick
from gen_bundle.live.datasets import number_of, pack, store_file
from gen_bundle.live.edits import EDITOR, Edit, Stored, by_hand, competition_body, edits, task_body
from gen_bundle.live.fetch import FetchRequest, fetch
from gen_bundle.live.readiness import readiness
from gen_bundle.live.reruns import AFTER_RERUNS, Cost, Rerun, Stale, estimated, rerunnable, still_ranking
from gen_bundle.live.site_bundle import OURS, UNKNOWN, Pairs, SiteBundle, pairs
from gen_bundle.live.snapshot import Key, Snapshot, different, in_words, read_snapshot, watched
from gen_bundle.live.submissions import DELETED, FINAL, state, submissions_of
from gen_bundle.live.update_record import Reruns, UpdateRecord, content_digest, read_record
from gen_bundle.plain_text import counted
from gen_bundle.whole_file import write_whole

PUBLIC_QUEUE_RERUNS = 30  # that the site's own button allows on its public queue
RESTORE_ATTEMPTS = 3
SECRETS = ("secret_key", "secret", "broker_url", "vhost", "password", "token")
SIGNED = re.compile(r"(https?://[^\s?]+)\?\S*(?i:signature|sig|credential)=\S*")

Progress = Callable[[str], None]


class UpdateError(UserError):
    """A change that was not made; the messages say what is on the site now."""

    status = 1


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


def look(
    connection: Connection,
    competition: int,
    bundle: Path,
    held: ExitStack,
    progress: Progress = lambda _: None,
    tick: Tick = lambda *_: None,
) -> "Update":
    """Compare a competition with a bundle; nothing is changed.

    Args:
        connection: to the server, with an organiser's token.
        competition: its id.
        bundle: the zip that it is to become.
        held: what is open for as long as the update is used.
        progress: called with each step.
        tick: called with how much of the site's own bundle was fetched.

    Raises:
        UserError: the bundle cannot be read or is of the old format, or a request failed.
    """
    now = datetime.now(UTC)
    progress("checking")
    ready = readiness(bundle, now, connection)
    wanted = open_readable_bundle(bundle, now, held)
    if wanted.format != "v2":
        raise UserError(f"{bundle}: is of CodaLab's format. Convert it first: gen-bundle convert {bundle}")
    progress("reading the competition")
    before = read_snapshot(connection, competition)
    record = read_record(connection.server, competition)
    paired = pairs(before, wanted)
    original = original_bundle(connection, competition, held, tick)
    site = SiteBundle(before, wanted, paired, original, record.contents).bundle()
    replaced = _replaced_files(site, wanted, before, paired)
    made = edits(before, wanted, paired, {place: by_role.keys() for place, by_role in replaced.items()})
    changes = _changes(site, wanted, before, paired, None if made else EDITOR)
    update = Update(
        connection,
        bundle,
        before,
        wanted,
        record,
        tuple(changes),
        tuple(made),
        unseen=tuple(task.name for number, task in paired.tasks.items() if number not in before.tasks),
        rerun_phases=_rerun_phases(before, made, replaced),
        # pages are edited after the end, too
        obstacles=tuple(one for one in ready.obstacles if not one.startswith(f"{OVER}:")),
    )
    update.stale = update.still_ranking()
    update.warnings = tuple(_warnings(update))
    return update


def _replaced_files(
    site: Bundle, wanted: Bundle, before: Snapshot, paired: Pairs
) -> dict[Key, dict[str, list[Difference]]]:
    """The differences of programs and data by their role, of each task and phase that has any."""
    found: dict[Key, dict[str, list[Difference]]] = {}
    stored_tasks = {task.index: task for task in site.competition.tasks}
    for number, task in paired.tasks.items():
        if number in before.tasks:
            found["task", number] = _file_changes(site, stored_tasks[task.index], wanted, task)
    for row, stored in zip(before.phases, site.competition.phases, strict=True):
        if phase := paired.phases.get(row["id"]):
            found["phase", row["id"]] = _file_changes(site, stored, wanted, phase)
    return {place: by_role for place, by_role in found.items() if by_role}


def _file_changes(site: Bundle, stored: Task | Phase, wanted: Bundle, one: Task | Phase) -> dict[str, list[Difference]]:
    found = {}
    for role in dict.fromkeys([*stored.files, *one.files]):
        changes = list(use_changes(role, one.name, site, stored.files.get(role), wanted, one.files.get(role)))
        if changes:
            found[role] = changes
    return found


def _changes(site: Bundle, wanted: Bundle, before: Snapshot, paired: Pairs, otherwise: str | None) -> Iterator[Change]:
    """The differences, and how each is removed; solutions, the logo and tasks without a phase are not compared."""
    used = {task.name for task in wanted.competition.used_tasks}
    foreign = {task.name for number, task in paired.tasks.items() if number not in before.tasks}
    for one in differences(site, wanted):
        unused = one.part == "tasks" and one.what == "added" and one.item not in used
        if one.part == "solutions" or unused:
            continue
        if one.what == "path" and one.old is not None and one.old.startswith((UNKNOWN, OURS)):
            one = replace(one, what="content", old=one.old.replace(": ", ", ", 1))
        hand = by_hand(one) or otherwise
        if one.part == "tasks" and one.item in foreign:
            hand = "the task is not yours: its owner must change it"
        yield Change(one, hand)


def _rerun_phases(
    before: Snapshot, made: Sequence[Edit], replaced: Mapping[Key, Mapping[str, list[Difference]]]
) -> tuple[int, ...]:
    """The phases whose tasks get files that change scores."""
    changed = {edit.place for edit in made if (*edit.place, "ingestion_only_during_scoring") in edit.expected}
    for place, by_role in replaced.items():
        effects = [one.effect for found in by_role.values() for one in found]
        if Effect.RERUN in effects:
            changed.add(place)
    tasks = {place[1] for place in changed if place[0] == "task"}
    return tuple(one["id"] for one in before.phases if tasks & {task["id"] for task in one.get("tasks") or []})


def _warnings(update: "Update") -> Iterator[str]:
    before = update.before
    if update.edits and before.competition.get("published"):
        yield "the competition is published: participants see changes at once."
    for task in update.unseen:
        yield f"task {task} is not yours: its files cannot be compared or replaced. Ask its owner to."
    for phase in before.phases:
        if phase["id"] not in update.rerun_phases:
            continue
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
    for one in update.stale:
        yield str(one)


@dataclass
class Update:
    """What a competition would become.

    Attributes:
        bundle: the bundle's zip.
        before: what the site holds.
        wanted: the opened bundle.
        record: what this machine remembers of the competition.
        changes: all differences.
        edits: the requests that remove those which need no hand.
        unseen: the tasks of other owners, whose programs and data cannot be looked at.
        rerun_phases: the phases whose submissions are to be rerun after the edits.
        obstacles: what speaks against the bundle, as for `upload`.
        warnings: what organisers should know before they agree.
        stale: the rows of the leaderboard whose scores came of replaced files.
    """

    connection: Connection
    bundle: Path
    before: Snapshot
    wanted: Bundle
    record: UpdateRecord
    changes: tuple[Change, ...]
    edits: tuple[Edit, ...]
    unseen: tuple[str, ...]
    rerun_phases: tuple[int, ...]
    obstacles: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    stale: tuple[Stale, ...] = ()

    @property
    def same(self) -> bool:
        """Whether all is known to be as the bundle says."""
        return not (self.changes or self.unseen or self.stale)

    @property
    def rule(self) -> str:
        """The rule by which submissions come onto the leaderboard."""
        return submission_rule(self.before.competition)

    def due(self, phase: int) -> list[int]:
        """The submissions to a phase that are to be rerun: those of earlier replacements, or all after a new one."""
        own = self.record.reruns.get(phase, Reruns())
        if phase not in self.rerun_phases:
            return own.pending
        return Reruns(rerunnable(submissions_of(self.connection, phase)), own.done).pending

    def costs(self) -> list[Cost]:
        """What the reruns would take, by phase."""
        due = [(phase, self.due(phase["id"])) for phase in self.before.phases]
        return [estimated(self.connection, phase, numbers) for phase, numbers in due if numbers]

    def rerun_warnings(self, costs: Sequence[Cost]) -> Iterator[str]:
        """What organisers should know before they have submissions rerun."""
        total = sum(cost.submissions for cost in costs)
        if total > PUBLIC_QUEUE_RERUNS and self.before.competition.get("queue") is None:
            yield (
                f"{total} reruns on the site's public queue: its own button allows {PUBLIC_QUEUE_RERUNS} at most, and "
                "asks to write to its administrators for more. Write to them, or attach a queue of your own."
            )
        if total:
            yield f"the leaderboard's rule is {self.rule}: {AFTER_RERUNS[self.rule]}."

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
        progress("storing files")
        complete = [edit.with_files(self._stored(edit, tick)) for edit in self.edits]
        progress("changing the competition")
        expected = watched(read_snapshot(self.connection, self.before.id))
        if moved := different(watched(self.before), expected):
            raise UpdateError(
                f"{self._list(moved)}: changed on the site meanwhile. Nothing was changed by this command.",
                advice="Look at the differences again, without --apply.",
            )
        earlier = deepcopy(self.record.reruns)
        refusal, wrong = "", list[Key]()
        try:
            self._note_due()  # before the changes, which may be cut off
            for edit in complete:
                expected |= edit.expected
                refusal = self._sent(edit)
                if wrong := different(expected, watched(read_snapshot(self.connection, self.before.id))):
                    break
            else:
                self._note_due()  # and after them, since participants go on submitting
                return backup
        except BaseException as error:  # also Ctrl-C, and a signal that ends the command
            refusal = _reason(error)
        progress("restoring")
        self._restore(backup, earlier, refusal, wrong)
        return None

    def _note_due(self) -> None:
        for phase in self.rerun_phases:
            self.record.reruns.setdefault(phase, Reruns()).due = self.due(phase)
        self.record.save()

    def _stored(self, edit: Edit, tick: Tick) -> dict[Key, Stored]:
        """Store the files of an edit."""
        stored: dict[Key, Stored] = {}
        for (kind, number, role), use in edit.files.items():
            name = f"{role} of {kind} {number} @ {datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"
            key = str(use.path)  # of a file that is on the site, unless the bundle holds one there
            if self.wanted.find(use.path) is not None:
                with tempfile.TemporaryDirectory() as folder:
                    file = Path(folder) / f"{role}.zip"
                    pack(self.wanted, use, file)
                    key = store_file(self.connection, role, file, tick, name)
            if digest := content_digest(self.wanted, use):
                self.record.contents[key] = digest
                self.record.save()
            stored[kind, number, role] = Stored(key)
            if kind == "phase":
                dataset = number_of(self.connection, role, key)
                if dataset is None:
                    raise UpdateError(f"{role} {key}: the site does not list this file. Nothing was changed.")
                stored[kind, number, role] = Stored(key, dataset)
        return stored

    def _sent(self, edit: Edit) -> str:
        """Send an edit; what was answered where that was not a success."""
        try:
            self.connection.send(edit.method, edit.path, edit.body)
        except AnswerError as error:
            return error.messages[0]
        return ""

    def _restore(self, backup: Path, earlier: dict[int, Reruns], refusal: str, wrong: Sequence[Key]) -> None:
        """Bring everything back that is not as it was before.

        Raises:
            UpdateError: always.
        """
        self.connection.log.required = False  # a missing line does less harm than half of the changes
        before = watched(self.before)
        current = self._read(backup)
        moved = lost = different(before, watched(current))
        for _ in range(RESTORE_ATTEMPTS):
            if not lost:
                break
            for method, path, body in self._ways_back(current, lost):
                with suppress(AnswerError):  # what came of it is looked at
                    self.connection.send(method, path, body)
            current = self._read(backup)
            lost = different(before, watched(current))
        if not any(key[0] == "task" for key in lost):
            self.record.reruns = earlier
            with suppress(UserError):  # then too much is offered to be rerun
                self.record.save()
        messages = [refusal or f"{self._list(wrong)}: the site stored something else than was sent, without saying so."]
        advice = []
        if back := [key for key in moved if key not in lost]:
            advice.append(f"Restored: {self._list(back)}.")
        if lost:
            messages.append(f"could not be restored: {self._list(lost)}. What was there is in {backup}.")
        else:
            advice.append("The competition is as it was before.")
        raise UpdateError(*messages, advice=" ".join(advice))

    def _read(self, backup: Path) -> Snapshot:
        try:
            return read_snapshot(self.connection, self.before.id)
        except UserError as error:
            raise UpdateError(
                *error.messages,
                "what the site holds now could not be read.",
                advice=f"Look at the competition. What it held before is in {backup}.",
            ) from None

    def _ways_back(self, current: Snapshot, lost: Sequence[Key]) -> list[tuple[str, str, dict[str, Any]]]:
        """The requests that bring places back to what they were."""
        numbers = dict.fromkeys(key[1] for key in lost if key[0] == "task")
        found = [("PUT", f"tasks/{one}/", task_body(self.before.tasks[one])) for one in numbers]
        if own := [key for key in lost if key[0] != "task"]:
            there = frozenset(phase["id"] for phase in current.phases)
            found.append(("PATCH", f"competitions/{self.before.id}/", competition_body(self.before, own, there)))
        return found

    def _list(self, keys: Sequence[Key]) -> str:
        return ", ".join(in_words(key, self.before) for key in keys)

    def rerun(self, progress: Progress = lambda _: None) -> list[str]:
        """Rerun what is due, portion by portion; what could not be rerun, and which reruns failed.

        Raises:
            UserError: reruns that fail all at once or do not move; called again, the rest is rerun.
        """
        faults: list[str] = []
        for phase in self.before.phases:
            if self.record.reruns.get(phase["id"], Reruns()).pending:
                faults += Rerun(self.connection, phase, self.record, self.rule, progress).run()
        return faults

    def still_ranking(self) -> tuple[Stale, ...]:
        """The rows of the leaderboard whose scores came of replaced files."""
        found: list[Stale] = []
        for phase in self.before.phases:
            if own := self.record.reruns.get(phase["id"]):
                found += still_ranking(self.connection, phase, own)
        return tuple(found)

    def remove_replaced(self, progress: Progress = lambda _: None, tick: Tick = lambda *_: None) -> list[str]:
        """Fetch replaced runs that rank into a folder beside the bundle, and delete them; what was not deleted.

        Raises:
            UserError: the folder cannot be written, or the server does not answer.
        """
        folder = self.bundle.with_name(f"{self.bundle.name}.competition-{self.before.id}.submissions")
        faults: list[str] = []
        for phase in self.before.phases:
            stale = [one for one in self.stale if one.phase == phase["id"]]
            if stale:
                progress(f"phase {phase['name']}: fetching submissions into {folder}, before any is deleted")
                request = FetchRequest(self.before.id, folder, str(phase["id"]))
                (fetched,) = fetch(self.connection, request, tick=tick)
                kept = whole_submissions(fetched.folder)
                faults += Rerun(self.connection, phase, self.record, self.rule, progress).remove(stale, kept)
        return faults


def write_backup(snapshot: Snapshot, server: str, bundle: Path, now: datetime) -> Path:
    """Write beside the bundle what the site holds, readable by its owner alone and without secrets; the file.

    Raises:
        UserError: it cannot be written.
    """
    file = bundle.with_name(f"{bundle.name}.competition-{snapshot.id}-{now:%Y%m%dT%H%M%SZ}.json")
    content = {
        "server": server,
        "read": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "competition": _without_secrets(snapshot.competition),
        "tasks": {str(number): _without_secrets(task) for number, task in snapshot.tasks.items()},
    }
    with private():
        write_whole(file, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
    return file


def _without_secrets(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_secrets(inner) for key, inner in value.items() if key not in SECRETS}
    if isinstance(value, list):
        return [_without_secrets(inner) for inner in value]
    return SIGNED.sub(r"\1", value) if isinstance(value, str) else value


def _reason(error: BaseException) -> str:
    if isinstance(error, UserError):
        return error.messages[0]
    return bug_report(error) if isinstance(error, Exception) else "interrupted."
