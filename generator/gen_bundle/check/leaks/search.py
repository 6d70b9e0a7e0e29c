"""The search for gold in what participants get: whole files, columns beside ids or in order, and texts."""

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby, islice
from pathlib import PurePosixPath

from gen_bundle.check.bundle import Bundle, once_a_bundle
from gen_bundle.check.leaks.gold import PART, SHORTEST, Key, SecretGold, SecretTable, gold_of
from gen_bundle.check.leaks.records import (
    FIRST_ROWS,
    WIDEST,
    Block,
    blocks,
    digests,
    is_binary,
    is_table,
    lines,
    number,
    plain,
    portions,
    streams,
    text_blocks,
    text_of,
    words,
)
from gen_bundle.check.leaks.relation import BY_CHANCE, Agreement, Pairs, agreement, follows_order, repeats
from gen_bundle.check.leaks.visible import INPUT_CHANNELS, Seen, listings, visible_files
from gen_bundle.resources import resource
from gen_bundle.zips.reading import sha256_of

# After so many items, columns that say nothing are no longer compared.
ENOUGH = 500
MOST_COLUMNS = 50
# A submission of fewer lines may well be right.
SHORT_ANSWER = 10
# A sequence of so many words is found within other texts; of shorter texts, several must be there.
LONGEST = 8
SEVERAL_TEXTS = 3
MAX_SHINGLES = 300_000
# Items in a row, and orders of items that are remembered.
LISTED, IN_A_ROW, MOST_ORDERS = 5, 20, 8
LOOK = "the look of "
NO_WIDTH = re.compile("[\u200b-\u200d\u2060\ufeff]")
ALL = "the items"  # of a text, whatever is near them
LARGE = 1024 * 1024
# A large file may be so many times as large, or as small, when it is written by another program.
ABOUT = 5
OFFSETS = (0, 1, 2)  # below a head, Markdown has a rule


@dataclass(frozen=True)
class Leak:
    """A visible file and the gold in it, in words: `shown` or suspected; of secrets that are known or `guessed`."""

    seen: Seen
    what: str
    shown: bool = True
    guessed: bool = False
    line: int = 0


def _look(text: str) -> str:
    """What of a text's look might stand for a label: blanks at its end, characters without width, and case."""
    case = "upper" if text.isupper() else "lower" if text.islower() else "title" if text.istitle() else "mixed"
    return f"{len(text) - len(text.rstrip())} {len(NO_WIDTH.findall(text))} {case}"


@dataclass
class Join:
    """The items of a gold table that a column of a file names, and what else is said of them.

    Attributes:
        table: the gold table.
        pairs: for a secret column and a public one, the values of each item in both; None where they have nothing in
            common.
        order: the items' rows in the gold, as they come.
        line: where the first of them is.
    """

    table: SecretTable
    pairs: dict[tuple[str, str], Pairs | None] = field(default_factory=dict)
    order: dict[int, None] = field(default_factory=dict)
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
        for name in [name for name in block.columns if name not in own][:WIDEST]:
            cells = [block.columns[name][row] for row in rows]
            shown[name] = list(map(plain, cells))
            if any(" " in cell for cell in cells):
                shown[LOOK + name] = list(map(_look, cells))
        for title, secret in self.table.secret.items():
            golds = [secret[place] for place in new]
            for name, cells in shown.items():
                pairs = self.pairs.setdefault((title, name), Counter())
                if pairs is not None:
                    pairs.update(pair for pair in zip(golds, cells, strict=True) if pair[0] and pair[1])
                    if pairs.total() > ENOUGH and agreement(pairs, 1) is None:
                        self.pairs[title, name] = None

    def add(self, other: "Join") -> None:
        """Note what another file says of other items."""
        self.order |= other.order
        self.rows += other.rows
        for where, pairs in other.pairs.items():
            own = self.pairs.setdefault(where, Counter())
            self.pairs[where] = None if own is None or pairs is None else own + pairs


Joins = dict[tuple[str, int, tuple[str, ...], tuple[str, ...]], Join]


