"""The search of one file after another for gold: whole files, columns, labels tied to ids, and texts."""

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import islice
from pathlib import PurePosixPath
from typing import Self

from gen_bundle.check.bundle import Bundle, once_a_bundle
from gen_bundle.check.leaks.columns import COVERED_BY_ANSWER, SHORTEST, Comparison, GoldTables
from gen_bundle.check.leaks.gold import LONGEST, Gold, column_digest, golds_of, table_columns
from gen_bundle.check.leaks.nested import nested_records
from gen_bundle.check.leaks.records import (
    cells,
    fingerprint,
    json_digest,
    records,
    rows,
    values,
    word_stream,
    words,
    xml_digest,
)
from gen_bundle.check.leaks.tables import table
from gen_bundle.check.leaks.ties import AGREEMENT, ENOUGH_TIES, Ties, ties_of
from gen_bundle.check.leaks.visible import Channel, Seen, visible_files
from gen_bundle.resources import resource
from gen_bundle.zips.reading import sha256_of
from gen_bundle.zips.tree import Node

BLOCK = 65_536
NAME_MARKS = "_-. "
INPUT_CHANNELS = ("public data", "input data")


@dataclass(frozen=True)
class Leak:
    """A visible file and the gold in it, in words."""

    seen: Seen
    what: str


class Search:
    """Searches one file after another; columns may be spread over several files of a folder."""

    def __init__(self, bundle: Bundle, golds: Iterable[Gold], shown: Iterable[Seen]) -> None:
        self._bundle = bundle
        self._golds = [(gold, _public_shingles(bundle, gold, shown)) for gold in golds]
        self._tables = GoldTables([one for gold, _ in self._golds for one in gold.tables])
        self._comparisons: dict[tuple[str, str], Comparison] = {}

    def with_more(self, shown: Iterable[Seen]) -> Self:
        """A new search for the same gold, with more files that participants see."""
        more = copy(self)
        more._golds = [(gold, public | _public_shingles(self._bundle, gold, shown)) for gold, public in self._golds]
        more._comparisons = {}
        return more

    def gold_in(self, seen: Seen) -> str | None:
        """The gold in a file, in words; None if there is none."""
        written = _Written(seen.node)
        found = (self._of_gold(gold, public, seen, written) for gold, public in self._golds)
        return next((what for what in found if what), None) or self._columns(seen)

    def _of_gold(self, gold: Gold, public: set[int], seen: Seen, written: "_Written") -> str | None:
        whole = _whole_file(gold, seen, written)
        # only named secrets are searched for in code, line by line
        if whole or (_is_code(seen) and not gold.named):
            return whole
        return _tied_labels(gold, seen) or _gold_text(gold, seen, public)

    def _columns(self, seen: Seen) -> str | None:
        if seen.channel == "logo" or _is_code(seen) or not self._tables.tables:
            return None
        # files of JSON in a folder are often parts of one table, whose columns have names; others may differ
        folder, _, name = seen.name.rpartition("/")
        place = (folder, "") if name.lower().endswith(".json") else (folder, name)
        comparison = self._comparisons.setdefault(place, Comparison(self._tables))
        return self._tables.secret(comparison.given_away(table(seen.node), is_answer=seen.is_answer))


def _is_code(seen: Seen) -> bool:
    return seen.name.endswith(".py")


@once_a_bundle
def found_leaks(bundle: Bundle) -> Iterator[Leak]:
    """All leaks."""
    seen_files = visible_files(bundle)
    golds = golds_of(bundle)
    if not golds:
        return
    search = Search(bundle, golds, seen_files)
    # the same file often lies in several kits and programs, and is read once
    known: dict[tuple[str, str, bool, str], str | None] = {}
    for seen in seen_files:
        key = (sha256_of(seen.node), seen.channel, seen.is_answer, seen.name.rpartition(".")[2].lower())
        if key[0] in own_files():
            continue
        if key not in known:
            known[key] = search.gold_in(seen)
        what = known[key]
        if what:
            yield Leak(seen, what)
    for listing in _listings(seen_files):
        found = next((what for gold in golds if (what := _tied_labels(gold, listing))), None)
        if found:
            yield Leak(listing, found)


def _listings(seen_files: Iterable[Seen]) -> Iterator[Seen]:
    """The names of all files of a kind, as a file of records: folders, the name, and its parts."""
    names: dict[Channel, list[str]] = {}
    first: dict[Channel, Seen] = {}
    for seen in seen_files:
        if seen.channel in (*INPUT_CHANNELS, "starting kit") and not seen.is_answer:
            *folders, name = PurePosixPath(seen.name).with_suffix("").parts
            parts = [part for mark in NAME_MARKS for part in name.split(mark)]
            names.setdefault(seen.channel, []).append("\t".join(dict.fromkeys([name, *parts, *folders])))
            first.setdefault(seen.channel, seen)
    for channel, found in names.items():
        data = "\n".join(found).encode("utf-8", "replace")
        node = Node(size=len(data), open=partial(io.BytesIO, data))
        yield replace(first[channel], name="by its file names", node=node)


@cache
def own_files() -> frozenset[str]:
    """The digests of the scoring programs' files as they come with the tool: most of a bundle, and never gold."""
    files = (path for path in resource("scoring_programs").rglob("*") if path.is_file())
    return frozenset(hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.suffix != ".pyc")


