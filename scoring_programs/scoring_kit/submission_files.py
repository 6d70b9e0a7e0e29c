"""The files of a submission, as participants really send them: in a wrapping folder, with macOS junk, and so on.

Where gold and submissions have a folder of files for each task (`TASK/…`), a submission may be one task's files alone.
"""

import importlib
import os
import shutil
import stat
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Protocol, Tuple, TypeVar, cast

from scoring_kit.base.submissions import is_junk
from scoring_kit.errors import OrganiserError, Problems, shown
from scoring_kit.json_reading import read_utf8
from scoring_kit.manifest import Manifest

# Folders inside each other: far more than any format asks for, far fewer than take Python's own limits.
MAX_FOLDERS = 50
TOO_DEEP = ("is nested too deeply", f"at most {MAX_FOLDERS} folders inside each other")
# The worker adds its own `metadata` to the predictions of every submission before it scores them.
PLATFORM_FILES = {"metadata"}
# Files at the top of a zip by which the worker knows a program, whose files it does not hand to the scoring.
PROGRAM_FILES = ("metadata", "metadata.yaml")
THRESHOLD = 1_000_000
"""After so many new objects Python looks for cycles: each look goes over all rows that were read."""


def submission_folder(input_folder: Path) -> Path:
    """Return where the submission lies: `res` in the input folder, else `ingested_program` beside it.

    Newer versions of the platform mount the submission as `/app/ingested_program`, and call its copy in
    `/app/input/res` temporary.
    """
    predictions, submission = input_folder / "res", input_folder.parent / "ingested_program"
    handed_on = predictions.is_dir() and any(entry.name not in PLATFORM_FILES for entry in predictions.iterdir())
    return submission if not handed_on and submission.is_dir() else predictions


class SubmissionFiles:
    r"""The submission's own files by their name below its root, `/` between folders.

    Args:
        folder: where the submission is, unzipped.
        keep: names of top folders that carry meaning (task ids), never taken for a wrapping folder.
        problems: collects warnings about what is ignored, and errors about links.

    Attributes:
        paths: name below the root → where the file is, sorted by name.
        ignored: names of files that were left out.

    >>> _ = (folder / "answers.csv").write_text("id,label\n")  # in a folder of yours
    >>> SubmissionFiles(folder, keep=(), problems=Problems()).named(".csv")
    ['answers.csv']
    """

    def __init__(self, folder: Path, keep: Collection[str], problems: Problems) -> None:
        found, self.ignored = _walk(folder, problems)
        prefix = _wrapping_folder(found, keep)
        if prefix:
            problems.warn(prefix, "all files are in this folder; they are read as if they were at the top")
        if self.ignored:
            more = f", with {len(self.ignored) - 1} more" if self.ignored[1:] else ""
            problems.warn(self.ignored[0], f"ignored{more}")
        self.paths: Dict[str, Path] = {name[len(prefix) :]: path for name, path in sorted(found.items())}

    @property
    def name(self) -> str:
        """The name of a submission's only file, without its ending; empty where there are several: none names it."""
        return next(iter(self.paths.values())).stem if len(self.paths) == 1 else ""

    def named(self, suffix: str, folder: str = "") -> List[str]:
        """Names directly in `folder` and end with `suffix` (in any case)."""
        prefix = folder + "/" if folder else ""
        return [
            name
            for name in self.paths
            if name.startswith(prefix) and "/" not in name[len(prefix) :] and name.lower().endswith(suffix.lower())
        ]

    def found(self, most: int) -> str:
        """Return what there is instead of an expected file, for messages: at most so many names, or nothing."""
        return f"; found {', '.join([shown(path) for path in list(self.paths)[:most]])}" if self.paths else ""

    def warn_of_others(self, chosen: str, most: int, what: str, problems: Problems) -> None:
        """Warn of the files beside the only one that is read, by at most so many names."""
        others = [shown(name) for name in self.paths if name != chosen]
        if others:
            problems.warn(", ".join(others[:most]), what)

    def has_folder(self, folder: str) -> bool:
        """Return whether there is any file below `folder`."""
        return any(name.startswith(folder + "/") for name in self.paths)


class ReadSubmission(Protocol):
    """A team's files as `submission.read` reads them."""

    @property
    def entered(self) -> Collection[str]:
        """Ids of the tasks that it enters."""