class Search:
    """Searches one file after another; a table may be spread over several files of a folder."""

    def __init__(self, gold: SecretGold) -> None:
        self.gold = gold
        self._folders: dict[tuple[str, bool, str, str], tuple[list[Seen], Joins]] = {}
        self._alone: list[tuple[Seen, dict[str, list[str]]]] = []
        self._orders: dict[tuple[int, tuple[int, ...]], None] = {}
        self._longest = max((table.rows for table in gold.tables if table.whole), default=0)

    def leaks_in(self, seen: Seen) -> Iterator[Leak]:
        """The gold in a file."""
        whole = self._whole_file(seen)
        if whole:
            yield Leak(seen, f"is the reference file {whole}")
            return
        if self.gold.tables and not seen.opened:
            joins, alone = self._joins(seen)
            found = list(self._given_away(seen, joins))
            if not any(leak.shown for leak in found):
                near = list(self._in_streams(seen))
                found = [leak for leak in near if leak.shown] or found or near
            folder = (seen.channel, seen.is_answer, seen.name.rpartition("/")[0], PurePosixPath(seen.name).suffix)
            files, together = self._folders.setdefault(folder, ([], {}))
            if not any(leak.shown for leak in found):
                files.append(seen)
                self._alone += alone
                for where, join in joins.items():
                    together.setdefault(where, Join(join.table, line=join.line)).add(join)
            yield from found

    def leaks_in_folders(self) -> Iterator[Leak]:
        """The gold in files of a folder together, and in columns that give it in the order of other files."""
        for files, joins in self._folders.values():
            if len(files) > 1:
                yield from self._given_away(files[0], joins, f" ({len(files)} files like this together)")
        for seen, columns in self._alone:
            yield from self._in_order(seen, columns)

    def _whole_file(self, seen: Seen) -> str:
        name = self.gold.files.get(sha256_of(seen.node), "")
        if name and seen.is_answer and sum(1 for _ in lines(seen.node)) < SHORT_ANSWER:
            return ""
        if name or seen.is_answer or seen.channel == "logo":
            return name
        if seen.node.size > LARGE and not any(
            size <= ABOUT * seen.node.size <= ABOUT**2 * size for size in self.gold.sizes
        ):
            return ""
        return next((self.gold.files[one] for one in digests(seen.node) if one in self.gold.files), "")

    def _joins(self, seen: Seen) -> tuple[Joins, list[tuple[Seen, dict[str, list[str]]]]]:
        """The gold tables joined with the file's tables, by whatever column names the items; and columns without."""
        joins: Joins = {}
        alone: dict[str, list[str]] = {}
        path = PurePosixPath(seen.name)
        for block in text_blocks(seen.text) if seen.text else blocks(seen.node):
            size = len(block.lines)
            known = False
            if not seen.text and size < FIRST_ROWS:
                names = {"the file's name": [path.stem] * size, "the folder's name": [path.parent.name] * size}
                block.columns = {**block.columns, **names}
            for place, table in enumerate(self.gold.tables):
                for key in table.keys:
                    for own, found in _items(key, block):
                        where = (block.kind, place, key.titles, own)
                        join = joins.setdefault(where, Join(table))
                        join.rows += size
                        join.look(found, block, own)
                        known |= "the file's name" not in own
            compared = [pairs for join in joins.values() for pairs in join.pairs.values()]
            if seen.is_answer and compared and all(pairs is None for pairs in compared):
                break  # an example submission that is wrong here is not the gold
            if not known and len(block.columns) <= MOST_COLUMNS:
                for name, cells in block.columns.items():
                    column = alone.setdefault(f"{block.kind} {name}", [])
                    if len(column) <= self._longest + len(OFFSETS):
                        column += map(plain, islice(cells, self._longest + len(OFFSETS)))
        return joins, [(seen, alone)] if alone else []

    def _given_away(self, seen: Seen, joins: Joins, more: str = "") -> Iterator[Leak]:
        compared: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for (kind, *_), join in joins.items():
            compared[kind] |= join.pairs.keys()
        best: dict[tuple[str, str], tuple[Agreement, Leak]] = {}
        for (kind, place, _, own), join in joins.items():
            for (title, name), pairs in join.pairs.items():
                found = _judged(pairs, len(compared[kind]), join.table, seen) if pairs else None
                if found and not self._is_public(join.table, pairs):
                    found = replace(found, shown=found.shown and not name.startswith(LOOK))
                    leak = _leak(seen, join.table, title, found, f"{_column(name)}{more}", join.line)
                    self._keep(best, (join.table.name, title), found, leak)
            if not seen.is_answer and (not more or own == (ALL,)):
                yield from self._of_items(seen, place, join, own)
        yield from (leak for _, leak in best.values())

    @staticmethod
    def _keep(
        best: dict[tuple[str, str], tuple[Agreement, Leak]], where: tuple[str, str], found: Agreement, leak: Leak
    ) -> None:
        kept = best.get(where)
        if kept is None or (found.shown, found.items) > (kept[0].shown, kept[0].items):
            best[where] = (found, leak)

    @staticmethod
    def _is_public(table: SecretTable, pairs: Pairs | None) -> bool:
        """Whether a column's values are those of one that the declaration gives to participants."""
        values = {public for _, public in pairs or ()}
        return any(values <= public for public in table.public)

    def _of_items(self, seen: Seen, place: int, join: Join, own: Sequence[str]) -> Iterator[Leak]:
        """What the choice of the items or their order says."""
        table, order = join.table, list(join.order)
        if len(order) < LISTED:
            return
        if table.whole and len(self._orders) < MOST_ORDERS and 2 * len(order) >= join.rows:
            self._orders[place, tuple(order)] = None
        for title, cells in table.secret.items():
            counts = Counter(cells)
            shown = [cells[row] for row in order]
            if len(set(shown)) == 1 and counts[shown[0]] == len(shown) and len(cells) - len(shown) >= LISTED:
                what = f"lists the {len(shown)} items with {title} {shown[0]!r} in {table.name}, and no others"
                if _log_choices(len(cells), len(shown)) > -math.log(BY_CHANCE):
                    yield Leak(seen, what, not table.guessed, table.guessed, join.line)
            elif len(order) >= IN_A_ROW and 2 * len(order) >= join.rows and follows_order(shown, -math.log(BY_CHANCE)):
                what = f"has {len(shown)} items in the order of {title} in {table.name}"
                yield Leak(seen, what, False, table.guessed, join.line)

    def _in_order(self, seen: Seen, columns: dict[str, list[str]]) -> Iterator[Leak]:
        """Columns without ids whose rows are those of the gold, or of another file of participants."""
        tables = enumerate(self.gold.tables)
        orders = [(place, tuple(range(table.rows))) for place, table in tables if table.whole]
        best: dict[tuple[str, str], tuple[Agreement, Leak]] = {}
        for place, order in [*orders, *self._orders]:
            table = self.gold.tables[place]
            for name, cells in columns.items():
                if len(cells) - len(order) not in OFFSETS:
                    continue
                shown = cells[len(cells) - len(order) :]
                for title, secret in table.secret.items():
                    rows = [pair for pair in zip((secret[row] for row in order), shown, strict=True) if all(pair)]
                    runs = Counter(pair for pair, _ in groupby(rows))
                    found = _judged(Counter(rows), len(columns) * len(table.secret), table, seen, runs)
                    if found and not found.how.startswith(("by its order", "in groups")):
                        where = f"{_column(name.rpartition(' ')[2])}, in the order of the items"
                        self._keep(best, (table.name, title), found, _leak(seen, table, title, found, where, 1))
        yield from (leak for _, leak in best.values())

    def _in_streams(self, seen: Seen) -> Iterator[Leak]:
        """Ids, and labels or numbers near them, in a text without a regular form."""
        if is_table(seen.node):
            return
        text = seen.text or text_of(seen.node)
        for has_names, stream in zip((True, False, False), streams(text), strict=True):
            joins: Joins = {}
            for place, table in enumerate(self.gold.tables):
                for key in table.keys:
                    if len(key.titles) == 1:
                        for own, block, found in _near(stream, key, table, PurePosixPath(seen.name).stem, has_names):
                            join = joins.setdefault((own, place, key.titles, (own,)), Join(table))
                            join.look(found, block, ())
            found_leaks = list(self._given_away(seen, joins, " near them"))
            if found_leaks:
                yield from found_leaks
                return


