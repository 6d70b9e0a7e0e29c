"""The journey from a bundle to the competition on a site that is to become it: look, store, change, rerun, look again.

Each request that changes something is followed by a look at everything. Refused requests were seen to have emptied
fields, and answers of 500 to have come after the change was made. So an answer decides nothing: what the site holds
afterwards does. What stops the changes, the competition ends as it should, or as it was where the site lets it be
restored. After reruns the leaderboard is read, since most rules leave scores on it that replaced files gave.
"""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from gen_bundle.check.bundle import open_readable_bundle
from gen_bundle.check.report import OVER
from gen_bundle.ground.errors import UserError, bug_report
from gen_bundle.ground.fetched import DELETED, whole_submissions
from gen_bundle.ground.local_files import write_json
from gen_bundle.live.competition import (
    LISTED_FLAG,
    Place,
    Snapshot,
    different,
    original_bundle,
    read_snapshot,
    submission_rule,
)
from gen_bundle.live.connection import AnswerError, Connection, LiveError, Row
from gen_bundle.live.datasets import content_digest, number_of, pack, store_file
from gen_bundle.live.fetch import FetchRequest, fetch
from gen_bundle.live.reruns import (
    AFTER_RERUNS,
    Cost,
    Rerun,
    Reruns,
    Stale,
    UpdateRecord,
    estimated,
    read_record,
    rerunnable,
    still_ranking,
)
from gen_bundle.live.site_bundle import EDITOR, OURS, UNKNOWN, Edit, SiteBundle, by_hand, ways_back
from gen_bundle.live.submissions import FINAL, state, submissions_of
from gen_bundle.live.upload import readiness
from gen_bundle.look.difference.changes import Difference, Effect
from gen_bundle.look.difference.report import differences
from scoring_kit.base.texts import counted

PUBLIC_QUEUE_RERUNS = 30  # that the site's own button allows on its public queue
RESTORE_ATTEMPTS = 3
SECRETS = ("secret_key", "secret", "broker_url", "vhost", "password", "token")
SIGNED = re.compile(r"(https?://[^\s?]+)\?\S*(?i:signature|sig|credential)=\S*")


class UpdateError(LiveError):
    """A change that was not made; the messages say what is on the site now."""


@dataclass(frozen=True)
class SiteChange:
    """A difference between the competition and the bundle, and how it is removed.

    Attributes:
        by_hand: what to click; None where `--apply` does it.
    """

    difference: Difference
    by_hand: str | None

    def as_dict(self) -> dict[str, Any]:
        return self.difference.as_dict() | {"by_hand": self.by_hand}


def look(connection: Connection, competition: int, bundle: Path, held: ExitStack) -> "Update":
    """Compare a competition with the bundle's zip that it is to become; nothing is changed.

    `held` is what stays open for as long as the update is used.

    Raises:
        UserError: the bundle cannot be read or is of the old format, or a request failed.
    """
    now = datetime.now(UTC)
    connection.say("checking")
    _, found = readiness(bundle, now, connection)
    wanted = open_readable_bundle(bundle, now, held)
    if wanted.format != "v2":
        raise UserError(
            f"{bundle}: is of CodaLab's format. Make a project of it, and build that: gen-bundle import {bundle}"
        )
    connection.say("reading the competition")
    before = read_snapshot(connection, competition)
    record = read_record(connection.server, competition)
    site = SiteBundle(before, wanted, original_bundle(connection, competition, held), record.contents)
    # pages are edited after the end, too
    obstacles = [one for one in found if not one.startswith(f"{OVER}:")]
    return Update(connection, bundle, site, record, tuple(obstacles))