class SubmissionModule(Protocol):
    """The module `submission`.

    TASK_FOLDERS = True says that folders called like tasks carry meaning; `meant_folders(manifest)` gives any others,
    and `unseen_at_home(manifest)` says what `read` leaves to the scoring.
    """

    def read(self, files: SubmissionFiles, manifest: Manifest, problems: Problems) -> Optional[ReadSubmission]:
        """Read and judge a submission; all that is wrong goes into `problems`. None where there is nothing to read."""


class ReferenceModule(Protocol):
    """The module `reference`; what `read` returns is the package's own affair."""

    def read(self, folder: Path, tasks: Sequence[str], options: Mapping[str, Any]) -> Any:
        """Read the gold of `tasks`; raises OrganiserError with everything that is wrong."""

    def manifest(self, reference: Any, tasks: Sequence[str]) -> Mapping[str, Any]:
        """Return what participants may know of the gold, as JSON."""


def submission_module(package: str) -> SubmissionModule:
    """Return the module `submission` of a package."""
    return cast("SubmissionModule", importlib.import_module(f"{package}.submission"))


def reference_module(package: str) -> ReferenceModule:
    """Return the module `reference` of a package."""
    return cast("ReferenceModule", importlib.import_module(f"{package}.reference"))


def meant_folders(module: SubmissionModule, manifest: Manifest) -> Collection[str]:
    """Return the names of folders at the top that carry meaning, as the `submission` module says."""
    if getattr(module, "TASK_FOLDERS", False):
        return manifest.all_tasks
    named: Callable[[Manifest], Collection[str]] = getattr(module, "meant_folders", lambda _: ())
    return named(manifest)


def read_submission(
    module: SubmissionModule, folder: Path, manifest: Manifest, problems: Problems
) -> Tuple[Any, SubmissionFiles]:
    """Read the submission in `folder` with its competition's `submission` module: what that gives, and its files.

    Raises:
        SubmissionError: with every problem.
    """
    files = SubmissionFiles(folder, meant_folders(module, manifest), problems)
    submission = module.read(files, manifest, problems) if folder.is_dir() else None
    if not files.paths:
        names = " or ".join(PROGRAM_FILES)
        problems.error(
            "submission",
            "holds no files",
            f"Expected: the files that the Submission page describes, and none named {names} at the top of the zip: "
            "with such a file the platform treats the submission as a program and passes none of its files on",
        )
    elif submission is None and not problems.found:
        problems.error("submission", "is empty", "the files that the Submission page describes")
    problems.stop_if_any()
    return submission, files


def report_program_files(folder: Path, problems: Problems) -> None:
    """Record files at the top of a submission by which the platform knows a program."""
    for name in PROGRAM_FILES:
        if (folder / name).is_file():
            what = "makes the platform treat the submission as a program, so that none of its files is scored"
            problems.error(name, what, "a submission without this file: remove or rename it")


def slashed(name: str) -> str:
    """Return a name with `/` between folders: some programs on Windows put backslashes into zips."""
    return name.replace("\\", "/")


def _walk(folder: Path, problems: Problems) -> Tuple[Dict[str, Path], List[str]]:
    """All regular files below `folder` by name, and the names of files that are not answers."""
    found: Dict[str, Path] = {}
    ignored: List[str] = []
    for above, folders, files in os.walk(str(folder)):  # which follows no links
        folders.sort()
        prefix = "" if Path(above) == folder else f"{Path(above).relative_to(folder).as_posix()}/"
        if folders and prefix.count("/") >= MAX_FOLDERS:
            problems.error(shown(prefix + folders[0]), *TOO_DEEP)
            folders.clear()
        for name in folders:
            if (Path(above) / name).is_symlink():
                problems.error(shown(prefix + name), "is a link", "only regular files and folders")
        for name in sorted(files):
            path, relative = Path(above) / name, slashed(prefix + name)
            if relative.endswith("/"):
                continue  # a folder's own entry in such a zip
            if not stat.S_ISREG(path.lstat().st_mode):
                problems.error(shown(relative), "is not a regular file", "only regular files and folders")
            elif is_junk(relative):
                ignored.append(relative)
            elif relative in found:
                problems.error(shown(relative), "occurs twice, once with a backslash in its name", "the file once")
            elif relative not in PLATFORM_FILES:
                found[relative] = path
    return found, ignored


