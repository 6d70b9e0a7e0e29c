"""Reads and judges an ARE submission: one `<text>-output.xml` for each text of each task that it enters."""

from dataclasses import dataclass
from typing import Any, Callable, Dict, FrozenSet, List, Mapping, Optional, TypeVar

from are2007.answers import read_chains, read_pairs
from are2007.mentions import Mention, Places
from scoring_kit.errors import Problems
from scoring_kit.faults import participant_faults
from scoring_kit.json_reading import read_utf8
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles, folders_by_task, report_strays

SUFFIX = "-output.xml"
TASK_FOLDERS = True
"""A submission has a folder for each task, so such a folder is never taken for one that wraps the submission."""

MAX_MEGABYTES = 200
"""Largest file that is read: room for a million mentions."""

RESOLUTION = frozenset({"task1", "task3"})
"""Tasks that are answered by pairs of pronoun and antecedent; the others by chains."""

Pairs = Dict[Mention, Mention]
Chains = List[List[Mention]]
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class AreSubmission:
    """A valid submission.

    Attributes:
        entered: ids of the tasks that it enters.
        pairs: task (1 and 3) → text → pronoun → antecedent.
        chains: task (2 and 4) → text → chains.
    """

    entered: FrozenSet[str]
    pairs: Mapping[str, Mapping[str, Pairs]]
    chains: Mapping[str, Mapping[str, Chains]]


def read(files: SubmissionFiles, manifest: Manifest, problems: Problems) -> Optional[AreSubmission]:
    """Read a submission; records every problem, and None where it enters nothing.

    Args:
        files: `<task>/<text>-output.xml`; in layout `separate` the files alone.
        manifest: its `expected` maps task → text → what the text's input holds: `entities` and, in task 1,
            `pronouns` (ids), or `nodes` (ids in document order).
        problems: collects what is wrong.
    """
    folders = folders_by_task(files, manifest)
    report_strays(files, manifest, folders, SUFFIX, problems)
    if not folders:
        return None
    entered = [task for task in manifest.tasks if task in folders]
    fault = participant_faults(problems)

    def pairs_of(task: str, file: str, content: str, expected: Mapping[str, List[str]]) -> Pairs:
        places = Places(task, expected, file, fault)
        return read_pairs(content, places, places.listed(expected["pronouns"]) if "pronouns" in expected else None)

    def chains_of(task: str, file: str, content: str, expected: Mapping[str, List[str]]) -> Chains:
        return read_chains(content, Places(task, expected, file, fault))

    return AreSubmission(
        frozenset(entered),
        {
            task: _read_task(task, folders[task], files, manifest.expected[task], problems, pairs_of)
            for task in entered
            if task in RESOLUTION
        },
        {
            task: _read_task(task, folders[task], files, manifest.expected[task], problems, chains_of)
            for task in entered
            if task not in RESOLUTION
        },
    )


def _read_task(
    task: str,
    folder: str,
    files: SubmissionFiles,
    texts: Mapping[str, Any],
    problems: Problems,
    answer_of: Callable[[str, str, str, Any], Answer],
) -> Dict[str, Answer]:
    prefix = f"{folder}/" if folder else ""
    answers: Dict[str, Answer] = {}
    for text, expected in texts.items():
        name = f"{prefix}{text}{SUFFIX}"
        if name not in files.paths:
            problems.error(name, "is missing", "one answer for each text, an empty <document/> for none")
            continue
        content = read_utf8(files.paths[name], name, MAX_MEGABYTES, problems)
        if content is not None:
            answers[text] = answer_of(task, name, content, expected)
    for name in files.named(SUFFIX, folder):
        if name[len(prefix) : -len(SUFFIX)] not in texts:
            problems.error(name, "is not a text of this task", f"the names of the inputs, ending in {SUFFIX}")
    return answers
