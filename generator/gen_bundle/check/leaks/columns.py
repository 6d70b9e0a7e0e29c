"""The columns of gold tables, and the search for them in what participants get."""

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from itertools import islice

from gen_bundle.check.leaks.records import json_value, records, rows, words
from gen_bundle.check.leaks.relation import Relation
from gen_bundle.check.leaks.tables import KEY, PAIR_KEY, ColumnName, Row, table
from gen_bundle.zips.tree import Node

LABEL_COLUMN = re.compile(
    r"(?i)(.*[_ -])?(labels?|class|gold|targets?|truth|answers?|y|scores?|categor(y|ies)|sentiment|stance|relevance"
    r"|grade)([_ -].*)?"
)
ID_COLUMN = re.compile(r"(?i)(.*[_ -])?(id|ids|index|uid|key|name|file|filename|item|doc|document)")
NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?")
MAX_ROWS = 200_000
MIN_ROWS = 3
LOOKED_AT = 50
# Shorter texts are labels.
SHORTEST = 4
# A column is named as secret when the maker's pairs or texts hold nearly all of its cells.
NAMED = 0.8
# An example submission may be good; it is the gold itself only if it is right for nearly all items.
COVERED_BY_ANSWER = 0.9
# Below a head, Markdown has a rule.
OFFSETS = (0, 1, 2)


@dataclass
class GoldTable:
    """A table of reference data.

    Attributes:
        name: its file.
        titles: the columns' names, where it has a head.
        rows: how many rows it has.
        keys: for each column whose cells are all different, the row of each cell; those titled like ids first.
        columns: the cells of every other column, by row; these may be secret.
        secret: those of them that are known to be, from the maker or from their titles.
        named: whether the maker named one.
        cut: whether it has more rows than are compared.
        labels: the columns whose values mostly occur again.
    """

    name: str
    titles: Mapping[ColumnName, str]
    rows: int
    keys: Mapping[ColumnName, Mapping[str, int]]
    columns: Mapping[ColumnName, Mapping[int, str]]
    secret: Set[ColumnName] = frozenset()
    named: bool = False
    cut: bool = False
    labels: Set[ColumnName] = field(init=False)

    def __post_init__(self) -> None:
        self.labels = {column for column, cells in self.columns.items() if 2 * len(set(cells.values())) <= len(cells)}

    def title(self, column: ColumnName) -> str:
        return self.titles.get(column) or (f"column {column + 1}" if isinstance(column, int) else str(column))


def gold_table(
    name: str,
    node: Node,
    labels: Mapping[str, Set[str]],
    texts: Set[tuple[str, ...]],
    secret: Set[str] | None = None,
) -> GoldTable | None:
    """The table that a reference file holds; None for other files.

    Args:
        name: the file's name.
        node: the file.
        labels: the labels that the maker names, by id, both as they are compared.
        texts: the texts that the maker names, as words.
        secret: the titles of the columns that the maker calls secret; None if the maker does not list them.
    """
    if not _is_regular(node):
        return None
    found = list(islice(table(node), MAX_ROWS + 1))
    cut = len(found) > MAX_ROWS
    names = {column for row in found for column in row if isinstance(column, str)}
    titles: dict[ColumnName, str] = {name: PAIR_KEY if name.startswith(KEY) else name for name in names}
    if not titles and found and _is_head(found):
        titles = dict(found.pop(0))
    columns: dict[ColumnName, dict[int, str]] = {}
    for place, row in enumerate(found[:MAX_ROWS]):
        for column, cell in row.items():
            columns.setdefault(column, {})[place] = cell
    columns = {column: cells for column, cells in columns.items() if len(cells) >= MIN_ROWS}
    if not columns or len(found) < MIN_ROWS:
        return None
    unique = [column for column, cells in columns.items() if len(set(cells.values())) == len(cells)]
    # exact numbers are mostly all different as well, and yet not keys
    keys = [
        column
        for column in unique
        if titles.get(column, str(column)) not in (secret or ())
        and not _is_labels(titles, column, columns[column])
        and not _is_named([columns[other] for other in unique if other != column], columns[column], labels, set())
    ]
    keys.sort(key=lambda column: not ID_COLUMN.fullmatch(titles.get(column, "")))
    if len(keys) == len(columns) > 1:
        keys = keys[:1]
    by_key = {column: {cell: place for place, cell in columns[column].items()} for column in keys}
    others = {
        column: cells for column, cells in columns.items() if column not in by_key and len(set(cells.values())) > 1
    }
    if not others:
        return None
    if secret is not None:
        listed = {column for column in others if titles.get(column, str(column)) in secret}
        return GoldTable(name, titles, len(found), by_key, others, listed, named=True, cut=cut)
    named = {
        column for column, cells in others.items() if _is_named([columns[key] for key in keys], cells, labels, texts)
    }
    titled = {column for column, cells in others.items() if _is_labels(titles, column, cells)}
    lone = set(list(others)[-1:]) if len(columns) <= 2 else set()
    return GoldTable(name, titles, len(found), by_key, others, named or titled or lone, bool(named), cut)


