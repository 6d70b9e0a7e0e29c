"""What is secret in a bundle: as its maker names it, or as its reference data show it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from gen_bundle.check.leaks.records import cells, fingerprint, lines, plain, records, words, xml_digest
from gen_bundle.check.leaks.records import rows as table_rows
from gen_bundle.zips.reading import digest
from gen_bundle.zips.tree import Node

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

# Names of files that say what they are.
LABELS_NAME = re.compile(r"(?i)truth|gold|label|reference|\bref\b|answer|solution|target|key|y_|_y\b|qrel|score|annot")
INPUT_NAME = re.compile(r"(?i)input|item|text|source|question|image|features|x_|_x\b|sentence|doc|data|corpus")
JUNK_NAME = re.compile(r"(?i)(^|/)(readme[^/]*|license[^/]*|metadata[^/]*|\.[^/]*|__init__\.py)$|^__MACOSX/")
LABEL_COLUMN = re.compile(
    r"(?i)(.*[_ -])?(labels?|class|gold|targets?|truth|answers?|y|scores?|categor(y|ies)|sentiment|stance|relevance"
    r"|grade)([_ -].*)?"
)
ID_COLUMN = re.compile(r"(?i)(.*[_ -])?(id|ids|index|uid|key|name|file|filename|item|doc|document)")
SHA256 = re.compile(r"[0-9a-f]{64}")
MAX_ROWS = 200_000
MAX_SHINGLES = 300_000
SHORTEST, LONGEST = 4, 8
MIN_SEQUENCE = 3
MIN_DOCUMENTS = 3
MAX_COLUMNS = 50


@dataclass
class Gold:
    """What must not be found.

    Attributes:
        raw: SHA-256 of secret files, or of their XML in canonical form, with their names.
        plain: digests of the lines of secret files (see `fingerprint`), and of their XML (see `xml_digest`).
        columns: digests of secret columns of labels, with their file's name.
        labels: gold labels of each id, both as they are compared (see `plain`).
        vocabulary: all labels.
        shingles: hashes of secret word sequences, by their number of words.
        starts: the sizes of the sequences that start with a word.
        texts: the words of each secret text.
        named: whether the maker named the secrets (then nothing was guessed).
    """

    raw: dict[str, str] = field(default_factory=dict)
    plain: dict[str, str] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    labels: dict[str, set[str]] = field(default_factory=dict)
    vocabulary: set[str] = field(default_factory=set)
    shingles: dict[int, set[int]] = field(default_factory=dict)
    starts: dict[str, set[int]] = field(default_factory=dict)
    texts: list[tuple[str, ...]] = field(default_factory=list)
    named: bool = False

    def add_pair(self, item: str, label: str) -> None:
        """Note that an item has a label."""
        self.labels.setdefault(plain(item), set()).add(plain(label))
        self.vocabulary.add(plain(label))

    def add_text(self, text: str) -> None:
        """Note a secret text; texts of less than four words say too little."""
        found = tuple(words(text))
        if len(found) < SHORTEST:
            return
        self.texts.append(found)
        size = min(len(found), LONGEST)
        kept = self.shingles.setdefault(size, set())
        for start in range(len(found) - size + 1):
            if len(kept) < MAX_SHINGLES:
                kept.add(hash(found[start : start + size]))
                self.starts.setdefault(found[start], set()).add(size)


def sha256_of(bundle: Bundle, node: Node) -> str:
    """The SHA-256 of a file, computed once."""
    if node.sha256 is None:
        if node.open is None:
            return ""
        with node.open() as stream:
            node.sha256 = digest(stream, bundle.tick)
    return node.sha256


def gold_of(bundle: Bundle, shown: Iterable[Node]) -> Gold:
    """The secrets of a bundle, given the files that participants see."""
    gold = Gold(named=bundle.secrets is not None)
    if bundle.secrets is not None:
        for text in bundle.secrets.texts:
            gold.add_text(text)
        for item, label in bundle.secrets.labels:
            gold.add_pair(item, label)
        # also files that are not in this bundle: the gold of other tasks
        gold.raw |= {file: "of another task" for file in bundle.secrets.files if SHA256.fullmatch(file)}
    held = _held_by_participants(bundle)
    if bundle.secrets is None:
        held |= _standoff_inputs(bundle, shown)
    for name, node in reference_files(bundle):
        if bundle.secrets is not None:
            if _is_named(bundle, name, node):
                _add_file(gold, bundle, name, node)
            continue
        if JUNK_NAME.search(name) or not node.size or sha256_of(bundle, node) in held:
            continue
        if INPUT_NAME.search(name.rpartition("/")[2]) and not LABELS_NAME.search(name):
            continue
        _add_file(gold, bundle, name, node)
        _add_labels(gold, name, node)
    return gold


def reference_files(bundle: Bundle) -> Iterator[tuple[str, Node]]:
    """All files of the reference data that phases use."""
    for task in bundle.competition.tasks:
        use = task.files.get("reference_data")
        package = bundle.package(use) if use else None
        if package and package.kind in ("folder", "zip") and package.tree.root is not bundle.tree.root:
            yield from package.tree.root.files()
        elif package and use and package.kind == "no zip":
            found = bundle.tree.find(use.path)
            if isinstance(found, Node):
                yield str(use.path), found


def _held_by_participants(bundle: Bundle) -> set[str]:
    """Digests of files that participants' programs get as input: what is among them is no secret."""
    held: set[str] = set()
    for task in bundle.competition.tasks:
        use, reference = task.files.get("input_data"), task.files.get("reference_data")
        package = bundle.package(use) if use else None
        if (
            package
            and package.kind in ("folder", "zip")
            and (reference is None or package is not bundle.package(reference))
        ):
            held |= {
                sha256_of(bundle, node) for name, node in package.tree.root.files() if not LABELS_NAME.search(name)
            }
    return held


