"""All tables in any file, and its texts, in bounded memory and without an error."""

import csv
import io
import itertools
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby, islice, zip_longest
from typing import IO, Any, TypeVar

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.tables import conll, json_records, webanno
from gen_bundle.ground.tables.entities import ENTITIES, entities, of_document
from gen_bundle.ground.tables.text_file import TextFile
from gen_bundle.ground.tables.values import JSON_STARTS, NESTED, of_value, of_values, parsed, plain
from gen_bundle.ground.zips.tree import CHUNK, Node
from scoring_kit.base.submissions import allow_long_cells

T = TypeVar("T")
MAX_JSON_BYTES = 48 * 1024 * 1024
MOST_IN_MEMORY = 128 * 1024 * 1024
# Files without a regular form are searched up to here.
MAX_TEXT = 8 * 1024 * 1024
MAX_LINE = 1024 * 1024
AT_ONCE = 64 * 1024  # characters
MAX_DEPTH = 200
# Wider rows hold features rather than answers; an object of more values holds several items.
WIDEST = 200
LOOKED_AT = 50
LIST, LONGEST_LIST = 10, 10_000
LONG = 200
LONG_IN_JSON = re.compile(rb'"[^"]{%d}' % LONG)
FIRST_ROWS, MORE_ROWS = 2_000, 10_000  # a processor's cache holds no more
MOST_LINES = 50_000
TABLE = "table"
KEY = "key"  # the column of the keys under which JSON has its values
TAGS = re.compile(r"</?[a-zA-Z][^<>]*>")
ATTRIBUTE = re.compile(r"""=\s*("[^"]*"|'[^']*')""")
END_OF_RECORD = re.compile(r"(?i)</(?:tr|li|p|div|h[1-6])>|<br\s*/?>")
DECIMAL_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
BRACKETS = re.compile(r"[\[(]([^\[\](){}]{20,})[\])]")
# Western texts: encoding, bytes of a character, and the first and last of these that are 0.
WIDE = (("utf-32-le", 4, 2, 3), ("utf-32-be", 4, 0, 1), ("utf-16-le", 2, 1, 1), ("utf-16-be", 2, 0, 0))
PRINTABLE = re.compile(rb"[\t\n\x20-\x7e]{6,}")
EDGE = " \t\r\n\"'`*_<>()[]{}"


@dataclass
class Block:
    """Some rows of a table.

    Attributes:
        kind: the same for all blocks of a file that belong to one table.
        columns: the cells of each column, as they are in the file.
        lines: the line, or the number, of each row.
    """

    kind: str
    columns: Mapping[str, Sequence[str]]
    lines: Sequence[int]

    def turned(self) -> "Block":
        """Return its columns as rows."""
        rows = zip(*self.columns.values(), strict=True)
        return Block(f"{self.kind} turned", numbered(rows), [self.lines[0]] * len(self.columns))


@contextmanager
def in_memory(node: Node) -> Iterator[None]:
    """Read a file once for all that is asked of it within the block, unless it is very large."""
    before = node.open
    data = node.read(MOST_IN_MEMORY + 1) if node.size <= MOST_IN_MEMORY else b""
    if data and len(data) <= MOST_IN_MEMORY:
        node.open = lambda: io.BytesIO(data)
    try:
        yield
    finally:
        node.open = before


def lines(node: Node) -> Iterator[str]:
    """The lines of a text file; nothing for a binary one. Lines longer than a megabyte come in pieces."""
    return chain.from_iterable(_some_lines(node))


def _some_lines(node: Node) -> Iterator[list[str]]:
    """The lines of a text file, some at a time: asking for one after the other takes three times as long."""
    encoding = encoding_of(node)
    if node.open is None or not encoding:
        return
    rest = ""
    with io.TextIOWrapper(node.open(), encoding, "replace") as text:
        while some := text.read(AT_ONCE):
            *whole, rest = (rest + some).split("\n")
            yield whole
            if len(rest) >= MAX_LINE:
                yield [rest]
                rest = ""
    if rest:
        yield [rest]


