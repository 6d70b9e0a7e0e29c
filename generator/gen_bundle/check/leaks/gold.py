"""What is secret in a bundle: as its maker names it, or as its reference data suggest."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from gen_bundle.check.bundle import Bundle, Secrets, once_a_bundle
from gen_bundle.check.leaks.columns import MAX_ROWS, SHORTEST, GoldTable, gold_table
from gen_bundle.check.leaks.records import cells, fingerprint, json_digest, lines, plain, records, words, xml_digest
from gen_bundle.check.leaks.visible import visible_files
from gen_bundle.codabench.competition import Task
from gen_bundle.zips.reading import sha256_of
from gen_bundle.zips.tree import Node

# File names that tell what the file is.
LABELS_NAME = re.compile(r"(?i)truth|gold|label|reference|\bref\b|answer|solution|target|key|y_|_y\b|qrel|score|annot")
INPUT_NAME = re.compile(r"(?i)input|item|text|source|question|image|features|x_|_x\b|sentence|doc|data|corpus")
JUNK_NAME = re.compile(r"(?i)(^|/)(readme[^/]*|license[^/]*|metadata[^/]*|\.[^/]*|__init__\.py)$|^__MACOSX/")
SHA256 = re.compile(r"[0-9a-f]{64}")
MAX_SHINGLES = 300_000
LONGEST = 8
MIN_SEQUENCE = 3
MIN_DOCUMENTS = 3
MAX_COLUMNS = 50


@dataclass
class Gold:
    """The secrets to search for.

    Attributes:
        raw: SHA-256 of secret files, or of their XML in canonical form, with their names.
        plain: digests of the lines of secret files (see `fingerprint`), and of their XML or JSON (see `xml_digest`).
        columns: digests of secret columns of labels, with their file's name.
        labels: gold labels of each id, both as they are compared (see `plain`).
        vocabulary: all labels.
        shingles: hashes of secret word sequences, by their number of words.
        starts: the sizes of the sequences that start with a word.
        texts: the words of each secret text.
        named: whether the maker named these secrets, rather than the check guessing them.
        tables: the reference files that are tables.
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
    tables: list[GoldTable] = field(default_factory=list)

    def add_pair(self, item: str, label: str) -> None:
        self.labels.setdefault(plain(item), set()).add(plain(label))
        self.vocabulary.add(plain(label))

    def add_text(self, text: str) -> None:
        """Note a secret text; texts of fewer than four words are too common."""
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


@once_a_bundle
def golds_of(bundle: Bundle) -> list[Gold]:
    """The secrets of a bundle: as its maker names them, and as its reference data suggest."""
    named = Gold(named=True)
    if bundle.secrets is not None:
        for text in bundle.secrets.texts:
            named.add_text(text)
        for item, label in bundle.secrets.labels:
            named.add_pair(item, label)
        # also files that are not in this bundle: the gold of other tasks
        named.raw |= {file: "of another task" for file in bundle.secrets.files if SHA256.fullmatch(file)}
    shown = Gold()
    free = _held_by_participants(bundle) | _standoff_inputs(bundle, [seen.node for seen in visible_files(bundle)])
    secrets = bundle.secrets or Secrets()
    for name, node in reference_files(bundle):
        if _is_one_of(secrets.published, name, node):
            continue
        is_named = _is_one_of(secrets.files, name, node)
        if is_named:
            _add_file(named, name, node)
        if is_named or not (_is_not_gold(name, node) or sha256_of(node) in free):
            _add_file(shown, name, node)
            _add_table(shown, named, name, node, secrets.columns_of(name))
    return [gold for gold in (named, shown) if gold.raw or gold.labels or gold.shingles]


def _is_not_gold(name: str, node: Node) -> bool:
    """Whether a file is not gold by its name, or empty."""
    is_input = INPUT_NAME.search(name.rpartition("/")[2]) is not None and not LABELS_NAME.search(name)
    return is_input or JUNK_NAME.search(name) is not None or not node.size


