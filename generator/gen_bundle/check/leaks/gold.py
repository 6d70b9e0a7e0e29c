"""What is secret in a bundle: what its own program names, or else a guess from the look of its reference data."""

import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from itertools import accumulate, islice
from pathlib import Path as FilePath
from typing import Any

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.leaks.records import KEY, blocks, digests, is_binary, lines, number, plain, words
from gen_bundle.zips.reading import sha256_of
from gen_bundle.zips.tree import Node

# File names and titles that tell what something is.
LABELS_NAME = re.compile(
    r"(?i)truth|gold|label|reference|\bref\b|answer|solution|target|(^|[/_-])key|^y_(test|train|dev|val|true)|qrel|score|annot"
)
INPUT_NAME = re.compile(r"(?i)input|item|text|source|question|image|features|x_|_x\b|sentence|doc|data|corpus")
JUNK_NAME = re.compile(r"(?i)(^|/)(readme[^/]*|license[^/]*|metadata[^/]*|\.[^/]*|__init__\.py)$|^__MACOSX/")
LABEL_TITLE = re.compile(
    r"(?i)(.*[_ -])?(labels?|class|gold|targets?|truth|answers?|y|scores?|categor(y|ies)|sentiment|stance|relevance"
    r"|grade)([_ -].*)?"
)
ID_TITLE = re.compile(r"(?i)(.*[_ -])?(id|ids|index|uid|key|name|file|filename|item|doc|document)")
# Of larger tables so many rows are compared, evenly spread.
MOST_ROWS = 100_000
MIN_ROWS = 3
# Shorter texts are labels.
SHORTEST = 4
PART = "\x1f"


@dataclass(frozen=True)
class Key:
    """What identifies a row: the cells of some columns, as written and as compared, and the row of each."""

    titles: tuple[str, ...]
    rows: Mapping[str, int]
    parts: tuple[frozenset[str], ...]


@dataclass(frozen=True)
class SecretTable:
    """A table of reference data.

    Attributes:
        name: its file.
        secret: the cells of its secret columns, as they are compared, by title.
        rows: how many rows are compared; all of them where `whole`.
        keys: what identifies a row.
        public: values of the columns that participants may have.
        guessed: whether it is a guess that these columns are secret.
    """

    name: str
    secret: Mapping[str, Sequence[str]]
    rows: int
    keys: Sequence[Key]
    whole: bool = True
    public: Sequence[frozenset[str]] = ()
    guessed: bool = False

    @property
    def texts(self) -> Iterator[tuple[str, ...]]:
        """The words of the secret texts: of columns whose values mostly occur once."""
        for cells in self.secret.values():
            if 2 * len(set(cells)) > len(cells):
                found = (tuple(words(cell)) for cell in dict.fromkeys(cells))
                yield from (text for text in found if len(text) >= SHORTEST)


@dataclass
class SecretGold:
    """The secrets to search for: SHA-256 and other digests of files, with their names; their sizes; and tables."""

    files: dict[str, str] = field(default_factory=dict)
    tables: list[SecretTable] = field(default_factory=list)
    sizes: set[int] = field(default_factory=set)


def gold_of(bundle: Bundle, held: Iterable[str]) -> SecretGold:
    """The secrets of a bundle; `held` are the SHA-256 of the files that participants get."""
    gold = SecretGold()
    guessed: dict[str, Node] = {}
    for task in bundle.competition.tasks:
        reference = task.files.get("reference_data")
        unpacked = bundle.unpacked(reference) if reference else None
        if unpacked is None or reference is None or unpacked.tree.root is bundle.tree.root:
            continue
        found = dict(unpacked.tree.root.files())
        single = bundle.tree.find(reference.path)
        if unpacked.form == "no zip" and isinstance(single, Node):
            found = {str(reference.path): single}
        secrets = _named(bundle, task.files.get("scoring_program"))
        if secrets is not None:
            _add_named(gold, found, secrets)
        elif unpacked is not bundle.unpacked(task.files.get("input_data")):
            guessed |= {f"{reference.path}/{name}": node for name, node in found.items()}
    _add_guessed(gold, guessed, set(held))
    for other in bundle.elsewhere:
        _add_named(gold, {name: _node(data) for name, data in other.files.items()}, other.secrets)
    return gold


def _node(data: bytes) -> Node:
    return Node(size=len(data), open=partial(io.BytesIO, data))


def _named(bundle: Bundle, program: Any) -> Sequence[Mapping[str, Any]] | None:
    """The secrets that a program of our own names; None for any other."""
    unpacked = bundle.unpacked(program)
    found = unpacked.tree.find("program.json") if unpacked else None
    try:
        value = json.loads(found.read(64 * 1024 * 1024)) if isinstance(found, Node) else None
        secrets = value["secrets"] if isinstance(value, dict) else None
        return [dict(one, name=str(one["name"])) for one in secrets] if isinstance(secrets, list) else None
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def is_described(bundle: Bundle) -> bool:
    """Whether a program of the bundle names what is secret."""
    return any(_named(bundle, task.files.get("scoring_program")) is not None for task in bundle.competition.tasks)


