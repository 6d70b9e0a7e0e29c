"""Folders as they travel: a submission as it is uploaded, a job as the worker lays it out, what a container left.

Source of the job's folders: Codabench 1.25, `compute_worker/compute_worker.py`, `Run.prepare`. What a dry run owns
carries a mark, and what a dead one left is removed by the next.
"""

import contextlib
import itertools
import os
import secrets
import shutil
import socket
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from gen_bundle.codabench import worker
from gen_bundle.codabench.competition import Task
from gen_bundle.codabench.versions import Differences
from gen_bundle.codabench.worker import ContainerKind, JobFailedError
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.zips.unpacking import BUNDLE, SUBMISSION, ArchiveError, Bounds, unpack
from scoring_kit.base.submissions import is_zip

LABEL = "gen-bundle.dry-run"
OWNER_LABEL = "gen-bundle.dry-run.owner"
PREFIX = "gen-bundle-dry-run-"
_OWNER_FILE = "owner"
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


def as_upload(path: Path, scratch: Path) -> Path:
    """Return what a participant would upload: a zip as it is, a folder's contents zipped, a single file zipped alone.

    Links in a folder stay links, which nothing unpacks: they would read files of this machine.

    Raises:
        UserError: It cannot be read, or is neither file nor folder.
    """
    try:
        if is_zip(path):
            return path
        scratch.parent.mkdir(parents=True, exist_ok=True)
        upload = scratch.with_name(f"{scratch.name}.zip")
        with zipfile.ZipFile(upload, "w", strict_timestamps=False) as opened:  # it is unpacked at once
            for file, name in _contents(path):
                if file.is_symlink():
                    link = zipfile.ZipInfo(name)
                    link.external_attr = stat.S_IFLNK << 16
                    opened.writestr(link, bytes(file.readlink()))
                else:
                    opened.write(file, name)
    except (OSError, UnicodeError, RecursionError) as error:
        raise UserError(f"--submission {path}: cannot be read: {error}") from error
    return upload


def _contents(path: Path) -> list[tuple[Path, str]]:
    if path.is_file():
        return [(path.resolve(), path.name)]
    if not path.is_dir():
        raise UserError(f"--submission {path}: expected a zip, a folder or a file")
    folder = path.absolute()
    top = len(folder.as_posix()) + 1  # `relative_to` takes much longer, and submissions are many
    return [(file, file.as_posix()[top:]) for file in entries(folder) if file.is_symlink() or file.is_file()]


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
    folders: JobFolders, task: Task, submission: Path, predictions: Path, version: Differences, *, lays_over: bool
) -> list[str]:
    """Fill the folders of the scoring job; `predictions` is the output folder of the prediction job.

    The submission is a zip, or the folder in which the prediction job has unpacked it and which is taken from there. In
    newer versions it is copied over the predictions, but without `lays_over`.

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
    return _lay_over(folders.submission, folders.predictions) if lays_over else []


def _lay_over(submission: Path, predictions: Path) -> list[str]:
    """Copy a submission over the predictions: of equal names the submission's file wins.

    Source: compute_worker.py of 1.32, after the downloads of the scoring job; an error is only logged.
    """
    notes, replaced = [], []
    for file in entries(predictions):
        name = file.relative_to(predictions)
        if file.is_file() and (submission / name).is_file():
            replaced.append(str(name))
    if replaced:
        replaced.sort()
        more = f" and {len(replaced) - NAMED} more" if len(replaced) > NAMED else ""
        notes.append(
            f"the submission's {', '.join(replaced[:NAMED])}{more} replaced the file of that name from the prediction "
            "job, as on the platform: a participant can hand in ready-made predictions, or exit codes in `metadata`"
        )
    try:
        copy_tree(submission, predictions)
    except OSError:
        notes.append("not all of the submission could be copied over the predictions, which the platform only logs")
    return notes


def _lay_out_file(task: Task, role: str, target: Path) -> None:
    source = task.file(role)
    if source is not None:
        _lay_out(source, target, BUNDLE, WORDS[role])


def _lay_out(source: Path, target: Path, bounds: Bounds, what: str) -> None:
    """A bundle's or participant's data as the worker unpacks it."""
    try:
        lay_out(source, target, bounds)
    except (ArchiveError, OSError) as error:
        raise JobFailedError(worker.BAD_ZIP, f"({what}: {error})") from error


def lay_out(source: Path, target: Path, bounds: Bounds = BUNDLE) -> None:
    """Unpack a zip into a folder, or copy a folder there, which the server would have zipped.

    Raises:
        ArchiveError: the zip is not unpacked.
        OSError: the folder cannot be copied.
    """
    if source.is_dir():
        copy_tree(source, target)
    else:
        unpack(source, target, bounds)


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder's contents as a zip would carry them.

    Files lose their permission to run, links become what they point at; what is neither file nor folder is left out.

    Raises:
        OSError: Something cannot be read, or lies below more folders than can be copied; the rest is copied.
    """
    faults: list[OSError] = []
    try:
        _copy_below(str(source), str(target), faults)
    except RecursionError as error:
        raise OSError(f"{source.name}: folders are nested too deeply to be copied, here as by the worker") from error
    if faults:
        raise faults[0]


def _copy_below(source: str, target: str, faults: list[OSError]) -> None:
    try:
        Path(target).mkdir(parents=True, exist_ok=True)
        with os.scandir(source) as listed:
            found = list(listed)
    except OSError as error:
        faults.append(error)
        return
    for entry in found:
        copied = f"{target}/{entry.name}"
        try:
            if entry.is_dir():
                _copy_below(entry.path, copied, faults)
            elif entry.is_file():
                shutil.copyfile(entry.path, copied)
        except OSError as error:
            faults.append(error)


