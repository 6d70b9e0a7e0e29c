"""The results of every team: all submissions of a folder, scored."""

import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoring_kit.entries import TeamEntry, TeamName, entry_name, read_entries
from scoring_kit.errors import OrganiserError, Problems, SubmissionError, printable
from scoring_kit.frame import make_manifest, read_gold, score_tasks
from scoring_kit.handed_over import handed_over, run_folders
from scoring_kit.organiser import show_progress
from scoring_kit.outputs import check_columns, check_finite
from scoring_kit.package import submission_module
from scoring_kit.program import Program
from scoring_kit.results import TaskResult
from scoring_kit.submission_files import read_submission, task_folders


@dataclass(frozen=True)
class TeamResults:
    """What became of every team's submission.

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

    Raises:
        OrganiserError: the gold or the folder cannot be used, a column has no metric, or no submission can be scored.
    """
    gold, reading = read_gold(program, Path(request["reference"])), submission_module(program.package)
    manifest = make_manifest(program, gold.expected)
    results: dict[str, dict[str, TaskResult]] = {}
    unscored: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as work:
        folders = task_folders(reading, program.all_tasks)
        on_board = request.get("on_board", ())
        entries = read_entries(Path(request["submissions"]), Path(work), folders, team_name, on_board)
        for number, entry in enumerate(entries):
            show_progress("scoring submissions", number, len(entries))
            faults = list(entry.problems)
            if not faults:
                try:
                    files, seconds = _predictions(entry.files)
                    submission, _ = read_submission(reading, files, manifest, Problems())
                    results[entry.team] = _scored(program, gold.reference, submission, seconds)
                except SubmissionError as error:
                    faults = list(_lines(error))
            if faults:
                unscored[entry.team] = [printable(_placed(entry, fault)) for fault in faults]
    if not results:
        raise OrganiserError(
            *(printable(f"team {team}: {why}") for team, all_why in unscored.items() for why in all_why)
        )
    counted = [entry for entry in entries if entry.team in results]
    return TeamResults(
        results,
        unscored,
        gold.digest,
        {entry.team: entry.shown for entry in counted},
        [entry.team for entry in counted if entry.is_in(request.get("late", ()))],
    )


def _predictions(files: Path) -> tuple[Path, float | None]:
    """A submission's predictions, and the seconds in which code wrote them, where they are what its run left."""
    if not run_folders(files):
        return files, None
    try:
        run = handed_over(files, None, Problems())
    except OrganiserError as error:
        raise SubmissionError(error.messages, len(error.messages)) from error
    return run.predictions, run.seconds


def _scored(program: Program, reference: Any, submission: Any, seconds: float | None) -> dict[str, TaskResult]:
    """A submission's results; as on the platform, one with a metric that is NaN or infinite has none."""
    results = score_tasks(program, reference, submission, seconds)
    check_columns(program, results)
    try:
        check_finite(program, results)
    except OrganiserError as error:
        raise SubmissionError(error.messages, len(error.messages)) from error
    return results


def _placed(entry: TeamEntry, fault: str) -> str:
    """What is wrong, with the submission that it is about, where the team's name does not say it."""
    text = fault.removeprefix(f"{entry.shown}: ")
    return text if entry.shown == entry.team else f"{entry.shown}: {text}"


def _lines(error: SubmissionError) -> Iterator[str]:
    yield from error.messages
    if error.found > len(error.messages):
        yield f"… and {error.found - len(error.messages)} more."
