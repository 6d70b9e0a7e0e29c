"""The secrets of a bundle: what its own program names, or else a guess from the look of its reference data."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from gen_bundle.check.bundle import Bundle, once_a_bundle
from gen_bundle.check.leaks.relation import no_chance
from gen_bundle.check.leaks.visible import INPUT_CHANNELS, Seen, foreign_files
from gen_bundle.codabench.competition import DataUse, Task
from gen_bundle.ground.tables.any_file import KEY, MOST_IN_MEMORY, Block, in_memory, is_binary, lines
from gen_bundle.ground.tables.entities import ENTITIES
from gen_bundle.ground.tables.same_content import Passages, arrays_of, digests
from gen_bundle.ground.tables.values import JSON_STARTS, number, plain, plain_cells, texts_in, words
from gen_bundle.ground.tables.whole_tables import first_cells, whole_tables
from gen_bundle.ground.zips.arrays import has_one_value
from gen_bundle.ground.zips.tree import Node, file_of, sha256_of

# File names and titles that tell what something is.
LABELS_NAME = re.compile(
    r"(?i)truth|gold|label|reference|\bref\b|answer|solution|target|(^|[/_-])key|^y_(test|train|dev|val|true)|qrel|score|annot"
)
INPUT_NAME = re.compile(r"(?i)input|item|text|source|question|image|features|x_|_x\b|sentence|doc|data|corpus")
PROGRAM_NAME = re.compile(
    r"(?i)^(?!.*(truth|gold|label|answer|qrel)).*\.(py|rb|pl|r|jl|sh|c|cc|cpp|h|java|js|ts|go|rs|lua|php|ipynb|md|rst)$"
)
"""Of programs and descriptions: `score.rb` is no gold where participants have it, too."""
JUNK_NAME = re.compile(r"(?i)(^|/)(readme[^/]*|license[^/]*|metadata[^/]*|\.[^/]*|__init__\.py)$|^__MACOSX/")
LABEL_TITLE = re.compile(
    r"(?i)(.*[_ -])?(labels?|class|gold|targets?|truth|answers?|y|scores?|categor(y|ies)|sentiment|stance|relevance"
    r"|grade)([_ -].*)?"
)
ID_TITLE = re.compile(r"(?i)(.*[_ -])?(id|ids|index|uid|key|name|file|filename|item|doc|document)")
# Of larger tables so many rows are compared, evenly spread.
MOST_ROWS = 100_000
MIN_ROWS = 3
# So many cells of a column tell whether it names items.
ENOUGH = 500
# Shorter texts are labels.
SHORTEST = 4
PART = "\x1f"
CHOICE = "choice"
"""The secret of a table that says no more of its rows than that they are there."""
Columns = Mapping[str, Sequence[str]]
Named = Mapping[str, tuple[Sequence[int], Sequence[str]]]


class RowKey(NamedTuple):
    """The key of rows: the cells of some columns, as written and as compared, and the row of each."""

    titles: tuple[str, ...]
    rows: Mapping[str, int]
    parts: tuple[frozenset[str], ...] = ()

    def items_in(self, block: Block, named: Named) -> Iterator[tuple[tuple[str, ...], list[tuple[int, int]]]]:
        """Yield the columns of a block that name items, and the places of these in the block and in the gold.

        `named` has the rows of each column in which some key's cell is, and these cells.
        """
        if self.parts:
            own = self._columns_of_parts(block)
            if own:
                together = zip(*_compared(block.columns, own).values(), strict=True)
                yield own, self._found(range(len(block.lines)), map(PART.join, together))
            return
        for name, (rows, cells) in named.items():
            if found := self._found(rows, cells):
                yield (name,), found

    def _found(self, rows: Sequence[int], cells: Iterable[str]) -> list[tuple[int, int]]:
        return [(row, self.rows[cell]) for row, cell in zip(rows, cells, strict=True) if cell in self.rows]

    def _columns_of_parts(self, block: Block) -> tuple[str, ...]:
        """The columns of a block that hold the parts of the key; none unless each part has one of its own."""
        own: list[str] = []
        for part in self.parts:
            shares: dict[str, float] = {}
            for name, cells in block.columns.items():
                if name not in own:
                    looked_at = plain_cells(cells[:ENOUGH])
                    shares[name] = sum(cell in part for cell in looked_at) / max(1, len(looked_at))
            name, share = max(shares.items(), key=lambda one: one[1], default=("", 0.0))
            if share < 0.5:
                return ()
            own.append(name)
        return tuple(own)


@dataclass(frozen=True)
class SecretTable:
    """A table of reference data.

    Attributes:
        name: its file.
        secret: the cells of its secret columns, as they are compared, by title.
        keys: what identifies a row.
        whole: whether these are all rows.
        public: the cells of the columns that participants may have, likewise.
        guessed: whether it is a guess that these columns are secret.
        choice: whether it is secret which rows there are, where a key has many.
        typed: the columns that are texts by their type; None where no type is known.
    """

    name: str
    secret: Columns
    keys: Sequence[RowKey]
    whole: bool = True
    public: Columns = field(default_factory=dict)
    guessed: bool = False
    choice: bool = False
    typed: Sequence[str] | None = None

    @property
    def rows(self) -> int:
        """How many rows are compared."""
        return len(next(iter(self.secret.values())))

    @property
    def says_choice(self) -> bool:
        """Whether the rows say nothing but that they are there, such as the relevant items of queries."""
        return self.choice and all(len(set(cells)) == 1 for cells in self.secret.values())

    @property
    def texts(self) -> Iterator[tuple[str, ...]]:
        """The words of the secret texts, but for those that a public column of the same row has.

        Where no type is known, these are the columns whose values mostly occur once, and are no lists of numbers.
        """
        for title, cells in self.secret.items():
            different = dict.fromkeys(cells)
            is_of_texts = 2 * len(different) > len(cells) if self.typed is None else title in self.typed
            if title.startswith(ENTITIES) or not is_of_texts:
                continue
            for cell, *beside in zip(cells, *self.public.values(), strict=True):
                own = {words(text) for text in beside}
                for written in texts_in(cell):
                    text = words(written)
                    if is_text(text) and text not in own:
                        yield text


def is_text(text: Sequence[str]) -> bool:
    """Whether words are a text rather than a label; one word again and again is an empty answer of tags, `O O O O`."""
    return len(text) >= SHORTEST and len(set(text)) > 1 and not "".join(text).isdecimal()


def says_something(line: str) -> bool:
    """Return whether no other text has a line by chance: its words, or its letters, are many and differ."""
    found = words(line)
    counts = Counter(found) if len(found) > 1 else Counter(line)
    return is_text(found) or no_chance(counts.values())


@dataclass
class SecretGold:
    """The secrets to search for.

    Attributes:
        files: SHA-256 and other digests of files → their names.
        tables: those with secret columns.
        passages: the lines of those that are texts.
        arrays: the digests of the arrays in those that are not.
        sizes: of the files, in bytes.
        named: what a program names as secret, in words → whether some reference data have any of it.
    """

    files: dict[str, str] = field(default_factory=dict)
    tables: list[SecretTable] = field(default_factory=list)
    passages: Passages = field(default_factory=Passages)
    arrays: set[str] = field(default_factory=set)
    sizes: set[int] = field(default_factory=set)
    named: dict[str, bool] = field(default_factory=dict)

    def add_file(self, name: str, node: Node, only_line: str = "") -> None:
        """Note a file; one of an array of a single value may be the same by chance, and one of a line of few words."""
        found = digests(node)
        if is_binary(node):
            self.arrays |= (arrays := arrays_of(node))
            found |= arrays
            if not arrays and has_one_value(node.read(MOST_IN_MEMORY)):
                return
        if self.passages.add(name, node, says_something(only_line)) or found or is_binary(node):
            self.files |= dict.fromkeys([sha256_of(node), *found], name)
            self.sizes.add(node.size)

    def add_named(self, files: Mapping[str, Node], secrets: Iterable[Mapping[str, Any]]) -> None:
        """Note what an organiser's program names in reference data."""
        for one in secrets:
            columns = one.get("columns", ())
            what = f"{', '.join(map(repr, columns))} in {one['name']}" if columns else one["name"]
            found, of_a_line = False, dict[str, str]()
            for name, node in files.items():
                if fits(name, one):
                    with in_memory(node):
                        line = "" if columns else _only_line(node)
                        self.add_file(name, node, line)
                        tables = list(named_tables(name, node, one))
                    if line and not tables and not line.startswith(("<", *JSON_STARTS)):
                        of_a_line[name] = line
                    self.tables += tables
                    found = found or bool(tables) or not columns
            if of_a_line:
                self.tables.append(_of_files(one["name"], of_a_line))
            self.named[what] = found or self.named.get(what, False)

    def add_guessed(self, files: Mapping[str, Node], seen_files: Iterable[Seen]) -> None:
        """Guess at what is secret in reference data that nobody describes.

        Files that participants hold are their inputs, unless they hold all of it, or a name tells otherwise.
        """
        held = {sha256_of(seen.node) for seen in seen_files if seen.channel in INPUT_CHANNELS}
        known = {name: node for name, node in files.items() if not JUNK_NAME.search(name) and node.size}
        holds_all = all(sha256_of(node) in held for node in known.values())
        for path, node in known.items():
            own = path.rpartition("/")[2]
            is_held = sha256_of(node) in held
            is_input = INPUT_NAME.search(own) or (not holds_all and is_held)
            if (LABELS_NAME.search(own) or not is_input) and not (is_held and PROGRAM_NAME.search(own)):
                name = path.partition("/")[2]
                with in_memory(node):
                    self.add_file(name, node)
                    self.tables += _guessed_tables(name, node)


