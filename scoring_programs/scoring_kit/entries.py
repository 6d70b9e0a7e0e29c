"""All participants' submissions in a folder, one for each team: zips, folders and bare files; the latest counts."""

import re
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from scoring_kit.errors import OrganiserError, Problems
from scoring_kit.submission_files import JUNK_FOLDERS, JUNK_NAMES, SubmissionFiles
from scoring_kit.submission_zip import is_zip, unpack

DATED = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[ T_-]?(\d\d)[-:.h]?(\d\d)(?:[-:.m]?(\d\d))?)?")

TeamName = Callable[[str, Sequence[str], Problems], "str | None"]
"""The team of an entry, by the entry's name without its ending and the names of its files; None where it has none."""


@dataclass(frozen=True)
class TeamEntry:
    """One team's submission.

    Attributes:
        team: its name.
        shown: its path below the folder of all submissions.
        files: the folder with its files, unpacked.
        moment: that of the dated folder it is in, if any.
        problems: why it cannot be read.
    """

    team: str
    shown: str
    files: Path
    moment: datetime | None
    problems: Sequence[str] = ()

    def is_in(self, folders: Collection[str]) -> bool:
        """Whether it is one of the folders, or lies in one."""
        return any(f"{self.shown}/".startswith(f"{folder}/") for folder in folders)


def entry_name(stem: str, names: Sequence[str], problems: Problems) -> str | None:
    """The default rule: a team is called what its zip, folder or file is called."""
    return stem


def read_entries(
    folder: Path, work: Path, keep: Collection[str], team_name: TeamName = entry_name, on_board: Collection[str] = ()
) -> list[TeamEntry]:
    """The submission of every team below `folder` that counts, by team; zips are unpacked below `work`.

    One that cannot be read says why in its `problems`, and is its entry's name's where the rule finds no team.

    Folders named in `keep` (task ids) carry meaning, any other one around a submission's files does not.

    Folders called by a date (2025-01-31, or with a time, 2025-01-31T18-00) hold what was sent then: by all teams, or,
    in a folder of a team's own, by that team. Two submissions of a team must be in such folders, of different dates;
    the latest counts. Those in the folders `on_board`, paths below `folder`, are on the platform's leaderboard: where a
    team has any of these, one of them counts.

    Raises:
        OrganiserError: there is no submission, and every team whose latest submission is not clear.
    """
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "no such folder"
        raise OrganiserError(f"{folder}: {what}. Expected a folder with one zip, folder or file for each team.")
    problems = Problems()
    entries: dict[str, list[TeamEntry]] = {}
    for number, (path, name, moment) in enumerate(_walk(folder, None, None)):
        shown = path.relative_to(folder).as_posix()
        own = Problems()
        unpacked = _unpacked(path, work / str(number), own)
        team = None
        if not own.found:
            team = team_name(name, list(SubmissionFiles(unpacked, keep, Problems()).paths), own)
        called = (name if team is None else team).encode(errors="backslashreplace").decode()  # not every name is UTF-8
        entry = TeamEntry(called, shown, unpacked, moment, own.organiser_error().messages)
        entries.setdefault(entry.team, []).append(entry)
    if not entries:
        problems.error(str(folder), "holds no submission", "one zip, folder or file for each team")
    chosen = {team: [one for one in own if one.is_in(on_board)] or own for team, own in entries.items()}
    latest = [_latest(chosen[team], problems) for team in sorted(chosen)]
    problems.stop_organisers_if_any()
    return latest


def _walk(folder: Path, team: str | None, moment: datetime | None) -> Iterator[tuple[Path, str, datetime | None]]:
    """Every submission with its entry's name and the moment of the dated folder it is in.

    A dated folder holds the entries of all teams; in a folder of a team's own, it is what that team sent then.
    """
    for path in _listed(folder):
        own = _moment(path.name) if path.is_dir() else None
        if own is not None and team is not None:
            yield _sent(path), team, own
        elif own is not None:
            yield from _walk(path, None, own)
        elif team is None and path.is_dir() and any(inner.is_dir() and _moment(inner.name) for inner in path.iterdir()):
            yield from _walk(path, path.name, moment)
        else:
            yield path, team or (path.name if path.is_dir() else path.stem), moment


def _sent(folder: Path) -> Path:
    """The only zip in a folder that holds nothing else, or else the folder."""
    listed = _listed(folder)
    return listed[0] if len(listed) == 1 and is_zip(listed[0]) else folder


def _listed(folder: Path) -> list[Path]:
    """What somebody put into a folder, by name; not what a system left there."""
    names = JUNK_NAMES | JUNK_FOLDERS
    return [path for path in sorted(folder.iterdir()) if not path.name.startswith(".") and path.name not in names]


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
    if is_zip(path):
        unpack(path, into, problems)
        return into
    try:
        shutil.copyfile(path, into / path.name)
    except OSError as error:  # such as a link to nowhere
        problems.error(path.name, f"cannot be read ({error.strerror or error})", "a zip, a folder or a file")
    return into


def _latest(entries: Sequence[TeamEntry], problems: Problems) -> TeamEntry:
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
