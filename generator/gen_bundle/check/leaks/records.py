"""Reading any file as tables of cells and as a stream of pieces; in bounded memory."""

import binascii
import csv
import gzip
import hashlib
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import chain, groupby, islice, zip_longest
from typing import Any
from xml.etree import ElementTree

from gen_bundle.zips.tree import CHUNK, Node

MAX_JSON_BYTES = 48 * 1024 * 1024
# Files without a regular form are searched up to here.
MAX_TEXT = 8 * 1024 * 1024
MAX_LINE = 1024 * 1024
MAX_DEPTH = 200
# Wider rows hold features rather than answers; an object of more values holds several items.
WIDEST = 200
LOOKED_AT = 50
LIST = 10
LONG = 200
FIRST_ROWS, MORE_ROWS = 2_000, 50_000
KEY = "key"  # the column of the keys under which JSON has its values
WORD = re.compile(r"\w+")
DECIMAL = re.compile(r"[+-]?[0-9]*[.,]?[0-9]+([.,]|(?<=[0-9])e[+-]?[0-9]{1,2})?")
TAGS = re.compile(r"</?[a-zA-Z][^<>]*>")
ATTRIBUTE = re.compile(r"""=\s*("[^"]*"|'[^']*')""")
END_OF_RECORD = re.compile(r"(?i)</(?:tr|li|p|div|h[1-6])>|<br\s*/?>")
DECIMAL_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
BRACKETS = re.compile(r"[\[(]([^\[\](){}]{20,})[\])]")
JSON_STARTS = ("{", "[")
# Western texts: encoding, bytes of a character, and which of these are 0.
WIDE = (("utf-32-le", 4, (2, 3)), ("utf-32-be", 4, (0, 1)), ("utf-16-le", 2, (1,)), ("utf-16-be", 2, (0,)))
PRINTABLE = re.compile(rb"[\t\n\x20-\x7e]{6,}")
ENCODED = re.compile(r"[A-Za-z0-9+/\n]{100,}={0,2}")
HEXADECIMAL = re.compile(r"[0-9a-fA-F\s]+")
EDGE = " \t\r\n\"'`*_<>()[]{}"
# Where a stream is cut: at marks, at marks and blanks, at blanks alone.
CUTS = tuple(re.compile(cut) for cut in (r"[\t,;:|=<>\[\](){}\"'`*#]+", r"[\s,;:|=<>\[\](){}\"'`*#]+", r"\s+"))


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


def lines(node: Node) -> Iterator[str]:
    """The lines of a text file; nothing for a binary one. Lines longer than a megabyte come in pieces."""
    if node.open is None:
        return
    with node.open() as stream:
        start = stream.read(4096)
        wide = _wide_encoding(start)
        if wide:
            yield from (start + stream.read(MAX_JSON_BYTES)).decode(wide, "replace").lstrip("\ufeff").splitlines()
            return
        if b"\0" in start:
            return
        rest = b""
        block = start.removeprefix(b"\xef\xbb\xbf")
        while block:
            whole, _, tail = (rest + block).replace(b"\r\n", b"\n").rpartition(b"\n")
            if whole or tail != rest + block:
                yield from whole.decode("utf-8", "replace").replace("\r", "\n").split("\n")
            rest = tail
            if len(rest) > MAX_LINE:
                yield rest.decode("utf-8", "replace")
                rest = b""
            block = stream.read(CHUNK)
            node.tick(len(block))
        if rest:
            yield from rest.decode("utf-8", "replace").replace("\r", "\n").split("\n")


def _wide_encoding(start: bytes) -> str:
    """The encoding of a text whose characters take two or four bytes, with or without a mark; empty for other files."""
    for encoding, width, zeros in WIDE:
        if any(start) and not any(any(start[place::width]) for place in zeros):
            return encoding
    return "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else ""


def is_binary(node: Node) -> bool:
    """Whether a file is no text."""
    start = node.read(4096)
    if b"\0" in start:
        return not _wide_encoding(start)
    return start.decode("utf-8", "replace").count("\ufffd") > len(start) / 10


