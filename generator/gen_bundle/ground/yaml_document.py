"""A YAML text with the position of every key: as the platform reads it (YAML 1.1), or as bundle.yaml is meant (1.2).

What is wrong with one is said in words for people who do not know YAML, with the line that is at fault: the parser
names the place where it could not go on, which often is a line below the fault, in terms of its own grammar.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Hashable, Iterator, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import yaml
from yaml.constructor import SafeConstructor
from yaml.reader import Reader

from gen_bundle.ground.plain_text import place_in

Key = str | int | float | bool | None
Path = tuple[Key, ...]
MAX_BYTES = 1024 * 1024
# A program's metadata is a command and a few words; the parser needs about a second for so much.
MAX_METADATA_BYTES = 64 * 1024
MAX_NESTED_BRACKETS = 400
MAX_MERGED = 100_000
MAX_PARTS = 200_000
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

WORD_OF_KEY = r"[\w.-]+"
NO_BLANK_AFTER_COLON = re.compile(rf"\s*(?:- +)?(?P<key>{WORD_OF_KEY}):(?P<value>[^\s:/].*)")
NO_BLANK_AFTER_DASH = re.compile(rf"\s*-(?P<rest>[^\W\d]{WORD_OF_KEY}:(?: .*)?)")
KEY_AND_VALUE = re.compile(rf"\s*(?:- +)*{WORD_OF_KEY}:(?: |$)")
CLOSING = {"[": "]", "{": "}"}
BEGUN = re.compile(r"[*&][^,\[\]{}]*")
QUOTES = 'Expected: the text in quotes, such as "{}"'
SHOWN = 60


def dotted(path: Path) -> str:
    """Return a path as people write it: phases[0].name."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return text.removeprefix(".")


class Repeated(NamedTuple):
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

    def place(self, name: str) -> str:
        """Return where it is in a file of that name: NAME:LINE:COLUMN, as far as that is known."""
        return place_in(name, self.line, self.column)


class _Entries(SafeConstructor):
    """Remembers which nodes hold the entries of which mapping."""

    entries: dict[int, dict[Hashable, tuple[yaml.Node, yaml.Node]]]
    repeated: list[Repeated]

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        written = set()
        if isinstance(node, yaml.MappingNode):
            written = {id(key) for key, _ in node.value}
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
        is_alias = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        if is_alias:
            self.anchored.add(id(node))
        return node


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
        """Return the node at a path, or the deepest one that exists on the way."""
        return self._at(path)[1]

    def position(self, path: Path) -> tuple[int | None, int | None]:
        """Line and column, counted from 1, of the key (or list item) at the path, or of what should hold it."""
        named, _ = self._at(path)
        return (None, None) if named is None else _place(named)

    def is_anchor_holder(self, path: Path) -> bool:
        """Return whether the value at the path is, or directly holds, something that an alias elsewhere repeats."""
        node = self.node(path)
        if node is None:
            return False
        held = [node]
        if isinstance(node, yaml.MappingNode):
            held += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            held += node.value
        return any(id(one) in self.anchored for one in held)

    def _at(self, path: Path) -> tuple[yaml.Node | None, yaml.Node | None]:
        """The nodes of the key (or list item) at a path and of its value, or of the last one that exists on the way."""
        named = node = self.root
        for key in path:
            step = None
            if isinstance(node, yaml.MappingNode):
                step = self.entries.get(id(node), {}).get(key)
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and 0 <= key < len(node.value):
                step = node.value[key], node.value[key]
            if step is None:
                break
            named, node = step
        return named, node


def read_yaml(data: bytes, most: int = MAX_BYTES) -> Document:
    """Parse bytes as the platform does: UTF-8 text with universal line ends, one document, safe tags only.

    However hostile the text, this ends within seconds. Aliases share their value, so that the result is small in memory
    but may be endless to write out: ask `is_endless` first. The same bytes give the same document: do not change it.

    Raises:
        UnreadableYamlError: the bytes are no UTF-8, more than `most`, or no YAML that the safe loader takes.
    """
    if len(data) > most:
        raise UnreadableYamlError(f"has more than {most:,} bytes, which are not read")
    return _remembered(data)


