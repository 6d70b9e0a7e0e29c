"""What `fetch` wrote of each submission to a phase, read again."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from gen_bundle.errors import UserError
from gen_bundle.fetched import RECORDS
from gen_bundle.live.json_files import read_json

Record = dict[str, Any]


class _Record(BaseModel):
    """What every record must have; the scores, messages and so on are for people and other programs."""

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
    """The records in a phase's folder.

    Raises:
        UserError: the file is damaged, or names a file outside of the folder.
    """
    records: list[Record] = read_json(phase / RECORDS, list[_Record])
    for record in records:
        if not (phase / (record["file"] or "")).resolve().is_relative_to(phase.resolve()):
            raise UserError(f"{phase / RECORDS}: {record['file']!r} leads out of the folder. Fetch into a new folder.")
    return records


def whole_submissions(phase: Path) -> frozenset[int]:
    """The submissions of which all was fetched into a phase's folder.

    Raises:
        UserError: as for `read_records`.
    """
    whole = set()
    for record in read_records(phase):
        file = phase / (record["file"] or "")
        if record["complete"] and file.is_file() and file.stat().st_size == record["bytes"]:
            whole.add(int(record["id"]))
    return frozenset(whole)
