"""Reading any text file as records of cells, as values, and as words; line by line, in bounded memory."""

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeVar
from xml.etree import ElementTree

from gen_bundle.zips.tree import CHUNK, Node

Record = TypeVar("Record")
MAX_JSON_BYTES = 16 * 1024 * 1024
MAX_LINE = 1024 * 1024
MAX_DEPTH = 200
WORD = re.compile(r"\w+")
DECIMAL = re.compile(r"[+-]?[0-9]+[.,]?[0-9]*(e[+-]?[0-9]{1,2})?")
TAGS = re.compile(r"</?[a-zA-Z][^<>]*>")
ATTRIBUTE = re.compile(r"""=\s*("[^"]*"|'[^']*')""")
# Where a record of HTML ends that is written in one line.
END_OF_RECORD = re.compile(r"(?i)</(?:tr|li|p|div)>|<br\s*/?>")
DECIMAL_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
JSON_STARTS = ("{", "[")
# Western texts: encoding, bytes of a character, and which of these are 0.
WIDE = (("utf-32-le", 4, (2, 3)), ("utf-32-be", 4, (0, 1)), ("utf-16-le", 2, (1,)), ("utf-16-be", 2, (0,)))
EDGE = " \t\r\n\"'`*_<>()[]{}"


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
            whole, _, tail = (rest + block).replace(b"\r", b"\n").rpartition(b"\n")
            yield from (line.decode("utf-8", "replace") for line in whole.split(b"\n"))
            rest = tail
            if len(rest) > MAX_LINE:
                yield rest.decode("utf-8", "replace")
                rest = b""
            block = stream.read(CHUNK)
            node.tick(len(block))
        if rest:
            yield rest.decode("utf-8", "replace")


def _wide_encoding(start: bytes) -> str:
    """The encoding of a text whose characters take two or four bytes, with or without a mark; empty for other files."""
    for encoding, width, zeros in WIDE:
        if any(start) and not any(any(start[place::width]) for place in zeros):
            return encoding
    return "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else ""


def fingerprint(node: Node) -> tuple[str, int]:
    """A digest of the lines without outer blanks and blank lines, and the number of different lines (up to 3)."""
    state = hashlib.sha256()
    different: set[str] = set()
    for line in lines(node):
        plain = line.strip()
        if plain:
            state.update(plain.encode() + b"\n")
            if len(different) < 3:
                different.add(plain)
    return state.hexdigest(), len(different)


def xml_digest(node: Node) -> str | None:
    """The SHA-256 of an XML file's canonical form, which does not depend on the program that wrote it.

    That is Canonical XML 2.0 (W3C) without comments and the blanks around texts. None for other files, for a lone
    element, and for files that define entities or nest elements deeper than 200.
    """
    text = read_xml(node, _Canonical()) or ""
    return hashlib.sha256(text.encode()).hexdigest() if text.count("<") > 2 else None


def read_xml(node: Node, target: Any) -> Any:
    """What `target` makes of an XML file; None for other files, and for files that define entities."""
    data = b""
    if node.size <= MAX_JSON_BYTES and b"<" in node.read(64):
        data = node.read(MAX_JSON_BYTES)
    if not data or b"<!ENTITY" in data:
        return None
    parser = ElementTree.XMLParser(target=target)  # noqa: S314 - without entities
    try:
        parser.feed(data)
        return parser.close()
    except (ElementTree.ParseError, ValueError, LookupError):
        return None


def json_digest(node: Node) -> str | None:
    """The SHA-256 of a JSON file's value, however it is written. None for other files, and for one flat list."""
    value = json_value(node)
    if value is None:
        return None
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest() if text.count("[") + text.count("{") > 1 else None


class _Canonical(ElementTree.C14NWriterTarget):
    """Writes the canonical form of XML; it would take too long on deeply nested elements."""

    depth = 0

    def __init__(self) -> None:
        self._text = io.StringIO()
        super().__init__(self._text.write, strip_text=True)

    def close(self) -> str:
        return self._text.getvalue()

    def start(self, tag: str, attrs: Mapping[str, str]) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ValueError("nested too deeply")
        super().start(tag, attrs)

    def end(self, tag: str) -> None:
        self.depth -= 1
        super().end(tag)


def cells(line: str) -> list[str]:
    """The cells of a line: at tabs, bars, commas, semicolons, tags, or else at blanks and colons."""
    if "<" in line:
        line = TAGS.sub(lambda tag: "|".join(["", *ATTRIBUTE.findall(tag[0]), ""]), line)
    line = line.rstrip(" \t\r\n,;")
    for mark in ("\t", "|"):
        if mark in line:
            parts = line.split(mark)
            break
    else:
        if "," in line or ";" in line:
            parts = next(csv.reader([line], delimiter=_separator(line, ",;"), strict=False), [])
        else:
            parts = re.split(r"\s*(?::|=>?|->|→)\s*|\s+", line.strip())
    return [part for part in (one.strip(EDGE) for one in parts) if part]


