"""The frame of every scoring program: reads, scores, writes, and reports whose fault it is when it cannot.

Exit status: 0 with a complete scores.json; 1 bad submission; 2 the organisers must act; 3 a bug of the program.
"""

import argparse
import gc
import importlib
import importlib.util
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scoring_kit.base.environment import missing_package, what_is_missing
from scoring_kit.errors import (
    OrganiserError,
    Problems,
    SubmissionError,
    escape_what_cannot_be_printed,
    fitting,
    frames_of,
)
from scoring_kit.manifest import Manifest
from scoring_kit.outputs import (
    digest_of_text,
    reference_digest,
    remove_outputs,
    signature,
    write_failure_page,
    write_outputs,
)
from scoring_kit.program import Program
from scoring_kit.results import Metric, TaskResult
from scoring_kit.results_page.page import RunFacts
from scoring_kit.submission_files import (
    THRESHOLD,
    ReadSubmission,
    read_submission,
    reference_module,
    submission_folder,
    submission_module,
)

TaskScorer = Callable[[Any, Any, Mapping[str, Any]], TaskResult]
"""`score` of a task's module: a submission against the reference with the competition's options."""


def main(program_folder: Path, arguments: Sequence[str]) -> int:
    """Run a scoring program; returns its exit status, with every message already printed."""
    escape_what_cannot_be_printed()
    parser = argparse.ArgumentParser(prog="score.py", description="Score one submission.")
    parser.add_argument("input", type=Path, nargs="?", default="/app/input", help="folder with ref/ and res/")
    parser.add_argument("output", type=Path, nargs="?", default="/app/output", help="folder to write the scores to")
    parser.add_argument("--task", help="score only this task; the columns of the others get their worst value")
    request = parser.parse_args(arguments)
    gc.set_threshold(THRESHOLD)
    return score_once(program_folder, request.input, request.output, request.task)


def score_once(
    program_folder: Path, input_folder: Path, output_folder: Path, task: str | None, gold: "PhaseGold | None" = None
) -> int:
    """`run`, with the message of a failure printed and written; returns the exit status."""
    try:
        run(program_folder, input_folder, output_folder, task, gold)
    except Exception as error:
        status, log, page = failure_of(error)
        print(*log, sep="\n", file=sys.stderr)
        write_failure_page(output_folder, program_folder, page, _now())
        return status
    return 0


@dataclass(frozen=True)
class PhaseGold:
    """A phase's reference data, as a program reads it.

    Attributes:
        program: the description of that program.
        reference: what the competition's `reference` module made of it.
        manifest: what participants may know.
        digest: its digest, for the signature.
    """

    program: Program
    reference: Any
    manifest: Manifest
    digest: str


def run(
    program_folder: Path,
    input_folder: Path,
    output_folder: Path,
    task: str | None = None,
    gold: PhaseGold | None = None,
) -> dict[str, TaskResult]:
    """Score the submission against `gold`, or else `input_folder/ref`, and write the outputs; returns the results.

    Raises SubmissionError with every problem of it; OrganiserError where reference data, models or options are wrong.
    """
    started = time.monotonic()
    remove_outputs(output_folder)
    if gold is None:
        gold = read_gold(program_of(program_folder, task), input_folder / "ref")
    program = gold.program
    problems = Problems()
    submitted, seconds = submission_folder(input_folder), None
    if program.takes_code:
        from scoring_kit.code_submission import handed_over  # in no program that scores predictions

        code = input_folder.parent / "ingested_program"
        submitted, seconds = handed_over(input_folder / "res", code, problems)
    try:
        submission, files = read_submission(submission_module(program.package), submitted, gold.manifest, problems)
    except SubmissionError:
        _print_warnings(problems)  # what was ignored is often why something else is missing
        raise
    results = score_tasks(program, gold.reference, submission, seconds)
    line = signature(program, results, gold.digest)
    this_run = RunFacts(line, _now(), files.name, problems.warnings)
    scores = write_outputs(output_folder, program, results, this_run)
    _print_warnings(problems)
    if not program.scores_hidden:  # what organisers should know of their own functions; nobody may guess at scores
        for task_id, result in results.items():
            for metric, why in result.failed.items():
                print(f"organisers: {task_id}: {metric} could not be computed ({why.place}); its worst value counts.")
    print(f"signature: {line}")
    print(f"scored in {time.monotonic() - started:.1f} s")
    _print_scores(program, program.with_computed(scores))
    return results


def program_of(folder: Path, task: str | None) -> Program:
    """Return the description of the program in a folder, of one task alone where one is named.

    Where organisers run it themselves they may ask for more details; scores are written as on the platform. Raises
    OrganiserError where it cannot be read, or has no such task or level of details.
    """
    program = Program.read(folder / "program.json")
    if details := os.environ.get("SCORING_DETAILS"):
        if details not in ("full", "all"):
            raise OrganiserError(f"SCORING_DETAILS={details}: no such level. Expected full or all.")
        program = replace(program, details=details, scores_hidden=False)
    if task is None:
        return program
    if task not in program.tasks:
        raise OrganiserError(f"--task {task}: no such task here. Expected one of {', '.join(program.tasks)}.")
    return replace(program, tasks=(task,))


