"""Records that `gen-bundle fetch` writes of a phase: when each submission was sent, which rank, and why some failed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import read_json
from scoring_kit.base.texts import counted

COMPETITION, RECORDS, BOARD, SUBMISSIONS = "competition.json", "submissions.json", "board.json", "submissions"
DELETED = "Deleted"
"""Our own word for the status of a submission that was taken back."""

Record = dict[str, Any]


class _Record(BaseModel):
    """The keys that every record of a submission must have; scores, messages and so on are for people and others."""

    id: int
    owner: str
    parent: int | None
    status: str
    on_leaderboard: bool
    file: str | None
    bytes: int | None
    complete: bool
    reason: str | None = None


def read_records(phase: Path) -> list[Record]:
    """Return the records in a phase's folder.

    Raises:
        UserError: the file is damaged, or names a file outside of the folder.
    """
    records: list[Record] = read_json(phase / RECORDS, list[_Record])
    for record in records:
        if not (phase / (record["file"] or "")).resolve().is_relative_to(phase.resolve()):
            raise UserError(f"{phase / RECORDS}: {record['file']!r} leads out of the folder. Fetch into a new folder.")
    return records


def whole_submissions(phase: Path) -> frozenset[int]:
    """Return the submissions of which all was fetched into a phase's folder; raises as `read_records`."""
    whole = set()
    for record in read_records(phase):
        file = phase / (record["file"] or "")
        if record["complete"] and file.is_file() and file.stat().st_size == record["bytes"]:
            whole.add(int(record["id"]))
    return frozenset(whole)


@dataclass(frozen=True)
class Fetched:
    """The known facts of the submissions to a phase.

    Attributes:
        on_board: the folders OWNER/DATE of those on the leaderboard. One that was scored for several tasks or queues
            is there if any of its parts is.
        end: of the phase; None where it has none, or was fetched without it.
        late: the folders of those that were sent after the end.
        several_rows: how many participants have more than one row on the leaderboard: of several submissions, or of
            one that was scored in several queues.
        failures: why runs failed, and how many did so, the most frequent first.
    """

    on_board: Sequence[str]
    end: datetime | None
    late: Sequence[str]
    several_rows: int
    failures: Mapping[str, int]

    @property
    def notes(self) -> list[str]:
        """Return what the organisers should know."""
        notes = [f"{counted(number, 'run')} failed: {reason}" for reason, number in self.failures.items()]
        if self.several_rows:
            have = "participant has" if self.several_rows == 1 else "participants have"
            notes.append(
                f"{self.several_rows} {have} several rows on the platform's leaderboard, where average ranks count "
                "them all. Here each team has one."
            )
        return notes


def read_fetched(submissions: Path) -> Fetched | None:
    """Return what is known of a phase's folder of submissions; None where `fetch` did not write it.

    Raises:
        UserError: a file that `fetch` writes is damaged.
    """
    phase = submissions.resolve().parent
    files = (phase.parent / COMPETITION, phase / RECORDS, phase / BOARD)
    if submissions.resolve().name != SUBMISSIONS or not all(file.is_file() for file in files):
        return None
    try:
        return _fetched(phase)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        where = f"{type(error).__name__} in {COMPETITION}, {RECORDS}, {BOARD}"
        raise UserError(f"{phase}: what gen-bundle fetch wrote is damaged ({where}). Fetch it again.") from error


def chosen_on_board(records: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return the ids of the submissions on the leaderboard; one that has parts is there if any of these is."""
    return {record["parent"] or record["id"] for record in records if record["on_leaderboard"]}


def name_of(record: Mapping[str, Any]) -> str:
    """Return the name of a submission by its record's `file`: scored or not, it keeps its name when it is moved."""
    return "/".join(Path(record["file"]).parts[1:3])


def _fetched(phase: Path) -> Fetched:
    competition, records = read_json(phase.parent / COMPETITION, Any), read_json(phase / RECORDS, Any)
    board = read_json(phase / BOARD, Any)
    end = {one["folder"]: one.get("end") for one in competition["phases"]}.get(phase.name)
    last = datetime.fromisoformat(end) if end else None
    shown = chosen_on_board(records)
    on_board, late = [], []
    failures: Counter[str] = Counter()
    for record in records:
        if record.get("reason"):
            failures[record["reason"]] += 1
        file = PurePosixPath(record["file"] or "")
        if file.is_relative_to(SUBMISSIONS):
            folder = file.relative_to(SUBMISSIONS).parent.as_posix()
            if record["id"] in shown:
                on_board.append(folder)
            if last and datetime.fromisoformat(record["created"]) > last:
                late.append(folder)
    rows = Counter(row["owner"] for row in board["submissions"])
    several_rows = sum(number > 1 for number in rows.values())
    return Fetched(on_board, last, late, several_rows, dict(failures.most_common()))
