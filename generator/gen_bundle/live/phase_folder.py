"""The folder of one phase: submissions, asked for until nothing more is to come, with logs, results and the board."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from gen_bundle.fetched import BOARD, RECORDS, SUBMISSIONS
from gen_bundle.live.answers import all_pages
from gen_bundle.live.connection import AnswerError, Connection
from gen_bundle.live.json_files import write_json
from gen_bundle.live.names import Names, file_name, folder_name
from gen_bundle.live.records import Record, read_records
from gen_bundle.live.request_parts import Tick
from gen_bundle.live.submissions import (
    DELETED,
    complete,
    created,
    logs_of,
    message,
    organization,
    scores,
    state,
    submissions_of,
)

LOST = (403, 404, 410)  # a file that the store does not give away


@dataclass(frozen=True)
class PhaseFetched:
    """A phase as it is in the folder now.

    Attributes:
        submissions: all that the server knows, without the children of submissions to several tasks.
        new_files: those whose file was fetched this time.
        unfinished: those that still wait, run, or have no scores yet.
        lost: files that the server does not give away, in words.
    """

    name: str
    folder: Path
    submissions: int
    new_files: int
    unfinished: int
    lost: tuple[str, ...]


class PhaseFolder:
    """A phase on the server, and the folder that is brought up to its state."""

    def __init__(
        self, connection: Connection, phase: Mapping[str, Any], folder: Path, names: Names, tick: Tick
    ) -> None:
        self.connection, self.phase, self.folder, self.names, self.tick = connection, phase, folder, names, tick
        self.file = folder / RECORDS
        self.records: dict[int, Record] = {}
        self.new_files = 0
        self.lost: list[str] = []

    def fetch(self) -> PhaseFetched:
        if self.file.is_file():
            self.records = {record["id"]: record for record in read_records(self.folder)}
        rows = submissions_of(self.connection, self.phase["id"])
        self.names.add(str(row["owner"]) for row in rows)
        try:
            for row in rows:
                self._update(row)
            for number in self.records.keys() - {row["id"] for row in rows}:
                self._update_gone(self.records[number])
        finally:
            write_json(self.file, [self.records[number] for number in sorted(self.records)])
        write_json(self.folder / BOARD, self._board())
        own = [record for record in self.records.values() if record["parent"] is None]
        return PhaseFetched(
            str(self.phase["name"]),
            self.folder,
            len(own),
            self.new_files,
            sum(not record["complete"] for record in own if record["status"] != DELETED),
            tuple(self.lost),
        )

    def _update(self, row: Mapping[str, Any]) -> None:
        number = int(row["id"])
        known = self.records.get(number)
        if known and known["complete"] and known["status"] == state(row) and self._is_whole(known):
            known["on_leaderboard"] = _on_leaderboard(row, known["on_leaderboard"])
            return
        if state(row) == DELETED:  # nothing of it can be asked for
            if known:
                self._update_gone(known)
            return
        row = {**row, **self.connection.get(f"submissions/{number}/")}
        record = self._record(row, known or {})
        self.records[number] = record
        details = self.connection.get(f"submissions/{number}/get_details/")
        if record["parent"] is None and details.get("data_file"):
            self._fetch_file(record, row, str(details["data_file"]))
        if not self.names.hidden:  # what programs say of files may name people
            for name, url in logs_of(details):
                self._fetch(url, self.folder / "logs" / str(number) / f"{file_name(name)[:-4]}.txt")
            if details.get("scoring_result"):
                self._fetch(str(details["scoring_result"]), self.folder / "results" / f"{number}.zip")
        record["complete"] = complete(row)

    def _record(self, row: Mapping[str, Any], known: Mapping[str, Any]) -> Record:
        task = row.get("task")
        record = {
            "id": int(row["id"]),
            "owner": self.names.of(str(row["owner"])),
            "organization": None if self.names.hidden else organization(row),
            "parent": row.get("parent"),
            "task": task.get("name") if isinstance(task, Mapping) else task,
            "status": state(row),
            "message": message(row) if row.get("status") == "Failed" and not self.names.hidden else None,
            "created": f"{created(row):%Y-%m-%dT%H:%M:%SZ}",
            "on_leaderboard": _on_leaderboard(row, False),
            "scores": scores(row),
            "file": None,
            "bytes": None,
            "complete": False,  # until everything is here
        }
        return record | {key: known[key] for key in ("file", "bytes") if key in known}

    def _fetch_file(self, record: Record, row: Mapping[str, Any], url: str) -> None:
        name = "submission.zip" if self.names.hidden else file_name(row.get("filename"))
        if not self._is_whole(record):
            target = self._place(record, created(row), name)
            size = self._fetch(url, target)
            if size is None:
                return
            record |= {"file": target.relative_to(self.folder).as_posix(), "bytes": size}
            self.new_files += 1
        self._move(record, SUBMISSIONS if record["status"] == "Finished" else "other")

    def _place(self, record: Record, moment: datetime, name: str) -> Path:
        """Where a file goes; of two that somebody sent within a second, the second one gets the next second."""
        taken = {Path(other["file"]).parent for other in self.records.values() if other["file"]}
        owner = Path(folder_name(record["owner"]))
        while any(Path(kind) / owner / _dated(moment) in taken for kind in (SUBMISSIONS, "other")):
            moment += timedelta(seconds=1)
        return self.folder / "other" / owner / _dated(moment) / name

    def _is_whole(self, record: Mapping[str, Any]) -> bool:
        if record["file"] is None:
            return record["parent"] is not None
        file: Path = self.folder / record["file"]
        return file.is_file() and file.stat().st_size == record["bytes"]

    def _move(self, record: Record, kind: str) -> None:
        """Keep what was scored apart from what was not; only the first is ranked."""
        old = Path(record["file"])
        new = Path(kind, *old.parts[1:])
        if new == old:
            return
        (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / old).replace(self.folder / new)
        for folder in (self.folder / old).parents[:2]:
            with suppress(OSError):
                folder.rmdir()
        record["file"] = new.as_posix()

    def _update_gone(self, record: Record) -> None:
        """A submission that was taken back: its file stays, and is not ranked."""
        record |= {"status": DELETED, "complete": True, "on_leaderboard": False}
        if record["file"] and self._is_whole(record):
            self._move(record, "other")

    def _fetch(self, url: str, target: Path) -> int | None:
        """Fetch a file; empty ones, which stand for missing ones on the server, are not kept."""
        try:
            size = self.connection.download(url, target, self.tick)
        except AnswerError as error:
            if error.code not in LOST:
                raise
            self.lost.append(error.messages[0])
            return None
        if size == 0:
            target.unlink()
            with suppress(OSError):
                target.parent.rmdir()
            return None
        return size

    def _board(self) -> Record:
        """The leaderboard as participants see it, in its order."""
        pages = all_pages(self.connection, f"phases/{self.phase['id']}/get_leaderboard/")
        kept = ("id", "scores", "created_when") + (() if self.names.hidden else ("organization", "fact_sheet_answers"))
        rows = [row for page in pages for row in page["submissions"]]
        self.names.add(str(row["owner"]) for row in rows)
        return {
            "title": pages[0].get("title"),
            "primary_index": pages[0].get("primary_index"),
            "tasks": pages[0].get("tasks"),
            "submissions": [
                {"rank": place, "owner": self.names.of(str(row["owner"]))} | {key: row.get(key) for key in kept}
                for place, row in enumerate(rows, 1)
            ],
        }


def _on_leaderboard(row: Mapping[str, Any], otherwise: bool) -> bool:
    given = [row[key] for key in ("on_leaderboard", "leaderboard") if key in row]
    return any(given) if given else otherwise


def _dated(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H-%M-%S}"