def _column(name: str) -> str:
    bare = name.removeprefix(LOOK)
    shown = f"column {int(bare) + 1}" if bare.isdigit() else bare
    return f" ({name[: len(name) - len(bare)]}{shown})" if name else ""


def _judged(
    pairs: Pairs | None, compared: int, table: SecretTable, seen: Seen, runs: Pairs | None = None
) -> Agreement | None:
    if not pairs:
        return None
    if seen.is_answer:
        return Agreement("", pairs.total(), True) if repeats(runs or pairs, table.rows) else None
    return agreement(pairs, compared, runs)


def _leak(seen: Seen, table: SecretTable, title: str, found: Agreement, where: str, line: int) -> Leak:
    how = f" {found.how}" if found.how else ""
    said = "shows" if found.shown else "may show"
    what = f"{said} {title} of {table.name}{how} for {found.items} of {table.rows} items{where}"
    return Leak(seen, what, found.shown, table.guessed, line)


def _log_choices(number_of: int, taken: int) -> float:
    return math.lgamma(number_of + 1) - math.lgamma(taken + 1) - math.lgamma(number_of - taken + 1)


def _items(key: Key, block: Block) -> Iterator[tuple[tuple[str, ...], list[tuple[int, int]]]]:
    """The columns that name items, and the places of these in the block and in the gold."""
    if key.parts:
        own = _parts(key, block)
        if own:
            together = zip(*(map(plain, block.columns[name]) for name in own), strict=True)
            found = [(row, key.rows.get(PART.join(cells))) for row, cells in enumerate(together)]
            yield own, [(row, place) for row, place in found if place is not None]
        return
    for name, cells in block.columns.items():
        places = list(map(key.rows.get, cells))
        if None in places[:ENOUGH] and any(plain(cell) in key.rows for cell in cells[:ENOUGH] if cell not in key.rows):
            places = [key.rows.get(plain(cell)) for cell in cells]
        if places.count(None) < len(places):
            yield (name,), [(row, place) for row, place in enumerate(places) if place is not None]


