"""YAML 1.2 with the position of every value, and every fault of the text at once."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
import yamlcore

from gen_bundle.yaml_faults import fault_of

Key = str | int
Trail = tuple[Key, ...]
Broken = tuple[Trail, str]
"""A broken rule: where, and what is wrong and what is expected."""

MAX_NODES = 100_000


# The YAML 1.2 core schema: `no` is a text, `12:30` is a text, `010` is ten.
_Loader = yamlcore.CCoreLoader


@dataclass
class Source:
    """A declaration as it was read.

    Attributes:
        file: name to show in messages.
        data: the value.
        positions: of each value (or, for a mapping's item, its key): a text such as `bundle.yaml:3:5`.
        problems: faults of the text itself.
    """

    file: str
    data: Any = None
    positions: dict[Trail, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def position(self, trail: Trail) -> str:
        """The position of a value, or of the nearest thing around it that the text holds."""
        while trail and trail not in self.positions:
            trail = trail[:-1]
        return self.positions.get(trail, f"{self.file}:1:1")


def parse_value(text: str) -> Any:
    """A single value in YAML 1.2, as given to `--set`; raises ValueError where it is none."""
    source = Source("value")
    try:
        _read(source, text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("not valid YAML") from error
    if source.problems:
        raise ValueError(source.problems[0])
    return source.data


def _read(source: Source, text: str) -> bool:
    """Read the text into the source; returns whether there is anything in it."""
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is not None:
            source.data = _Walk(source, loader).value(node, ())
        return node is not None
    finally:
        loader.dispose()


def read_source(path: Path) -> Source:
    """Read a YAML file; everything wrong with it is listed in `problems`; nothing is raised."""
    source = Source(path.name)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        source.problems.append(f"{path}: cannot be read ({error.strerror}). Expected a readable file.")
        return source
    except UnicodeDecodeError as error:
        line = path.read_bytes().count(b"\n", 0, error.start) + 1
        source.problems.append(f"{path.name}:{line}: holds bytes that are not UTF-8. Expected UTF-8 text.")
        return source
    try:
        if not _read(source, text):
            source.problems.append(f"{path.name}: is empty. Expected a mapping with title, phases, tasks …")
    except yaml.MarkedYAMLError as error:
        fault = fault_of(error, text)
        where, what = (f"{fault.line}:{fault.column}", fault.text) if fault else ("1:1", str(error.problem))
        source.problems.append(f"{path.name}:{where}: not valid YAML: {what.rstrip('.')}.")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error).splitlines()[0]
        source.problems.append(f"{path.name}: not valid YAML ({reason}).")
    return source


class _Walk:
    """Builds plain values from YAML nodes and notes their positions; aliases may not blow up or loop."""

    def __init__(self, source: Source, loader: Any) -> None:
        self.source = source
        self.loader = loader
        self.nodes = 0
        self.open: set[int] = set()

    def value(self, node: yaml.Node, trail: Trail) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES or id(node) in self.open:
            raise yaml.MarkedYAMLError(problem="aliases that loop or multiply", problem_mark=node.start_mark)
        self.source.positions.setdefault(trail, self._mark(node))
        if isinstance(node, yaml.ScalarNode):
            return self.loader.construct_object(node)
        self.open.add(id(node))
        if isinstance(node, yaml.MappingNode):
            built: Any = self._mapping(node, trail)
        else:
            built = [self.value(item, (*trail, index)) for index, item in enumerate(node.value)]
        self.open.remove(id(node))
        return built

    def _mapping(self, node: yaml.Node, trail: Trail) -> dict[Any, Any]:
        built: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.source.problems.append(f"{self._mark(key_node)}: a key must be plain text.")
                continue
            key = self.loader.construct_object(key_node)
            if key in built:
                first = self.source.positions[(*trail, key)]
                self.source.problems.append(
                    f"{self._mark(key_node)}: {dotted((*trail, key))}: the key is used twice, first at {first}. "
                    "Remove one of the two."
                )
                continue
            self.source.positions[(*trail, key)] = self._mark(key_node)
            built[key] = self.value(value_node, (*trail, key))
        return built

    def _mark(self, node: yaml.Node) -> str:
        return f"{self.source.file}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"


def mappings(data: Any, name: str, trail: Trail = ()) -> Iterator[tuple[Trail, dict[str, Any]]]:
    """The mappings of a list, with their places; the model reports anything of another shape."""
    for index, item in enumerate(listed(data, name)):
        if isinstance(item, dict):
            yield (*trail, name, index), item


def listed(data: Any, name: str) -> list[Any]:
    """The list at a key; empty where there is none: the model reports anything of another shape."""
    found = data.get(name) if isinstance(data, dict) else None
    return found if isinstance(found, list) else []


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