def read_gold(program: Program, folder: Path) -> PhaseGold:
    """Read the reference data; raises OrganiserError where there is none, or with everything that is wrong with it."""
    reading = reference_module(program.package)
    if not folder.is_dir():
        raise OrganiserError("There is no reference data (input/ref). Give the task its reference_data.")
    reference = reading.read(folder, program.tasks, program.options)
    return phase_gold(program, folder, reference)


def phase_gold(program: Program, folder: Path, reference: Any) -> PhaseGold:
    """Return what the competition's `reference` module made of a folder of reference data, with what is known of it."""
    module = reference_module(program.package)
    manifest = Manifest.from_dict({**vars(program), "expected": module.manifest(reference, program.tasks)})
    # A package may say what scoring reads of the gold; of another all files count.
    read: Callable[[Any], str] | None = getattr(module, "digest", None)
    digest = reference_digest(folder) if read is None else digest_of_text(read(reference))
    return PhaseGold(program, reference, manifest, digest)


def _now() -> datetime:
    """The time of the run in UTC; SOURCE_DATE_EPOCH replaces it where outputs must be reproducible."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(epoch), UTC) if epoch.isascii() and epoch.isdigit() else datetime.now(UTC)


def score_tasks(
    program: Program, reference: Any, submission: ReadSubmission, seconds: float | None = None
) -> dict[str, TaskResult]:
    """Score every task that the submission enters, by `scorer` of the package's module `tasks`, where there is one.

    Else by `score` of the package's module that is called like the task. `seconds` is how long submitted code ran,
    which fills a column that measures it. Raises OrganiserError where the competition does not have an entered task.
    """
    unknown = sorted(set(submission.entered) - set(program.all_tasks))
    if unknown:
        named = ", ".join([repr(task) for task in unknown])
        raise OrganiserError(
            f"{program.package}/submission.py: `entered` names {named}, which bundle.yaml does not declare. "
            f"Expected some of {', '.join(program.all_tasks)}."
        )
    any_task = importlib.util.find_spec(f"{program.package}.tasks") is not None
    results: dict[str, TaskResult] = {}
    for task in program.tasks:
        if task in submission.entered:
            if any_task:
                score: TaskScorer = importlib.import_module(f"{program.package}.tasks").scorer(task)
            else:
                score = importlib.import_module(f"{program.package}.{task}").score
            result = score(reference, submission, program.options)
            metrics = dict(result.metrics)
            for column in program.columns_of(task):
                if column.measured:
                    metrics[column.key] = Metric(seconds, rows=1, of_submission=True)
            results[task] = replace(result, metrics=metrics)
    return results


def _print_scores(program: Program, scores: Mapping[str, float]) -> None:
    """Print what the board shows, last, because a log may lose its beginning."""
    if program.scores_hidden:
        print("The scores of this phase are not shown here.")
        return
    for column in program.columns:
        if column.key in scores and not column.hidden:
            print(f"{column.key}: {scores[column.key]:.{column.decimals}f}")


def _print_warnings(problems: Problems) -> None:
    for warning in problems.warning_lines():
        print(warning)


BAD_SUBMISSION, ORGANISERS, BUG = 1, 2, 3
"""Exit status."""

NOT_YOURS = "This is not the submission's fault; please inform the organisers."


def failure_of(error: Exception) -> tuple[int, Sequence[str], Sequence[str]]:
    """Return a failure without a word of gold: exit status, lines for stderr, and lines for the results page.

    Everybody can open that page: it gives reasons only for a bad submission.
    """
    if isinstance(error, SubmissionError):
        lines = error.report().splitlines()
        return BAD_SUBMISSION, lines, [*lines, *error.warnings]
    if isinstance(error, OrganiserError):
        return ORGANISERS, _of_organisers(error.messages), [NOT_YOURS]
    if isinstance(error, ModuleNotFoundError) and (package := missing_package(error)):
        return ORGANISERS, _of_organisers([what_is_missing(package)]), [NOT_YOURS]
    return BUG, _bug(error), [NOT_YOURS]


def _of_organisers(messages: Sequence[str]) -> list[str]:
    """The organisers' mistakes, as many as a worker surely keeps, and how many are left out."""
    first = "The competition is not set up correctly. This is not the submission's fault: the organisers must act."
    lines = fitting([first, *messages])
    if more := 1 + len(messages) - len(lines):
        lines.append(f"… and {more} more lines.")
    return lines


def _bug(error: Exception) -> list[str]:
    if os.environ.get("SCORING_DEBUG") == "1":
        return "".join(traceback.format_exception(error)).splitlines()
    first = "The scoring program failed. This is a bug; please report these lines to the organisers."
    return [first, *frames_of(error)]
