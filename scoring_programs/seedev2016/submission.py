"""Reads and judges a SeeDev submission: one `.a2` file for each document of each task that it enters."""

from dataclasses import dataclass
from functools import partial
from typing import FrozenSet, List, Mapping, Optional

from scoring_kit.errors import Problems, shown
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import AnswerFiles, SubmissionFiles, folders_by_task, report_strays
from seedev2016.standoff import Event, read_events

TASK_FOLDERS = True
"""A submission has a folder for each task, so such a folder is never taken for one that wraps the submission."""

ANSWERS = AnswerFiles(
    ".a2",
    max_megabytes=20,  # the largest of the corpus has less than a tenth of a megabyte
    missing="one .a2 file for each document, empty where it has no event",
    unknown=("is not a document of this task", "the names of the .a1 files, ending in .a2"),
)


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
    report_strays(files, manifest, folders, ANSWERS.suffix, problems)
    if not folders:
        return None

    def misfit(where: str, rule: str, value: str, expected: str) -> None:
        problems.warn(where, f"{rule} {shown(value)}; this argument is scored as wrong. Expected: {expected}")

    events = {}
    for task in manifest.tasks:
        if task in folders:
            read_document = partial(read_events, task=task, fault=problems.fault, misfit=misfit)
            events[task] = ANSWERS.read(files, folders[task], manifest.expected[task], read_document, problems)
    return SeeDevSubmission(frozenset(events), events)