def _parts(key: Key, block: Block) -> tuple[str, ...]:
    """The columns of a block that hold the parts of a key; none unless each part has one of its own."""
    own: list[str] = []
    for part in key.parts:
        shares = {
            name: sum(plain(cell) in part for cell in cells[:ENOUGH]) / max(1, len(cells[:ENOUGH]))
            for name, cells in block.columns.items()
            if name not in own
        }
        name = max(shares, key=lambda one: shares[one], default="")
        if shares.get(name, 0) < 0.5:
            return ()
        own.append(name)
    return tuple(own)


def _ways(piece: str, name: str) -> Iterator[str]:
    """The ways in which a piece may be near an id before it; `name` is the piece between them."""
    yield "the next piece"
    if number(piece) is not None:
        yield "the next number"
    if name and number(name) is None:
        yield f"after {name!r}"


def _near(
    stream: Sequence[tuple[int, str]], key: Key, table: SecretTable, stem: str, has_names: bool
) -> Iterator[tuple[str, Block, list[tuple[int, int]]]]:
    """What stands near ids in a text: as a table with a row for each of them, for each way of being near.

    That is the next and the last piece, the next value or number, the last value before, and what a name precedes,
    where it `has_names`: words before words say nothing.
    """
    if not any(piece in key.rows for _, piece in stream) and stem.lower() not in key.rows:
        return
    said: dict[str, dict[int, str]] = defaultdict(dict)
    places: dict[int, int] = {}
    values = {title: set(cells) - key.rows.keys() for title, cells in table.secret.items()}
    current = key.rows.get(plain(stem), -1)
    before: dict[str, str] = {}
    last = ""
    for line, piece in stream:
        place = key.rows.get(piece)
        if place is not None:
            if place != current:
                current = place
                places.setdefault(place, line)
                said["the piece before"].setdefault(place, last)
                for title, value in before.items():
                    said[f"the {title} before"].setdefault(place, value)
        else:
            for title, some in values.items():
                if piece in some:
                    before[title] = piece
                    if current >= 0:
                        said[f"the next {title}"].setdefault(current, piece)
            for how in _ways(piece, last if has_names and last not in key.rows else "") if current >= 0 else ():
                said[how].setdefault(current, piece)
        last = piece
    said[ALL] = dict.fromkeys(places, "")
    for how, found in said.items():
        if len(found) >= SEVERAL_TEXTS:
            rows = list(found.items())
            block = Block("", {how: [value for _, value in rows]}, [places.get(place, 1) for place, _ in rows])
            yield how, block, [(row, place) for row, (place, _) in enumerate(rows)]