def read_core_yaml(data: bytes) -> Document:
    """Parse bytes as YAML 1.2, in which all values may be written out; do not change the document.

    Raises:
        UnreadableYamlError: the bytes are no UTF-8 or no YAML, or aliases loop or multiply.
    """
    document = _parsed(data.removeprefix(BOM_UTF8), _CoreLoader)
    if is_endless(document.value):
        events = yaml.parse(document.text, Loader=yaml.CSafeLoader)
        has_aliases = any(isinstance(event, yaml.AliasEvent) for event in events)
        what = "aliases that loop or multiply" if has_aliases else f"more than {MAX_PARTS:,} values"
        raise UnreadableYamlError(f"has {what}")
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
        value = root and loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        raise _explained(error, text) from error
    except RecursionError as error:
        raise UnreadableYamlError("is nested too deeply") from error
    except (ValueError, TypeError, OverflowError, AttributeError, KeyError, yaml.YAMLError) as error:
        raise UnreadableYamlError(f"holds a value that cannot be read: {error}") from error
    return Document(value, text, root, loader.entries, loader.repeated, loader.anchored)


_remembered = lru_cache(maxsize=16)(_parsed)  # one command reads the same text up to twelve times


def _place(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _brackets_nested(text: str) -> int:
    """How deeply brackets are nested at most; PyYAML needs quadratic time for what it then refuses."""
    depth = deepest = 0
    for mark in BRACKET.findall(text):
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth = max(0, depth - 1)
    return deepest


def texts_in(top: Any) -> Iterator[str]:
    """Yield all texts in a value, each once, however often aliases repeat it."""
    waiting, met = [top], set[int]()
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list) and id(value) not in met:
            met.add(id(value))
            inner = value.values() if isinstance(value, dict) else value
            waiting += reversed(inner)


def is_endless(value: Any) -> bool:
    """Return whether the value becomes enormous, or never ends, once its aliases are written out."""
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


def _explained(error: yaml.MarkedYAMLError, text: str) -> UnreadableYamlError:
    """The fault behind a parser's error in `text`, at a place where the parser says any."""
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return UnreadableYamlError(f"is not valid YAML: {str(error.problem).rstrip('.')}")
    said = " ".join(str(part) for part in (error.context, error.problem) if part)
    return next(_guesses(error, _Lines(text), mark), _at(mark, said))