@once_a_bundle
def secret_gold(bundle: Bundle) -> Iterator[SecretGold]:
    """Yield the secrets of a bundle, read once."""
    gold = SecretGold()
    guessed: dict[str, Node] = {}
    for task in bundle.competition.tasks:
        reference = task.files.get("reference_data")
        unpacked = bundle.unpacked(reference)
        if unpacked is None or reference is None or unpacked.tree is bundle.tree:
            continue
        found = dict(unpacked.tree.files())
        single = bundle.tree.find(reference.path)
        if unpacked.form == "no zip" and isinstance(single, Node):
            found = {str(reference.path): single}
        secrets = _named_secrets(bundle, task)
        if secrets is not None:
            gold.add_named(found, secrets)
        elif unpacked is not bundle.unpacked(task.files.get("input_data")):
            for name, node in found.items():
                guessed[f"{reference.path}/{name}"] = node
    gold.add_guessed(guessed, foreign_files(bundle))
    for other in bundle.elsewhere:
        gold.add_named({name: file_of(data) for name, data in other.files.items()}, other.secrets)
    yield gold


def _named_secrets(bundle: Bundle, task: Task) -> Sequence[Mapping[str, Any]] | None:
    """The secrets that a task's scoring program, where it is one of our own, names; None for any other."""
    secrets = bundle.program_json(task.files.get("scoring_program")).get("secrets")
    if isinstance(secrets, list):
        with suppress(ValueError, TypeError, LookupError):
            return [dict(one, name=str(one["name"])) for one in secrets]
    return None


