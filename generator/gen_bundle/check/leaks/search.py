"""The search for gold in what participants get: whole files, columns beside ids or in order, and texts."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from pathlib import PurePosixPath
from typing import NamedTuple

from gen_bundle.check.bundle import Bundle, once_a_bundle
from gen_bundle.check.leaks.relation import FEW, Agreement, Pairs, agreement, follows_order, no_chance, repeats, right
from gen_bundle.check.leaks.secrets import SHORTEST, SecretGold, SecretTable, secret_gold
from gen_bundle.check.leaks.visible import INPUT_CHANNELS, Seen, foreign_files, listings, table_of_names
from gen_bundle.ground.tables.any_file import FIRST_ROWS, WIDEST, Block, blocks, in_memory, is_binary, lines, portions
from gen_bundle.ground.tables.entities import ENTITIES
from gen_bundle.ground.tables.pieces import ends_of, parts_of_name, said_in_lines, streams
from gen_bundle.ground.tables.same_content import Passage, arrays_of, content_digest, digests
from gen_bundle.ground.tables.values import picked, plain, plain_cells, words
from gen_bundle.ground.zips.tree import sha256_of

# After so many items, columns that say nothing are no longer compared.
ENOUGH = 500
MOST_COLUMNS = 50
SHORT_ANSWER = 10
# A gold file of fewer lines, such as two numbers, may stand in any longer text.
FEWEST_LINES = 3
# A sequence of so many words is found within other texts; of shorter texts, several must be there.
LONGEST = 8
SEVERAL_TEXTS = 3
MAX_SHINGLES = 300_000
# Items in a row, and orders of items that are remembered.
LISTED, IN_A_ROW, MOST_ORDERS = 5, 20, 8
NEAR, FAR = 8, 200  # pieces after an id in a text
NAME = re.compile(r"\S*[^\W\d]\S*")
PART_OF = "\x1f"  # between a column's name and the place of a part of it
FILE_NAME, FOLDER_NAME = "the file's name", "the folder's name"
ALL = "the items"  # of a text, whatever is near them
LARGE = 1024 * 1024
# A large file may be so many times as large, or as small, when it is written by another program.
ABOUT = 5
OFFSETS = (0, 1, 2)  # below a head, Markdown has a rule


class Leak(NamedTuple):
    """A visible file and the gold in it, in words.

    Attributes:
        shown: whether it is beyond doubt; else it is suspected.
        guessed: whether it is a guess that this is secret.
        line: where it begins; 0 where that is not known.
        items: of how many items a column says something.
    """

    seen: Seen
    what: str
    shown: bool = True
    guessed: bool = False
    line: int = 0
    items: int = 0


@dataclass
class Join:
    """The items of a gold table that a column of a file names, and what else is said of them.

    Attributes:
        table: the gold table.
        pairs: for a secret column and a public one, the values of each item in both; None where they have nothing in
            common.
        order: the items' rows in the gold, as they come.
        beside: the gold texts that stand as they are beside their own item.
        line: where the first of them is.
        rows: how many rows the tables have in which they are.
    """

    table: SecretTable
    pairs: dict[tuple[str, str], Pairs | None] = field(default_factory=dict)
    order: dict[int, None] = field(default_factory=dict)
    beside: set[str] = field(default_factory=set)
    line: int = 0
    rows: int = 0

    def look(self, found: list[tuple[int, int]], block: Block, own: Iterable[str]) -> None:
        """Note items: the places of their rows in a block and in the gold."""
        new: dict[int, int] = {}
        for row, place in found:
            if place not in self.order:
                new.setdefault(place, row)
        if not new:
            return
        self.order |= dict.fromkeys(new)
        rows = list(new.values())
        self.line = self.line or block.lines[rows[0]]
        shown: dict[str, list[str]] = {}
        for name, cells in block.columns.items():
            if name not in own and len(shown) < WIDEST:
                shown[name] = plain_cells(picked(cells, rows))
        shown |= right(shown) if len(shown) <= FEW else {}
        for public in self.table.public.values():  # what says the same as one of these gives nothing away
            its = picked(public, new)
            shown = {name: cells for name, cells in shown.items() if cells != its}
        for title, secret in self.table.secret.items():
            golds = picked(secret, new)
            for name, cells in shown.items():
                if title in (self.table.typed or ()):
                    self.beside |= _alike(zip(golds, cells, strict=True))
                # the words of entities stand in every text of theirs: only what marks them says which they are
                if title.startswith(ENTITIES) == name.startswith(ENTITIES):
                    self._compare((title, name), golds, cells)

    def _compare(self, columns: tuple[str, str], golds: Iterable[str], cells: Iterable[str]) -> None:
        pairs = self.pairs.setdefault(columns, Counter())
        if pairs is not None:
            pairs.update(filter(all, zip(golds, cells, strict=True)))
            if pairs.total() > ENOUGH and agreement(pairs, 1) is None:
                self.pairs[columns] = None

    def add(self, other: "Join") -> None:
        """Note what another file says of other items."""
        self.order |= other.order
        self.rows += other.rows
        for columns, pairs in other.pairs.items():
            own = self.pairs.setdefault(columns, Counter())
            self.pairs[columns] = None if own is None or pairs is None else own + pairs

    @property
    def is_most(self) -> bool:
        """Whether at least half of the rows are of these items."""
        return 2 * len(self.order) >= self.rows


# By the kind of a file's table, the place of the gold table, its key, and the columns that name the items.
Joins = dict[tuple[str, int, tuple[str, ...], tuple[str, ...]], Join]
Best = dict[tuple[str, str], Leak]
Order = tuple[int, tuple[int, ...]]
"""The place of a gold table, and its rows as some items come."""


class Search:
    """Searches one file after another; a table may be spread over several files of a folder.

    Attributes:
        beside: gold texts that input has as they are beside their own item, without giving the others away.
    """

    def __init__(self, gold: SecretGold) -> None:
        self.gold = gold
        self._folders: dict[tuple[str, bool, str, str], tuple[list[Seen], Joins]] = {}
        self._alone: list[tuple[Seen, dict[str, list[str]]]] = []
        self._orders: dict[Order, None] = {}
        self.beside: set[str] = set()
        self._answers: defaultdict[str, list[tuple[Seen, int]]] = defaultdict(list)
        self._ids = set[str]()
        self._longest = 0
        for table in gold.tables:
            if table.whole:
                self._longest = max(self._longest, table.rows)
            for key in table.keys:
                if not key.parts:
                    self._ids |= key.rows.keys()

    def leaks_in(self, seen: Seen) -> Iterator[Leak]:
        """Yield the gold in a file."""
        whole = self._whole_file(seen)
        if whole:
            yield Leak(seen, whole)
        elif self.gold.tables and not seen.opened:
            yield from self._leaks_in_tables(seen)

    def _leaks_in_tables(self, seen: Seen) -> Iterator[Leak]:
        joins, alone = self._joins(seen)
        found = list(self._given_away(seen, joins))
        if not _shows(found):
            near = list(self._in_streams(seen))
            found = [leak for leak in near if leak.shown] or found or near
        yield from found
        place = PurePosixPath(seen.name).parent
        if plain(place.name) in self._ids:  # a folder for each item
            place = place.parent
        folder = (seen.channel, seen.is_answer, str(place), PurePosixPath(seen.name).suffix)
        files, together = self._folders.setdefault(folder, ([], {}))
        if not _shows(found):
            files.append(seen)
            if alone:
                self._alone.append((seen, alone))
            for where, join in joins.items():
                if seen.channel in INPUT_CHANNELS:
                    self.beside |= join.beside
                together.setdefault(where, Join(join.table, line=join.line)).add(join)

    def leaks_in_folders(self) -> Iterator[Leak]:
        """Yield the gold in files of a folder together, and in columns that give it in the order of other files."""
        for files, joins in self._folders.values():
            if len(files) > 1:
                yield from self._given_away(files[0], joins, f" ({len(files)} files like this together)")
        for answers in self._answers.values():  # each of whose files may be too short to say anything
            same, sizes = zip(*answers, strict=True)
            if sum(sizes) >= SHORT_ANSWER and all(sizes):
                yield Leak(same[0], f"is a reference file ({len(sizes)} of {len(sizes)} here are)")
        orders: list[Order] = []
        for place, table in enumerate(self.gold.tables):
            if table.whole:
                orders.append((place, tuple(range(table.rows))))
        for seen, columns in self._alone:
            yield from self._in_order(seen, columns, [*orders, *self._orders])

    def _whole_file(self, seen: Seen) -> str:
        """Return what a file has of a whole reference file, however it is written; empty for any other."""
        name = self.gold.files.get(sha256_of(seen.node), "")
        # a submission of few lines may well be right
        if name and (not seen.is_answer or is_binary(seen.node) or len([*lines(seen.node)]) >= SHORT_ANSWER):
            return f"is the reference file {name}"
        if self.gold.arrays and is_binary(seen.node):
            arrays = arrays_of(seen.node) & self.gold.arrays
            return f"has the array of the reference file {self.gold.files[min(arrays)]}" if arrays else ""
        if held := self._passage(seen):
            return f"{'is' if held.is_all else 'holds all lines of'} the reference file {held.name}"
        size = seen.node.size
        is_near = size <= LARGE or any(one <= ABOUT * size <= ABOUT**2 * one for one in self.gold.sizes)
        if is_near and not seen.is_answer and seen.channel != "logo":
            for digest in digests(seen.node):
                if digest in self.gold.files:
                    return f"is the reference file {self.gold.files[digest]}"
        return ""

    def _passage(self, seen: Seen) -> Passage | None:
        """The lines of a reference file that a text has, unless they are so few that any text may have them."""
        held = self.gold.passages.within(seen.node)
        if seen.is_answer:
            is_few = held is None or held.lines < SHORT_ANSWER
            # many such files may be right as a whole, see `leaks_in_folders`
            self._answers[seen.place].append((seen, held.said if held and is_few else 0))
        else:
            is_few = held is None or (held.said < FEWEST_LINES and not held.is_all)
        return None if is_few else held

    def _joins(self, seen: Seen) -> tuple[Joins, dict[str, list[str]]]:
        """The gold tables joined with the file's tables, by whatever column names the items; and columns without."""
        joins: Joins = {}
        alone: dict[str, list[str]] = {}
        most = self._longest + len(OFFSETS)
        path = PurePosixPath(seen.name)
        own = {FILE_NAME: path.stem, FOLDER_NAME: path.parent.name}
        found = self._both_ways(blocks(seen.node))
        if not self._ids.isdisjoint(plain_cells(own.values())):  # a file for each item
            found = chain(found, [ends_of(seen.node)])
        for block in found:
            if len(block.lines) < FIRST_ROWS:
                names = {name: [one] * len(block.lines) for name, one in own.items()}
                block.columns = {**block.columns, **names}
            names_items = self._join(joins, block)
            compared: list[Pairs | None] = []
            for join in joins.values():
                compared += join.pairs.values()
            if seen.is_answer and compared.count(None) == len(compared) > 0:
                break  # an example submission that is wrong here is not the gold
            if names_items or len(block.columns) > MOST_COLUMNS:
                continue
            for name, cells in block.columns.items():
                column = alone.setdefault(f"{block.kind} {name}", [])
                if len(column) <= most:
                    column += plain_cells(cells[:most])
        return joins, alone

    def _both_ways(self, found: Iterable[Block]) -> Iterator[Block]:
        """Blocks with the parts of their names and addresses, and the same turned round where their heads have ids."""
        for block in found:
            if len(block.columns) <= FEW:
                block.columns = {**block.columns, **dict(self._parts(block))}
            yield block
            heads = [plain(cells[0]) for cells in block.columns.values() if cells]
            if len(block.lines) < WIDEST and len(self._ids.intersection(heads)) >= LISTED:
                yield block.turned()

    def _parts(self, block: Block) -> Iterator[tuple[str, list[str]]]:
        """The parts of columns that have ids in some of them, as `images/rv-1.png` has, and none as a whole."""
        for name, cells in block.columns.items():
            some = [cell for cell in cells[: 2 * LISTED] if NAME.fullmatch(cell)]
            parts = plain_cells(chain.from_iterable(_by_parts(some)))
            if not self._ids.isdisjoint(parts) and self._ids.isdisjoint(plain_cells(some)):
                for place, column in enumerate(_by_parts(cells)):
                    yield f"{name}{PART_OF}{place}", list(column)

    def _join(self, joins: Joins, block: Block) -> bool:
        """Join a table with the gold tables; returns whether it names items, other than by the file's name."""
        names_items = False
        named: dict[str, tuple[list[int], list[str]]] = {}
        for name, cells in block.columns.items():
            others = [plain(cell) for cell in cells[:ENOUGH] if cell not in self._ids]
            if not self._ids.isdisjoint(others):
                cells = plain_cells(cells)
            if not self._ids.isdisjoint(cells):
                rows = [row for row, cell in enumerate(cells) if cell in self._ids]
                named[name] = (rows, picked(cells, rows))
        for place, table in enumerate(self.gold.tables):
            for key in table.keys:
                for own, found in key.items_in(block, named):
                    join = joins.setdefault((block.kind, place, key.titles, own), Join(table))
                    join.rows += len(block.lines)
                    join.look(found, block, own)
                    names_items |= FILE_NAME not in own
        return names_items

    def _given_away(self, seen: Seen, joins: Joins, more: str = "") -> Iterator[Leak]:
        compared: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for (kind, *_), join in joins.items():
            compared[kind] |= join.pairs.keys()
        best: Best = {}
        for (kind, place, titles, own), join in joins.items():
            for (title, name), pairs in join.pairs.items():
                found = _judged(pairs, len(compared[kind]), join.table, seen)
                if found:
                    _note(best, seen, join.table, title, found, f"{_column(name)}{more}", join.line)
            if not seen.is_answer and (not more or own == (ALL,)):
                yield from self._of_items(seen, place, join, titles)
        yield from best.values()

    def _of_items(self, seen: Seen, place: int, join: Join, titles: Sequence[str]) -> Iterator[Leak]:
        """Yield what the choice of the items or their order says; `titles` are the gold's columns that name them."""
        table, order = join.table, list(join.order)
        if len(order) < LISTED:
            return
        if table.says_choice and len(titles) > 1:
            if join.rows <= len(order) + OFFSETS[-1]:  # and no rows that are wrong
                of_all = f"{len(order)} of the {table.rows} rows of {' and '.join(titles)} in {table.name}"
                yield Leak(seen, f"lists {of_all}, and no others", not table.guessed, table.guessed, join.line)
            return
        if table.whole and len(self._orders) < MOST_ORDERS and join.is_most:
            self._orders[place, tuple(order)] = None
        for title, cells in table.secret.items():
            yield from _of_labels(seen, join, title, picked(cells, order))

    def _in_order(self, seen: Seen, columns: dict[str, list[str]], orders: Iterable[Order]) -> Iterator[Leak]:
        """Columns without ids whose rows are those of the gold, or of another file of participants."""
        best: Best = {}
        for place, order in orders:
            table = self.gold.tables[place]
            for name, cells in columns.items():
                head = len(cells) - len(order)
                for title, secret in table.secret.items() if head in OFFSETS else ():
                    rows = [row for row in zip(picked(secret, order), cells[head:], strict=True) if all(row)]
                    runs = Counter(row for row, _ in groupby(rows))
                    found = _judged(Counter(rows), len(columns) * len(table.secret), table, seen, runs)
                    if title in (table.typed or ()) and seen.channel in INPUT_CHANNELS and not (found and found.shown):
                        self.beside |= _alike(rows)
                    if found and found.how not in ("by its order", "in groups"):
                        where = f"{_column(name.rpartition(' ')[2])}, in the order of the items"
                        _note(best, seen, table, title, found, where, 1)
        yield from best.values()

    def _in_streams(self, seen: Seen) -> Iterator[Leak]:
        """Ids, and labels or numbers near them, in a text without a regular form."""
        if not self._ids:
            return
        for stream in streams(seen.node, self._ids):
            joins: Joins = {}
            for place, table in enumerate(self.gold.tables):
                for key in table.keys:
                    if len(key.titles) == 1:
                        values = {title: set(cells) - key.rows.keys() for title, cells in table.secret.items()}
                        block, found = near_items(stream, key.rows, values)
                        join = joins[ALL, place, key.titles, (ALL,)] = Join(table)
                        join.look(found, block, ())
            if leaks := list(self._given_away(seen, joins, " near them")):
                yield from leaks
                return


