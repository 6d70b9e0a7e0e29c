"""A YAML text with the position of every key: as the platform reads it (YAML 1.1), or as bundle.yaml is meant (1.2)."""

import re
from codecs import BOM_UTF8
from collections.abc import Hashable, Iterator, Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import yaml
from yaml.constructor import SafeConstructor
from yaml.reader import Reader

from gen_bundle.yaml_faults import fault_of

Key = str | int | float | bool | None
Path = tuple[Key, ...]
MAX_BYTES = 4 * 1024 * 1024
# A program's metadata is a command and a few words; the parser needs about a second for so much.
MAX_METADATA_BYTES = 64 * 1024
MAX_NESTED_BRACKETS = 400
MAX_MERGED = 100_000
MAX_PARTS = 200_000
REMEMBERED_BYTES = 64 * 1024
"""The longest text whose document is kept: the steps of a check each open the bundle, and parsing takes the longest."""
BRACKET = re.compile(r"[\[\]{}]")
# The core schema of YAML 1.2.2, section 10.3.2: `no` and `12:30` are texts, `010` is ten. Tag, pattern, first letters.
CORE = (
    ("null", r"~|null|Null|NULL|", ("~", "n", "N", "")),
    ("bool", r"true|True|TRUE|false|False|FALSE", tuple("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", tuple("-+0123456789")),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        tuple("-+.0123456789"),
    ),
)


def dotted(path: Path) -> str:
    """A path as people write it: phases[0].name."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return text.removeprefix(".")


@dataclass(frozen=True)
class Repeated:
    """A key that stands twice in one mapping: where the second is, and the first; lines and columns from 1."""

    key: Hashable
    place: tuple[int, int]
    first: tuple[int, int]


class UnreadableYamlError(Exception):
    """The text cannot be read; carries the position, counted from 1, where there is one."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class _Entries(SafeConstructor):
    """Remembers which nodes hold the entries of which mapping."""

    entries: dict[int, dict[Hashable, tuple[yaml.Node, yaml.Node]]]
    repeated: list[Repeated]

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        written = {id(key) for key, _ in node.value} if isinstance(node, yaml.MappingNode) else set()
        result = super().construct_mapping(node, deep=deep)
        entries: dict[Hashable, tuple[yaml.Node, yaml.Node]] = {}
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep=deep)
            if key in entries and id(entries[key][0]) in written and id(key_node) in written:
                self.repeated.append(Repeated(key, _place(key_node), _place(entries[key][0])))
            entries[key] = (key_node, value_node)
        self.entries[id(node)] = entries
        return result


class _PlatformLoader(_Entries, yaml.SafeLoader):
    """PyYAML's safe loader, as the platform uses it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.entries, self.repeated = {}, []
        self.anchored: set[int] = set()
        self.merged = 0

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Copy what merge keys (`<<`) name into a mapping, which may not multiply from one mapping to the next."""
        written = len(node.value)
        super().flatten_mapping(node)
        self.merged += max(0, len(node.value) - written)
        if self.merged > MAX_MERGED:
            raise yaml.MarkedYAMLError(problem="merge keys multiply without measure", problem_mark=node.start_mark)

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            node = super().compose_node(parent, index)
            self.anchored.add(id(node))
            return node
        return super().compose_node(parent, index)


class _CoreLoader(_Entries, yaml.CSafeLoader):
    """YAML 1.2 with its core schema."""

    anchored = frozenset[int]()

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.entries, self.repeated = {}, []

    def construct_core_int(self, node: yaml.ScalarNode) -> int:
        digits = self.construct_scalar(node)
        base = {"0o": 8, "0x": 16}.get(digits[:2], 10)
        return int(digits.removeprefix("0o"), base)


_CoreLoader.yaml_implicit_resolvers = {}
for tag, pattern, first in CORE:
    _CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"(?:{pattern})\Z"), first)
_CoreLoader.add_constructor("tag:yaml.org,2002:int", _CoreLoader.construct_core_int)


