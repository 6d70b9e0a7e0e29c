"""Changing a competition so that it ends as it should, or as it was where the site lets it be restored.

Each request is followed by a look at everything. Refused requests were seen to have emptied fields, and answers of 500
to have come after the change was made. So an answer decides nothing: what the site holds afterwards does.
"""

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gen_bundle.bugs import bug_report
from gen_bundle.check.bundle import Bundle
from gen_bundle.codabench.competition import DataUse
from gen_bundle.errors import UserError
from gen_bundle.live.connection import AnswerError, Connection
from gen_bundle.live.datasets import store_file
from gen_bundle.live.edits import Edit, competition_body, task_body
from gen_bundle.live.json_files import private
from gen_bundle.live.request_parts import Tick
from gen_bundle.live.snapshot import Key, Snapshot, different, in_words, read_snapshot, watched
from gen_bundle.live.update_record import UpdateRecord, content_digest
from gen_bundle.whole_file import write_whole
from gen_bundle.zips.tree import Node
from gen_bundle.zips.writing import write_zip

RESTORE_ATTEMPTS = 3
SECRETS = ("secret_key", "secret", "broker_url", "vhost", "password", "token")
SIGNED = re.compile(r"(https?://[^\s?]+)\?\S*(?i:signature|sig|credential)=\S*")

Progress = Callable[[str], None]


class UpdateError(UserError):
    """A change that was not made; the messages say what is on the site now."""

    status = 1


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


@dataclass
class Application:
    """Edits that are made one after the other.

    Attributes:
        before: what the site held when the changes were decided on.
        wanted: the bundle whose files are stored.
        record: what this machine remembers of the competition.
        note_due: keeps in the record which submissions the old files have scored; called before the changes, which may
            be cut off, and after them, since participants go on submitting.
    """

    connection: Connection
    before: Snapshot
    wanted: Bundle
    record: UpdateRecord
    note_due: Callable[[], None]
    progress: Progress = lambda _: None
    tick: Tick = lambda *_: None

    def __post_init__(self) -> None:
        self._earlier_reruns = deepcopy(self.record.reruns)

    def run(self, edits: Sequence[Edit], backup: Path) -> None:
        """Make the edits; whatever stops them, what was changed is restored as far as the site allows it.

        Raises:
            UpdateError: not all could be made; says what was restored, and what could not be.
            UserError: a file cannot be stored, or the site cannot be read; nothing was changed.
        """
        self.progress("storing files")
        complete = [edit.with_keys(self._stored(edit)) for edit in edits]
        self.progress("changing the competition")
        now = watched(read_snapshot(self.connection, self.before.id))
        if moved := different(watched(self.before), now):
            raise UpdateError(
                f"{self._list(moved)}: changed on the site meanwhile. Nothing was changed by this command.",
                advice="Look at the differences again, without --apply.",
            )
        try:
            self.note_due()
            self._make(complete, now, backup)
            self.note_due()
        except UpdateError:  # what could be restored is
            raise
        except BaseException as error:  # also Ctrl-C, and a signal that ends the command
            self._restore(backup, _reason(error), [])

    def _make(self, edits: Sequence[Edit], now: Mapping[Key, Any], backup: Path) -> None:
        expected = dict(now)
        for edit in edits:
            expected |= edit.expected
            refusal = self._sent(edit)
            if wrong := different(expected, watched(read_snapshot(self.connection, self.before.id))):
                self._restore(backup, refusal, wrong)

    def _stored(self, edit: Edit) -> dict[str, str]:
        """The keys of the files of an edit, by role."""
        keys = {}
        for role, use in edit.files.items():
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / f"{role}.zip"
                pack(self.wanted, use, file)
                name = f"{role} of task {edit.place[1]} @ {datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"
                keys[role] = store_file(self.connection, role, file, self.tick, name)
            if digest := content_digest(self.wanted, use):
                self.record.contents[keys[role]] = digest
                self.record.save()
        return keys

    def _sent(self, edit: Edit) -> str:
        """Send an edit; what was answered where that was not a success."""
        try:
            self.connection.send(edit.method, edit.path, edit.body)
        except AnswerError as error:
            return error.messages[0]
        return ""

    def _read(self, backup: Path) -> Snapshot:
        try:
            return read_snapshot(self.connection, self.before.id)
        except UserError as error:
            raise UpdateError(
                *error.messages,
                "what the site holds now could not be read.",
                advice=f"Look at the competition. What it held before is in {backup}.",
            ) from None

    def _restore(self, backup: Path, refusal: str, wrong: list[Key]) -> None:
        """Bring everything back that is not as it was before.

        Raises:
            UpdateError: always.
        """
        self.progress("restoring")
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
            self.record.reruns = self._earlier_reruns
            with suppress(UserError):  # then too much is offered to be rerun
                self.record.save()
        back = [key for key in moved if key not in lost]
        raise UpdateError(
            refusal or f"{self._list(wrong)}: the site stored something else than was sent, without saying so.",
            *([f"could not be restored: {self._list(lost)}. What was there is in {backup}."] if lost else []),
            advice=(f"Restored: {self._list(back)}." if back else "")
            + ("" if lost else f"{' ' if back else ''}The competition is as it was before."),
        )

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


def _reason(error: BaseException) -> str:
    if isinstance(error, UserError):
        return error.messages[0]
    return bug_report(error) if isinstance(error, Exception) else "interrupted."


def pack(bundle: Bundle, use: DataUse, file: Path) -> None:
    """Write a program or data of a bundle as the platform would store it: a zip as it is, a folder zipped.

    Raises:
        UserError: its path leads nowhere.
    """
    found = bundle.find(use.path)
    if not isinstance(found, Node):
        raise UserError(f"{use.path}: is not in the bundle. Run: gen-bundle check")
    if found.open is not None:
        with found.open() as source, file.open("wb") as target:
            shutil.copyfileobj(source, target)
        return
    with tempfile.TemporaryDirectory() as folder:
        members = {}
        for number, (name, node) in enumerate(found.files()):
            if node.open is None:
                raise UserError(f"{use.path}/{name}: cannot be read. Run: gen-bundle check")
            members[name] = Path(folder) / str(number)
            with node.open() as source, members[name].open("wb") as target:
                shutil.copyfileobj(source, target)
        write_zip(file, members)