def _of_labels(seen: Seen, join: Join, title: str, shown: Sequence[str]) -> Iterator[Leak]:
    """Yield what the choice of items, or their order, says of a column, which has the values `shown` for them."""
    table = join.table
    cells = table.secret[title]
    left_out = len(cells) - len(shown)
    if left_out >= LISTED and shown.count(shown[0]) == len(shown) == cells.count(shown[0]):
        what = f"lists the {len(shown)} items with {title} {shown[0]!r} in {table.name}, and no others"
        if no_chance([len(shown), left_out]):
            yield Leak(seen, what, not table.guessed, table.guessed, join.line)
    elif len(shown) >= IN_A_ROW and join.is_most and follows_order(shown):
        what = f"has {len(shown)} items in the order of {title} in {table.name}"
        yield Leak(seen, what, False, table.guessed, join.line)


def _alike(pairs: Iterable[tuple[str, str]]) -> set[str]:
    return {gold for gold, cell in pairs if gold == cell}


def _by_parts(names: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """The parts of names, each part as a column."""
    return zip(*[parts_of_name(name) for name in names], strict=True)


def _shows(found: Iterable[Leak]) -> bool:
    return any(leak.shown for leak in found)


def _column(title: str) -> str:
    name, is_part, _ = title.partition(PART_OF)
    if not name:
        return ""
    of_name = f"column {int(name) + 1}" if name.isdigit() else name
    return f" (a part of {of_name})" if is_part else f" ({of_name})"


def _judged(
    pairs: Pairs | None, compared: int, table: SecretTable, seen: Seen, runs: Pairs | None = None
) -> Agreement | None:
    if not pairs or (seen.is_answer and not repeats(runs or pairs, table.rows)):
        return None
    if seen.is_answer:
        return Agreement("", pairs.total(), True)
    return agreement(pairs, compared, runs)


def _note(best: Best, seen: Seen, table: SecretTable, title: str, found: Agreement, where: str, line: int) -> None:
    """Note what is said of a secret column; of all that is, what is surest, of most items, is kept."""
    how = f" {found.how}".rstrip()
    said = "shows" if found.shown else "may show"
    what = f"{said} {title} of {table.name}{how} for {found.items} of {table.rows} items{where}"
    kept = best.get((table.name, title))
    if kept is None or (found.shown, found.items) > (kept.shown, kept.items):
        best[table.name, title] = Leak(seen, what, found.shown, table.guessed, line, found.items)


def near_items(
    stream: Sequence[tuple[int, str]], rows: Mapping[str, int], values: Mapping[str, Set[str]]
) -> tuple[Block, list[tuple[int, int]]]:
    """Return a table of what stands near items that a text names, and the places of its rows there and in the gold.

    That is the piece before, each of the next few, and the next of the `values` of a gold column.
    """
    places: dict[int, int] = {}
    pieces = [""]
    for at, (_, piece) in enumerate(stream):
        pieces.append(piece)
        if piece in rows:
            places.setdefault(rows[piece], at)
    pieces += [""] * NEAR
    columns: dict[str, list[str]] = {}
    lines = []
    for at in places.values():
        lines.append(stream[at][0])
        for offset in (-1, *range(1, NEAR + 1)):
            columns.setdefault(f"piece {offset}", []).append(pieces[1 + at + offset])
        for title, own in values.items():
            columns.setdefault(f"the next {title}", []).append(_next_of(own, stream, at, rows))
    return Block("", columns, lines), list(enumerate(places))


def _next_of(values: Set[str], stream: Sequence[tuple[int, str]], at: int, rows: Mapping[str, int]) -> str:
    """The first of some values after a place, before the next item."""
    for _, piece in stream[at + 1 : at + 1 + FAR]:
        if piece in values:
            return piece
        if piece in rows:
            break
    return ""


@once_a_bundle
def found_leaks(bundle: Bundle) -> Iterator[Leak]:
    """Yield all leaks, shown and suspected."""
    seen_files = foreign_files(bundle)
    (gold,) = secret_gold(bundle)
    if not gold.files and not gold.tables:
        return
    # the same file often lies in several kits and programs, and as a solution and a kit's example
    different: dict[tuple[str, str, bool, str], Seen] = {}
    for seen in seen_files:
        name = "/".join(seen.name.split("/")[-2:])  # its folder may be called as its item
        channel = "" if seen.is_answer else seen.channel
        different.setdefault((content_digest(seen.node), channel, seen.is_answer, name), seen)
    search = Search(gold)
    texts = Texts(chain.from_iterable(table.texts for table in gold.tables))
    for seen in different.values():
        with in_memory(seen.node):
            found = list(search.leaks_in(seen))
            if not seen.opened and not _shows(found):
                texts.look(seen)
        yield from found
    yield from search.leaks_in_folders()
    yield from said_by_ids(gold)
    for listing in listings(seen_files):
        yield from search.leaks_in(listing)
    yield from texts.leaks(seen_files, {words(text) for text in search.beside})


def said_by_ids(gold: SecretGold) -> Iterator[Leak]:
    """Yield what ids say of their own gold, by a part of them or by their order."""
    search = Search(gold)
    for table in gold.tables:
        for key in table.keys[:1]:
            ids = Seen("ids of", (), table.name, table_of_names(sorted(set(plain_cells(key.rows)))))
            for leak in islice(search.leaks_in(ids), 1):
                yield leak._replace(what=leak.what.partition(" (")[0], shown=False, line=0)


class Texts:
    """Secret texts, and the search for them within others."""

    def __init__(self, texts: Iterable[tuple[str, ...]]) -> None:
        self._texts = list(dict.fromkeys(texts))
        self._vocabulary = frozenset(chain.from_iterable(self._texts))
        self._whole: list[tuple[Seen, set[tuple[str, ...]]]] = []
        self._suspects: list[tuple[Seen, set[int]]] = []
        self._sizes: dict[int, set[int]] = {}
        for text in self._texts:
            kept = self._sizes.setdefault(min(len(text), LONGEST), set())
            if len(kept) < MAX_SHINGLES:
                kept.update(_codes(text))

    def look(self, seen: Seen) -> None:
        """Note the gold texts that a file of participants' input has as values, or that any other one may hold."""
        if self._texts and seen.channel in INPUT_CHANNELS:
            self._whole.append((seen, self._whole_in(seen)))
        elif self._texts:
            self._suspects.append((seen, self._within(seen, self._sizes)))

    def _within(self, seen: Seen, wanted: dict[int, set[int]]) -> set[int]:
        """The codes of sequences of words that a file holds, of those wanted, which are given by their lengths."""
        held: set[int] = set()
        for text in portions(seen.node):
            found = words(text.replace("\\n", " "))
            if self._vocabulary.isdisjoint(found):
                continue  # such as a list of ids
            for size, codes in wanted.items():
                shifted = (found[start:] for start in range(size))
                held |= codes.intersection(map(hash, zip(*shifted, strict=False)))
        return held

    def _whole_in(self, seen: Seen) -> set[tuple[str, ...]]:
        """Input may hold a gold text inside its own, but not as values of its own."""
        secret = set(self._texts)
        held: set[tuple[str, ...]] = set()
        for block in blocks(seen.node):
            for cells in block.columns.values():
                long = [words(cell) for cell in set(cells) if cell.count(" ") >= SHORTEST - 1]
                held |= secret.intersection(long)
        if not held and not is_binary(seen.node):
            held = secret.intersection(said_in_lines(seen.node, frozenset(text[0] for text in secret)))
        return held

    def leaks(self, seen_files: Iterable[Seen], beside: Set[tuple[str, ...]]) -> Iterator[Leak]:
        """Yield the gold texts in all files, but for those that stand `beside` their own items in input."""
        for seen, texts in self._whole:
            held = texts - beside
            if held:
                certain = len(held) >= SEVERAL_TEXTS or len(max(held, key=len)) >= LONGEST
                shown = certain and len(held) >= len(self._texts) // 5
                yield Leak(seen, f"holds {len(held)} of {len(self._texts)} gold texts as values of their own", shown)
        yield from self._leaks_in_suspects(seen_files)

    def _leaks_in_suspects(self, seen_files: Iterable[Seen]) -> Iterator[Leak]:
        """Yield what suspects hold, but for what participants' input holds as part of longer texts."""
        wanted = set[int]()
        for _, held in self._suspects:
            wanted |= held
        if not wanted:
            return
        chosen = {size: codes & wanted for size, codes in self._sizes.items()}
        for seen in seen_files:
            if seen.channel in INPUT_CHANNELS:
                wanted -= self._within(seen, chosen)
        secret: list[set[int]] = []
        for text in self._texts:
            codes = _codes(text)
            if not wanted.isdisjoint(codes):
                secret.append(codes)
        for seen, held in self._suspects:
            codes = held & wanted
            whole = sum(own <= codes for own in secret)
            if not codes or (seen.is_answer and whole < 0.9 * len(self._texts)):
                continue
            long = not codes.isdisjoint(self._sizes.get(LONGEST, ()))
            what = f"holds words of {max(whole, 1)} of {len(self._texts)} gold texts"
            yield Leak(seen, what, long or whole >= SEVERAL_TEXTS)


def _codes(text: tuple[str, ...]) -> set[int]:
    """Return the codes of a text's sequences of words; one word again and again, such as `O O O O`, says nothing."""
    size = min(len(text), LONGEST)
    codes: set[int] = set()
    for start in range(len(text) - size + 1):
        sequence = text[start : start + size]
        if len(set(sequence)) > 1:
            codes.add(hash(sequence))
    return codes
