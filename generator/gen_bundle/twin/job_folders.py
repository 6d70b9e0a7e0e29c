"""The folders of one job, as the compute worker fills them before it starts anything.

Source: Codabench 1.25, `compute_worker/compute_worker.py`, `Run.prepare`.
"""

from pathlib import Path

from gen_bundle.codabench import worker
from gen_bundle.codabench.competition import Task
from gen_bundle.codabench.versions import Differences
from gen_bundle.codabench.worker import ContainerKind, JobFailedError
from gen_bundle.twin.layout import copy_tree, entries, link_file
from gen_bundle.zips.unpacking import BUNDLE, SUBMISSION, ArchiveError, Bounds, unpack

EMPTY_SUBMISSION = (
    "the submission's zip is empty. A server of version 1.32 runs the scoring program all the same; one of 1.25 "
    f"is blocked for three minutes and ends Failed: {worker.BAD_ZIP}"
)
NAMED = 5
WORDS = {
    "scoring_program": "the scoring program",
    "ingestion_program": "the ingestion program",
    "reference_data": "the reference data",
    "input_data": "input_data",
}


class JobFolders:
    """Where the parts of one job lie; a container sees them below `/app`.

    Programs and data are the task's, `submission` is as it was uploaded, `input` holds the reference data and the
    `predictions` that the prediction job left, and the programs write to `output`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.scoring_program = root / "program"
        self.submission = root / "ingested_program"
        self.ingestion_program = root / "ingestion_program"
        self.input_data = root / "input_data"
        self.input = root / "input"
        self.reference_data = self.input / "ref"
        self.predictions = self.input / "res"
        self.output = root / "output"

    def program(self, kind: ContainerKind, *, is_scoring: bool) -> Path:
        if kind == "ingestion":
            return self.ingestion_program
        return self.scoring_program if is_scoring else self.submission

    def log(self, kind: ContainerKind, stream: str) -> Path:
        return self.root / f"{kind}.{stream}.txt"


def lay_out_prediction(folders: JobFolders, task: Task, submission: Path, version: Differences) -> list[str]:
    """Fill the folders of the prediction job, which holds no reference data.

    Returns:
        What the platform would not report.

    Raises:
        JobFailedError: The submission, or data of the bundle, cannot be unpacked.
    """
    notes = []
    _lay_out(submission, folders.submission, SUBMISSION, "the submission")
    if not any(folders.submission.iterdir()):
        notes.append(EMPTY_SUBMISSION)
        if version.submission_is_a_program:
            folders.submission.rmdir()
    if not version.submission_is_a_program:
        folders.output.mkdir(parents=True)
    if not task.ingestion_only_during_scoring:
        _lay_out_file(task, "ingestion_program", folders.ingestion_program)
    _lay_out_file(task, "input_data", folders.input_data)
    return notes


def lay_out_scoring(
    folders: JobFolders, task: Task, submission: Path, predictions: Path, version: Differences
) -> list[str]:
    """Fill the folders of the scoring job; `predictions` is the output folder of the prediction job.

    The submission is a zip, or the folder in which the prediction job has unpacked it and which is taken from there. In
    newer versions it is copied over the predictions.

    Returns:
        What the platform would not report.

    Raises:
        JobFailedError: A program or data of the bundle cannot be unpacked.
    """
    _lay_out_file(task, "scoring_program", folders.scoring_program)
    if task.ingestion_only_during_scoring:
        _lay_out_file(task, "ingestion_program", folders.ingestion_program)
        _lay_out_file(task, "input_data", folders.input_data)
    _lay_out_file(task, "reference_data", folders.reference_data)
    copy_tree(predictions, folders.predictions)
    if version.submission_is_a_program:
        return []
    if submission.is_dir():
        submission.rename(folders.submission)
    else:
        _lay_out(submission, folders.submission, SUBMISSION, "the submission")
    return _lay_over(folders.submission, folders.predictions)


def _lay_over(submission: Path, predictions: Path) -> list[str]:
    """Copy a submission over the predictions: of equal names the submission's file wins.

    Source: compute_worker.py of 1.32, after the downloads of the scoring job; an error is only logged.
    """
    names = [file.relative_to(predictions) for file in entries(predictions) if file.is_file()]  # most often only one
    replaced = sorted(str(name) for name in names if (submission / name).is_file())
    notes = []
    if replaced:
        more = f" and {len(replaced) - NAMED} more" if len(replaced) > NAMED else ""
        notes.append(
            f"the submission's {', '.join(replaced[:NAMED])}{more} replaced the file of that name from the prediction "
            "job, as on the platform: a participant can hand in ready-made predictions, or exit codes in `metadata`"
        )
    try:
        copy_tree(submission, predictions, link_file)
    except OSError:
        notes.append("not all of the submission could be copied over the predictions, which the platform only logs")
    return notes


def _lay_out_file(task: Task, role: str, target: Path) -> None:
    source = task.file(role)
    if source is not None:
        _lay_out(source, target, BUNDLE, WORDS[role])


def _lay_out(source: Path, target: Path, bounds: Bounds, what: str) -> None:
    """A bundle's or participant's data as the worker unpacks it.

    From a zip, or from a folder, which the server would have zipped.
    """
    try:
        if source.is_dir():
            copy_tree(source, target)
        else:
            unpack(source, target, bounds)
    except (ArchiveError, OSError) as error:
        raise JobFailedError(worker.BAD_ZIP, f"({what}: {error})") from error