@dataclass
class Document:
    """A parsed text: its value, where each of its parts stands, and what was odd about it."""

    value: Any
    text: str
    root: yaml.Node | None = None
    entries: dict[int, dict[Hashable, tuple[yaml.Node, yaml.Node]]] = field(default_factory=dict)
    repeated: list[Repeated] = field(default_factory=list)
    anchored: Set[int] = frozenset()

    def node(self, path: Path) -> yaml.Node | None:
        """The node at a path, or the deepest one that exists on the way."""
        return [self.root, *(value for _, value in self._steps(path))][-1]

    def position(self, path: Path) -> tuple[int | None, int | None]:
        """Line and column, counted from 1, of the key (or list item) at the path, or of what should hold it."""
        named = [self.root, *(key for key, _ in self._steps(path))][-1]
        if named is None:
            return None, None
        return _place(named)

    def is_anchor_holder(self, path: Path) -> bool:
        """Whether the value at the path is, or directly holds, something that an alias elsewhere repeats."""
        node = self.node(path)
        if node is None:
            return False
        held = [node]
        if isinstance(node, yaml.MappingNode):
            held += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            held += node.value
        return any(id(one) in self.anchored for one in held)

    def _steps(self, path: Path) -> Iterator[tuple[yaml.Node, yaml.Node]]:
        """The nodes of each key (or list item) on the way, and of its value, as far as there are any."""
        node = self.root
        for key in path:
            step = None
            if isinstance(node, yaml.MappingNode):
                step = self.entries.get(id(node), {}).get(key)
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and 0 <= key < len(node.value):
                step = node.value[key], node.value[key]
            if step is None:
                return
            yield step
            node = step[1]


def read_yaml(data: bytes, most: int = MAX_BYTES) -> Document:
    """Parse bytes as the platform does: UTF-8 text with universal line ends, one document, safe tags only.

    However hostile the text, this ends within seconds. Aliases share their value, so that the result is small in memory
    but may be endless to write out: ask `is_endless` first. The same bytes give the same document: do not change it.

    Raises:
        UnreadableYamlError: the bytes are no UTF-8, more than `most`, or no YAML that the safe loader takes.
    """
    if len(data) > most:
        raise UnreadableYamlError(f"has more than {most:,} bytes, which are not read")
    return _remembered(data) if len(data) <= REMEMBERED_BYTES else _parsed(data)


def read_core_yaml(data: bytes) -> Document:
    """Parse bytes as YAML 1.2, in which all values may be written out; do not change the document.

    Raises:
        UnreadableYamlError: the bytes are no UTF-8 or no YAML, or aliases loop or multiply.
    """
    document = _parsed(data.removeprefix(BOM_UTF8), _CoreLoader)
    if is_endless(document.value):
        raise UnreadableYamlError("has aliases that loop or multiply")
    return document


def _parsed(data: bytes, loads: type[_PlatformLoader | _CoreLoader] = _PlatformLoader) -> Document:
    try:
        text = data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableYamlError(f"is not UTF-8 text: {error.reason} at byte {error.start}", line) from error
    if _brackets_nested(text) > MAX_NESTED_BRACKETS:
        raise UnreadableYamlError("is nested too deeply")
    if unprintable := Reader.NON_PRINTABLE.search(text):
        line = text.count("\n", 0, unprintable.start()) + 1
        raise UnreadableYamlError(f"holds a character that YAML does not allow: #x{ord(unprintable[0]):04x}", line)
    try:
        loader = loads(text)
        root = loader.get_single_node()
        value = None if root is None else loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        fault = fault_of(error, text)
        if fault is None:
            raise UnreadableYamlError(f"is not valid YAML: {str(error.problem).rstrip('.')}") from error
        raise UnreadableYamlError(f"is not valid YAML: {fault.text.rstrip('.')}", fault.line, fault.column) from error
    except RecursionError as error:
        raise UnreadableYamlError("is nested too deeply") from error
    except (ValueError, TypeError, OverflowError, AttributeError, KeyError, yaml.YAMLError) as error:
        raise UnreadableYamlError(f"holds a value that cannot be read: {error}") from error
    return Document(value, text, root, loader.entries, loader.repeated, loader.anchored)


_remembered = lru_cache(maxsize=16)(_parsed)


def _place(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _brackets_nested(text: str) -> int:
    """How deeply brackets are nested at most; PyYAML needs quadratic time for what it then refuses."""
    depth = deepest = 0
    for mark in BRACKET.findall(text):
        depth = depth + 1 if mark in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def is_endless(value: Any) -> bool:
    """Whether the value becomes enormous, or never ends, once its aliases are written out."""
    sizes: dict[int, int] = {}
    open_parts: set[int] = set()

    def size(part: Any) -> int:
        if not isinstance(part, (dict, list)):
            return 1
        if id(part) in open_parts:
            return MAX_PARTS
        if id(part) not in sizes:
            open_parts.add(id(part))
            children = part.values() if isinstance(part, dict) else part
            total = 1
            for child in children:
                total += size(child)
                if total >= MAX_PARTS:
                    break
            open_parts.discard(id(part))
            sizes[id(part)] = min(total, MAX_PARTS)
        return sizes[id(part)]

    return size(value) >= MAX_PARTS
