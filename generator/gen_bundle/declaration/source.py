"""A declaration as it is written: its values, where each of them stands, and every fault of the text.

And what `--set key.path=value` puts into it: any value of the declaration, list items by their id or key.
"""

import difflib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gen_bundle.ground.yaml_document import Document, UnreadableYamlError, read_core_yaml

Key = str | int
Trail = tuple[Key, ...]
Broken = tuple[Trail, str]
"""A broken rule: where, and what is wrong and what is expected."""
ADDRESS_KEYS = ("id", "key", "title", "field", "name")
"""Of the items of a list, as `--set` names them."""


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
        for known in list(self.given):
            if known[: len(trail)] == trail:
                del self.given[known]
        self.given[trail] = place

    def position(self, trail: Trail) -> str:
        """Return the place of a value, or of the nearest thing around it: a text such as `bundle.yaml:3:5`."""
        for length in range(len(trail), 0, -1):
            if trail[:length] in self.given:
                return self.given[trail[:length]]
        line, column = self.document.position(trail) if self.document else (None, None)
        return f"{self.file}:{line or 1}:{column or 1}"


def parse_value(text: str) -> Any:
    """Return a single value in YAML 1.2, as given to `--set`; raises ValueError where it is none."""
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


def apply_overrides(source: Source, overrides: Iterable[str], known: Collection[str]) -> None:
    """Change `source.data` as each `KEY.PATH=VALUE` says; unknown paths are added to `source.problems`.

    The declaration's top may have the keys in `known`.
    Types and ranges are checked with the rest of the declaration afterwards, so an override cannot do more than the
    file could; its errors name the override.

    A revision belongs to its model: an option group that gets another `model` loses the `revision` of the one before,
    unless that is given, too.
    """
    models = {group: values.get("model") for group, values in _option_groups(source)}
    changed: set[Trail] = set()
    for override in overrides:
        path, equals, text = override.partition("=")
        label = f"--set {override}"
        if not equals or not path:
            source.problems.append(f'{label}: expected KEY.PATH=VALUE, for example phases.test.end="2025-03-11 AoE".')
            continue
        try:
            value = parse_value(text)
        except ValueError:
            source.problems.append(f"{label}: the value is not valid YAML. Quote texts with special characters.")
            continue
        try:
            trail = _set(source.data, _steps(path, known), value, ())
        except LookupError as error:
            source.problems.append(f"{label}: {error.args[0]}")
        else:
            changed.add(trail)
            source.give(trail, label)
    for group, values in _option_groups(source):
        given = changed.intersection([("options", group), ("options", group, "revision")])
        if "revision" in values and values.get("model") != models.get(group) and not given:
            values["revision"] = None


def _option_groups(source: Source) -> list[tuple[str, dict[str, Any]]]:
    options = source.data.get("options")
    return [(k, v) for k, v in options.items() if isinstance(v, dict)] if isinstance(options, dict) else []


def _steps(path: str, known: Collection[str]) -> list[str]:
    """The keys of a path. Raises LookupError where the first is not in `known`."""
    steps = path.split(".")
    if steps[0] not in known:
        raise LookupError(f"no key {steps[0]!r}. {nearest(steps[0], list(known))}")
    return steps


def _set(data: Any, path: list[str], value: Any, trail: Trail) -> Trail:
    """Set the value at `path` below `data`; returns its trail. Raises LookupError with what would be possible."""
    step, *rest = path
    here: str | int
    if isinstance(data, list):
        here = _index(data, step)
    else:
        if trail[:1] == ("options",) and step not in data:  # known by their defaults in the file
            raise LookupError(f"no option {step!r}. {nearest(step, list(data))}")
        here = step
    if not rest:
        data[here] = value
        return (*trail, here)
    if isinstance(data, dict):
        data.setdefault(here, None)
    inner = data[here]
    if inner is None:
        inner = data[here] = {}
    if isinstance(inner, dict | list):
        return _set(inner, rest, value, (*trail, here))
    raise LookupError(f"{'.'.join(map(str, (*trail, here)))} holds no further keys.")


