"""The journey of all submissions from a server to a folder, in the layout that `gen-bundle rank --submissions` reads.

`OUT/PHASE/submissions/OWNER/DATE/FILE.zip` holds what was scored, `OUT/PHASE/other/` likewise what failed, was taken
back or still runs; scores, logs, results and the board are beside them. What is there already is not fetched again.
What the server cannot give is named, and the rest is fetched.
"""

import hashlib
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.fetched import BOARD, COMPETITION, DELETED, RECORDS, SUBMISSIONS, Record, read_records
from gen_bundle.ground.local_files import private, read_json, state_file, write_json
from gen_bundle.live.competition import moment, original_bundle, phases_of, read_as_organiser
from gen_bundle.live.connection import AnswerError, Connection, Row
from gen_bundle.live.submissions import (
    complete,
    created,
    failure_reason,
    leaderboard_of,
    logs_of,
    message,
    on_leaderboard,
    organization,
    scores,
    state,
    submissions_of,
)

OTHER = "other"
GONE = (403, 404, 410, 413)  # what the store does not give away, now or later
MOST_SILENT = 2  # a server that answers nothing more often than that in a row is left
_LOOKS_LIKE_A_DATE = re.compile(r"\d{4}-?\d\d-?\d\d.*")
LONGEST = 80  # characters of a name
DATED = "%Y-%m-%dT%H-%M-%S"


@dataclass(frozen=True)
class FetchRequest:
    """A request to fetch.

    Attributes:
        out: a folder of an earlier fetch of the same competition, or a new one.
        phase: the name or id of one phase, its id in the bundle, or its index; all of them without.
        pseudonyms: whether names and e-mail addresses are replaced.
    """

    competition: int
    out: Path
    phase: str | None = None
    pseudonyms: bool = False


@private()
def fetch(connection: Connection, request: FetchRequest) -> "list[PhaseFolder]":
    """Fetch what is new in a competition, readable by its owner alone; may be interrupted and called again.

    Raises:
        UserError: the folder is something else's, there is no such phase, the user is not an organiser, or the server
            does not answer.
    """
    competition = read_as_organiser(connection, request.competition, "fetch")
    with ExitStack() as held:

        def ids_in_bundle() -> list[str]:
            bundle = original_bundle(connection, request.competition, held)
            return [str(phase.id) for phase in bundle.competition.phases] if bundle else []

        phases = phases_of(competition, request.phase, ids_in_bundle)
    _own_folder(request, connection.server)
    names = Names(connection.server, request.competition, hidden=request.pseudonyms)
    participants = connection.rows("participants/", competition=request.competition)
    names.add(row["username"] for row in participants)
    write_json(request.out / "participants.json", [names.participant(row) for row in participants])
    write_json(request.out / COMPETITION, _about(connection.server, competition, request))
    folders = []
    for phase in phases:
        connection.say(f"phase {phase['name']}")
        folders.append(PhaseFolder(connection, phase, request.out / _folder(phase), names))
        folders[-1].fetch()
    return folders


def _about(server: str, competition: Row, request: FetchRequest) -> dict[str, Any]:
    phases = []
    for phase in phases_of(competition, None):
        end = moment(phase.get("end"))
        about = {"id": phase["id"], "name": phase["name"], "end": end and end.isoformat()}
        phases.append(about | {"folder": _folder(phase)})
    return {
        "server": server,
        "id": request.competition,
        "title": competition.get("title"),
        "pseudonyms": request.pseudonyms,
        "fetched": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "phases": phases,
    }


def _folder(phase: Row) -> str:
    """A folder for a phase, such as `1-final-phase`."""
    name = f"{phase.get('index') or 0}-{phase['name']}".casefold()
    return re.sub(r"\W+", "-", name).strip("-")[:LONGEST]


def _own_folder(request: FetchRequest, server: str) -> None:
    about = request.out / COMPETITION
    if about.is_file():
        before = read_json(about, dict[str, Any])
        other, number, hidden = before.get("server"), before.get("id"), before.get("pseudonyms")
        if (other, number, hidden) != (server, request.competition, request.pseudonyms):
            names = "with pseudonyms" if hidden else "without pseudonyms"
            raise UserError(
                f"--out {request.out}: holds competition {number} of {other}, {names}. Choose another folder."
            )
    elif request.out.exists() and (not request.out.is_dir() or any(request.out.iterdir())):
        raise UserError(f"--out {request.out}: was not made by gen-bundle fetch. Choose a new folder.")


