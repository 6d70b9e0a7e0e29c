"""A declaration as it is written: its values, where each of them stands, and every fault of the text."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gen_bundle.yaml_document import Document, UnreadableYamlError, read_core_yaml

Key = str | int
Trail = tuple[Key, ...]
Broken = tuple[Trail, str]
"""A broken rule: where, and what is wrong and what is expected."""


@dataclass
class Source:
    """A declaration as it was read.

    Attributes:
        file: name to show in messages.
        data: the value.
        document: the text that it was read from; None where it cannot be read.
        given: the values from elsewhere than the file, and from where: an option of the command line.
        problems: faults of the text itself.
    """

    file: str
    data: Any = None
    document: Document | None = None
    given: dict[Trail, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def give(self, trail: Trail, place: str) -> None:
        """From now on, what is wrong at or below `trail` is the fault of what stands at `place`."""
        for known in [known for known in self.given if known[: len(trail)] == trail]:
            del self.given[known]
        self.given[trail] = place

    def position(self, trail: Trail) -> str:
        """The place of a value (or of the nearest thing around it that there is): a text such as `bundle.yaml:3:5`."""
        for length in range(len(trail), 0, -1):
            if trail[:length] in self.given:
                return self.given[trail[:length]]
        line, column = self.document.position(trail) if self.document else (None, None)
        return f"{self.file}:{line or 1}:{column or 1}"


def parse_value(text: str) -> Any:
    """A single value in YAML 1.2, as given to `--set`; raises ValueError where it is none."""
    try:
        document = read_core_yaml(text.encode())
    except UnreadableYamlError as error:
        raise ValueError(f"it {error}") from error
    if document.repeated:
        raise ValueError(f"the key {document.repeated[0].key} is used twice")
    return _written_out(document.value)


def read_source(path: Path) -> Source:
    """Read a YAML file; everything wrong with it is listed in `problems`; nothing is raised."""
    source = Source(path.name)
    try:
        source.document = read_core_yaml(path.read_bytes())
    except OSError as error:
        source.problems.append(f"{path}: cannot be read ({error.strerror}). Expected a readable file.")
        return source
    except UnreadableYamlError as error:
        source.problems.append(f"{error.place(path.name)}: {error}.")
        return source
    if source.document.root is None:
        source.problems.append(f"{path.name}: is empty. Expected a mapping with title, phases, tasks …")
    for key in source.document.repeated:
        (line, column), (first_line, first_column) = key.place, key.first
        source.problems.append(
            f"{path.name}:{line}:{column}: {key.key}: the key is used twice, first at "
            f"{path.name}:{first_line}:{first_column}. Remove one of the two."
        )
    source.data = _written_out(source.document.value)
    return source


def _written_out(value: Any) -> Any:
    """A copy in which aliases share nothing, so that changing one place changes no other."""
    if isinstance(value, dict):
        return {key: _written_out(inner) for key, inner in value.items()}
    return [_written_out(inner) for inner in value] if isinstance(value, list) else value


def mappings(data: Any, name: str, trail: Trail = ()) -> Iterator[tuple[Trail, dict[str, Any]]]:
    """The mappings of a list, with their places; the model reports anything of another shape."""
    for index, item in enumerate(listed(data, name)):
        if isinstance(item, dict):
            yield (*trail, name, index), item


def listed(data: Any, name: str) -> list[Any]:
    """The list at a key; empty where there is none: the model reports anything of another shape."""
    return items_of(mapping_of(data).get(name))


def items_of(value: Any) -> list[Any]:
    """The items of a list, and none of anything else."""
    return value if isinstance(value, list) else []


def mapping_of(value: Any) -> dict[Any, Any]:
    """A mapping, and an empty one of anything else."""
    return value if isinstance(value, dict) else {}


def columns_of(data: Any) -> Iterator[tuple[Trail, dict[str, Any]]]:
    """The columns of all tasks, likewise."""
    for trail, task in mappings(data, "tasks"):
        yield from mappings(task, "columns", trail)


def dotted(trail: Trail) -> str:
    """A trail as it is written in messages and for `--set`."""
    return ".".join(str(key) for key in trail)


def text_of(value: Any) -> str | None:
    """A YAML scalar as labels compare: 1 as "1", true as "true"; None for what is not a scalar."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else None
