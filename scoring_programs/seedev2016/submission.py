"""Reads and judges a SeeDev submission: one `.a2` file for each document of each task that it enters."""

from dataclasses import dataclass
from typing import Dict, FrozenSet, List, Mapping, Optional

from scoring_kit.errors import Problems, shown
from scoring_kit.faults import participant_faults
from scoring_kit.json_reading import read_utf8
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles, folders_by_task, report_strays
from seedev2016.standoff import Event, read_events

TASK_FOLDERS = True
"""A submission has a folder for each task, so such a folder is never taken for one that wraps the submission."""

MAX_MEGABYTES = 20
"""Largest `.a2` file that is read; the largest of the corpus has less than a tenth of a megabyte."""


@dataclass(frozen=True)
class SeeDevSubmission:
    """A valid submission.

    Attributes:
        entered: ids of the tasks that it enters.
        events: task → document → predicted events.
    """

    entered: FrozenSet[str]
    events: Mapping[str, Mapping[str, List[Event]]]


def read(files: SubmissionFiles, manifest: Manifest, problems: Problems) -> Optional[SeeDevSubmission]:
    """Read a submission; records every problem, and None where it enters nothing.

    Args:
        files: `binary/<document>.a2` and `full/<document>.a2`; in layout `separate` the `.a2` files alone.
        manifest: its `expected` maps task → document → entity id → entity type.
        problems: collects what is wrong.
    """
    folders = folders_by_task(files, manifest)
    report_strays(files, manifest, folders, ".a2", problems)
    if not folders:
        return None
    events = {
        task: _read_task(task, folders[task], files, manifest.expected[task], problems)
        for task in manifest.tasks
        if task in folders
    }
    return SeeDevSubmission(frozenset(events), events)


def _read_task(
    task: str,
    folder: str,
    files: SubmissionFiles,
    documents: Mapping[str, Mapping[str, str]],
    problems: Problems,
) -> Dict[str, List[Event]]:
    fault = participant_faults(problems)

    def misfit(where: str, rule: str, value: str, expected: str) -> None:
        problems.warn(where, f"{rule} {shown(value)}; this argument is scored as wrong. Expected: {expected}")

    prefix = f"{folder}/" if folder else ""
    events: Dict[str, List[Event]] = {}
    for document, entities in documents.items():
        name = f"{prefix}{document}.a2"
        if name not in files.paths:
            problems.error(name, "is missing", "one .a2 file for each document, empty where it has no event")
            continue
        text = read_utf8(files.paths[name], name, MAX_MEGABYTES, problems)
        if text is not None:
            events[document] = read_events(text, name, task, entities, fault, misfit)
    for name in files.named(".a2", folder):
        if name[len(prefix) : -len(".a2")] not in documents:
            problems.error(name, "is not a document of this task", "the names of the .a1 files, ending in .a2")
    return events
