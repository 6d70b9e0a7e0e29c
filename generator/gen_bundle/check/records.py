"""Reading any text file as records of cells, as values, and as words; line by line, in bounded memory."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from gen_bundle.check.tree import CHUNK, Node

MAX_JSON_BYTES = 16 * 1024 * 1024
MAX_LINE = 1024 * 1024
WORD = re.compile(r"\w+")
TAGS = re.compile(r"</?[a-zA-Z][^<>]*>")
EDGE = " \t\r\n\"'`*_<>()[]{}"


def lines(node: Node) -> Iterator[str]:
    """The lines of a text file; nothing for a binary one. Longer lines than a megabyte come in pieces."""
    if node.open is None:
        return
    with node.open() as stream:
        start = stream.read(4096)
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            yield from (start + stream.read(MAX_JSON_BYTES)).decode("utf-16", "replace").splitlines()
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


def fingerprint(node: Node) -> tuple[str, int]:
    """A digest of the file's lines, outer blanks and blank lines left out, and how many differ (to 3)."""
    state = hashlib.sha256()
    different: set[str] = set()
    for line in lines(node):
        plain = line.strip()
        if plain:
            state.update(plain.encode() + b"\n")
            if len(different) < 3:
                different.add(plain)
    return state.hexdigest(), len(different)


def cells(line: str) -> list[str]:
    """The cells of a line: at tabs, bars, commas, semicolons, tags, or else at blanks and colons."""
    line = TAGS.sub("|", line)
    for mark in ("\t", "|"):
        if mark in line:
            parts = line.split(mark)
            break
    else:
        if "," in line or ";" in line:
            parts = next(csv.reader([line], delimiter="," if "," in line else ";", strict=False), [])
        else:
            parts = re.split(r"\s*(?::|=>?|->|→)\s*|\s+", line.strip())
    return [part for part in (one.strip(EDGE) for one in parts) if part]


def records(name: str, node: Node) -> Iterator[list[str]]:
    """The records of a file as lists of cells: the objects of JSON, the lines of anything else."""
    if name.lower().endswith(".json") and node.size <= MAX_JSON_BYTES:
        try:
            value = json.loads(node.read(MAX_JSON_BYTES))
        except (ValueError, RecursionError):
            value = None
        if value is not None:
            yield from json_records(value)
            return
    for line in lines(node):
        if name.lower().endswith((".jsonl", ".ndjson")) and line.strip():
            try:
                yield from json_records(json.loads(line))
                continue
            except (ValueError, RecursionError):
                pass
        try:
            yield cells(line)
        except csv.Error:
            continue


def json_records(value: Any) -> Iterator[list[str]]:
    """One record for each object: its scalars, with the key that it stands under; one for each pair of scalars."""
    waiting: list[tuple[str | None, Any]] = [(None, value)]
    while waiting:
        key, part = waiting.pop()
        if isinstance(part, dict):
            scalars = [(str(name), _text(one)) for name, one in part.items() if not isinstance(one, (dict, list))]
            yield ([key] if key else []) + [text for _, text in scalars]
            yield from ([name, text] for name, text in scalars)
            waiting += [(str(name), one) for name, one in part.items() if isinstance(one, (dict, list))]
        elif isinstance(part, list):
            if all(not isinstance(one, (dict, list)) for one in part):
                yield [_text(one) for one in part]
            waiting += [(None, one) for one in part if isinstance(one, (dict, list))]


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).strip()


def values(name: str, node: Node) -> Iterator[list[str]]:
    """The words of every value: a record's cells, and each line as a whole and behind a leading `key:`."""
    for record in records(name, node):
        for cell in record:
            yield words(cell)
        yield words(" ".join(record))
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
        text = line
        if "\\u" in text or "\\n" in text:
            text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found.group(1), 16)), text)
            text = text.replace("\\n", " ").replace("\\t", " ")
        yield from words(text)
