"""The results of every team: all submissions of a folder, one for each team, scored; the latest one counts."""

import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from scoring_kit.base.lines_to_press import show_progress
from scoring_kit.base.submissions import submissions_below
from scoring_kit.code_submission import handed_over, run_folders
from scoring_kit.errors import OrganiserError, Problems, SubmissionError, printable
from scoring_kit.frame import PhaseGold, read_gold, score_tasks
from scoring_kit.outputs import check_columns, check_finite
from scoring_kit.program import Program
from scoring_kit.results import TaskResult
from scoring_kit.submission_files import SubmissionFiles, meant_folders, read_submission, submission_module
from scoring_kit.submission_zip import open_submission

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
        """Return whether it is one of the folders, or lies in one."""
        return any(f"{self.shown}/".startswith(f"{folder}/") for folder in folders)


def entry_name(stem: str, names: Sequence[str], problems: Problems) -> str | None:
    """The default rule: a team is called what its zip, folder or file is called."""
    return stem


def read_entries(
    folder: Path, work: Path, keep: Collection[str], team_name: TeamName = entry_name, on_board: Collection[str] = ()
) -> list[TeamEntry]:
    """Return the submission of every team below `folder` that counts, by team; zips are unpacked below `work`.

    One that cannot be read says why in its `problems`, and is its entry's name's where the rule finds no team.

    Folders named in `keep` (task ids) carry meaning, any other one around a submission's files does not.

    Folders called by a date (2025-01-31, or with a time, 2025-01-31T18-00) hold what was sent then: by all teams, or,
    in a folder of a team's own, by that team. Two submissions of a team must be in such folders, of different dates;
    the latest counts. Those in the folders `on_board`, paths below `folder`, are on the platform's leaderboard: where a
    team has any of these, one of them counts.

    Raises OrganiserError where there is none, and with every team whose latest submission is not clear.
    """
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "no such folder"
        raise OrganiserError(f"{folder}: {what}. Expected a folder with one zip, folder or file for each team.")
    entries: dict[str, list[TeamEntry]] = {}
    for number, (path, name, moment) in enumerate(submissions_below(folder)):
        shown = path.relative_to(folder).as_posix()
        own = Problems()
        unpacked = work / str(number)
        unpacked.mkdir(parents=True)
        with suppress(SubmissionError):  # its entry says why
            unpacked = open_submission(path, unpacked, own)
        team = None
        if not own.found:
            team = team_name(name, list(SubmissionFiles(unpacked, keep, Problems()).paths), own)
        if team is None:
            team = name
        team = team.encode(errors="backslashreplace").decode()  # not every name is UTF-8
        entry = TeamEntry(team, shown, unpacked, moment, own.organiser_error().messages)
        entries.setdefault(team, []).append(entry)
    problems = Problems()
    if not entries:
        problems.error(str(folder), "holds no submission", "one zip, folder or file for each team")
    latest = []
    for _, of_team in sorted(entries.items()):
        shown_there = [entry for entry in of_team if entry.is_in(on_board)]
        latest.append(_latest(shown_there or of_team, problems))
    problems.stop_organisers_if_any()
    return latest


def _latest(entries: Sequence[TeamEntry], problems: Problems) -> TeamEntry:
    if len(entries) == 1:
        return entries[0]
    dated = sorted((e for e in entries if e.moment is not None), key=lambda e: e.moment or datetime.min)
    where = f"team {entries[0].team}"
    named = ", ".join(entry.shown for entry in entries)
    if len(dated) < len(entries):
        what = f"has {len(entries)} submissions ({named})"
        problems.error(where, what, "one, or all of them in folders called by their date, such as 2025-01-31")
    elif dated[-1].moment == dated[-2].moment:
        problems.error(where, f"has {len(entries)} submissions of the same date ({named})", "one for each date")
    return [*entries, *dated][-1]


@dataclass(frozen=True)
class TeamResults:
    """The outcome of every team's submission.

    Attributes:
        results: team → task that it entered → result.
        unscored: team whose submission cannot be scored → why.
        reference_digest: of the gold.
        counted: team whose submission was scored → its path below the folder of all submissions.
        late: the teams among these whose submission was sent after the end of the phase.
    """

    results: Mapping[str, Mapping[str, TaskResult]]
    unscored: Mapping[str, list[str]]
    reference_digest: str
    counted: Mapping[str, str]
    late: Collection[str]

    @property
    def teams(self) -> list[str]:
        return sorted({*self.results, *self.unscored})


def score_all(request: Mapping[str, Any], program: Program, team_name: TeamName = entry_name) -> TeamResults:
    """Score every team's submission in `request["submissions"]` against the gold in `request["reference"]`.

    They are unpacked into the folder `request["work"]`, where functions that get files find them afterwards.

    Raises OrganiserError where gold or folder cannot be used, a column has no metric, or nothing can be scored.
    """
    gold = read_gold(program, Path(request["reference"]))
    folders = meant_folders(submission_module(program.package), gold.manifest)
    results: dict[str, dict[str, TaskResult]] = {}
    unscored: dict[str, list[str]] = {}
    with ExitStack() as opened:
        work = request.get("work") or opened.enter_context(tempfile.TemporaryDirectory())
        on_board = request.get("on_board", ())
        entries = read_entries(Path(request["submissions"]), Path(work), folders, team_name, on_board)
        for number, entry in enumerate(entries):
            show_progress("scoring submissions", number, len(entries))
            faults = list(entry.problems)
            if not faults:
                try:
                    results[entry.team] = _scored(gold, entry)
                except SubmissionError as error:
                    faults = _all_of(error)
            if faults:
                unscored[entry.team] = [printable(_placed(entry, fault)) for fault in faults]
    if not results:
        every = []
        for team, of_team in unscored.items():
            for fault in of_team:
                every.append(printable(f"team {team}: {fault}"))
        raise OrganiserError(*every)
    places, late = {}, []
    for entry in entries:
        if entry.team in results:
            places[entry.team] = entry.shown
            if entry.is_in(request.get("late", ())):
                late.append(entry.team)
    return TeamResults(results, unscored, gold.digest, places, late)


def _scored(gold: PhaseGold, entry: TeamEntry) -> dict[str, TaskResult]:
    """A submission's results; as on the platform, one with a metric that is NaN or infinite has none.

    Where the entry is what a run of submitted code left, its predictions count, and the seconds in which it wrote them.
    """
    program, files = gold.program, entry.files
    seconds: float | None = None
    if run_folders(files):
        try:
            files, seconds = handed_over(files, None, Problems())
        except OrganiserError as error:
            raise SubmissionError(error.messages, len(error.messages)) from error
    submission, _ = read_submission(submission_module(program.package), files, gold.manifest, Problems())
    results = score_tasks(program, gold.reference, submission, seconds)
    check_columns(program, results)
    try:
        check_finite(program, results)
    except OrganiserError as error:
        raise SubmissionError(error.messages, len(error.messages)) from error
    return results


def _placed(entry: TeamEntry, fault: str) -> str:
    """Return what is wrong, with the submission that it is about, where the team's name does not say it."""
    text = fault.removeprefix(f"{entry.shown}: ")
    return text if entry.shown == entry.team else f"{entry.shown}: {text}"


def _all_of(error: SubmissionError) -> list[str]:
    lines = list(error.messages)
    if error.found > len(lines):
        lines.append(f"… and {error.found - len(lines)} more.")
    return lines
