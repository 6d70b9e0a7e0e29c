"""Reads and judges an ARE submission: one `<text>-output.xml` for each text of each task that it enters."""

from dataclasses import dataclass
from typing import Callable, Dict, FrozenSet, List, Mapping, Optional, TypeVar

from are2007.answers import Mention, Places, read_chains, read_pairs
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import AnswerFiles, SubmissionFiles, folders_by_task, report_strays

TASK_FOLDERS = True
"""A submission has a folder for each task, so such a folder is never taken for one that wraps the submission."""

ANSWERS = AnswerFiles(
    "-output.xml",
    max_megabytes=200,  # room for a million mentions
    missing="one answer for each text, an empty <document/> for none",
    unknown=("is not a text of this task", "the names of the inputs, ending in -output.xml"),
)

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
    report_strays(files, manifest, folders, ANSWERS.suffix, problems)
    if not folders:
        return None

    def read_task(task: str, reader: Callable[[str, Places], Answer]) -> Dict[str, Answer]:
        def answer(content: str, name: str, given: Mapping[str, List[str]]) -> Answer:
            return reader(content, Places(task, given, name, problems.fault))

        return ANSWERS.read(files, folders[task], manifest.expected[task], answer, problems)

    entered = [task for task in manifest.tasks if task in folders]
    pairs = {task: read_task(task, read_pairs) for task in entered if task in RESOLUTION}
    chains = {task: read_task(task, read_chains) for task in entered if task not in RESOLUTION}
    return AreSubmission(frozenset(entered), pairs, chains)