@dataclass(frozen=True)
class ReadSecrets:
    """What the check takes for secret in reference data.

    Attributes:
        files: the names of secret files.
        labels: (cell of the key, title of the column, secret cell) of every row that a single column identifies.
        texts: secret texts, as they are compared.
    """

    files: Sequence[str]
    labels: Sequence[tuple[str, str, str]]
    texts: Sequence[str]


def read_secrets(folder: FilePath, secrets: Mapping[str, Any]) -> ReadSecrets:
    """What an answer of the organiser's verb `secrets` means, for tests of scoring packages.

    Args:
        folder: reference data, as `prepare` writes them.
        secrets: the answer.

    Raises:
        ValueError: a name that fits no file, or a file that has none of the columns.
    """
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    found: dict[str, list[SecretTable]] = {}
    for one in secrets["files"]:
        fitting = [name for name in files if _fits(name, one)]
        if not fitting:
            raise ValueError(f"{one['name']}: no such file. The reference data hold {', '.join(files)}.")
        for name in fitting:
            found[name] = list(_named_tables(name, _node(files[name].read_bytes()), one))
            if one.get("columns") and not found[name]:
                raise ValueError(f"{name}: has none of the columns {', '.join(one['columns'])}.")
    tables_found = [table for tables in found.values() for table in tables]
    return ReadSecrets(
        list(found),
        [
            (item, title, cells[row])
            for table in tables_found
            for key in table.keys[:1]
            for item, row in key.rows.items()
            for title, cells in table.secret.items()
            if cells[row] and PART not in item
        ],
        [cell for table in tables_found for cells in table.secret.values() for cell in cells if cell],
    )


def _fits(name: str, one: Mapping[str, Any]) -> bool:
    return fnmatchcase(name, one["name"]) or fnmatchcase(name, f"*/{one['name']}")


def reference_is_input(bundle: Bundle) -> Iterator[Any]:
    """The input data of others' tasks that are their reference data as well: on purpose, since the path is the same."""
    for task in bundle.competition.tasks:
        given, reference = (bundle.unpacked(task.files.get(role)) for role in ("input_data", "reference_data"))
        if given is not None and given is reference and _named(bundle, task.files.get("scoring_program")) is None:
            yield task.files["input_data"]


def _add_named(gold: SecretGold, files: Mapping[str, Node], secrets: Sequence[Mapping[str, Any]]) -> None:
    for one in secrets:
        for name, node in files.items():
            if _fits(name, one):
                _add_file(gold, name, node)
                gold.tables += _named_tables(name, node, one)


def _add_file(gold: SecretGold, name: str, node: Node) -> None:
    """Note a file; one of a single line may be the same by chance."""
    found = digests(node)
    if found or is_binary(node):
        gold.files |= dict.fromkeys([sha256_of(node), *found], name)
        gold.sizes.add(node.size)


def _named_tables(name: str, node: Node, one: Mapping[str, Any]) -> Iterator[SecretTable]:
    """The tables with a named column in a file."""
    if one.get("lines"):
        found = [plain(line) for line in islice(lines(node), MOST_ROWS + 1)]
        yield SecretTable(name, {"line": found[:MOST_ROWS]}, len(found[:MOST_ROWS]), [], len(found) <= MOST_ROWS)
    for columns, whole in _tables_in(node):
        wanted = [title for title in one.get("columns", ()) if title in columns]
        if wanted:
            key = [title for title in one.get("key", ()) or [KEY] if title in columns]
            others = [title for title in columns if title not in (*wanted, *key)]
            keys = [key] * bool(key) + [[title] for title in (*key, *others) if [title] != key]
            public = [title for title in one.get("public", ()) if title in columns]
            yield _gold_table(name, columns, wanted, keys, public, whole=whole)


def _gold_table(
    name: str,
    columns: Mapping[str, Sequence[str]],
    wanted: Sequence[str],
    keys: Iterable[Sequence[str]],
    public: Sequence[str] = (),
    *,
    whole: bool,
    guessed: bool = False,
) -> SecretTable:
    size = len(columns[wanted[0]])
    return SecretTable(
        name,
        {title: list(map(plain, columns[title])) for title in wanted},
        size,
        [found for titles in keys if (found := _key(columns, titles))],
        whole,
        [frozenset(map(plain, columns[title])) for title in public],
        guessed,
    )