@contextlib.contextmanager
def temporary_folder(prefix: str, parent: Path) -> Iterator[Path]:
    """A folder that is removed at the end, whatever a program left there."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    try:
        yield folder
    finally:
        remove_tree(folder)


def remove_tree(folder: Path) -> None:
    """Remove a folder as far as this can be done, also one that a program nested deeper than Python's recursion goes.

    What a program left running may still write there; it is not waited for.
    """
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        # Each folder's contents are moved up to the top, so that no path is ever long.
        names = (str(one) for one in itertools.count())
        with contextlib.suppress(OSError):
            while below := [Path(entry.path) for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]:
                for child in itertools.chain.from_iterable(inner.iterdir() for inner in below):
                    child.rename(folder / f"\x7f{next(names)}")
                for inner in below:
                    inner.rmdir()
        shutil.rmtree(folder, ignore_errors=True)


def drop_strays(output: Path) -> list[str]:
    """Remove from what a program wrote all that the worker would not upload.

    The worker zips the folder with Python's `make_archive`: files, and links to files as their content. It looks
    links up on its own disk, where nothing outside the folder is the program's; so links that leave the folder go,
    and all that is neither file nor folder.

    Returns:
        A sentence for each thing removed.
    """
    if output.is_symlink():
        output.unlink()
        return ["the output folder was replaced by a link"]
    if not output.is_dir():
        return []
    inside = output.resolve()
    strays = []
    for path in list(entries(output)):
        kind = path.lstat().st_mode
        if stat.S_ISDIR(kind) or stat.S_ISREG(kind) or (stat.S_ISLNK(kind) and _file_inside(path, inside)):
            continue
        what = f"a link to {str(path.readlink())!r}" if stat.S_ISLNK(kind) else "neither file nor folder"
        strays.append(f"{str(path.relative_to(output))!r} in the output is {what}; the platform does not upload it")
        path.unlink()
    return strays


def entries(folder: Path) -> Iterator[Path]:
    """Yield everything below a folder, folders before their contents, without following links; however deep it lies.

    A folder is looked into after it was handed on. What cannot be looked into is passed over.
    """
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listed:
                found = sorted(listed, key=lambda entry: entry.name)
        except OSError:
            continue
        yield from (Path(entry.path) for entry in found)
        waiting += [Path(entry.path) for entry in reversed(found) if entry.is_dir(follow_symlinks=False)]


def _file_inside(link: Path, folder: Path) -> bool:
    try:
        real = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    return real.is_file() and real.is_relative_to(folder)


def allow_owner(folder: Path) -> None:
    """Restore our own rights to files that a program closed to us; the platform's worker is root, which needs none."""
    _change_ours(folder, lambda mode: mode | (0o700 if stat.S_ISDIR(mode) else 0o600))


def open_to_containers(folder: Path) -> None:
    """Let a container's root write the job's folders.

    It has no capabilities and so cannot write what another user owns. On the platform the worker is root as well;
    here that matters only when we are not.
    """
    _change_ours(folder, lambda mode: 0o777 if stat.S_ISDIR(mode) else 0o666)


def _change_ours(folder: Path, changed: Callable[[int], int]) -> None:
    """Give what is ours at and below a folder another mode; nothing where we are root, or on Windows."""
    me = our_user()
    if me in (None, 0):
        return
    for path in itertools.chain([folder], entries(folder)):  # one by one: a folder is opened before it is looked into
        status = path.lstat()
        if status.st_uid == me and not stat.S_ISLNK(status.st_mode):
            path.chmod(changed(status.st_mode))


def our_user() -> int | None:
    """Whose files ours are; None on Windows, where programs take no rights from us in this way."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def new_run_id() -> str:
    """Return a name for this dry run that no other has."""
    return secrets.token_hex(6)


def owner_text() -> str:
    """Who owns what this dry run makes: machine, process and when that process began."""
    return f"{socket.gethostname()}:{os.getpid()}:{_began(os.getpid())}"


def is_abandoned(owner: str) -> bool:
    """Return whether the owning process is certainly gone; not certain is no."""
    machine, _, rest = owner.rpartition(":")[0].rpartition(":")
    began = owner.rpartition(":")[2]
    if machine != socket.gethostname() or not rest.isdecimal():
        return False
    return _began(int(rest)) != began


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder that is removed at the end; those of dry runs that were killed are removed first."""
    parent = Path(tempfile.gettempdir())
    for left in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError, ValueError):
            status = left.lstat()  # anybody may write into the folder of temporary files
            ours = stat.S_ISDIR(status.st_mode) and our_user() in (None, status.st_uid)
            if (
                ours
                and (left / _OWNER_FILE).is_file()
                and is_abandoned((left / _OWNER_FILE).read_text(encoding="utf-8"))
            ):
                remove_tree(left)
    with contextlib.ExitStack() as held:
        try:
            folder = held.enter_context(temporary_folder(PREFIX, parent))
            (folder / _OWNER_FILE).write_text(owner_text(), encoding="utf-8")
        except OSError as error:
            raise UserError(
                f"{error.filename or parent}: no temporary folder can be made ({error.strerror}). "
                "Free some space, allow writing there, or name another folder in the environment variable TMPDIR."
            ) from error
        yield folder


def _began(process: int) -> str:
    """When a process began, in the kernel's own count; `gone`, or `alive` where the system does not show it."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except (FileNotFoundError, ProcessLookupError):
        pass
    if not hasattr(os, "killpg"):
        return "alive"  # on Windows there is no signal 0: the number of Ctrl-C is
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return "gone"
    except PermissionError:
        pass
    return "alive"