@once_a_bundle
def found_leaks(bundle: Bundle) -> Iterator[Leak]:
    """All leaks, shown and suspected."""
    seen_files = [seen for seen in visible_files(bundle) if sha256_of(seen.node) not in own_files()]
    inputs = [seen for seen in seen_files if seen.channel in INPUT_CHANNELS]
    gold = gold_of(bundle, (sha256_of(seen.node) for seen in inputs))
    if not gold.files and not gold.tables:
        return
    search = Search(gold)
    texts = Texts([text for table in gold.tables for text in table.texts])
    # the same file often lies in several kits and programs, and is read once
    done: set[tuple[str, str, bool, str]] = set()
    suspects: list[tuple[Seen, set[int]]] = []
    for seen in seen_files:
        key = (sha256_of(seen.node), seen.channel, seen.is_answer, seen.name.rpartition("/")[2])
        if key in done:
            continue
        done.add(key)
        found = list(search.leaks_in(seen))
        yield from found
        if not any(leak.shown for leak in found) and texts.sizes:
            if seen.opened:
                continue
            if seen.channel in INPUT_CHANNELS:
                yield from texts.whole_in(seen)
            else:
                suspects.append((seen, texts.within(seen)))
    yield from search.leaks_in_folders()
    for listing in listings(seen_files):
        yield from search.leaks_in(listing)
    yield from texts.leaks(suspects, inputs)


class Texts:
    """Secret texts, and the search for them within others."""

    def __init__(self, texts: Iterable[tuple[str, ...]]) -> None:
        self.texts = list(dict.fromkeys(texts))
        self.sizes: dict[int, set[int]] = {}
        for text in self.texts:
            kept = self.sizes.setdefault(min(len(text), LONGEST), set())
            if len(kept) < MAX_SHINGLES:
                kept.update(_codes(text))

    def within(self, seen: Seen, wanted: dict[int, set[int]] | None = None) -> set[int]:
        """The codes of the sequences of words, of the secret texts or those `wanted`, that a file holds."""
        held: set[int] = set()
        for text in [seen.text] if seen.text else portions(seen.node):
            found = words(text.replace("\\n", " "))
            for size, codes in (self.sizes if wanted is None else wanted).items():
                shifted = (found[start:] for start in range(size))
                held |= codes.intersection(map(hash, zip(*shifted, strict=False)))
        return held

    def whole_in(self, seen: Seen) -> Iterator[Leak]:
        """Input may hold a gold text inside its own, but not as values of its own."""
        secret = set(self.texts)
        held = set()
        for block in blocks(seen.node):
            for cells in block.columns.values():
                long = (cell for cell in set(cells) if cell.count(" ") >= SHORTEST - 1)
                held |= secret.intersection(tuple(words(cell)) for cell in long)
        if not held and not is_binary(seen.node):
            found = (tuple(words(part)) for line in lines(seen.node) for part in (line, line.partition(":")[2]))
            held = secret.intersection(found)
        if held:
            certain = len(held) >= SEVERAL_TEXTS or any(len(text) >= LONGEST for text in held)
            shown = certain and len(held) >= len(secret) // 5
            yield Leak(seen, f"holds {len(held)} of {len(secret)} gold texts as values of their own", shown)

    def leaks(self, suspects: Iterable[tuple[Seen, set[int]]], inputs: Iterable[Seen]) -> Iterator[Leak]:
        """What files hold, but for what participants' input holds as part of longer texts."""
        wanted = set[int]().union(*(held for _, held in suspects))
        if wanted:
            chosen = {size: codes & wanted for size, codes in self.sizes.items()}
            wanted -= set[int]().union(*(self.within(seen, chosen) for seen in inputs))
        secret = [codes for text in self.texts if (codes := _codes(text)) & wanted] if wanted else []
        for seen, held in suspects:
            codes = held & wanted
            whole = sum(one <= codes for one in secret) if codes else 0
            if seen.is_answer and whole < 0.9 * len(self.texts):
                continue
            if codes:
                long = any(code in self.sizes.get(LONGEST, ()) for code in codes)
                what = f"holds words of {max(whole, 1)} of {len(self.texts)} gold texts"
                yield Leak(seen, what, long or whole >= SEVERAL_TEXTS)


def _codes(text: tuple[str, ...]) -> set[int]:
    size = min(len(text), LONGEST)
    return {hash(text[start : start + size]) for start in range(len(text) - size + 1)}


@cache
def own_files() -> frozenset[str]:
    """The digests of the scoring programs' files as they come with the tool: most of a bundle, and never gold."""
    files = (path for path in resource("scoring_programs").rglob("*") if path.is_file())
    return frozenset(hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.suffix != ".pyc")