def encoding_of(node: Node) -> str:
    """The encoding of a text file, with or without a byte order mark; empty for a binary one."""
    start = node.read(4096)
    if b"\0" not in start and not start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-8-sig"
    if start.startswith((BOM_UTF32_LE, BOM_UTF32_BE)):
        return "utf-32"
    for encoding, width, first, last in WIDE:
        if any(start) and not any(start[first::width]) and not any(start[last::width]):
            return encoding
    if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    return ""


def is_binary(node: Node) -> bool:
    """Whether a file is no text."""
    encoding = encoding_of(node)
    if encoding != "utf-8-sig":
        return not encoding
    start = node.read(4096)
    return start.decode("utf-8", "replace").count("\ufffd") > len(start) / 10


def count_lines(node: Node) -> int:
    """About how many lines a file has."""
    if node.open is None:
        return 0
    found = 0
    with node.open() as stream:
        while chunk := stream.read(CHUNK):
            found += chunk.count(b"\n")
    return found


def json_value(node: Node) -> Any:
    """The value of a file that holds JSON, whatever its name; None for any other file."""
    if node.size > MAX_JSON_BYTES or not node.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        return None
    return _value_of(node.read(MAX_JSON_BYTES))


# The value of the last file is kept: it is asked for several times, and never changed.
_value_of = lru_cache(maxsize=1)(parsed)


def rows(node: Node) -> Iterator[list[str]]:
    """A table's rows: quoted cells may span lines, and no cell is left out. Nothing for other files."""
    with suppress(csv.Error):  # a quotation mark that is never closed
        yield from _reader(node) or ()


def first_line(node: Node) -> str:
    """The first line of a text that is not blank; empty for other files."""
    return next((line for line in lines(node) if line.strip()), "")


def _reader(node: Node) -> Any:
    """A reader of a table's rows; None for other files."""
    first = first_line(node)
    mark = _separator(first, "\t,;|")
    if mark not in first or first.lstrip().startswith(JSON_STARTS) or node.open is None:
        return None
    allow_long_cells()
    text = chain.from_iterable(_text_lines(node.open, encoding_of(node)))
    return csv.reader(text, delimiter=mark, skipinitialspace=True)


def _text_lines(opens: Callable[[], IO[bytes]], encoding: str) -> Iterator[list[str]]:
    """The lines of a text with their ends, some at a time, which is faster than by `lines`."""
    with io.TextIOWrapper(opens(), encoding, "replace", "") as text:
        while some := text.readlines(CHUNK):
            yield some


def _separator(line: str, marks: str) -> str:
    """The most frequent of some marks, a tab before all; a comma between digits only where there is no other mark."""
    if "\t" in line and "\t" in marks:
        return "\t"
    others = DECIMAL_COMMA.sub("", line)
    counted = line if set(marks).isdisjoint(others) else others
    return max(marks, key=counted.count)


def text_of(node: Node) -> str:
    """The beginning of a text file; the texts in JSON, such as what a notebook shows, or those among other bytes."""
    value = json_value(node)
    if is_binary(node):
        text = b"\n".join(PRINTABLE.findall(node.read(MAX_TEXT).replace(b"\0", b""))).decode()
    elif value is not None:
        text = "\n".join(_documents(value))[:MAX_TEXT] if _has_documents(node, value) else ""
    else:
        taken: list[str] = []
        size = 0
        for line in lines(node):
            taken.append(line)
            size += len(line) + 1
            if size > MAX_TEXT:
                break
        text = "\n".join(taken)
    return text


def _has_documents(node: Node, value: Any) -> bool:
    """Whether there is such a text; often the bytes alone say that there is none."""
    data = node.read(MAX_JSON_BYTES)
    may_be = b"\\" in data or b"<" in data or LONG_IN_JSON.search(b'"' + data)
    return bool(may_be) and next(_documents(value), None) is not None


def _documents(value: Any) -> Iterator[str]:
    """The texts in JSON that may be tables or pages themselves."""
    for text in _texts_in(value):
        if "\n" in text or "<" in text or len(text) > LONG:
            yield text


