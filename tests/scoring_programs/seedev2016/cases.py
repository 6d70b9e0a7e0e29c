"""Small documents and submissions of SeeDev for the tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles
from seedev2016 import submission
from seedev2016.standoff import Event, read_events
from tests.scoring_programs.framed import write_files

ENTITIES = {
    "T1": "Gene",
    "T2": "Protein",
    "T3": "Protein",
    "T4": "Tissue",
    "T5": "Tissue",
    "T6": "Genotype",
    "T7": "Genotype",
    "T8": "Development_Phase",
    "T9": "Regulatory_Network",
    "T10": "Hormone",
    "T11": "Environmental_Factor",
    "T12": "Protein_Domain",
}


def never(where: str, rule: str, value: str, expected: str) -> None:
    """Told of a fault in what has none."""
    raise AssertionError(f"{where}: {rule} {value}. {expected}")


def events(task: str, *lines: str, entities: Mapping[str, str] = ENTITIES) -> list[Event]:
    """Events of lines without their ids, which are E1, E2 … in order; a line that begins with M is one as a whole."""
    numbered = [line if line.startswith("M") else f"E{number}\t{line}" for number, line in enumerate(lines, 1)]
    return read_events("\n".join(numbered), "x.a2", entities, task, never, never)


def manifest(layout: str = "joint", tasks: Sequence[str] = ("binary", "full")) -> Manifest:
    """Two tasks with the document D each, and binary also with the document E."""
    expected = {"binary": {"D": ENTITIES, "E": ENTITIES}, "full": {"D": ENTITIES}}
    return Manifest(
        "seedev2016", tuple(tasks), ("binary", "full"), layout, {}, {task: expected[task] for task in tasks}
    )


def read_submission(
    folder: Path, files: Mapping[str, str | bytes], given: Manifest
) -> tuple[submission.SeeDevSubmission | None, Problems]:
    """What the reader makes of these files."""
    write_files(folder, files)
    problems = Problems()
    return submission.read(SubmissionFiles(folder, given.all_tasks, problems), given, problems), problems