@dataclass
class _Written:
    """What a file is recognised by as a whole, however it is written: read once for all gold."""

    node: Node

    @cached_property
    def lines(self) -> tuple[str, int]:
        return fingerprint(self.node)

    @cached_property
    def values(self) -> tuple[str | None, str | None]:
        return xml_digest(self.node), json_digest(self.node)


def _whole_file(gold: Gold, seen: Seen, written: _Written) -> str | None:
    name = gold.raw.get(sha256_of(seen.node))
    if name is not None:
        return f"is the reference file {name}"
    plain, different = written.lines
    if different > 1 and plain in gold.plain:
        return f"has the same lines as the reference file {gold.plain[plain]}"
    # an example submission may well be right on a short text
    for value in () if seen.is_answer else written.values:
        name = gold.plain.get(value or "") or gold.raw.get(value or "")
        if name is not None:
            return f"is the reference file {name}, in another form"
    if gold.columns and seen.channel not in ("logo", "program"):
        try:
            for column in table_columns(seen.node):
                if column and column_digest(column) in gold.columns:
                    return f"has a column with the labels of {gold.columns[column_digest(column)]}"
        except csv.Error:
            return None
    return None


def _tied_labels(gold: Gold, seen: Seen) -> str | None:
    if not gold.labels:
        return None
    is_logo = seen.channel == "logo"
    nested, table_rows = ((), ()) if is_logo else (nested_records(seen.node), rows(seen.node))
    whole, columns = ties_of(gold, _records(seen), nested, table_rows)
    # one column of an example submission may be right by luck: here it is judged as a whole
    leaking = [ties for ties in (*whole, *([] if seen.is_answer else columns)) if _is_leak(gold, seen, ties)]
    if not leaking:
        return None
    return f"ties {max(ties.tied for ties in leaking)} of {len(gold.labels)} ids to their labels"


def _is_leak(gold: Gold, seen: Seen, ties: Ties) -> bool:
    if seen.is_answer:
        return ties.perfect and ties.several and ties.tied >= COVERED_BY_ANSWER * len(gold.labels)
    if seen.channel == "starting kit":
        return ties.perfect and ties.several
    return (ties.several and ties.nearly_perfect) or (gold.named and ties.perfect and ties.pair)


def _records(seen: Seen) -> Iterator[list[str]]:
    if seen.channel == "logo":
        return iter([cells(text) for text in _logo_texts(seen.node)])
    # a list of ids may be in a file that is named by their label
    name = PurePosixPath(seen.name).stem
    return ([*record, name] if len(record) == 1 else record for record in records(seen.node))


def _logo_texts(node: Node) -> list[str]:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(node.read(64 * 1024 * 1024))) as picture:
            exif = picture.getexif()
            found = [*picture.info.values(), *exif.values()]
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return []
    texts = [one.decode("utf-8", "replace") if isinstance(one, bytes) else one for one in found]
    return [line for text in texts if isinstance(text, str) for line in text.splitlines()]


def _words(seen: Seen) -> Iterator[str]:
    if seen.channel == "logo":
        return iter(words(" ".join(_logo_texts(seen.node))))
    return word_stream(seen.node)


def _matches(gold: Gold, stream: Iterator[str]) -> set[int]:
    """The hashes of secret word sequences that occur in a stream of words."""
    found: set[int] = set()
    kept: list[str] = []
    while block := list(islice(stream, BLOCK)):
        # the last words of a block are looked at again, together with those that follow
        block = kept + block
        for place, word in enumerate(block):
            for size in gold.starts.get(word, ()):
                code = hash(tuple(block[place : place + size]))
                if code in gold.shingles[size]:
                    found.add(code)
        kept = block[-LONGEST:]
    return found


def _public_shingles(bundle: Bundle, gold: Gold, shown: Iterable[Seen]) -> set[int]:
    """Secret word sequences that participants' input also holds, as part of longer texts: they are not secret."""
    if not gold.shingles:
        return set()
    found = _matches(gold, (word for text in (bundle.secrets.public if bundle.secrets else ()) for word in words(text)))
    for seen in shown:
        if seen.channel in INPUT_CHANNELS:
            found |= _matches(gold, word_stream(seen.node))
    return found


def _gold_text(gold: Gold, seen: Seen, public: set[int]) -> str | None:
    if not gold.shingles:
        return None
    if seen.channel in INPUT_CHANNELS:
        # if it contains no secret sequence of words, no value can be a gold text
        return _gold_value(gold, seen) if public else None
    found = _matches(gold, _words(seen)) - public
    if not found:
        return None
    if seen.is_answer:
        secret = [text for text in gold.texts if not _codes(text) & public]
        whole = sum(_codes(text) <= found for text in secret)
        if whole < max(ENOUGH_TIES, AGREEMENT * len(secret)):
            return None
    return "holds gold text"


def _codes(text: tuple[str, ...]) -> set[int]:
    size = min(len(text), LONGEST)
    return {hash(text[start : start + size]) for start in range(len(text) - size + 1)}


def _gold_value(gold: Gold, seen: Seen) -> str | None:
    """Input may hold a gold span inside its own text, but not as a value of its own."""
    texts = set(gold.texts)
    for value in values(seen.name, seen.node):
        if len(value) >= SHORTEST and tuple(value) in texts:
            return "holds gold text as a value of its own"
    return None