def records(node: Node) -> Iterator[list[str]]:
    """The records of a file as lists of cells: the objects of JSON, the lines of anything else."""
    value = json_value(node)
    if value is not None:
        yield from json_records(value)
        return
    yield from each_line(node, json_records, lambda row: row)


def each_line(
    node: Node, of_json: Callable[[Any], Iterator[Record]], of_cells: Callable[[list[str]], Record]
) -> Iterator[Record]:
    """The records of a text file whose lines may be JSON, or else cells; lines that csv cannot read are left out."""
    for line in lines(node):
        value = json_line(line)
        if value is not None:
            yield from of_json(value)
            continue
        for part in END_OF_RECORD.split(line) if "<" in line else (line,):
            try:
                yield of_cells(cells(part))
            except csv.Error:
                continue


def json_line(line: str) -> Any:
    """The object or list of a line in JSON; None for any other line."""
    return _parsed(line) if line.lstrip().startswith(JSON_STARTS) else None


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


def json_records(value: Any) -> Iterator[list[str]]:
    """One record for each object: its key and its scalars; and one for each of the scalars with its key."""
    waiting: list[tuple[str | None, Any]] = [(None, value)]
    while waiting:
        key, part = waiting.pop()
        if isinstance(part, dict):
            scalars = [(str(name), str(one).strip()) for name, one in part.items() if not isinstance(one, (dict, list))]
            yield ([key] if key else []) + [text for _, text in scalars]
            yield from ([name, text] for name, text in scalars)
            waiting += [(str(name), one) for name, one in part.items() if isinstance(one, (dict, list))]
        elif isinstance(part, list):
            if all(not isinstance(one, (dict, list)) for one in part):
                yield [str(one).strip() for one in part]
            waiting += [(None, one) for one in part if isinstance(one, (dict, list))]


def rows(node: Node) -> Iterator[list[str]]:
    """A table's rows, in which every column keeps its place: quoted cells may span lines, and no cell is left out.

    JSON that holds its columns one by one is read as the table that they make. Nothing for other files.
    """
    value = json_value(node)
    if value is not None:
        yield from _json_table(value)
        return
    first = next((line for line in lines(node) if line.strip()), "")
    mark = _separator(first, "\t,;|")
    if mark not in first or first.lstrip().startswith(JSON_STARTS):
        return
    row: list[str] = []
    try:
        number = 0
        for row in csv.reader((line + "\n" for line in lines(node)), delimiter=mark, skipinitialspace=True):
            yield row
            number += bool(row)
    except csv.Error:
        # a quotation mark that is never closed
        return
    if number == 1:  # a column that is written as one line
        yield from ([cell] for cell in row)


def _separator(line: str, marks: str) -> str:
    """The most frequent of some marks; a comma between digits is one only where there is no other mark."""
    others = DECIMAL_COMMA.sub("", line)
    return max(marks, key=others.count if any(mark in others for mark in marks) else line.count)


def _json_table(value: Any) -> Iterator[list[str]]:
    """The rows of [cell, …], of {"column": [cell, …]} and of {"column": {"row": cell, …}}."""
    if isinstance(value, list) and not any(isinstance(one, (dict, list)) for one in value):
        yield from ([str(one).strip()] for one in value)
    if not isinstance(value, dict):
        return
    columns = list(value.values())
    if columns and all(isinstance(column, dict) for column in columns):
        yield from ([str(column.get(key)).strip() for column in columns] for key in columns[0])
    lists = [column for column in columns if isinstance(column, list)]
    yield from ([str(cell).strip() for cell in row] for row in zip(*lists, strict=False))


def plain(cell: str) -> str:
    """A cell as it is compared: in lower case, and 28.0, 28,50 and 2.85e1 as 28, 28.5 and 28.5.

    That is how other programs, and those of other countries, write them.
    """
    cell = cell.strip().lower()
    if cell.isdigit() or not (found := DECIMAL.fullmatch(cell)):
        return cell
    cell = cell.replace(",", ".")
    if found[1]:
        cell = f"{Decimal(cell):f}"
    return cell.rstrip("0").rstrip(".") if "." in cell else cell


def values(name: str, node: Node) -> Iterator[list[str]]:
    """The words of every value: a record's cells, and each line as a whole and after a leading `key:`."""
    for record in records(node):
        for cell in record:
            yield words(cell)
        yield words(" ".join(record))
    for row in rows(node):
        for cell in row:
            yield words(cell)
    if not name.lower().endswith(".json"):
        for line in lines(node):
            yield words(line)
            yield words(line.partition(":")[2])


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return WORD.findall(text.lower())


def word_stream(node: Node) -> Iterator[str]:
    """All words of a text file in their order, across lines."""
    for line in lines(node):
        if "\\u" in line or "\\n" in line:
            line = re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found.group(1), 16)), line)
            line = line.replace("\\n", " ").replace("\\t", " ")
        yield from words(line)