def digests(node: Node) -> set[str]:
    """What a file is recognised by however it is written: its lines without outer blanks, its XML, its JSON."""
    state = hashlib.sha256()
    different: set[str] = set()
    for line in lines(node):
        bare = line.strip()
        if bare:
            state.update(bare.encode("utf-8", "replace") + b"\n")
            if len(different) < 3:
                different.add(bare)
    found = {state.hexdigest()} if len(different) > 1 else set()
    value = json_value(node)
    written = json.dumps(value, sort_keys=True) if value is not None else _canonical_xml(node)
    # one flat list or a lone element say too little
    if sum(map(written.count, "[{<")) > (1 if value is not None else 2):
        found.add(hashlib.sha256(written.encode()).hexdigest())
    return found


def _canonical_xml(node: Node) -> str:
    """Canonical XML 2.0 (W3C) without comments and the blanks around texts.

    Empty for other files, for those that define entities, and for elements nested deeper than 200.
    """
    data = node.read(MAX_JSON_BYTES + 1) if b"<" in node.read(64) else b""
    if not data or len(data) > MAX_JSON_BYTES or b"<!ENTITY" in data:
        return ""
    writer = _Canonical()
    parser = ElementTree.XMLParser(target=writer)  # noqa: S314 - without entities
    try:
        parser.feed(data)
        parser.close()
    except (ElementTree.ParseError, ValueError, LookupError):
        return ""
    return writer.text.getvalue()


class _Canonical(ElementTree.C14NWriterTarget):
    """Writes the canonical form of XML; it would take too long on deeply nested elements."""

    depth = 0

    def __init__(self) -> None:
        self.text = io.StringIO()
        super().__init__(self.text.write, strip_text=True)

    def start(self, tag: str, attrs: Mapping[str, str]) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ValueError("nested too deeply")
        super().start(tag, attrs)

    def end(self, tag: str) -> None:
        self.depth -= 1
        super().end(tag)


def json_value(node: Node) -> Any:
    """The value of a file that holds JSON, whatever its name; None for any other file."""
    if node.size > MAX_JSON_BYTES or not node.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        return None
    return _parsed(node.read(MAX_JSON_BYTES))


