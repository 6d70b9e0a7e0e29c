"""Which file of a submission answers which file of the gold, and by what its rows are matched."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from gen_bundle.importing.declare.tables import FoundTable, Row, is_number, is_unique

Columns = tuple[tuple[str, str], ...]
"""Pairs of a column of the submission and one of the gold."""


@dataclass(frozen=True)
class FilePair:
    """A file of the submission with its gold.

    Attributes:
        gold: its name is the path in the reference data.
        key: the columns by which rows are matched; none: row n answers row n.
        fields: the columns that answer columns of the gold.
        elsewhere: the gold of the same name in other tasks.
    """

    answer: FoundTable
    gold: FoundTable
    key: Columns
    fields: Columns
    elsewhere: tuple[FoundTable, ...] = ()

    def gold_values(self, column: str) -> list[Any]:
        """The gold's values of a column, in all tasks."""
        values = self.gold.column(column)
        for table in self.elsewhere:
            values += table.column(column) if column in table.columns else []
        return values

    def beside(self, golds: Sequence[FoundTable]) -> "FilePair":
        """The pair, with the gold of its name among that of all tasks."""
        return replace(self, elsewhere=tuple(gold for gold in golds if gold.name == self.gold.name))

    def fits(self, gold: FoundTable) -> bool:
        """Whether other gold has the columns of its own."""
        return {theirs for _, theirs in (*self.key, *self.fields)} <= set(gold.columns)

    def answered_right(self, gold: FoundTable) -> "FilePair":
        """The right answers to other gold, in a file like this one."""
        theirs = dict((*self.key, *self.fields))
        columns = [gold.column(theirs[one]) if one in theirs else [""] * len(gold.rows) for one in self.answer.columns]
        rows = [tuple(cells) for cells in zip(*columns, strict=True)]
        return replace(self, answer=self.answer.with_rows(rows), gold=gold)

    @property
    def said(self) -> str:
        by = ", ".join(column for column, _ in self.key) or "line"
        return f"{self.answer.name} answers {self.gold.name}, by {by}"


def pairs_of(answers: Sequence[FoundTable], golds: Sequence[FoundTable]) -> list[FilePair]:
    """Each file of a submission with the gold that it fits best; files that fit none are left out."""
    found = []
    for answer in answers:
        fitting = [pair for gold in golds if (pair := _matched(answer, gold)) is not None]
        if fitting:
            found.append(max(fitting, key=_fit))
    return found


def _fit(pair: FilePair) -> tuple[bool, int, int]:
    """The better, the larger: matched by a key, then by the columns of the same name, then by the files' names."""
    same = sum(one == other for one, other in (*pair.key, *pair.fields))
    words = zip(pair.answer.name.lower(), pair.gold.name.rpartition("/")[2].lower(), strict=False)
    likeness = next((place for place, (one, other) in enumerate(words) if one != other), 99)
    return bool(pair.key), same, likeness


def _matched(answer: FoundTable, gold: FoundTable) -> FilePair | None:
    for key in _keys(answer, gold):
        fields = _answered(answer, gold, key)
        if fields:
            return FilePair(answer, gold, key, fields)
    fields = _answered(answer, gold, ())
    return FilePair(answer, gold, (), fields) if fields and len(answer.rows) == len(gold.rows) else None


def _keys(answer: FoundTable, gold: FoundTable) -> Iterator[Columns]:
    """What may be a key: columns with the same values in both, each once; of the same name first."""
    same = [(one, one) for one in answer.columns if one in gold.columns]
    others = [(one, other) for one in answer.columns for other in gold.columns if one != other]
    for pair in (*same, *others):
        if _are_keys(answer, gold, (pair,)):
            yield (pair,)
    for pairs in combinations(same, 2):
        if _are_keys(answer, gold, pairs):
            yield pairs


def _are_keys(answer: FoundTable, gold: FoundTable, key: Columns) -> bool:
    mine = [answer.columns.index(one) for one, _ in key]
    theirs = [gold.columns.index(other) for _, other in key]
    answered = [ids_of(row, mine) for row in answer.rows]
    wanted = [ids_of(row, theirs) for row in gold.rows]
    return set(answered) == set(wanted) and is_unique(answered) and is_unique(wanted)


def ids_of(row: Row, places: Sequence[int]) -> tuple[str, ...]:
    """The cells of a row at some places, as texts."""
    return tuple(str(row[place]) for place in places)


def _answered(answer: FoundTable, gold: FoundTable, key: Columns) -> Columns:
    """The columns that are no key, each with the gold's: of the same name, else the one whose values are most alike."""
    keys, used = dict(key), {other for _, other in key}
    columns = [one for one in answer.columns if one not in keys]
    free = [one for one in gold.columns if one not in used]
    found: list[tuple[str, str]] = []
    for column in columns:
        others = [one for one in free if one not in columns]
        if column in free:
            found.append((column, column))
        elif others:
            found.append((column, _most_alike(answer.column(column), gold, others)))
            free.remove(found[-1][1])
    return tuple(found)


def _most_alike(answered: Sequence[object], gold: FoundTable, columns: Sequence[str]) -> str:
    """The column of the gold whose values are most like a submission's."""
    likenesses = [_likeness(answered, gold.column(one)) for one in columns]
    return columns[likenesses.index(max(likenesses))]


def _likeness(answered: Sequence[object], wanted: Sequence[object]) -> tuple[float, bool]:
    """How alike the values of two columns are: the share of those that both have, then whether both are numbers."""
    one, other = set(map(str, answered)), set(map(str, wanted))
    both_numbers = all(map(is_number, answered)) == all(map(is_number, wanted))
    return len(one & other) / len(one | other), both_numbers
