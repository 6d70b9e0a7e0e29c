"""Gold and submissions with a folder of files for each task (`TASK/…`); a submission may be one task's files alone."""

import shutil
from pathlib import Path
from typing import Dict, Mapping, Sequence, Tuple

from scoring_kit.errors import OrganiserError, Problems, shown
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles

FOUND_SHOWN = 5


def copy_task_folders(source: Path, out: Path, tasks: Sequence[str], endings: Tuple[str, ...]) -> None:
    """Copy the files of `tasks` with these endings, and nothing else, from a phase's data to its reference data.

    Raises:
        OrganiserError: a task's folder is missing.
    """
    missing = [task for task in tasks if not (source / task).is_dir()]
    if missing:
        raise OrganiserError(*(f"{task}: there is no such folder in the data." for task in missing))
    for task in tasks:
        (out / task).mkdir()
        for path in sorted((source / task).iterdir()):
            if path.name.endswith(endings):
                shutil.copyfile(str(path), str(out / task / path.name))


def folders_by_task(files: SubmissionFiles, manifest: Manifest) -> Dict[str, str]:
    """Every task of the competition that the submission enters, with its folder ("" for the top).

    In layout `separate` the only task's files are at the top; a folder named like the task is accepted too.
    """
    if manifest.layout == "separate":
        return {task: task if files.has_folder(task) else "" for task in manifest.tasks if files.paths}
    return {task: task for task in manifest.all_tasks if files.has_folder(task)}


def report_strays(
    files: SubmissionFiles, manifest: Manifest, folders: Mapping[str, str], suffix: str, problems: Problems
) -> None:
    """Record answer files (`suffix`) in places where they would not be read, and warn of all other ignored files.

    A submission that has files, but neither a task's folder nor an answer file, is recorded with what it holds instead.
    """
    own = {folders[task] for task in manifest.tasks if task in folders}
    others = set(folders.values()) - own
    expected = _places(manifest, manifest.tasks, suffix)
    if not folders and files.paths and not any(name.lower().endswith(suffix) for name in files.paths):
        found = ", ".join(shown(name) for name in list(files.paths)[:FOUND_SHOWN])
        problems.error(
            "submission", f"holds no {suffix} file; found {found}", _places(manifest, manifest.all_tasks, suffix)
        )
        return
    for name in files.paths:
        folder = name.rpartition("/")[0]
        is_answer = name.lower().endswith(suffix)
        if name.split("/", 1)[0] in others or (is_answer and folder in own):
            continue
        if is_answer:
            problems.error(name, "is in the wrong place", expected)
        else:
            problems.warn(name, "ignored")


def _places(manifest: Manifest, tasks: Sequence[str], suffix: str) -> str:
    """Where the answer files of these tasks belong, for messages."""
    if manifest.layout == "separate":
        return f"a file NAME{suffix} at the top"
    return " or ".join(f"{task}/NAME{suffix}" for task in tasks)
