"""Small texts of ARE for the tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from are2007 import submission
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles
from tests.scoring_programs.framed import write_files

ALL_TASKS = ("task1", "task2", "task3", "task4")
ENTITIES = [str(number) for number in range(1, 9)]
NODES = [f"n{number}" for number in range(11)]
EXPECTED: Mapping[str, Mapping[str, Any]] = {
    "task1": {"t": {"entities": ENTITIES, "pronouns": ["2", "3", "5"]}},
    "task2": {"t": {"entities": ENTITIES}},
    "task3": {"t": {"nodes": NODES}},
    "task4": {"t": {"nodes": NODES}},
}


def manifest(layout: str = "joint", tasks: Sequence[str] = ALL_TASKS) -> Manifest:
    """One text, t, in each task."""
    return Manifest("are2007", tuple(tasks), ALL_TASKS, layout, {}, {task: EXPECTED[task] for task in tasks})


def document(*inside: str) -> str:
    """A file with this inside its root, each part on a line of its own from line 2 on."""
    return "\n".join(("<document>", *inside, "</document>\n"))


def pair(pronoun: str, antecedent: str) -> str:
    """A pair by ids (`2`) or by spans (`n1 n2`)."""
    return f"<pair><pronoun {_place(pronoun)}/><antecedent {_place(antecedent)}/></pair>"


def chain(*mentions: str) -> str:
    """A chain by ids or by spans."""
    return "<chain>" + "".join(f"<node {_place(mention)}/>" for mention in mentions) + "</chain>"


def _place(mention: str) -> str:
    if " " not in mention:
        return f'id="{mention}"'
    start, end = mention.split(" ")
    return f'start="{start}" end="{end}"'


def read_submission(
    folder: Path, files: Mapping[str, str | bytes], given: Manifest
) -> tuple[submission.AreSubmission | None, Problems]:
    """What the reader makes of these files."""
    write_files(folder, files)
    problems = Problems()
    return submission.read(SubmissionFiles(folder, given.all_tasks, problems), given, problems), problems