class PhaseFolder:
    """A phase on the server, and the folder that is brought up to its state.

    Attributes:
        records: of all submissions that the server knows, by id.
        new_files: how many submissions' files were fetched this time.
        lost: what the server does not give, in words.
    """

    def __init__(self, connection: Connection, phase: Row, folder: Path, names: "Names") -> None:
        self.connection, self.phase, self.folder, self.names = connection, phase, folder, names
        self.name = str(phase["name"])
        self.records: dict[int, Record] = {}
        self.new_files = 0
        self.lost: list[str] = []
        self._may_come = 0  # of what was lost
        self._silent = 0  # requests in a row without an answer

    @property
    def submissions(self) -> int:
        """Return how many the server knows, without the children of submissions to several tasks."""
        return sum(one["parent"] is None for one in self.records.values())

    @property
    def unfinished(self) -> int:
        """Return how many of them still wait, run, or have no scores yet."""
        return sum(one["parent"] is None and not one["complete"] for one in self.records.values())

    @property
    def failures(self) -> dict[str, list[int]]:
        """Return why submissions failed, with their numbers."""
        found: dict[str, list[int]] = {}
        for number, record in sorted(self.records.items()):
            if record["status"] == "Failed" and record.get("reason"):
                found.setdefault(record["reason"], []).append(number)
        return found

    def fetch(self) -> None:
        """Bring the folder up to the server's state."""
        file = self.folder / RECORDS
        if file.is_file():
            self.records = {record["id"]: record for record in read_records(self.folder)}
        rows = submissions_of(self.connection, self.phase["id"])
        self.names.add(str(row["owner"]) for row in rows.values())
        try:
            for number, row in rows.items():
                with self._trying(f"submission {number}"):
                    self._update(row)
            for number in self.records.keys() - rows.keys():
                self._update_gone(self.records[number])
        finally:
            write_json(file, sorted(self.records.values(), key=lambda record: record["id"]))
        with self._trying("the leaderboard"):
            write_json(self.folder / BOARD, self._board())

    @contextmanager
    def _trying(self, what: str) -> Iterator[None]:
        """Yield where the server cannot give something, name it and go on, unless it does not answer any more."""
        try:
            yield
            self._silent = 0
        except AnswerError as error:
            self._lose(f"{what}: ", error)

    def _lose(self, what: str, error: AnswerError) -> None:
        self._silent = self._silent + 1 if error.code is None else 0
        if self._silent > MOST_SILENT:
            raise error
        self.lost.append(f"{what}{error.messages[0]}")
        self._may_come += error.code not in GONE

    def _update(self, row: Row) -> None:
        number = int(row["id"])
        known = self.records.get(number)
        if state(row) == DELETED:  # nothing of it can be asked for
            if known:
                self._update_gone(known)
            return
        if known and known["complete"] and known["status"] == state(row) and self._is_whole(known):
            known["on_leaderboard"] = on_leaderboard(row, known["on_leaderboard"])
            return
        row = {**row, **self.connection.get(f"submissions/{number}/")}
        record = self.records[number] = self._record(row, known or {})
        details = self.connection.get(f"submissions/{number}/get_details/")
        may_come = self._may_come
        if record["parent"] is None and details.get("data_file"):
            self._fetch_file(record, row, str(details["data_file"]))
        if not self.names.hidden:  # what programs say of files may name people
            self._fetch_outputs(record, row, details)
        record["complete"] = complete(row) and self._may_come == may_come

    def _fetch_outputs(self, record: Record, row: Row, details: Row) -> None:
        """Fetch logs and results; of a failed run the page, which is there more often than its log, and the reason."""
        logs = self.folder / "logs" / str(record["id"])
        for name, url in logs_of(details).items():
            self._fetch(url, logs / f"{file_name(name)[:-4]}.txt")
        if details.get("scoring_result"):
            self._fetch(str(details["scoring_result"]), self.folder / "results" / f"{record['id']}.zip")
        if state(row) == "Failed":
            if details.get("detailed_result"):
                self._fetch(str(details["detailed_result"]), logs / "page.html")
            record["reason"] = failure_reason(self.connection, row, details)

    def _record(self, row: Row, known: Row) -> Record:
        task = row.get("task")
        if isinstance(task, Mapping):
            task = task.get("name")
        record = {
            "id": int(row["id"]),
            "owner": self.names.of(str(row["owner"])),
            "organization": None,
            "parent": row.get("parent"),
            "task": task,
            "status": state(row),
            "message": None,
            "reason": None,
            "created": f"{created(row):%Y-%m-%dT%H:%M:%SZ}",
            "on_leaderboard": on_leaderboard(row),
            "scores": scores(row),
            "file": known.get("file"),
            "bytes": known.get("bytes"),
            "complete": False,  # until everything is here
        }
        if not self.names.hidden:
            record["organization"] = organization(row)
            record["message"] = message(row) if state(row) == "Failed" else None
        return record

    def _fetch_file(self, record: Record, row: Row, url: str) -> None:
        name = "submission.zip" if self.names.hidden else file_name(row.get("filename"))
        if not self._is_whole(record):
            owner, sent = Path(folder_name(record["owner"])), created(row)
            taken = {Path(other["file"]).parent for other in self.records.values() if other["file"]}
            dated = owner / f"{sent:{DATED}}"
            while {Path(SUBMISSIONS) / dated, Path(OTHER) / dated} & taken:
                sent += timedelta(seconds=1)  # two that somebody sent within a second
                dated = owner / f"{sent:{DATED}}"
            target = self.folder / OTHER / dated / name
            size = self._fetch(url, target)
            if size == 0:
                return
            record |= {"file": target.relative_to(self.folder).as_posix(), "bytes": size}
            self.new_files += 1
        kind = SUBMISSIONS if record["status"] == "Finished" else OTHER
        self._move(record, kind)

    def _is_whole(self, record: Row) -> bool:
        if record["file"] is None:  # parts of a submission have none
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
        """Keep the file of a submission that was taken back, which is not ranked."""
        record |= {"status": DELETED, "complete": True, "on_leaderboard": False}
        if record["file"] and self._is_whole(record):
            self._move(record, OTHER)

    def _fetch(self, url: str, target: Path) -> int:
        """Fetch a file; its size. Empty ones, which stand for missing ones on the server, are not kept."""
        try:
            size = self.connection.download(url, target)
        except AnswerError as error:
            self._lose("", error)
            return 0
        if size == 0:
            target.unlink()
            with suppress(OSError):
                target.parent.rmdir()
        return size

    def _board(self) -> Record:
        """Return the leaderboard as participants see it, in its order."""
        first, rows = leaderboard_of(self.connection, self.phase["id"])
        kept = ["id", "scores", "created_when"]
        if not self.names.hidden:
            kept += ["organization", "fact_sheet_answers"]
        self.names.add(str(row["owner"]) for row in rows)
        board = _kept(first, ("title", "primary_index", "tasks"))
        board["submissions"] = []
        for rank, row in enumerate(rows, 1):
            placed = {"rank": rank, "owner": self.names.of(str(row["owner"]))}
            board["submissions"].append(placed | _kept(row, kept))
        return board