def _wrapping_folder(names: Collection[str], keep: Collection[str]) -> str:
    """The folders, with a final slash, that hold all files and carry no meaning; empty if there are none."""
    prefix = ""
    while names:
        tops = {name[len(prefix) :].split("/", 1)[0] for name in names}
        (top, *others) = tops
        if others or top in keep or prefix + top in names:
            break
        prefix += top + "/"
    return prefix


FOUND_SHOWN = 5
Given = TypeVar("Given")
Answer = TypeVar("Answer")


def copy_task_folders(source: Path, out: Path, tasks: Sequence[str], endings: Tuple[str, ...]) -> None:
    """Copy the files of `tasks` with these endings, and nothing else, from a phase's data to its reference data.

    Raises:
        OrganiserError: a task's folder is missing.
    """
    missing = [f"{task}: there is no such folder in the data." for task in tasks if not (source / task).is_dir()]
    if missing:
        raise OrganiserError(*missing)
    for task in tasks:
        (out / task).mkdir()
        for path in sorted((source / task).iterdir()):
            if path.name.endswith(endings) and not is_junk(path.name):
                shutil.copyfile(str(path), str(out / task / path.name))


def folders_by_task(files: SubmissionFiles, manifest: Manifest) -> Dict[str, str]:
    """Return every task of the competition that the submission enters, with its folder ("" for the top).

    In layout `separate` the only task's files are at the top; a folder named like the task is accepted too.
    """
    is_separate = manifest.layout == "separate"
    folders: Dict[str, str] = {}
    for task in manifest.tasks if is_separate else manifest.all_tasks:
        if files.has_folder(task):
            folders[task] = task
        elif is_separate and files.paths:
            folders[task] = ""
    return folders


def report_strays(
    files: SubmissionFiles, manifest: Manifest, folders: Mapping[str, str], suffix: str, problems: Problems
) -> None:
    """Record answer files (`suffix`) in places where they would not be read, and warn of all other ignored files.

    A submission that has files, but neither a task's folder nor an answer file, is recorded with what it holds instead.
    """
    own = {folders[task] for task in manifest.tasks if task in folders}
    others = set(folders.values()) - own
    answers = {name for name in files.paths if name.lower().endswith(suffix)}
    if not folders and files.paths and not answers:
        what = f"holds no {suffix} file{files.found(FOUND_SHOWN)}"
        problems.error("submission", what, _places(manifest, manifest.all_tasks, suffix))
        return
    expected = _places(manifest, manifest.tasks, suffix)
    for name in files.paths:
        if name.partition("/")[0] in others:
            continue
        if name not in answers:
            problems.warn(name, "ignored")
        elif name.rpartition("/")[0] not in own:
            problems.error(name, "is in the wrong place", expected)


class AnswerFiles(NamedTuple):
    """The files of a task's answers, one for each text: `TEXT<suffix>`.

    Attributes:
        suffix: the end of their names.
        max_megabytes: the largest that is read, in million bytes.
        missing: what is expected where one is missing.
        unknown: what is wrong with one of another name, and what is expected.
    """

    suffix: str
    max_megabytes: float
    missing: str
    unknown: Tuple[str, str]

    def read(
        self,
        files: SubmissionFiles,
        folder: str,
        texts: Mapping[str, Given],
        answer: Callable[[str, str, Given], Answer],
        problems: Problems,
    ) -> Dict[str, Answer]:
        """Return the answer to each text, by the text; files that are missing or of another name are recorded.

        Args:
            files: those of the submission.
            folder: the task's, see `folders_by_task`.
            texts: what participants know of each text.
            answer: reads an answer of (content, the file's name, what participants know of the text).
            problems: collects what is wrong.
        """
        prefix = f"{folder}/" if folder else ""
        answers: Dict[str, Answer] = {}
        for text, given in texts.items():
            name = f"{prefix}{text}{self.suffix}"
            if name not in files.paths:
                problems.error(name, "is missing", self.missing)
                continue
            content = read_utf8(files.paths[name], name, self.max_megabytes, problems)
            if content is not None:
                answers[text] = answer(content, name, given)
        for name in files.named(self.suffix, folder):
            if name[len(prefix) : -len(self.suffix)] not in texts:
                problems.error(name, *self.unknown)
        return answers


def _places(manifest: Manifest, tasks: Sequence[str], suffix: str) -> str:
    """Where the answer files of these tasks belong, for messages."""
    if manifest.layout == "separate":
        return f"a file NAME{suffix} at the top"
    return " or ".join(f"{task}/NAME{suffix}" for task in tasks)
