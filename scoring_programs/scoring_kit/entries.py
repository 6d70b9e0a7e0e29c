"""All participants' submissions in a folder, one for each team: zips, folders and bare files; the latest counts."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from scoring_kit.errors import OrganiserError, Problems
from scoring_kit.submission_files import JUNK_FOLDERS, JUNK_NAMES, SubmissionFiles
from scoring_kit.submission_zip import unpack

DATED = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[ T_-]?(\d\d)[-:.h]?(\d\d)(?:[-:.m]?(\d\d))?)?")

TeamName = Callable[[str, Sequence[str], Problems], "str | None"]
"""The team of an entry, by the entry's name without its ending and the names of its files; None where it has none."""


@dataclass(frozen=True)
class Entry:
    """One team's submission.

    Attributes:
        team: its name.
        shown: where it lies, below the folder of all submissions.
        files: the folder with its files, unpacked.
        moment: that of the dated folder it lies in, if any.
    """

    team: str
    shown: str
    files: Path
    moment: datetime | None


def entry_name(stem: str, names: Sequence[str], problems: Problems) -> str | None:
    """The default rule: a team is called what its zip, folder or file is called."""
    return stem


def read_entries(folder: Path, work: Path, tasks: Sequence[str], team_name: TeamName = entry_name) -> list[Entry]:
    """The submission of every team below `folder` that counts, by team; zips are unpacked below `work`.

    Folders called by a date (2025-01-31, or with a time, 2025-01-31T18-00) hold what was sent then. Two submissions of
    a team must lie in such folders, of different dates; the latest counts.

    Raises:
        OrganiserError: everything that cannot be read, and every team whose latest submission is not clear.
    """
    if not folder.is_dir():
        raise OrganiserError(f"{folder}: no such folder. Expected one zip, folder or file for each team in it.")
    problems = Problems()
    entries: dict[str, list[Entry]] = {}
    for number, (path, moment) in enumerate(_walk(folder, None)):
        shown = path.relative_to(folder).as_posix()
        unpacked = _unpacked(path, work / str(number), problems)
        names = list(SubmissionFiles(unpacked, tasks, Problems()).paths)
        team = team_name(path.name if path.is_dir() else path.stem, names, problems)
        if team is not None:
            entries.setdefault(team, []).append(Entry(team, shown, unpacked, moment))
    if not entries and not problems.found:
        problems.error(str(folder), "holds no submission", "one zip, folder or file for each team")
    latest = [_latest(entries[team], problems) for team in sorted(entries)]
    if problems.found:
        raise OrganiserError(*problems.errors)
    return latest


def _walk(folder: Path, moment: datetime | None) -> Iterator[tuple[Path, datetime | None]]:
    """Every entry with the moment of the dated folder it lies in; such a folder may lie in one of its team, too."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in JUNK_NAMES or path.name in JUNK_FOLDERS:
            continue
        own = _moment(path.name) if path.is_dir() else None
        if own is not None or (path.is_dir() and any(b.is_dir() and _moment(b.name) for b in path.iterdir())):
            yield from _walk(path, own or moment)
        else:
            yield path, moment


def _moment(name: str) -> datetime | None:
    match = DATED.fullmatch(name)
    try:
        return datetime.strptime("".join(match.groups("00")), "%Y%m%d%H%M%S") if match else None
    except ValueError:  # 2025-02-31
        return None


def _unpacked(path: Path, into: Path, problems: Problems) -> Path:
    if path.is_dir():
        return path
    into.mkdir(parents=True)
    if path.suffix.lower() == ".zip":
        unpack(path, into, problems)
    else:
        shutil.copyfile(path, into / path.name)
    return into


def _latest(entries: Sequence[Entry], problems: Problems) -> Entry:
    dated = sorted((e for e in entries if e.moment is not None), key=lambda e: e.moment or datetime.min)
    if len(entries) == 1:
        return entries[0]
    where = f"team {entries[0].team}"
    named = ", ".join(entry.shown for entry in entries)
    if len(dated) < len(entries):
        what = f"has {len(entries)} submissions ({named})"
        problems.error(where, what, "one, or all of them in folders called by their date, such as 2025-01-31")
    elif dated[-1].moment == dated[-2].moment:
        problems.error(where, f"has {len(entries)} submissions of the same date ({named})", "one for each date")
    return dated[-1] if dated else entries[0]