def _key(columns: Mapping[str, Sequence[str]], titles: Sequence[str]) -> Key | None:
    """The columns as a key; None where several rows have the same cells, or one has none."""
    compared = [list(map(plain, columns[title])) for title in titles]
    if len(titles) == 1:
        rows = {cell: place for place, cell in enumerate(compared[0]) if cell}
        if len(rows) < len(compared[0]):
            return None
        rows |= {cell: place for place, cell in enumerate(columns[titles[0]])}
        return Key(tuple(titles), rows, ())
    rows = {PART.join(cells): place for place, cells in enumerate(zip(*compared, strict=True))}
    if len(rows) < len(compared[0]):
        return None
    return Key(tuple(titles), rows, tuple(map(frozenset, compared)))


def _tables_in(node: Node) -> Iterator[tuple[dict[str, list[str]], bool]]:
    """The tables of a file as columns by title, and whether these are all rows; of long ones every n-th row."""
    tables: dict[str, dict[str, list[str]]] = {}
    rows: Counter[str] = Counter()
    titles: dict[str, str] = {}
    step = 1 + sum(1 for _ in lines(node)) // MOST_ROWS
    for block in blocks(node):
        columns = tables.setdefault(block.kind, {})
        start = 0
        if block.kind == "table" and not rows["table"]:
            titles = {name: cells[0].strip() for name, cells in block.columns.items()}
            start = 1
        size = len(block.lines) - start
        first = start + -rows[block.kind] % step
        before = -(-rows[block.kind] // step)
        for name, cells in block.columns.items():
            title = titles.get(name, name) if block.kind == "table" else name
            column = columns.setdefault(title, [])
            column += [""] * (before - len(column))
            column += cells[first::step]
        rows[block.kind] += size
    for kind, columns in tables.items():
        most = max(map(len, columns.values()), default=0)
        yield {title: [*cells, *[""] * (most - len(cells))] for title, cells in columns.items()}, rows[kind] == most


def _add_guessed(gold: SecretGold, files: Mapping[str, Node], held: set[str]) -> None:
    """Guess at what is secret in reference data that nobody describes.

    Files that participants hold are their inputs, unless they hold all of it, or a name tells otherwise.
    """
    known = {name: node for name, node in files.items() if not JUNK_NAME.search(name) and node.size}
    missing = [name for name, node in known.items() if sha256_of(node) not in held]
    for name, node in known.items():
        own = name.rpartition("/")[2]
        is_labels = LABELS_NAME.search(own) is not None
        is_input = INPUT_NAME.search(own) is not None or (bool(missing) and sha256_of(node) in held)
        if is_labels or not is_input:
            _add_file(gold, name.partition("/")[2], node)
            gold.tables += _guessed_tables(name.partition("/")[2], node)


def _guessed_tables(name: str, node: Node) -> Iterator[SecretTable]:
    for columns, whole in _tables_in(node):
        size = len(next(iter(columns.values()), ()))
        if size < MIN_ROWS:
            continue
        if not _is_head(columns):
            titles = {f"column {place}": title for place, title in enumerate(columns, start=1)}
            columns = {new: [title, *columns[title]] for new, title in titles.items()}
        key = _guessed_key(columns)
        others = [title for title in columns if title not in key and len(set(columns[title])) > 1]
        titled = [title for title in others if LABEL_TITLE.fullmatch(title)]
        titled = [title for title in titled if not _is_text(columns[title])] or titled
        secret = titled or (others[-1:] if key or len(others) < 3 else others)
        if secret:
            keys = [key] * bool(key) + [[title] for title in others if title not in secret]
            yield _gold_table(name, columns, secret, keys, whole=whole, guessed=True)


def _is_head(columns: Mapping[str, Sequence[str]]) -> bool:
    """Whether the titles are titles: typical ones, or at least no number and nothing that occurs again."""
    if any(LABEL_TITLE.fullmatch(title) or ID_TITLE.fullmatch(title) for title in columns):
        return True
    return len(columns) > 1 and not any(
        number(plain(title)) is not None or title in cells for title, cells in columns.items()
    )


def _guessed_key(columns: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns that identify a row: one titled like an id, one of different values, or the first few together."""
    size = len(next(iter(columns.values())))
    unique = [title for title, cells in columns.items() if len(set(cells)) == size]
    wholly = [title for title in unique if not LABEL_TITLE.fullmatch(title) and not _is_measured(columns[title])]
    wholly.sort(key=lambda title: not ID_TITLE.fullmatch(title))
    if wholly:
        return wholly[:1]
    titles = [title for title in columns if not LABEL_TITLE.fullmatch(title)][: len(columns) - 1]
    for some in accumulate(([title] for title in titles[:4]), list.__add__):
        if len(set(zip(*(columns[title] for title in some), strict=True))) == size:
            return some
    return []


def _is_text(cells: Sequence[str]) -> bool:
    return any(len(words(cell)) >= SHORTEST for cell in cells)


def _is_measured(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers with decimals, which are mostly all different and yet no key."""
    return any("." in cell for cell in cells) and all(number(plain(cell)) is not None for cell in cells)