def _is_regular(node: Node) -> bool:
    """Whether a file is JSON, or its lines have the same number of cells."""
    if json_value(node) is not None:
        return True
    first = list(islice(rows(node), LOOKED_AT)) or [row for row in islice(records(node), LOOKED_AT) if row]
    return len({len(row) for row in first if row}) == 1


def _is_head(rows: list[Row]) -> bool:
    """Whether the first row holds titles: typical ones, or at least no number and nothing that occurs again."""
    head, below = rows[0], rows[1:MAX_ROWS]
    if any(LABEL_COLUMN.fullmatch(cell) or ID_COLUMN.fullmatch(cell) for cell in head.values()):
        return True
    return len(head) > 1 and not any(
        NUMBER.fullmatch(cell) or any(row.get(column) == cell for row in below) for column, cell in head.items()
    )


def _is_labels(titles: Mapping[ColumnName, str], column: ColumnName, cells: Mapping[int, str]) -> bool:
    """Whether a column is titled like labels, and holds no texts."""
    if not LABEL_COLUMN.fullmatch(titles.get(column, "")):
        return False
    return all(len(words(cell)) < SHORTEST for cell in cells.values())


def _is_named(
    keys: list[dict[int, str]], cells: Mapping[int, str], labels: Mapping[str, Set[str]], texts: Set[tuple[str, ...]]
) -> bool:
    enough = NAMED * len(cells)
    if texts and sum(tuple(words(cell)) in texts for cell in cells.values()) >= enough:
        return True
    return (
        any(sum(cell in labels.get(key.get(place, ""), ()) for place, cell in cells.items()) >= enough for key in keys)
        if labels
        else False
    )


@dataclass
class _Join:
    """Rows of a gold table that were found again, and the relations of its columns to the public ones.

    `relations` has them by gold column and public one. A pair of columns that can no longer give anything away has no
    relation; `is_over` once none has.
    """

    table: GoldTable
    compared: Set[ColumnName]
    by_order: bool = False
    seen: set[int] = field(default_factory=set)
    relations: dict[ColumnName, dict[ColumnName, Relation | None]] = field(default_factory=dict)
    is_over: bool = False
    _alive: int = 0

    def look(self, place: int, row: Row, own: ColumnName | None) -> None:
        """Note a public row that is the gold row at `place`; `own` is the column that identifies it."""
        if place in self.seen:
            return
        self.seen.add(place)
        for gold in self.compared:
            cell = self.table.columns[gold].get(place)
            if cell is None:
                continue
            relations = self.relations.setdefault(gold, {})
            for public, shown in row.items():
                if public == own:
                    continue
                if public not in relations:
                    relations[public] = Relation(gold in self.table.labels)
                    self._alive += 1
                relation = relations[public]
                if relation is not None and not relation.add(cell, shown):
                    relations[public] = None
                    self._alive -= 1
        self.is_over = not self._alive and any(self.relations.values())

    def given_away(self, *, is_answer: bool) -> set[ColumnName]:
        """The gold columns that the public ones give away; an answer only if it repeats the gold itself."""
        compared = sum(map(len, self.relations.values()))
        return {
            gold
            for gold, relations in self.relations.items()
            for relation in relations.values()
            if relation is not None
            and relation.is_significant(compared, by_order=self.by_order)
            and (not is_answer or self._repeats(gold, relation))
        }

    def _repeats(self, gold: ColumnName, relation: Relation) -> bool:
        """Whether a column has the gold values themselves, for (nearly) all rows that have one."""
        return relation.same and len(relation.pairs) >= COVERED_BY_ANSWER * len(self.table.columns[gold])


