"""The submissions in a folder: all that were ever made, not only the latest of each team."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.fetched import DELETED, RECORDS, SUBMISSIONS, chosen_on_board, name_of, read_records
from scoring_kit.base.submissions import moment_of, submissions_below


@dataclass(frozen=True)
class SubmissionFile:
    """One submission.

    Attributes:
        name: its path below the folder without the ending, `TEAM` or `TEAM/DATE`; no other has it.
        team: who made it.
        path: a zip, a folder or a single file.
        moment: when it was made, if its folder is called by the date.
        chosen: whether its team has it on the board under a manual rule; None where that is not known.
    """

    name: str
    team: str
    path: Path
    moment: datetime | None = None
    chosen: bool | None = None


def submissions_in(folder: Path) -> list[SubmissionFile]:
    """Return every submission, the earliest first; those of one moment by name.

    The folder is a phase's of `gen-bundle fetch`, or one as `gen-bundle rank --submissions` takes it: a zip, folder or
    file for each team, or folders called by a date, of all teams or within a folder of the team's own.

    Raises:
        UserError: there is no submission, or the folder cannot be read.
    """
    try:
        phase = folder.parent if folder.name == SUBMISSIONS else folder
        fetched = (phase / RECORDS).is_file()
        found = [*(_fetched(phase, folder) if fetched else _found(folder))]
    except OSError as error:
        raise UserError(f"--submissions {folder}: cannot be read ({error.strerror or error}).") from error
    if not found:
        raise UserError(f"--submissions {folder}: holds no submission. Expected a zip, folder or file for each team.")
    return sorted(found, key=lambda one: (one.moment or datetime.min, one.name))


def _fetched(phase: Path, folder: Path) -> Iterator[SubmissionFile]:
    """Yield what `gen-bundle fetch` wrote below `folder`, also what failed; not what its team took back."""
    records = read_records(phase)
    chosen = chosen_on_board(records)
    for record in records:
        path = phase / (record["file"] or "")
        if record["file"] and record["status"] != DELETED and path.is_relative_to(folder):
            name, moment = name_of(record), moment_of(path.parent.name)
            yield SubmissionFile(name, str(record["owner"]), path, moment, record["id"] in chosen)


def _found(folder: Path) -> Iterator[SubmissionFile]:
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "no such folder"
        raise UserError(f"--submissions {folder}: {what}. Expected a zip, folder or file for each team in a folder.")
    walked = list(submissions_below(folder))
    names = []
    for path, _, _ in walked:
        inside = path.relative_to(folder)
        if not path.is_dir():
            in_dated = path.is_file() and moment_of(path.parent.name) and len(inside.parts) > 2  # TEAM/DATE/FILE.zip
            inside = inside.parent if in_dated else inside.with_suffix("")
        names.append(inside.as_posix())
    count = Counter(names)
    for name, (path, team, moment) in zip(names, walked, strict=True):
        own = path.relative_to(folder).as_posix() if count[name] > 1 else name
        yield SubmissionFile(own, team, path, moment)