def _kept(row: Row, keys: Iterable[str]) -> Record:
    """Return what is kept of a row; None for a key that it has not."""
    return {key: row.get(key) for key in keys}


def folder_name(name: str) -> str:
    """Return a folder for somebody; different for different names, and never hidden or taken for a date."""
    plain = re.sub(r"[^\w.@+-]", "_", name)[:LONGEST].strip(".")
    if plain == name and plain and not _LOOKS_LIKE_A_DATE.fullmatch(plain):
        return plain
    return f"user-{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def file_name(name: object) -> str:
    """Return the name of a submission's file, as a zip's."""
    base = re.sub(r"[^\w.@+ -]", "_", str(name or "").replace("\\", "/").rpartition("/")[2]).strip()
    stem = base.removesuffix(".zip").strip(" .")[:LONGEST]
    return f"{stem or 'submission'}.zip"


class Names:
    """Names of people, or lasting pseudonyms, kept in a private file outside of the folder."""

    def __init__(self, server: str, competition: int, *, hidden: bool) -> None:
        self.hidden = hidden
        self._file = state_file("pseudonyms", server, competition)
        self._pseudonyms: dict[str, str] = {}
        if hidden:
            advice = "It says who has which pseudonym: restore it."
            self._pseudonyms = read_json(self._file, dict[str, str], advice, missing={})

    def add(self, names: Iterable[str]) -> None:
        """Give those a pseudonym who have none, in an order that says nothing, and keep it."""
        new = sorted(set(names) - set(self._pseudonyms))
        if not new or not self.hidden:
            return
        secrets.SystemRandom().shuffle(new)
        for number, name in enumerate(new, len(self._pseudonyms) + 1):
            self._pseudonyms[name] = f"participant-{number:03d}"
        write_json(self._file, self._pseudonyms)

    def of(self, name: str) -> str:
        """Return what somebody who was added is called."""
        return self._pseudonyms[name] if self.hidden else name

    def participant(self, row: Row) -> dict[str, Any]:
        """Return what is kept of somebody who takes part."""
        kept = ("username", "status", "is_bot") if self.hidden else ("id", "username", "email", "status", "is_bot")
        return _kept(row, kept) | {"username": self.of(row["username"])}
