"""The words of entities, whatever marks them: tags, spans, marks within a text, tagged words, entities of brat."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gen_bundle.ground.tables.forms import ENDS, STARTS, start_and_end
from gen_bundle.ground.tables.values import parsed, texts_in

ENTITIES = "the entities in "
"""Before a column's name: the words that it marks, in order, with bars between them."""
TAG = re.compile(r"(?i)o|[bieslu]-.+")
MARKED = re.compile(r"<(\w{1,30})(?: [^<>]{0,200})?>([^<>]{1,500})</\1>|\[([^\[\]]{1,500})\]")
TAGGED_WORDS = re.compile(r"\S+/[A-Za-z][\w-]*(?:\s+\S+/[A-Za-z][\w-]*)+")
OUTSIDE = re.compile(r"(?i)/o(?!\S)")
OF_BRAT = re.compile(r"T[0-9]+\t\S+ [0-9][0-9; ]*\t(.*)")
LOOKED_AT = 20
LONGEST = 100_000
"""Of a text in which marks are looked for, in characters."""
Cells = Sequence[str]


def entities(columns: Mapping[str, Cells]) -> dict[str, list[str]]:
    """Return for each column that marks entities, alone or in a text beside it, the words that it marks in each row."""
    found: dict[str, list[str]] = {}
    for name, cells in {**columns, **_pairs(columns)}.items():
        some = [cell for cell in cells[:LOOKED_AT] if cell.strip()]
        if not some or len(max(some, key=len)) > LONGEST:
            continue
        if _all(some, _is_tagged):
            found[f"{ENTITIES}{name}"] = [_joined(_of_tagged_words(cell)) for cell in cells]
        elif _all(some, _places):
            found |= _beside(name, cells, columns, _cut)
        elif _all(some, _flags):
            found |= _beside(name, cells, columns, _flagged)
        elif MARKED.search("\n".join(some)) and not _all(some, parsed):
            found[f"{ENTITIES}{name}"] = [_joined(_of_marks(cell)) for cell in cells]
    return found


def _pairs(columns: Mapping[str, Cells]) -> dict[str, list[str]]:
    """Return the spans of columns such as `entities.start` and `entities.end`, as lists of places."""
    found = {}
    for name, starts in columns.items():
        inside, dot, last = name.rpartition(".")
        ends = columns.get(f"{inside}.{ENDS[STARTS.index(last)]}") if dot and last in STARTS else None
        if ends is not None:
            found[inside] = [_zipped(start, end) for start, end in zip(starts, ends, strict=True)]
    return found


def _zipped(starts: str, ends: str) -> str:
    spans = []
    for start, end in zip(re.findall("[0-9]+", starts), re.findall("[0-9]+", ends), strict=False):
        spans.append(f"[{start},{end}]")
    return f"[{','.join(spans)}]"


def of_document(text: str) -> str:
    """Return the words of the entities of a document, of brat or marked within it; empty where there are none."""
    if len(text) > LONGEST:
        return ""
    if in_brat := OF_BRAT.findall(text):
        return _joined(in_brat)
    words = _of_tagged_words(text) if _is_tagged(text) else _of_marks(text)
    return _joined(words)


def _all(cells: Cells, reads: Callable[[str], Any]) -> bool:
    return all(reads(cell) is not None for cell in cells)


def _joined(words: Sequence[str]) -> str:
    return " | ".join(" ".join(word.lower().split()) for word in words)


def _of_marks(text: str) -> list[str]:
    return [found[2] or found[3] or "" for found in MARKED.finditer(text)]


def _is_tagged(text: str) -> bool | None:
    """Return True where all words have a tag, some of them O; else None."""
    return True if TAGGED_WORDS.fullmatch(text.strip()) and OUTSIDE.search(text) else None


def _of_tagged_words(text: str) -> list[str]:
    words, flags = [], []
    for tagged in text.split():
        word, _, tag = tagged.rpartition("/")
        words.append(word)
        flags.append(tag.lower() != "o")
    return _runs(words, flags)


def _runs(words: Sequence[str], flags: Sequence[bool]) -> list[str]:
    """Return the words of entities: those that are flagged one after the other are of one."""
    found: list[str] = []
    before = False
    for word, is_entity in zip(words, flags, strict=True):
        if is_entity and before:
            found[-1] += f" {word}"
        elif is_entity:
            found.append(word)
        before = is_entity
    return found


def _flags(cell: str) -> list[bool] | None:
    """Return of each token whether it is of an entity: by its tag, or by a number that is not 0."""
    flags = []
    value = parsed(cell) if cell.startswith("[") else cell.split()
    for one in value if isinstance(value, list) else ():
        if isinstance(one, str) and TAG.fullmatch(one):
            flags.append(one.lower() != "o")
        elif type(one) is int and one >= 0:
            flags.append(one != 0)
        else:
            return None
    return flags or None


def _places(cell: str) -> list[tuple[int, int]] | None:
    """Return where the spans of a cell start and end."""
    value = parsed(cell) if cell.startswith("[") else None
    if not isinstance(value, list):
        return None
    if len(value) in (2, 3) and type(value[0]) is int:  # a list of one span is written as the span
        value = [value]
    found = []
    for span in value:
        match start_and_end(span) or span:
            case [int(start), int(end)] | [int(start), int(end), str()]:
                found.append((start, end))
            case _:
                return None
    return found


def _cut(cell: str, text: str) -> list[str] | None:
    found = []
    for start, end in sorted(_places(cell) or ()):
        if end > len(text):
            return None
        found.append(text[start:end])
    return found


def _flagged(cell: str, text: str) -> list[str] | None:
    flags, words = _flags(cell) or [], texts_in(text)
    if words == [text]:
        words = text.split()
    return _runs(words, flags) if len(flags) == len(words) else None


def _beside(
    name: str, cells: Cells, columns: Mapping[str, Cells], reads: Callable[[str, str], list[str] | None]
) -> dict[str, list[str]]:
    """Return the words that a column marks in the first other one whose texts fit; nothing where there is none."""
    for other, texts in columns.items():
        if other == name or not any(" " in text or text.startswith("[") for text in texts[:LOOKED_AT]):
            continue
        found = []
        for cell, text in zip(cells, texts, strict=True):
            words = reads(cell, text)
            if words is None:
                break
            found.append(_joined(words))
        else:
            return {f"{ENTITIES}{name}": found}
    return {}