def _add_table(shown: Gold, named: Gold, name: str, node: Node, columns: frozenset[str] | None) -> None:
    """Note a reference file that is a table; what its maker names need not be searched for twice."""
    found = gold_table(name, node, named.labels, set(named.texts), columns)
    if found is None:
        return
    shown.tables.append(found)
    in_lines = len({len(record) for record in islice(records(node), MAX_COLUMNS) if record}) == 1
    by_key = found.keys.values()
    ids = next((places for places in by_key if all(len(words(item)) < SHORTEST for item in places)), {})
    for column in found.secret:
        cells = found.columns[column]
        if in_lines and len(cells) == found.rows >= MIN_SEQUENCE:
            shown.columns[column_digest(list(cells.values()))] = name
        if not found.named and all(len(words(cell)) < SHORTEST for cell in cells.values()):
            for item, place in ids.items():
                if place in cells:
                    shown.add_pair(item, cells[place])


def reference_files(bundle: Bundle) -> Iterator[tuple[str, Node]]:
    """All files of the reference data, except those of phases whose gold is public."""
    for task in bundle.competition.tasks:
        use = task.files.get("reference_data")
        unpacked = bundle.unpacked(use) if use and not _is_public(bundle, task) else None
        if unpacked and unpacked.form in ("folder", "zip") and unpacked.tree.root is not bundle.tree.root:
            yield from unpacked.tree.root.files()
        elif unpacked and use and unpacked.form == "no zip":
            found = bundle.tree.find(use.path)
            if isinstance(found, Node):
                yield str(use.path), found


def _is_public(bundle: Bundle, task: Task) -> bool:
    """Whether all phases of a task declare its gold public, which the build writes into competition.yaml."""
    declared = {entry.at: entry.get("gold") for entry in bundle.entries("phases")}
    phases = [phase for phase in bundle.competition.phases if task in phase.tasks]
    return bool(phases) and all(declared.get(phase.at) == "public" for phase in phases)


def _held_by_participants(bundle: Bundle) -> set[str]:
    """Digests of files that participants' programs get as input: these are not secret."""
    held: set[str] = set()
    for task in bundle.competition.tasks:
        unpacked = bundle.unpacked(task.files.get("input_data"))
        reference = bundle.unpacked(task.files.get("reference_data"))
        if unpacked and unpacked.form in ("folder", "zip") and unpacked is not reference:
            held |= {sha256_of(node) for name, node in unpacked.tree.root.files() if not LABELS_NAME.search(name)}
    return held


def _standoff_inputs(bundle: Bundle, shown: Iterable[Node]) -> set[str]:
    """Digests of texts beside their gold annotations, document by document, in the reference data.

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
    seen = {sha256_of(node) for node in shown}
    given = [{sha256_of(node) for node in nodes} for nodes in several]
    split = [digests for digests in given if digests & seen and digests - seen]
    return set().union(*(digests & seen for digests in split)) if len(split) >= MIN_DOCUMENTS else set()


def _is_one_of(files: Iterable[str], name: str, node: Node) -> bool:
    return any(one == name or name.endswith(f"/{one}") or one == sha256_of(node) for one in files)


def _add_file(gold: Gold, name: str, node: Node) -> None:
    gold.raw[sha256_of(node)] = name
    plain, different = fingerprint(node)
    if different > 1:
        gold.plain[plain] = name
    for written in (xml_digest(node), json_digest(node)):
        if written:
            gold.plain[written] = name


def column_digest(column: list[str]) -> str:
    """A digest of a column's cells in their order."""
    import hashlib

    return hashlib.sha256("\n".join(plain(cell) for cell in column).encode()).hexdigest()


def table_columns(node: Node) -> Iterator[list[str]]:
    """The columns of every block of lines with equally many cells, with and without the first one or two."""
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
        # a table may have a head, with a rule below it in Markdown
        yield from (column, column[1:], column[2:])
