"""Which file of a submission answers which file of the gold, and by what its rows are matched."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from gen_bundle.importing.declare.tables import Table, is_number, is_unique

Columns = tuple[tuple[str, str], ...]
"""Pairs of a column of the submission and one of the gold."""


@dataclass(frozen=True)
class Pair:
    """A file of the submission with its gold.

    Attributes:
        gold: its name is the path in the reference data.
        key: the columns by which rows are matched; none: row n answers row n.
        fields: the columns that answer columns of the gold.
        elsewhere: the gold of the same name in other tasks.
    """

    answer: Table
    gold: Table
    key: Columns
    fields: Columns
    elsewhere: tuple[Table, ...] = ()

    def gold_values(self, column: str) -> list[Any]:
        """The gold's values of a column, in all tasks."""
        values = self.gold.column(column)
        for table in self.elsewhere:
            values += table.column(column) if column in table.columns else []
        return values

    @property
    def said(self) -> str:
        by = ", ".join(column for column, _ in self.key) or "line"
        return f"{self.answer.name} answers {self.gold.name}, by {by}"


def pairs_of(answers: Sequence[Table], golds: Sequence[Table]) -> list[Pair]:
    """Each file of a submission with the gold that it fits best; files that fit none are left out."""
    found = []
    for answer in answers:
        fitting = [pair for gold in golds if (pair := _matched(answer, gold)) is not None]
        if fitting:
            found.append(max(fitting, key=_fit))
    return found


def _fit(pair: Pair) -> tuple[bool, int, int]:
    """The better, the larger: matched by a key, then by the columns of the same name, then by the files' names."""
    same = sum(one == other for one, other in (*pair.key, *pair.fields))
    words = zip(pair.answer.name.lower(), pair.gold.name.rpartition("/")[2].lower(), strict=False)
    likeness = next((place for place, (one, other) in enumerate(words) if one != other), 99)
    return bool(pair.key), same, likeness


def _matched(answer: Table, gold: Table) -> Pair | None:
    for key in _keys(answer, gold):
        fields = _answered(answer, gold, key)
        if fields:
            return Pair(answer, gold, key, fields)
    fields = _answered(answer, gold, ())
    return Pair(answer, gold, (), fields) if fields and len(answer.rows) == len(gold.rows) else None


def _keys(answer: Table, gold: Table) -> Iterator[Columns]:
    """What may be a key: columns with the same values in both, each once; of the same name first."""
    same = [(one, one) for one in answer.columns if one in gold.columns]
    others = [(one, other) for one in answer.columns for other in gold.columns if one != other]
    for pair in (*same, *others):
        if _are_keys(answer, gold, (pair,)):
            yield (pair,)
    for pairs in combinations(same, 2):
        if _are_keys(answer, gold, pairs):
            yield pairs


def _are_keys(answer: Table, gold: Table, key: Columns) -> bool:
    answered = _ids(answer, [one for one, _ in key])
    wanted = _ids(gold, [other for _, other in key])
    return set(answered) == set(wanted) and is_unique(answered) and is_unique(wanted)


def _ids(table: Table, columns: Sequence[str]) -> list[tuple[str, ...]]:
    places = [table.columns.index(column) for column in columns]
    return [tuple(str(row[place]) for place in places) for row in table.rows]


def _answered(answer: Table, gold: Table, key: Columns) -> Columns:
    """The columns that are no key, each with the gold's: of the same name, else the one whose values are most alike."""
    columns = [one for one in answer.columns if one not in {mine for mine, _ in key}]
    free = [one for one in gold.columns if one not in {theirs for _, theirs in key}]
    found: dict[str, str] = {one: one for one in columns if one in free}
    free = [one for one in free if one not in found]
    for column in columns:
        if column not in found and free:
            found[column] = max(free, key=lambda one: _likeness(answer.column(column), gold.column(one)))
            free.remove(found[column])
    return tuple((column, found[column]) for column in columns if column in found)


def _likeness(answered: Sequence[object], wanted: Sequence[object]) -> tuple[float, bool]:
    """How alike the values of two columns are: the share of those that both have, then whether both are numbers."""
    one, other = set(map(str, answered)), set(map(str, wanted))
    both_numbers = all(map(is_number, answered)) == all(map(is_number, wanted))
    return len(one & other) / len(one | other), both_numbers
