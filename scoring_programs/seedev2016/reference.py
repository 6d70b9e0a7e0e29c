"""Reads the gold of SeeDev: `<task>/<document>.{txt,a1,a2}`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from scoring_kit.base.submissions import is_junk
from scoring_kit.errors import Problems
from scoring_kit.json_reading import read_utf8
from seedev2016.standoff import Blocks, Entity, Event, by_key, read_entities, read_events

MAX_MEGABYTES = 100
SUFFIXES = (".txt", ".a1", ".a2")


class TaskGold(NamedTuple):
    """A task's gold as submissions are compared with it.

    Attributes:
        blocks: document → its gold events in blocks.
        types: how many there are of each type.
    """

    blocks: Mapping[str, Blocks]
    types: Counter[str]

    @classmethod
    def of(cls, documents: Mapping[str, Sequence[Event]]) -> "TaskGold":
        """Return the gold of document → gold events."""
        return cls({document: by_key(events) for document, events in documents.items()}, types(documents))


def types(documents: Mapping[str, Iterable[Event]]) -> Counter[str]:
    """Return how many events there are of each type."""
    return Counter(one.type for one in chain.from_iterable(documents.values()))


@dataclass(frozen=True)
class SeeDevReference:
    """The gold.

    Attributes:
        entities: task → document → entity id → entity type.
        events: task → document → gold events, in the order of the file.
    """

    entities: Mapping[str, Mapping[str, Mapping[str, str]]]
    events: Mapping[str, Mapping[str, list[Event]]]

    @cached_property
    def gold(self) -> dict[str, TaskGold]:
        """Task → its gold as submissions are compared with it."""
        return {task: TaskGold.of(documents) for task, documents in self.events.items()}


def read(folder: Path, tasks: Sequence[str], options: Mapping[str, Any]) -> SeeDevReference:
    """Read and check the gold of `tasks`; SeeDev has no options.

    Raises:
        OrganiserError: with every fault, by file and line, without a gold value.
    """
    problems = Problems()
    for option in options:
        problems.error(f"options.{option}", "SeeDev has no such option", "Remove it")
    entities: dict[str, dict[str, dict[str, str]]] = {}
    events: dict[str, dict[str, list[Event]]] = {}
    for task in tasks:
        entities[task], events[task] = {}, {}
        for document in documents(folder, task, problems):
            types = {key: entity.type for key, entity in read_document_entities(folder, task, document, problems)}
            name = f"{task}/{document}.a2"
            text, fault = read_text(folder, name, problems), problems.gold_fault
            entities[task][document] = types
            events[task][document] = read_events(text, name, types, task, fault, misfit=fault)
    problems.stop_organisers_if_any()
    return SeeDevReference(entities, events)


def manifest(reference: SeeDevReference, tasks: Sequence[str]) -> dict[str, Any]:
    """Task → document → entity id → entity type: what participants have in their `.a1` files."""
    return {task: reference.entities[task] for task in tasks}


def documents(folder: Path, task: str, problems: Problems) -> list[str]:
    """Return the names of a task's documents; one without any of its three files is a problem."""
    if not (folder / task).is_dir():
        problems.error(task, "there is no such folder", "the documents of this task, each as .txt, .a1 and .a2")
        return []
    stems: dict[str, set[str]] = {}
    for path in sorted((folder / task).iterdir()):
        if path.suffix in SUFFIXES and not is_junk(path.name):
            stems.setdefault(path.stem, set()).add(path.suffix)
    if not stems:
        problems.error(task, "holds no document", "documents, each as .txt, .a1 and .a2")
    annotated = []
    for stem, found in stems.items():
        for suffix in SUFFIXES:
            if suffix not in found:
                problems.error(f"{task}/{stem}{suffix}", "is missing", "each document as .txt, .a1 and .a2")
        if found >= {".a1", ".a2"}:
            annotated.append(stem)
    return annotated


def read_document_entities(folder: Path, task: str, document: str, problems: Problems) -> list[tuple[str, Entity]]:
    """Return the entities of a document with their ids."""
    name = f"{task}/{document}.a1"
    return list(read_entities(read_text(folder, name, problems), name, problems.gold_fault).items())


def read_text(folder: Path, name: str, problems: Problems) -> str:
    """Return the text of a reference file, "" with the problem recorded where it cannot be read."""
    return read_utf8(folder / name, name, MAX_MEGABYTES, problems) or ""