def is_described(bundle: Bundle) -> bool:
    """Return whether a program of the bundle names what is secret."""
    return any(_named_secrets(bundle, task) is not None for task in bundle.competition.tasks)


def uses_of_reference(bundle: Bundle, *roles: str) -> Iterator[DataUse]:
    """Yield the uses in some roles of what is reference data as well, by the same path."""
    references = [bundle.unpacked(task.files.get("reference_data")) for task in bundle.competition.tasks]
    for use in bundle.competition.uses():
        found = bundle.unpacked(use) if use.role in roles else None
        if found is not None and any(found is reference for reference in references):
            yield use


def fits(name: str, secret: Mapping[str, Any]) -> bool:
    """Return whether a file of reference data is one that an organiser's program names."""
    return fnmatchcase(name, secret["name"]) or fnmatchcase(name, f"*/{secret['name']}")


def named_tables(name: str, node: Node, secret: Mapping[str, Any]) -> Iterator[SecretTable]:
    """Yield the tables in a file with a column that an organiser's program names, or with its lines."""
    if secret.get("lines"):
        yield _one_column(name, "line", lines(node), secret.get("texts"))
    texts = lines(node)
    title = next(texts, "").strip().strip('"')
    if title in secret.get("columns", ()):  # no separator tells such a table from a text
        yield _one_column(name, title, first_cells(texts), secret.get("texts"))
        return
    for columns, whole in whole_tables(node, MOST_ROWS):
        yield from secret_tables(name, columns, secret, whole=whole)


def _only_line(node: Node) -> str:
    """Return the line of a text that has no other, such as what is said in a recording; empty for other files."""
    said = ""
    for line in lines(node):
        if said and line.strip():
            return ""
        said = said or line.strip()
    return said


def _of_files(pattern: str, said: Mapping[str, str]) -> SecretTable:
    """A table of what files say, each named as it is called and by what stands for the first `*` of the pattern."""
    named = re.compile(re.escape(pattern).replace(r"\*", "(.+)", 1).replace(r"\*", ".+"))
    keys: dict[str, list[str]] = {}
    for name in said:
        keys.setdefault("file", []).append(PurePosixPath(name).stem)
        if "*" in pattern and (found := named.search(name)):
            keys.setdefault("key", []).append(found[1].rpartition("/")[2])
    return SecretTable(pattern, {"text": plain_cells(said.values())}, _keys(keys, [], list(keys)), typed=["text"])