def _index(items: list[Any], step: str) -> int:
    names = []
    for index, item in enumerate(items):
        for key in ADDRESS_KEYS:
            if isinstance(item, dict) and key in item:
                names.append(str(item[key]))
                if names[-1] == step:
                    return index
                break
    if step.isdecimal() and int(step) < len(items):
        return int(step)
    raise LookupError(f"no item {step!r}. {nearest(step, names)}")


@dataclass(frozen=True)
class Section:
    """A mapping of a declaration at its place.

    Attributes:
        data: the mapping.
        trail: its place.
        found: takes what is wrong in it.
        wrong: the places of values that the model refuses, which nothing else looks at.
    """

    data: dict[str, Any]
    trail: Trail = ()
    found: list[Broken] = field(default_factory=list)
    wrong: frozenset[Trail] = frozenset()

    def get(self, key: str) -> Any:
        """Return the value at a key; None where there is none, or one that the model refuses."""
        return None if (*self.trail, key) in self.wrong else self.data.get(key)

    def fault(self, text: str, *below: Key) -> None:
        """Note what is wrong with the mapping, or with what lies `below` it."""
        self.found.append(((*self.trail, *below), text))

    def below(self, data: Any, *keys: Key) -> "Section":
        """Return a mapping that lies below this one."""
        return Section(data, (*self.trail, *keys), self.found, self.wrong)

    def mapping(self, key: str) -> "Section":
        """Return the mapping at a key; an empty one in place of anything else."""
        return self.below(mapping_of(self.get(key)), key)

    def items(self, key: str) -> list[Any]:
        """Return the items of the list at a key; none where there is no list, or one that the model refuses."""
        return items_of(self.get(key))

    def sections(self, key: str) -> Iterator["Section"]:
        """Yield the mappings of the list at a key, likewise."""
        for index, item in enumerate(items_of(self.data.get(key))):
            if isinstance(item, dict):
                yield self.below(item, key, index)

    def choice(self, key: str, choices: Sequence[str], default: str) -> str:
        """Return one of the choices, or the default where none is given."""
        value = self.get(key)
        if value is None:
            return default
        if value in choices:
            return str(value)
        self.fault(f"unknown value {value!r}. {nearest(str(value), list(choices))}", key)
        return default

    def text(self, key: str, expected: str) -> str | None:
        """Return a text, where one is given."""
        value = self.get(key)
        if value is None or (isinstance(value, str) and value.strip()):
            return value
        self.fault(f"expected {expected}.", key)
        return None

    def names(self, key: str, expected: str = "a name or a list of names") -> list[str]:
        """Return a name, or a list of names."""
        value = self.get(key)
        if value is None:
            return []
        given = [value]
        if isinstance(value, list):
            given = value
        names = [name for name in given if isinstance(name, str)]
        if not names or len(names) < len(given):
            self.fault(f"expected {expected} (found {value!r}).", key)
        return names


def items_of(value: Any) -> list[Any]:
    """Return the items of a list, and none of anything else."""
    return value if isinstance(value, list) else []


def mapping_of(value: Any) -> dict[Any, Any]:
    """Return a mapping, and an empty one of anything else."""
    return value if isinstance(value, dict) else {}


def columns_of(declared: Section) -> Iterator[Section]:
    """Yield the columns of all tasks."""
    for task in declared.sections("tasks"):
        yield from task.sections("columns")


def dotted(trail: Trail) -> str:
    """Return a trail as it is written in messages and for `--set`."""
    return ".".join(str(key) for key in trail)


def text_of(value: Any) -> str | None:
    """Return a YAML scalar as labels compare: 1 as "1", true as "true"; None for what is not a scalar."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else None


def nearest(name: str, known: list[str]) -> str:
    """Return what to write instead of an unknown name."""
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    if not known:
        return "There are none."
    return f"Expected one of {', '.join(known[:30])}{' …' if len(known) > 30 else ''}."