class Update:
    """A change of a competition that can be looked at and made.

    Attributes:
        site: what the site holds, beside that bundle.
        record: what this machine remembers of the competition.
        obstacles: what speaks against the bundle, as for `upload`.
        edits: the requests that remove the differences which need no hand.
        changes: all differences.
        stale: the rows of the leaderboard whose scores came of replaced files.
    """

    def __init__(
        self, connection: Connection, bundle: Path, site: SiteBundle, record: UpdateRecord, obstacles: tuple[str, ...]
    ) -> None:
        self.connection, self.bundle, self.site, self.record = connection, bundle, site, record
        self.obstacles = obstacles
        self.before = site.snapshot
        self.rule = submission_rule(self.before.competition)
        self.edits = tuple(site.edits())
        self.changes = tuple(self._changes())
        self.stale = self.still_ranking()

    def _changes(self) -> Iterator[SiteChange]:
        """The differences, and how each is removed; solutions, the logo and tasks without a phase are not compared."""
        used = {task.name for task in self.site.wanted.competition.used_tasks}
        for one in differences(self.site.bundle, self.site.wanted):
            unused = (one.part, one.what) == ("tasks", "added") and one.item not in used
            if one.part == "solutions" or unused:
                continue
            old = str(one.old)
            if one.what == "path" and old.startswith((UNKNOWN, OURS)):
                one = replace(one, what="content", old=old.replace(": ", ", ", 1))
            hand = by_hand(one)
            if not self.edits:
                hand = hand or EDITOR
            if one.part == "tasks" and one.item in self.site.unseen:
                hand = "the task is not yours: its owner must change it"
            yield SiteChange(one, hand)

    @property
    def by_hand(self) -> list[SiteChange]:
        """The differences that are not removed by `apply`."""
        return [change for change in self.changes if change.by_hand]

    @property
    def unseen(self) -> str:
        """Return which tasks are somebody else's, so that their programs and data cannot be looked at; in words."""
        names = self.site.unseen
        if not names:
            return ""
        tasks = "1 task is" if len(names) == 1 else f"{len(names)} tasks are"
        return f"{tasks} not yours ({', '.join(names)})."

    @property
    def same(self) -> bool:
        """Return whether all is known to be as the bundle says."""
        return not (self.changes or self.unseen or self.stale)

    @cached_property
    def rerun_phases(self) -> list[int]:
        """The phases whose tasks get files that change scores."""
        tasks = set()
        for edit in self.edits:
            if (*edit.place, LISTED_FLAG) in edit.expected:
                tasks.add(edit.place[1])
        for (kind, number), by_role in self.site.replaced.items():
            for one in chain.from_iterable(by_role.values()):
                if kind == "task" and one.effect is Effect.RERUN:
                    tasks.add(number)
        phases = []
        for phase in self.before.phases:
            own = {task["id"] for task in phase.get("tasks") or []}
            if own & tasks:
                phases.append(phase["id"])
        return phases

    def due(self, phase: int) -> list[int]:
        """Return the submissions to a phase to be rerun: those of earlier replacements, or all after a new one."""
        own = deepcopy(self.record.reruns.get(phase, Reruns()))
        if phase in self.rerun_phases:
            own.replaced(rerunnable(submissions_of(self.connection, phase).values()))
        return own.pending

    def costs(self) -> list[Cost]:
        """Return what the reruns would take, by phase."""
        found = []
        for phase in self.before.phases:
            if numbers := self.due(phase["id"]):
                found.append(estimated(self.connection, phase, numbers))
        return found

    def warnings(self, costs: Sequence[Cost]) -> Iterator[str]:
        """Yield what organisers should know before they agree, also to reruns, where these have any costs."""
        if self.edits and self.before.competition.get("published"):
            yield "the competition is published: participants see changes at once."
        for task in self.site.unseen:
            yield f"task {task} is not yours: its files cannot be compared or replaced. Ask its owner to."
        for phase in self.before.phases:
            if phase["id"] in self.rerun_phases:
                yield from self._scored_before(phase)
        for one in self.stale:
            yield str(one)
        total = sum(cost.submissions for cost in costs)
        if total > PUBLIC_QUEUE_RERUNS and self.before.competition.get("queue") is None:
            yield (
                f"{total} reruns on the site's public queue: its own button allows {PUBLIC_QUEUE_RERUNS} at most, and "
                "asks to write to its administrators for more. Write to them, or attach a queue of your own."
            )
        if total:
            yield f"the leaderboard's rule is {self.rule}: {AFTER_RERUNS[self.rule]}."

    def _scored_before(self, phase: Row) -> Iterator[str]:
        rows, running = submissions_of(self.connection, phase["id"]).values(), 0
        for row in rows:
            if not row.get("parent") and state(row) not in (*FINAL, DELETED):
                running += 1
        scored = len(rerunnable(rows)) - running
        if running:
            waiting = counted(running, "submission")
            yield f"phase {phase['name']}: {waiting} not ended yet may be scored with old and new files."
        if scored:
            yield (
                f"phase {phase['name']}: {counted(scored, 'submission')} scored with the old files. Without --rerun, "
                "old scores stand beside new ones."
            )

    def apply(self) -> Path | None:
        """Make the changes, or undo them; the backup of what was there before, None where there was nothing to change.

        Raises:
            UpdateError: not all could be made; says what was restored, and what could not be.
            UserError: a file cannot be stored, or the site cannot be read; nothing was changed.
        """
        if not self.edits:
            return None
        before, say = self.before, self.connection.say
        backup = write_backup(before, self.connection.server, self.bundle, datetime.now(UTC))
        say(f"what the site holds is kept in {backup}")
        say("storing files")
        for edit in self.edits:
            self._store_files(edit)
        say("changing the competition")
        expected = read_snapshot(self.connection, before.id, flags=before).values()
        if moved := different(before.values(), expected):
            raise UpdateError(
                f"{before.in_words(moved)}: changed on the site meanwhile. Nothing was changed by this command.",
                advice="Look at the differences again, without --apply.",
            )
        earlier = deepcopy(self.record.reruns)
        try:
            self._note_due()  # before the changes, which may be cut off
            self._send(expected)
            self._note_due()  # and after them, since participants go on submitting
        except BaseException as error:  # also Ctrl-C, and a signal that ends the command
            reason = "interrupted."
            if isinstance(error, Exception):
                reason = error.messages[0] if isinstance(error, UserError) else bug_report(error)
            say("restoring")
            self._restore(backup, earlier, reason)
        return backup

    def _send(self, expected: dict[Place, Any]) -> None:
        """Send the edits, and look at everything after each; `expected` is what the site holds before."""
        flags: Snapshot | None = self.before
        for edit in self.edits:
            expected |= edit.expected
            if (*edit.place, LISTED_FLAG) in edit.expected:
                flags = None  # from here on it is looked whether the site took it
            refusal = ""
            try:
                self.connection.send(edit.method, edit.path, edit.body)
            except AnswerError as error:  # what came of it is looked at
                refusal = error.messages[0]
            found = read_snapshot(self.connection, self.before.id, flags)
            if wrong := different(expected, found.values()):
                words = self.before.in_words(wrong)
                silent = f"{words}: the site stored something else than was sent, without saying so."
                raise UpdateError(refusal or silent)

    def _store_files(self, edit: Edit) -> None:
        """Store the files of an edit, which then names them."""
        for place, use in edit.files.items():
            kind, number, role = place
            key = str(use.path)  # of a file that is on the site, unless the bundle holds one there
            if self.site.wanted.find(use.path) is not None:
                with tempfile.TemporaryDirectory() as folder:
                    file = Path(folder) / f"{role}.zip"
                    pack(self.site.wanted, use, file)
                    name = f"{role} of {kind} {number} @ {datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"
                    key = store_file(self.connection, role, file, name)
            if digest := content_digest(self.site.wanted, use):
                self.record.contents[key] = digest
                self.record.save()
            dataset = number_of(self.connection, role, key) if kind == "phase" else None
            if kind == "phase" and dataset is None:
                raise UpdateError(f"{role} {key}: the site does not list this file. Nothing was changed.")
            edit.add_file(place, key, dataset)

    def _note_due(self) -> None:
        for phase in self.rerun_phases:
            numbers = rerunnable(submissions_of(self.connection, phase).values())
            self.record.reruns.setdefault(phase, Reruns()).replaced(numbers)
        self.record.save()

    def _restore(self, backup: Path, earlier: dict[int, Reruns], reason: str) -> None:
        """Bring everything back that is not as it was before, and raise an UpdateError that says so."""
        self.connection.log_required = False  # a missing line does less harm than half of the changes
        before = self.before
        current = self._read(backup)
        moved = lost = different(before.values(), current.values())
        for _ in range(RESTORE_ATTEMPTS):
            if not lost:
                break
            for method, path, body in ways_back(before, current, lost):
                with suppress(AnswerError):  # what came of it is looked at
                    self.connection.send(method, path, body)
            current = self._read(backup)
            lost = different(before.values(), current.values())
        if not any(place[0] == "task" for place in lost):
            self.record.reruns = earlier
            with suppress(UserError):  # then too much is offered to be rerun
                self.record.save()
        messages, advice = [reason], []
        if back := [place for place in moved if place not in lost]:
            advice.append(f"Restored: {before.in_words(back)}.")
        if lost:
            messages.append(f"could not be restored: {before.in_words(lost)}. What was there is in {backup}.")
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

    def rerun(self) -> list[str]:
        """Rerun what is due, portion by portion; what could not be rerun, and which reruns failed.

        Raises:
            UserError: reruns that fail all at once or do not move; called again, the rest is rerun.
        """
        faults: list[str] = []
        for phase in self.before.phases:
            if self.record.reruns.get(phase["id"], Reruns()).pending:
                faults += Rerun(self.connection, phase, self.record, self.rule).run()
        self.stale = self.still_ranking()
        return faults

    def still_ranking(self) -> tuple[Stale, ...]:
        """Return the rows of the leaderboard whose scores came of replaced files."""
        found: list[Stale] = []
        for phase in self.before.phases:
            if own := self.record.reruns.get(phase["id"]):
                found += still_ranking(self.connection, phase, own)
        return tuple(found)

    def remove_replaced(self) -> list[str]:
        """Fetch replaced runs that rank into a folder beside the bundle, and delete them; what was not deleted.

        Raises:
            UserError: the folder cannot be written, or the server does not answer.
        """
        folder = self.bundle.with_name(f"{self.bundle.name}.competition-{self.before.id}.submissions")
        faults: list[str] = []
        self.stale = self.still_ranking()
        for phase in self.before.phases:
            if stale := [one for one in self.stale if one.phase == phase["id"]]:
                said = f"phase {phase['name']}: fetching submissions into {folder}, before any is deleted"
                self.connection.say(said)
                (fetched,) = fetch(self.connection, FetchRequest(self.before.id, folder, str(phase["id"])))
                kept = whole_submissions(fetched.folder)
                faults += Rerun(self.connection, phase, self.record, self.rule).remove(stale, kept)
        self.stale = self.still_ranking()
        return faults


def write_backup(snapshot: Snapshot, server: str, bundle: Path, now: datetime) -> Path:
    """Write beside the bundle what the site holds, readable by its owner alone and without secrets; the file."""
    file = bundle.with_name(f"{bundle.name}.competition-{snapshot.id}-{now:%Y%m%dT%H%M%SZ}.json")
    content = {
        "server": server,
        "read": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "competition": _without_secrets(snapshot.competition),
        "tasks": _without_secrets(snapshot.tasks),
    }
    write_json(file, content)
    return file


def _without_secrets(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_secrets(inner) for key, inner in value.items() if key not in SECRETS}
    if isinstance(value, list):
        return [_without_secrets(inner) for inner in value]
    return SIGNED.sub(r"\1", value) if isinstance(value, str) else value