def _texts_in(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += list(part.values())[::-1]
        elif isinstance(part, list):
            # notebooks keep a text as the list of its lines
            if len(part) > 1 and all(isinstance(one, str) and one.endswith("\n") for one in part[:-1]):
                waiting.append("".join(str(one) for one in part))
            else:
                waiting += part[::-1]
        elif isinstance(part, str):
            yield part


def portions(node: Node) -> Iterator[str]:
    """The whole text of a file, of JSON that of its values, in portions of some megabytes."""
    value = json_value(node)
    if is_binary(node):
        texts = iter([text_of(node)])
    elif value is not None:
        texts = _texts_in(value)
    else:
        texts = lines(node)
    while taken := list(islice(texts, MOST_LINES)):
        yield "\n".join(taken)


def blocks(node: Node) -> Iterator[Block]:
    """Yield all tables in a file, with the words of the entities that their columns mark."""
    for block in itertools.chain(_exported(node), _blocks(node)):
        if block.kind == TABLE and block.lines[0] == 1:  # its first row has the columns' names
            below = {name: cells[1:] for name, cells in block.columns.items()}
            for name, cells in entities(below).items():
                above = block.columns.get(name.removeprefix(ENTITIES), [""])
                title = above[0].strip()
                block.columns = {**block.columns, name: [f"{ENTITIES}{title}", *cells]}
        else:
            block.columns = {**block.columns, **entities(block.columns)}
        yield block


def _exported(node: Node) -> Iterator[Block]:
    """Yield what annotation tools and CoNLL write, and a document whose entities are marked within it."""
    start = node.read(4096)
    if node.size > MAX_TEXT or is_binary(node):
        return
    text = node.read(MAX_TEXT).decode(encoding_of(node), "replace")
    if b'"annotations"' in start or b'"_input_hash"' in start or b"B-" in start or start[:1] == b"#":
        file = TextFile("file", "", text)
        for read in (json_records.read_json, webanno.read_tokens, conll.read_tagged_tokens):
            with suppress(UserError):
                if table := read(file):
                    columns = {name: of_values(values) for name, values in table.columns.items()}
                    yield Block(f"table of {read.__name__}", columns, table.numbers)
                    return
    if not start.lstrip().startswith((b"{", b"[")) and (words := of_document(text)):
        yield Block("document", {f"{ENTITIES}it": [words]}, [1])


def _blocks(node: Node) -> Iterator[Block]:
    """Yield the tables of JSON, of lines of JSON, of cells with a separator; else whatever looks like one."""
    value = json_value(node)
    if value is not None:
        found = JsonTables()
        yield from found.add(value)
        yield from found.blocks()
        if _has_documents(node, value):
            yield from text_blocks(text_of(node))
    elif first_line(node).lstrip().startswith(JSON_STARTS):
        yield from _json_lines(node)
    elif not is_binary(node) and is_table(node):
        reader = _reader(node)
        last, size = 0, FIRST_ROWS
        while taken := _some(reader, size):
            columns = islice(zip_longest(*taken, fillvalue=""), WIDEST)
            is_a_row_a_line = reader.line_num - last == len(taken)
            places = range(last + 1, last + 1 + len(taken)) if is_a_row_a_line else [last + 1] * len(taken)
            yield Block(TABLE, numbered(columns), places)
            last, size = reader.line_num, MORE_ROWS
    else:
        yield from text_blocks(text_of(node))


def is_table(node: Node) -> bool:
    """Whether the first rows of a file have the same number of cells."""
    sizes = Counter(len(row) for row in islice(rows(node), LOOKED_AT) if row)
    ((_, most),) = sizes.most_common(1) or [(0, 0)]
    return most > 1 and most >= 0.9 * sizes.total()


def numbered(values: Iterable[T]) -> dict[str, T]:
    """Values, such as columns, by their places from 0."""
    return {str(place): value for place, value in enumerate(values)}


def _some(reader: Any, size: int) -> list[list[str]]:
    """The next rows that are not empty, up to one that csv cannot read."""
    taken: list[list[str]] = []
    with suppress(csv.Error):
        taken.extend(islice(filter(None, reader), size))
    return taken


def _json_lines(node: Node) -> Iterator[Block]:
    waiting = enumerate(lines(node), start=1)
    taken = list(islice(waiting, FIRST_ROWS))
    while taken:
        tables = JsonTables()
        places: list[int] = []
        others: list[str] = []
        for place, line in taken:
            value = parsed(line)
            if isinstance(value, list):
                value = numbered(value)
            if isinstance(value, dict):
                yield from tables.add(value)
                places.append(place)
            else:
                others.append(line)
        yield from tables.blocks(places)
        if others:
            yield from text_blocks("\n".join(others))
        taken = list(islice(waiting, MORE_ROWS))


class JsonTables:
    """The objects of JSON values as rows, by where they are, each with the values around it."""

    def __init__(self) -> None:
        self._rows: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
        self._waiting: list[tuple[str, Any, dict[str, str], int]] = []

    def blocks(self, places: Sequence[int] = ()) -> Iterator[Block]:
        """The tables; `places` are the lines of rows, where a table has one for each of these lines."""
        for kind, found in self._rows.items():
            names = list(dict.fromkeys(chain.from_iterable(found)))[:WIDEST]
            columns: dict[str, list[str]] = {}
            for name in names:
                columns[name] = [row.get(name, "") for row in found]
            is_a_row_a_line = len(found) == len(places)
            lines_of_rows = places if is_a_row_a_line else range(1, len(found) + 1)
            yield Block(kind, columns, lines_of_rows)

    def add(self, value: Any) -> Iterator[Block]:
        """Note a value; long lists in it are tables of their own."""
        self._waiting = [("", value, {}, 0)]
        while self._waiting:
            path, part, around, depth = self._waiting.pop()
            if depth > MAX_DEPTH:
                continue
            if isinstance(part, list):
                yield from self._add_list(path, part, around, depth + 1)
            elif isinstance(part, dict):
                self._add_object(path, part, around, depth + 1)

    def _add_list(self, path: str, part: list[Any], around: dict[str, str], depth: int) -> Iterator[Block]:
        inner, others = [], []
        for one in part:
            if type(one) in NESTED:
                inner.append(one)
            else:
                others.append(one)
        single = of_values(others)
        outer = _outer(around)
        if len(single) > WIDEST:
            columns = {name: [cell] * len(single) for name, cell in outer.items()} | {"": single}
            yield Block(f"{path}[]", columns, range(1, len(single) + 1))
        else:  # {"label": ["id", …]}
            for value in single:
                self._rows[path + "[]"].append({**outer, "": value})
        if len(inner) > 2 and _are_rows(inner):
            columns = numbered(of_values(column) for column in zip_longest(*inner, fillvalue=""))
            yield Block(f"{path}[,]", columns, range(1, len(inner) + 1))
            return
        for one in reversed(inner):
            self._waiting.append((path + "[]", one, around, depth))

    def _add_object(self, path: str, part: dict[str, Any], around: dict[str, str], depth: int) -> None:
        own = _flat(part)
        if own:
            self._rows[path].append({**_outer(around), **own})
        if len(part) > 2:  # {"id": "label", …}
            pairs = self._rows[path + "{:}"]
            for name, one in part.items():
                is_long = isinstance(one, list) and len(one) > LONGEST_LIST  # a table of its own, and no label
                if not (is_long or isinstance(one, dict)):
                    pairs.append({KEY: plain(str(name)), "": of_value(one)})
        self._add_columns(path, part)
        scalars: dict[str, str] = {}
        inner: dict[str, Any] = {}
        for name, one in part.items():
            if type(one) in NESTED:
                inner[name] = one
            elif len(scalars) < 20:
                scalars[name] = of_value(one)
        many = len(inner) == len(part) > 1
        for name, one in reversed(inner.items()):
            place = f"{path}{{}}" if many else f"{path}.{name}"
            self._waiting.append((place, one, {**around, **scalars, KEY: plain(str(name))}, depth))

    def _add_columns(self, path: str, part: dict[str, Any]) -> None:
        """Note {"column": ["cell", …], …} and {"column": {"row": "cell", …}, …}."""
        are_objects = len(part) > 1 and all(isinstance(one, dict) for one in part.values())
        columns: dict[str, list[Any]] = {}
        for name, one in part.items():
            if isinstance(one, list):
                columns[str(name)] = one
            elif are_objects:
                columns[str(name)] = list(one.values())
        sizes = {len(column) for column in columns.values()}
        if len(columns) > 1 and len(sizes) == 1 and max(sizes) > 2:
            for row in zip(*columns.values(), strict=True):
                self._rows[path + "|"].append(dict(zip(columns, of_values(row), strict=True)))


def _are_rows(values: Sequence[Any]) -> bool:
    """Whether all values are lists of a few cells each."""
    if not values:
        return False
    for value in values:
        if type(value) is not list or len(value) > WIDEST or any(type(one) in NESTED for one in value):
            return False
    return True


def _outer(around: Mapping[str, str]) -> dict[str, str]:
    """The values around an object, under names that its own do not have."""
    return {name if name == KEY else f"^{name}": cell for name, cell in around.items()}


def _flat(value: dict[str, Any]) -> dict[str, str] | None:
    """All values in an object, by their path; None where there are too many for one item."""
    found: dict[str, list[Any]] = {}
    waiting: list[tuple[str, Any]] = [("", value)]
    seen = 1
    while waiting:
        path, part = waiting.pop()
        kind = type(part)
        if kind is dict:
            seen += len(part)
            above = f"{path}." if path else ""
            for name in reversed(part):
                waiting.append((above + str(name), part[name]))
        elif kind is list and len(part) > WIDEST:
            return None
        elif kind is list and any(type(one) is dict for one in part):
            seen += len(part)
            for one in reversed(part):
                waiting.append((path, one))
        elif path in found:
            found[path].append(part)
        else:
            found[path] = [part]
        if seen > WIDEST:
            return None
    return {name: of_value(value) for name, value in found.items()}


def text_blocks(text: str) -> Iterator[Block]:
    """Yield what looks like a table in a text without a regular form: lines of as many cells, and long lists."""
    split = ((place, cells(line)) for place, line in enumerate(without_tags(text).split("\n"), start=1))
    for width, run in groupby(split, key=lambda one: len(one[1])):
        if not width:
            continue
        places, rows = zip(*run, strict=True)
        if len(rows) > 2 and width <= WIDEST:
            yield Block(f"cells {width}", numbered(zip(*rows, strict=True)), places)
        elif width >= LIST:
            for place, row in zip(places, rows, strict=True):
                yield Block(f"line {place}", {"": row}, [place] * width)
    for place, found in enumerate(BRACKETS.finditer(text)):
        cut = r"," if "," in found[1] else r"[,;\s]+"
        parts = [part.strip(EDGE) for part in re.split(cut, found[1])]
        if len(parts) >= LIST:
            parts = [part for part in parts if part]
            start = text.count("\n", 0, found.start()) + 1
            yield Block(f"list {place}", {"": parts}, [start] * len(parts))


def without_tags(text: str) -> str:
    """A text without HTML's tags: rows of tables, and what is in a paragraph, come to a line each."""
    if "</" not in text and "/>" not in text:
        return text
    if "</tr>" in text:
        text = re.sub(r"(?is)<tr.*?</tr>", lambda row: row[0].replace("\n", " "), text)
    text = END_OF_RECORD.sub("\n", text)
    return TAGS.sub(lambda tag: "|".join(["", *ATTRIBUTE.findall(tag[0]), ""]), text)


@lru_cache(maxsize=10_000)
def cells(line: str) -> tuple[str, ...]:
    """The cells of a line: at tabs, bars, commas, semicolons, or else at blanks and colons."""
    line = line.rstrip(" \t\r\n,;")
    if "\t" in line:
        parts = line.split("\t")
    elif "|" in line:
        parts = line.split("|")
    elif "," in line or ";" in line:
        allow_long_cells()
        try:
            parts = next(csv.reader([line], delimiter=_separator(line, ",;"), strict=False), [])
        except csv.Error:
            parts = []
    else:
        parts = re.split(r"\s*(?::|=>?|->|→)\s*|\s+", line.strip())
    return tuple(bare for part in parts if (bare := part.strip(EDGE)))