class GoldTables:
    """All gold tables, the columns to look for in each, and the rows in which each key occurs.

    The columns are those known to be secret; all of them, if none is.
    """

    def __init__(self, tables: list[GoldTable]) -> None:
        self.known = any(one.secret or one.named for one in tables)
        self.tables = [(one, one.secret if self.known else set(one.columns)) for one in tables]
        self.tables = [(one, compared) for one, compared in self.tables if compared]
        self.keys: dict[str, list[tuple[int, ColumnName, int]]] = {}
        for number, (one, _) in enumerate(self.tables):
            for column, places in one.keys.items():
                for cell, place in places.items():
                    self.keys.setdefault(cell, []).append((number, column, place))

    def secret(self, given_away: Iterable[tuple[GoldTable, Set[ColumnName]]]) -> str | None:
        """Which of the columns that are given away are gold, in words.

        If no column is known to be secret, a table leaks only if all of its columns are given away.
        """
        for one, columns in given_away:
            if self.known or columns == set(one.columns):
                titles = ", ".join(sorted(one.title(column) for column in columns))
                return f"shows {titles} of the reference file {one.name}"
        return None


class Comparison:
    """Compares public rows with the gold tables: joined by each key, and file by file by their order."""

    def __init__(self, gold: GoldTables) -> None:
        self._gold = gold
        self._by_key: dict[tuple[int, ColumnName, ColumnName], _Join] = {}

    def given_away(self, file: Iterable[Row], *, is_answer: bool) -> list[tuple[GoldTable, Set[ColumnName]]]:
        """The columns that a file gives away, by gold table; the file may continue earlier ones.

        Args:
            file: its rows.
            is_answer: whether it is from an example submission, whose columns may well agree with the gold.
        """
        ordered = [
            (offset, _Join(one, compared, True))
            for one, compared in self._gold.tables
            if any(len(one.columns[column]) == one.rows for column in compared)
            for offset in OFFSETS
        ]
        rows = 0
        for row in file:
            self._look(row)
            for offset, join in ordered:
                if rows >= offset:
                    join.look(rows - offset, row, None)
            rows += 1
            if ordered:
                ordered = [one for one in ordered if _may_go_on(one[1], rows - one[0])]
        whole = [join for offset, join in ordered if join.table.cut or rows - offset == join.table.rows]
        joins = [*self._by_key.values(), *whole]
        return [(join.table, columns) for join in joins if (columns := join.given_away(is_answer=is_answer))]

    def _look(self, row: Row) -> None:
        for column, cell in row.items():
            for number, key, place in self._gold.keys.get(cell, ()):
                join = self._by_key.get((number, key, column))
                if join is None:
                    join = self._by_key[number, key, column] = _Join(*self._gold.tables[number])
                if not join.is_over:
                    join.look(place, row, column)


def _may_go_on(join: _Join, rows: int) -> bool:
    """Whether a file with so many rows so far may still be the table in its order."""
    return not join.is_over and (join.table.cut or rows <= join.table.rows)