def _standoff_inputs(bundle: Bundle, shown: Iterable[Node]) -> set[str]:
    """Digests of texts that lie beside their gold annotations, document by document, in the reference data.

    Where participants get some of the files of each document (x.txt, x.a1) and not the others (x.a2), the former are
    their input.
    """
    documents: dict[str, list[Node]] = {}
    for name, node in reference_files(bundle):
        stem = name.rpartition(".")[0]
        if stem and not LABELS_NAME.search(stem.rpartition("/")[2]):
            documents.setdefault(stem, []).append(node)
    several = [nodes for nodes in documents.values() if len(nodes) > 1]
    if len(several) < MIN_DOCUMENTS:
        return set()
    seen = {sha256_of(bundle, node) for node in shown}
    given = [{sha256_of(bundle, node) for node in nodes} for nodes in several]
    split = [digests for digests in given if digests & seen and digests - seen]
    return set().union(*(digests & seen for digests in split)) if len(split) >= MIN_DOCUMENTS else set()


def _is_named(bundle: Bundle, name: str, node: Node) -> bool:
    named = bundle.secrets.files if bundle.secrets else ()
    return any(one == name or name.endswith(f"/{one}") or one == sha256_of(bundle, node) for one in named)


def _add_file(gold: Gold, bundle: Bundle, name: str, node: Node) -> None:
    gold.raw[sha256_of(bundle, node)] = name
    plain, different = fingerprint(node)
    if different > 1:
        gold.plain[plain] = name
    canonical = xml_digest(node)
    if canonical:
        gold.plain[canonical] = name


def _add_labels(gold: Gold, name: str, node: Node) -> None:
    """The pairs of id and label, and the columns of labels, that a table or mapping shows."""
    rows: list[list[str]] = []
    for record in records(node):
        if len(rows) >= MAX_ROWS:
            break
        if record:
            rows.append(record)
    if name.lower().endswith(".json"):
        _add_table(gold, name, [row for row in rows if len(row) == 2], None)
        return
    widths = {len(row) for row in rows[:50]}
    if len(widths) != 1:
        _add_wide_table(gold, node)
    if len(widths) != 1 or len(rows) < MIN_SEQUENCE:
        return
    header = rows[0] if any(LABEL_COLUMN.fullmatch(cell) for cell in rows[0]) else None
    _add_table(gold, name, rows[1:] if header else rows, header)


def _add_wide_table(gold: Gold, node: Node) -> None:
    """The pairs of id and label in a table with a head and empty or quoted cells, whose other columns may be texts."""
    table = [row for row in islice(table_rows(node), MAX_ROWS) if row]
    if len(table) <= MIN_SEQUENCE or any(len(row) != len(table[0]) for row in table):
        return
    columns = {title.strip(): column for title, *column in zip(*table, strict=True)}
    keys = [ids for title, ids in columns.items() if ID_COLUMN.fullmatch(title) and len(set(ids)) == len(ids)]
    for title, column in columns.items() if keys else ():
        given = [cell for cell in column if cell.strip()]
        labels = LABEL_COLUMN.fullmatch(title) and all(len(words(cell)) < SHORTEST for cell in given)
        if labels and len(set(given)) > 1 and not ID_COLUMN.fullmatch(title):
            for item, label in zip(keys[0], column, strict=True):
                if label.strip():
                    gold.add_pair(item, label)


def _add_table(gold: Gold, name: str, rows: list[list[str]], header: list[str] | None) -> None:
    if not rows:
        return
    width = len(rows[0])
    columns = [[row[place] for row in rows if len(row) == width] for place in range(width)]
    if header:
        secret = [place for place, title in enumerate(header[:width]) if LABEL_COLUMN.fullmatch(title)]
        named_ids = [place for place, title in enumerate(header[:width]) if ID_COLUMN.fullmatch(title)]
    else:
        secret = [width - 1] if width <= 2 else []
        named_ids = [0] if width == 2 else []
    ids = [place for place in named_ids if place not in secret and len(set(columns[place])) == len(columns[place])]
    for place in secret:
        if len(set(columns[place])) < 2:
            continue
        if len(columns[place]) >= MIN_SEQUENCE:
            gold.columns[column_digest(columns[place])] = name
        for item, label in zip(columns[ids[0]], columns[place], strict=True) if ids else ():
            gold.add_pair(item, label)


def column_digest(column: list[str]) -> str:
    """A digest of a column's cells in their order."""
    import hashlib

    return hashlib.sha256("\n".join(plain(cell) for cell in column).encode()).hexdigest()


def table_columns(node: Node) -> Iterator[list[str]]:
    """The columns of every block of lines with as many cells each, with and without the block's first two lines."""
    rows: list[list[str]] = []
    for line in lines(node):
        row = cells(line)
        if row and rows and (len(row) != len(rows[0]) or len(rows) >= MAX_ROWS):
            yield from _columns_of(rows)
            rows = []
        if row and len(row) <= MAX_COLUMNS:
            rows.append(row)
    yield from _columns_of(rows)


def _columns_of(rows: list[list[str]]) -> Iterator[list[str]]:
    if len(rows) < MIN_SEQUENCE:
        return
    for place in range(len(rows[0])):
        column = [row[place] for row in rows]
        # a table may have a head, and in Markdown a rule below it
        yield from (column, column[1:], column[2:])