def _parsed(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


@lru_cache(maxsize=200_000)
def plain(cell: str) -> str:
    """A cell as it is compared: in lower case; 28.0, 28,50 and 2.85e1 as 28, 28.5 and 28.5; JSON without blanks.

    That is how other programs, and those of other countries, write them.
    """
    cell = cell.strip().lower()
    if cell.isdigit():
        return cell
    if cell.startswith(JSON_STARTS):
        value = _parsed(cell)
        return cell if value is None else of_value(value)
    if not DECIMAL.fullmatch(cell):
        return cell
    cell = cell.replace(",", ".")
    if "e" in cell:
        cell = f"{Decimal(cell):f}"
    cell = cell.removeprefix("+")
    return cell.rstrip("0").rstrip(".") or "0" if "." in cell else cell


def of_value(value: Any) -> str:
    """A value of JSON as it is compared; a list of one value is that value."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, (dict, list)):
        return "" if value is None else plain(str(value))
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":")).lower()
    except RecursionError:
        return ""


def number(cell: str) -> float | None:
    """The number that a cell holds, as it is compared."""
    return float(cell) if DECIMAL.fullmatch(cell) else None


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return WORD.findall(text.lower())


def rows(node: Node) -> Iterator[list[str]]:
    """A table's rows: quoted cells may span lines, and no cell is left out. Nothing for other files."""
    reader = _reader(node)
    try:
        yield from reader or ()
    except csv.Error:  # a quotation mark that is never closed
        return


def _reader(node: Node) -> Any:
    """A reader of a table's rows; None for other files."""
    first = next((line for line in lines(node) if line.strip()), "")
    mark = _separator(first, "\t,;|")
    if mark not in first or first.lstrip().startswith(JSON_STARTS) or node.open is None:
        return None
    wide = _wide_encoding(node.read(4096))
    # a line of text is read many times faster than by `lines`
    text = (line + "\n" for line in lines(node)) if wide else io.TextIOWrapper(node.open(), "utf-8-sig", "replace", "")
    return csv.reader(text, delimiter=mark, skipinitialspace=True)


def _separator(line: str, marks: str) -> str:
    """The most frequent of some marks, a tab before all; a comma between digits only where there is no other mark."""
    if "\t" in line and "\t" in marks:
        return "\t"
    others = DECIMAL_COMMA.sub("", line)
    return max(marks, key=others.count if any(mark in others for mark in marks) else line.count)


def text_of(node: Node) -> str:
    """The beginning of a text file; the texts in JSON, such as what a notebook shows, or those among other bytes.

    What is written in base64 or as hexadecimal digits is below it in plain text.
    """
    if is_binary(node):
        text = "\n".join(one.decode() for one in PRINTABLE.findall(node.read(MAX_TEXT).replace(b"\0", b"")))
    else:
        text = _plain_text(node)
    return "\n".join([text, *map(_decoded, ENCODED.findall(text))])


def _decoded(text: str) -> str:
    """The text that is written in base64 or as hexadecimal digits, also compressed; empty for any other."""
    try:
        data = binascii.unhexlify(text) if HEXADECIMAL.fullmatch(text) else binascii.a2b_base64(text, strict_mode=False)
        if data.startswith(b"\x1f\x8b"):
            data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(MAX_TEXT)
        return data.decode()
    except (ValueError, EOFError, OSError, zlib.error):
        return ""


def _plain_text(node: Node) -> str:
    value = json_value(node)
    if value is None:
        taken: list[str] = []
        size = 0
        for line in lines(node):
            taken.append(line)
            size += len(line) + 1
            if size > MAX_TEXT:
                break
        return "\n".join(taken)
    return "\n".join(_documents(value))[:MAX_TEXT]


def _documents(value: Any) -> Iterator[str]:
    """The texts in JSON that may be tables or pages themselves."""
    return (text for text in _texts_in(value) if "\n" in text or "<" in text or len(text) > LONG)


def _texts_in(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += list(part.values())[::-1]
        elif isinstance(part, list):
            # notebooks keep a text as the list of its lines
            if part and all(isinstance(one, str) and one.endswith("\n") for one in part[:-1]) and len(part) > 1:
                waiting.append("".join(map(str, part)))
            else:
                waiting += part[::-1]
        elif isinstance(part, str):
            yield part


def portions(node: Node) -> Iterator[str]:
    """The whole text of a file, of JSON that of its values, in portions of some megabytes."""
    value = json_value(node)
    texts = _texts_in(value) if value is not None else lines(node)
    if is_binary(node):
        texts = iter([text_of(node)])
    while taken := list(islice(texts, MORE_ROWS)):
        yield "\n".join(taken)


def blocks(node: Node) -> Iterator[Block]:
    """All tables in a file: of JSON, of lines of JSON, of cells with a separator; else whatever looks like one."""
    value = json_value(node)
    if value is not None:
        tables: dict[str, list[dict[str, str]]] = {}
        yield from _collect(value, tables)
        for kind, found in tables.items():
            yield _of_objects(kind, found, range(1, len(found) + 1))
        if next(_documents(value), None) is not None:
            yield from text_blocks(text_of(node))
        return
    if next((line for line in lines(node) if line.strip()), "").lstrip().startswith(JSON_STARTS):
        yield from _json_lines(node)
        return
    if is_binary(node):
        yield from text_blocks(text_of(node))
        return
    if is_table(node):
        yield from _table_blocks(node)
    else:
        yield from text_blocks(text_of(node))


def is_table(node: Node) -> bool:
    """Whether the first rows of a file have the same number of cells."""
    sizes = Counter(len(row) for row in islice(rows(node), LOOKED_AT) if row)
    ((_, most),) = sizes.most_common(1) or [(0, 0)]
    return most > 1 and most >= 0.9 * sizes.total()


def _table_blocks(node: Node) -> Iterator[Block]:
    reader = _reader(node)
    last, size = 0, FIRST_ROWS
    while taken := _some(reader, size):
        columns = islice(zip_longest(*taken, fillvalue=""), WIDEST)
        is_a_row_a_line = reader.line_num - last == len(taken)
        places = range(last + 1, last + 1 + len(taken)) if is_a_row_a_line else [last + 1] * len(taken)
        yield Block("table", {str(place): column for place, column in enumerate(columns)}, places)
        last, size = reader.line_num, MORE_ROWS


def _some(reader: Any, size: int) -> list[list[str]]:
    """The next rows that are not empty, up to one that csv cannot read."""
    taken: list[list[str]] = []
    try:
        taken.extend(islice(filter(None, reader), size))
    except csv.Error:
        return taken
    return taken


def _json_lines(node: Node) -> Iterator[Block]:
    numbered = enumerate(lines(node), start=1)
    taken = list(islice(numbered, FIRST_ROWS))
    while taken:
        tables: dict[str, list[dict[str, str]]] = {}
        places: list[int] = []
        others: list[str] = []
        for place, line in taken:
            value = _parsed(line) if line.lstrip().startswith(JSON_STARTS) else None
            if isinstance(value, (dict, list)):
                row = value if isinstance(value, dict) else {str(n): one for n, one in enumerate(value)}
                yield from _collect(row, tables)
                places.append(place)
            else:
                others.append(line)
        for kind, found in tables.items():
            yield _of_objects(kind, found, places if len(found) == len(places) else range(1, len(found) + 1))
        if others:
            yield from text_blocks("\n".join(others))
        taken = list(islice(numbered, MORE_ROWS))


def _of_objects(kind: str, found: list[dict[str, str]], places: Sequence[int]) -> Block:
    names = list(dict.fromkeys(chain.from_iterable(found)))[:WIDEST]
    return Block(kind, {name: [row.get(name, "") for row in found] for name in names}, places)


def _collect(value: Any, tables: dict[str, list[dict[str, str]]]) -> Iterator[Block]:
    """Note the objects of a JSON value as rows, by where they are, each with the values around it; yield long lists."""
    waiting: list[tuple[str, Any, dict[str, str], int]] = [("", value, {}, 0)]
    while waiting:
        path, part, around, depth = waiting.pop()
        if depth > MAX_DEPTH:
            continue
        if isinstance(part, list):
            single = [of_value(one) for one in part if not isinstance(one, (dict, list))]
            outer = _outer(around)
            if len(single) > WIDEST:
                alike = {name: [cell] * len(single) for name, cell in outer.items()}
                yield Block(f"{path}[]", {**alike, "": single}, range(1, len(single) + 1))
            elif single:  # {"label": ["id", …]}
                tables.setdefault(path + "[]", []).extend({**outer, "": one} for one in single)
            inner = [one for one in part if isinstance(one, (dict, list))]
            if len(inner) > 2 and all(map(_is_row, inner)):
                columns = enumerate(zip_longest(*inner, fillvalue=""))
                named = {str(place): list(map(of_value, cells)) for place, cells in columns}
                yield Block(f"{path}[,]", named, range(1, len(inner) + 1))
                continue
            waiting += [(path + "[]", one, around, depth + 1) for one in reversed(inner)]
        elif isinstance(part, dict):
            own = _flat(part)
            if own:
                tables.setdefault(path, []).append({**_outer(around), **own})
            _collect_mapping(path, part, tables)
            scalars = {name: of_value(one) for name, one in part.items() if not isinstance(one, (dict, list))}
            known = {**around, **dict(islice(scalars.items(), 20))}
            many = len(part) > 1 and all(isinstance(one, (dict, list)) for one in part.values())
            for name, one in reversed(part.items()):
                if isinstance(one, (dict, list)):
                    place = f"{path}{{}}" if many else f"{path}.{name}"
                    waiting.append((place, one, {**known, KEY: plain(str(name))}, depth + 1))


def _is_row(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= WIDEST and not any(isinstance(one, (dict, list)) for one in value)


def _outer(around: Mapping[str, str]) -> dict[str, str]:
    """The values around an object, under names that its own do not have."""
    return {name if name == KEY else f"^{name}": cell for name, cell in around.items()}


def _collect_mapping(path: str, part: dict[str, Any], tables: dict[str, list[dict[str, str]]]) -> None:
    """Note {"id": "label", …}, {"column": ["cell", …], …} and {"column": {"row": "cell", …}, …}."""
    values = list(part.values())
    if len(values) > 2:
        pairs = [{KEY: plain(str(name)), "": of_value(one)} for name, one in part.items() if not isinstance(one, dict)]
        tables.setdefault(path + "{:}", []).extend(pairs)
    if len(values) > 1 and all(isinstance(one, dict) and len(one) == len(values[0]) > 2 for one in values):
        values = [list(one.values()) for one in values]
    lists = {name: one for name, one in zip(part, values, strict=True) if isinstance(one, list)}
    sizes = {len(one) for one in lists.values()}
    if len(lists) > 1 and len(sizes) == 1 and max(sizes) > 2:
        columns = [[of_value(cell) for cell in column] for column in lists.values()]
        names = [str(name) for name in lists]
        found = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
        tables.setdefault(path + "|", []).extend(found)


def _flat(value: dict[str, Any]) -> dict[str, str] | None:
    """All values in an object, by their path; None where there are too many for one item."""
    found: dict[str, list[Any]] = {}
    waiting: list[tuple[str, Any]] = [("", value)]
    count = 0
    while waiting:
        path, part = waiting.pop()
        if isinstance(part, dict):
            waiting += [(f"{path}.{name}" if path else str(name), one) for name, one in reversed(part.items())]
        elif isinstance(part, list) and any(isinstance(one, dict) for one in part):
            waiting += [(path, one) for one in reversed(part)]
        else:
            found.setdefault(path, []).append(part)
        count += 1
        if count + len(waiting) > WIDEST:
            return None
    return {path: of_value(cells) for path, cells in found.items()}


def text_blocks(text: str) -> Iterator[Block]:
    """What looks like a table in a text without a regular form: lines of as many cells, and long lists."""
    for width, run in groupby(enumerate(_bare(text).split("\n"), start=1), key=lambda line: len(cells(line[1]))):
        taken = list(run) if width else []
        if len(taken) > 2 and width <= WIDEST:
            columns = zip(*(cells(line) for _, line in taken), strict=True)
            yield Block(f"cells {width}", {str(n): column for n, column in enumerate(columns)}, [n for n, _ in taken])
        elif width >= LIST:
            for place, line in taken:
                yield Block(f"line {place}", {"": cells(line)}, [place] * width)
    for place, found in enumerate(BRACKETS.finditer(text)):
        parts = [part.strip(EDGE) for part in re.split(r"[,;\s]+" if "," not in found[1] else r",", found[1])]
        if len(parts) >= LIST:
            parts = [part for part in parts if part]
            start = text.count("\n", 0, found.start()) + 1
            yield Block(f"list {place}", {"": parts}, [start] * len(parts))


def _bare(text: str) -> str:
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
    mark = next((mark for mark in ("\t", "|") if mark in line), "")
    if mark:
        parts = line.split(mark)
    elif "," in line or ";" in line:
        try:
            parts = next(csv.reader([line], delimiter=_separator(line, ",;"), strict=False), [])
        except csv.Error:
            parts = []
    else:
        parts = re.split(r"\s*(?::|=>?|->|→)\s*|\s+", line.strip())
    return tuple(part for part in (one.strip(EDGE) for one in parts) if part)


def streams(text: str) -> Iterator[list[tuple[int, str]]]:
    """The pieces of a text in their order, each with its line, cut in several ways."""
    bare = _bare(text[:MAX_TEXT]).split("\n")
    for cut in CUTS:
        yield [
            (place, plain(piece))
            for place, line in enumerate(bare, start=1)
            for piece in (part.strip(EDGE + ".!?") for part in cut.split(line))
            if piece and len(piece) < 100
        ]
