"""What only the organisers of SeeDev need: prepare and check gold, manifest, template, secrets, the final ranking."""

from pathlib import Path
from typing import Any

from scoring_kit.errors import Problems
from scoring_kit.organiser import Request, Secrets, Warned, read_reference, serve
from scoring_kit.submission_files import copy_task_folders
from seedev2016 import reference
from seedev2016.final_ranking import rank as rank  # a verb
from seedev2016.standoff import Entity


def prepare(request: Request) -> Warned:
    """Copy the `.txt`, `.a1` and `.a2` files of the asked tasks; raises OrganiserError where a folder is missing."""
    copy_task_folders(Path(request["source"]), Path(request["out"]), request["tasks"], reference.SUFFIXES)
    return {"warnings": []}


def check_reference(request: Request) -> Warned:
    """Check the gold, and the entities against the text that they annotate; warn of a task without any event.

    Raises:
        OrganiserError: with every fault.
    """
    folder = Path(request["reference"])
    gold = read_reference(reference.read, request)
    problems = Problems()
    warnings: list[str] = []
    for task in request["tasks"]:
        if not any(gold.events[task].values()):
            warnings.append(f"{task}: no .a2 file holds an event, so that every submission gets an F1 of 0.")
        for document in reference.documents(folder, task, problems):
            text = reference.read_text(folder, f"{task}/{document}.txt", problems)
            for identifier, entity in reference.read_document_entities(folder, task, document, problems):
                where = f"{task}/{document}.a1 {identifier}"
                if any(not start < end <= len(text) for start, end in entity.fragments):
                    problems.error(where, "is outside the text", f"offsets up to {len(text)}")
                elif not _quotes(text, entity):
                    warnings.append(f"{where}: is not the text at these offsets.")
    problems.stop_organisers_if_any()
    return {"warnings": warnings}


def _quotes(text: str, entity: Entity) -> bool:
    """Whether the entity's own text is that of its fragments, however blanks and line ends are written."""
    fragments = "".join(text[start:end] for start, end in entity.fragments)
    return "".join(fragments.split()) == "".join(entity.surface.split())


def template(request: Request) -> dict[str, Any]:
    """Write an empty `.a2` file for each document: no event is predicted."""
    out = Path(request["out"])
    for task, documents in read_reference(reference.read, request).entities.items():
        folder = out if request["layout"] == "separate" else out / task
        folder.mkdir(exist_ok=True)
        for document in documents:
            (folder / f"{document}.a2").write_text("", encoding="utf-8")
    return {}


def secrets(request: Request) -> Secrets:
    """The events, line by line."""
    return {"files": [{"name": f"{task}/*.a2", "lines": True} for task in request["tasks"]]}


if __name__ == "__main__":
    raise SystemExit(serve(globals()))