class _Lines:
    """The lines of the text; none beyond its end."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")

    def __getitem__(self, number: int) -> str:
        return "".join(self.lines[number : number + 1]).rstrip()

    def up_from(self, number: int, most: int = 3) -> Iterator[int]:
        """Return the numbers of a line and of those above it, empty ones and comments left out."""
        full = (n for n in range(min(number, len(self.lines) - 1), -1, -1) if self[n].strip()[:1] not in ("", "#"))
        return islice(full, most)

    def indent(self, number: int) -> int:
        return len(self[number]) - len(self[number].lstrip())


def _guesses(error: yaml.MarkedYAMLError, lines: _Lines, mark: yaml.Mark) -> Iterator[UnreadableYamlError]:
    """Yield what it may be, the likeliest first."""
    problem, context = str(error.problem or ""), str(error.context or "")
    yield from _in_characters(problem, lines, mark)
    yield from _in_brackets_and_quotes(problem, context, lines, error.context_mark or mark, mark)
    if "another document" in problem:
        yield _at(mark, "a second document begins here (---). Expected: one alone")
    if "unhashable key" in problem:
        yield _at(mark, "a key is a list or a mapping. Expected: a plain text")
    yield from _in_keys(problem, lines, mark)
    yield from _in_structure(problem, lines, mark)


def _in_characters(problem: str, lines: _Lines, mark: yaml.Mark) -> Iterator[UnreadableYamlError]:
    """Yield what no text begins with, and tabs."""
    line = lines[mark.line]
    character = line[mark.column : mark.column + 1]
    no_token = "cannot start any token" in problem
    if (no_token and character != "\t") or ("node content" in problem and character):
        yield _at(mark, f"a text may not begin with {character}. {QUOTES.format(_cut(line[mark.column :]))}")
    if "\t" in line[: lines.indent(mark.line)]:
        yield UnreadableYamlError(
            "is not valid YAML: the line is indented with a tab. Expected: spaces", mark.line + 1, 1
        )
    if no_token:
        yield _at(mark, "there is a tab here. Expected: a space")


def _in_brackets_and_quotes(
    problem: str, context: str, lines: _Lines, opened: yaml.Mark, mark: yaml.Mark
) -> Iterator[UnreadableYamlError]:
    """Yield what begins at `opened` and does not end well."""
    if "quoted scalar" in context and "end of stream" in problem:
        yield _at(opened, f"the quote that opens here is never closed: {_cut(lines[opened.line].strip())}")
    if "flow" in context:
        yield from _in_brackets(lines, opened, mark)
    if "quoted scalar" in context or "double-quoted" in context:
        yield _at(mark, "a backslash between double quotes means something else. Expected: single quotes")
    if "alias" in context or "anchor" in context or "undefined alias" in problem:
        start = mark if "undefined" in problem else opened
        if word := BEGUN.match(lines[start.line][start.column :]):
            yield _at(start, f"a text may not begin with {word[0][0]}. {QUOTES.format(_cut(word[0]))}")
    if "block scalar" in context:
        what = "text follows | or > in the same line. Expected: the text in the next line, indented, or in quotes"
        yield _at(opened, what)


def _in_brackets(lines: _Lines, opened: yaml.Mark, mark: yaml.Mark) -> Iterator[UnreadableYamlError]:
    bracket = lines[opened.line][opened.column : opened.column + 1]
    if bracket in CLOSING:
        yield _at(opened, f"the bracket {bracket} that opens here is not closed. Expected: {CLOSING[bracket]}")
    if not lines[mark.line][mark.column : mark.column + 1]:
        last = next(lines.up_from(mark.line), 0)
        what = "the text ends before a bracket is closed. Expected: ] for each [, and } for each {"
        yield _in_line(lines, last, what)


def _in_keys(problem: str, lines: _Lines, mark: yaml.Mark) -> Iterator[UnreadableYamlError]:
    """Keys and their values: spaces and colons."""
    for number in lines.up_from(mark.line):
        if found := NO_BLANK_AFTER_COLON.fullmatch(lines[number]):
            right = f"{found['key']}: {found['value']}"
            yield _in_line(lines, number, f'the space after the colon is missing. Expected: "{_cut(right)}"')
        if found := NO_BLANK_AFTER_DASH.fullmatch(lines[number]):
            yield _in_line(lines, number, f'the space after the dash is missing. Expected: "- {_cut(found["rest"])}"')
    line = lines[mark.line]
    if "mapping values" in problem and ": " in line[: mark.column]:
        value = line.partition(": ")[2]
        yield _at(mark, f'a text with ": " in it must be in quotes. {QUOTES.format(_cut(value))}')


def _in_structure(problem: str, lines: _Lines, mark: yaml.Mark) -> Iterator[UnreadableYamlError]:
    """Lines that do not belong where they are indented to, or do not end where they should."""
    above = next(lines.up_from(mark.line - 1), None)
    in_values = "mapping values" in problem
    if above is not None:
        if in_values and KEY_AND_VALUE.match(lines[above]):
            why = f"; line {above + 1} above it is complete"
            yield _in_line(lines, mark.line, _misplaced(lines, mark.line, why))
        if in_values or "':'" in problem:
            yield _in_line(lines, above, f"there is no colon after the key: {_cut(lines[above].strip())}")
    if "expected" in problem:
        if mark.column != lines.indent(mark.line):
            # A quote that is not closed in its line takes in the lines below, up to the next one.
            quote = lines[mark.line][: mark.column].rstrip()[-1:]
            for number in lines.up_from(mark.line - 1, most=mark.line):
                if quote in ("'", '"') and lines[number].count(quote) % 2:
                    yield _in_line(
                        lines, number, f"a quote opens here and is not closed: {_cut(lines[number].strip())}"
                    )
                    break
            yield _at(
                mark,
                f"the text goes on after its closing quote: {_cut(lines[mark.line][mark.column :])}. Expected: one "
                "pair of quotes around the whole text, and '' for a ' within single quotes",
            )
        yield _in_line(lines, mark.line, _misplaced(lines, mark.line, ", which fits no line above"))


def _misplaced(lines: _Lines, number: int, why: str) -> str:
    spaces = "1 space" if lines.indent(number) == 1 else f"{lines.indent(number)} spaces"
    return (
        f"the line is indented by {spaces}{why}: {_cut(lines[number].strip())}. "
        "Expected: as far to the right as the lines that it belongs with"
    )


def _at(mark: yaml.Mark, text: str) -> UnreadableYamlError:
    return UnreadableYamlError(f"is not valid YAML: {text.rstrip('.')}", mark.line + 1, mark.column + 1)


def _in_line(lines: _Lines, number: int, text: str) -> UnreadableYamlError:
    return UnreadableYamlError(f"is not valid YAML: {text.rstrip('.')}", number + 1, lines.indent(number) + 1)


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