def secret_tables(
    name: str, columns: Columns, secret: Mapping[str, Any], *, whole: bool = True
) -> Iterator[SecretTable]:
    """Yield what is secret in columns, as an organiser's program names it; `whole`: whether these are all rows."""
    wanted = _with_entities(columns, secret.get("columns", ()))
    key = [name for name in secret.get("key") or [KEY] if name in columns]
    is_choice = bool(secret.get("choice")) and len(key) > 1 and not set(key[1:]) <= set(secret.get("public", ()))
    if is_choice and not wanted:
        says_nothing = {CHOICE: [""] * len(columns[key[0]])}
        yield SecretTable(name, says_nothing, _keys(columns, key, key)[:1], whole, choice=True)
    if wanted:
        public = _compared(columns, _with_entities(columns, secret.get("public", ())))
        others = [title for title in columns if title not in (*wanted, *key) and not title.startswith(ENTITIES)]
        keys = _keys(columns, key, [*key, *others])
        typed = secret.get("texts")
        yield SecretTable(name, _compared(columns, wanted), keys, whole, public, choice=is_choice, typed=typed)


def _with_entities(columns: Columns, titles: Iterable[str]) -> list[str]:
    """Return the titles that a table has, and the words of the entities that these columns mark."""
    both = [*titles, *(f"{ENTITIES}{title}" for title in titles)]
    return [title for title in both if title in columns]


def _one_column(name: str, title: str, cells: Iterable[str], typed: Sequence[str] | None) -> SecretTable:
    """A table whose rows are identified by their order alone."""
    found = plain_cells(islice(cells, MOST_ROWS + 1))
    return SecretTable(name, {title: found[:MOST_ROWS]}, [], len(found) <= MOST_ROWS, typed=typed)


def _compared(columns: Columns, titles: Iterable[str]) -> dict[str, list[str]]:
    """Some columns, as they are compared."""
    return {title: plain_cells(columns[title]) for title in titles}


def _keys(columns: Columns, key: Sequence[str], others: Sequence[str]) -> list[RowKey]:
    """The columns of a key together, and each of others alone, where they tell all rows apart."""
    found: list[RowKey] = []
    if len(key) > 1:
        compared = list(_compared(columns, key).values())
        rows = {PART.join(cells): place for place, cells in enumerate(zip(*compared, strict=True))}
        if len(rows) == len(compared[0]):
            found.append(RowKey(tuple(key), rows, tuple(frozenset(cells) for cells in compared)))
    singles = [*key, *others] if len(key) == 1 else others
    for title in dict.fromkeys(singles):
        written = columns[title]
        rows = {cell: place for place, cell in enumerate(plain_cells(written)) if cell}
        if len(rows) == len(written):
            for place, cell in enumerate(written):
                rows[cell] = place
            found.append(RowKey((title,), rows))
    return found


def _guessed_tables(name: str, node: Node) -> Iterator[SecretTable]:
    for found, whole in whole_tables(node, MOST_ROWS):
        if len(next(iter(found.values()), ())) < MIN_ROWS:
            continue
        columns = found
        if not _is_head(found):  # its first row was taken for one
            columns = {}
            for place, (first, cells) in enumerate(found.items(), start=1):
                columns[f"column {place}"] = [first, *cells]
        key = _guessed_key(columns)
        others = [title for title in columns if title not in key and len(set(columns[title])) > 1]
        secret = _guessed_secrets(columns, key, others)
        if secret:
            rest = [title for title in others if title not in secret]
            yield SecretTable(name, _compared(columns, secret), _keys(columns, key, rest), whole, guessed=True)


def _is_head(columns: Columns) -> bool:
    """Whether the titles are titles: typical ones, or at least no number and nothing that occurs again."""
    if any(LABEL_TITLE.fullmatch(title) or ID_TITLE.fullmatch(title) for title in columns):
        return True
    for title, cells in columns.items():
        if number(plain(title)) is not None or title in cells:
            return False
    return len(columns) > 1


def _guessed_key(columns: Columns) -> list[str]:
    """The columns that identify a row: one titled like an id, one of different values, or the first few together."""
    size = len(next(iter(columns.values())))
    titles = [title for title in columns if not LABEL_TITLE.fullmatch(title)]
    wholly = [title for title in titles if len(set(columns[title])) == size and not _is_measured(columns[title])]
    if wholly:
        return [min(wholly, key=lambda title: not ID_TITLE.fullmatch(title))]
    for few in range(1, min(len(columns), 5)):
        some = titles[:few]
        if len(set(zip(*(columns[name] for name in some), strict=True))) == size:
            return some
    return []


def _is_measured(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers with decimals, which are mostly all different and yet no key."""
    return "." in "".join(cells) and None not in [number(cell) for cell in plain_cells(cells)]


def _guessed_secrets(columns: Columns, key: Sequence[str], others: Sequence[str]) -> Sequence[str]:
    """The columns titled like labels, if possible those without texts; else the last one, or all where no key is."""
    titled, labels = [], []
    for title in others:
        if LABEL_TITLE.fullmatch(title):
            titled.append(title)
            if all(len(words(cell)) < SHORTEST for cell in columns[title]):
                labels.append(title)
    if titled:
        return labels or titled
    return others[-1:] if key or len(others) < 3 else others
