"""Reads the inputs and keys of ARE: `<task>/<text>-input.xml` and `<task>/<text>-key.xml`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from are2007.answers import BY_SPAN, ROOT, AnswerKey, Attributes, Places, Shape, read_elements, read_key
from scoring_kit.base.submissions import is_junk
from scoring_kit.errors import Fault, Problems
from scoring_kit.json_reading import read_utf8

MAX_MEGABYTES = 500
INPUT, KEY = "-input.xml", "-key.xml"

_ANSWERS = frozenset({"chain", "pair", "antecedent"})
"""Markup that would give away in an input what participants are to find; in tasks 3 and 4 the mentions are, too."""

# Only task 1 asks for the listed pronouns; a list in the input of task 2 does no harm.
_ENTITIES = Shape(
    ROOT,
    {
        ROOT: frozenset({"text", "anaphoric_pronouns"}),
        "text": frozenset({"entity"}),
        "entity": frozenset({"entity"}),
        "anaphoric_pronouns": frozenset({"pronoun"}),
    },
    texts=frozenset({"text", "entity"}),
    refused=_ANSWERS,
)
_NODES = Shape(
    ROOT,
    {ROOT: frozenset({"text"}), "text": frozenset({"node"})},
    texts=frozenset({"text"}),
    refused=_ANSWERS | {"entity", "pronoun"},
)

Input = dict[str, list[str]]
"""`entities` and, in task 1, `pronouns` (ids), or `nodes` (ids in document order)."""


@dataclass(frozen=True)
class AreReference:
    """Task → text → its input, and task → text → its key."""

    inputs: Mapping[str, Mapping[str, Input]]
    keys: Mapping[str, Mapping[str, AnswerKey]]


def read(folder: Path, tasks: Sequence[str], options: Mapping[str, Any]) -> AreReference:
    """Read and check inputs and keys of `tasks`; ARE has no options.

    Raises:
        OrganiserError: with every fault, by file and line, without a gold value.
    """
    problems = Problems()
    for option in options:
        problems.error(f"options.{option}", "ARE has no such option", "Remove it")
    inputs: dict[str, dict[str, Input]] = {}
    keys: dict[str, dict[str, AnswerKey]] = {}
    for task in tasks:
        inputs[task], keys[task] = {}, {}
        for text in texts(folder, task, problems):
            name = f"{task}/{text}"
            given = _read_input(task, folder, name + INPUT, problems)
            places = Places(task, given, name + KEY, problems.gold_fault)
            key = read_key(read_utf8(folder / (name + KEY), name + KEY, MAX_MEGABYTES, problems) or "", places)
            if places.asked is not None and set(key.pronouns) != places.asked:
                what = "<anaphoric_pronouns> is not that of the input"
                problems.error(name + KEY, what, "the same pronouns in both")
            inputs[task][text], keys[task][text] = given, key
    problems.stop_organisers_if_any()
    return AreReference(inputs, keys)


def manifest(reference: AreReference, tasks: Sequence[str]) -> dict[str, Any]:
    """Task → text → what its input holds."""
    return {task: reference.inputs[task] for task in tasks}


def texts(folder: Path, task: str, problems: Problems) -> list[str]:
    """Return the names of a task's texts; one without input or key is a problem."""
    if not (folder / task).is_dir():
        problems.error(task, "there is no such folder", f"this task's texts as TEXT{INPUT} and TEXT{KEY}")
        return []
    found: dict[str, set[str]] = {}
    for suffix in (INPUT, KEY):
        for path in (folder / task).glob("*" + suffix):
            if is_junk(path.name):
                continue
            found.setdefault(path.name.removesuffix(suffix), set()).add(suffix)
    if not found:
        problems.error(task, "holds no text", f"texts as TEXT{INPUT} and TEXT{KEY}")
    complete = []
    for name, there in sorted(found.items()):
        for suffix in {INPUT, KEY} - there:
            problems.error(f"{task}/{name}{suffix}", "is missing", "an input and a key for each text")
        if len(there) == 2:
            complete.append(name)
    return complete


def _read_input(task: str, folder: Path, name: str, problems: Problems) -> Input:
    text = read_utf8(folder / name, name, MAX_MEGABYTES, problems) or ""
    fault = problems.gold_fault
    if task in BY_SPAN:
        return {"nodes": list(_ids(text, name, _NODES, fault)["node"])}
    ids = _ids(text, name, _ENTITIES, fault)
    for pronoun in sorted(ids["pronoun"].keys() - ids["entity"].keys()):
        problems.error(name, f"the pronoun {pronoun} is not an entity of the text", "the id of an entity")
        del ids["pronoun"][pronoun]
    given = {"entities": list(ids["entity"])}
    if task == "task1":
        given["pronouns"] = list(ids["pronoun"])
    return given


def _ids(text: str, name: str, shape: Shape, fault: Fault) -> dict[str, dict[str, None]]:
    """Ids of the entities, pronouns and nodes of an input, each in document order."""
    ids: dict[str, dict[str, None]] = {"entity": {}, "pronoun": {}, "node": {}}

    def add(element: str, attributes: Attributes, line: int) -> None:
        if element not in ids:
            return
        where = f"{name}:{line}"
        if "id" not in attributes:
            fault(where, f"<{element}> without id", "", "an id")
            return
        identifier = attributes["id"].strip()
        if identifier in ids[element]:
            fault(where, f"a repeated id of <{element}>", identifier, "each id once")
        else:
            ids[element][identifier] = None

    read_elements(text, name, shape, fault, add)
    return ids
