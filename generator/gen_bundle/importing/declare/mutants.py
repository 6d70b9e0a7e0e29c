"""Submissions that a scorer may meet: one of the bundle's own, changed in thirty ways."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gen_bundle.importing.declare.pairs import FilePair, ids_of
from gen_bundle.importing.declare.tables import Row, is_number

Files = Mapping[str, bytes]
"""A submission: its files by name."""
UNKNOWN = "no-such-answer"


@dataclass(frozen=True)
class Mutant:
    """A changed submission, called after what was done."""

    name: str
    files: Files


def mutants(files: Files, pairs: Sequence[FilePair], seed: str) -> Iterator[Mutant]:
    """Thirty submissions made of one, by chance but the same for a seed; first those that any scorer should take."""
    for number, (name, change) in enumerate([*WELL_FORMED, *MALFORMED]):
        rng = random.Random(f"{seed}-{number}")  # noqa: S311 - for tests, not for secrets
        changed = {pair.answer.name: change(AnswerTable(pair), rng) for pair in pairs}
        yield Mutant(f"{number + 1}-{name}", {**files, **changed})
    answered = {pair.answer.name for pair in pairs}
    rest = {name: data for name, data in files.items() if name not in answered}
    yield Mutant("30-no-file", {"readme.md": b"Nothing else.\n", **rest})


class AnswerTable:
    """The table of a submission, and what of it may be changed."""

    def __init__(self, pair: FilePair) -> None:
        self.table = pair.answer
        self.gold = pair.gold
        self.key = [self.table.columns.index(column) for column, _ in pair.key]
        self.fields = [(self.table.columns.index(mine), theirs) for mine, theirs in pair.fields]
        self.right = self._right(pair)

    def _right(self, pair: FilePair) -> list[Row]:
        """The rows with the gold's answers."""
        own = [pair.gold.columns.index(theirs) for _, theirs in pair.key]
        by_key = {ids_of(row, own): row for row in pair.gold.rows}
        rows = []
        for number, row in enumerate(self.table.rows):
            gold = by_key[ids_of(row, self.key)] if self.key else pair.gold.rows[number]
            cells = list(row)
            for place, theirs in self.fields:
                cells[place] = _as(row[place], gold[pair.gold.columns.index(theirs)])
            rows.append(tuple(cells))
        return rows

    def written(self, rows: Sequence[Row]) -> bytes:
        return self.table.with_rows(rows).written()

    def each(self, change: Callable[[int, Any, Any], Any]) -> bytes:
        """The table with other answers: `change` gets the column, its value, and the right one."""
        places = [place for place, _ in self.fields]
        rows = []
        for row, right in zip(self.table.rows, self.right, strict=True):
            cells = list(row)
            for place in places:
                cells[place] = change(place, row[place], right[place])
            rows.append(tuple(cells))
        return self.written(rows)

    def known(self, place: int) -> list[Any]:
        """The different answers of a column, and the right ones of as many as the gold has."""
        return sorted({row[place] for row in (*self.table.rows, *self.right)}, key=str)

    def numeric(self, place: int) -> bool:
        """Whether answers are numbers of which no few are labels."""
        values = [row[place] for row in self.table.rows]
        return all(map(is_number, values)) and not {str(value) for value in values} <= self._few(place)

    def _few(self, place: int) -> set[str]:
        found = set(map(str, self.gold.column(dict(self.fields)[place])))
        return found if len(found) <= len(self.gold.rows) // 2 else set()


def _as(like: Any, value: Any) -> Any:
    """A value in the JSON type of another."""
    if isinstance(like, str) and not isinstance(value, str):
        return str(value)
    if isinstance(like, int | float) and isinstance(value, str) and is_number(value):
        return float(value)
    return value


def _number_like(value: Any, number: float) -> Any:
    return f"{number:.6f}" if isinstance(value, str) else number


def _itself(answers: AnswerTable, rng: random.Random) -> bytes:
    return answers.written(answers.table.rows)


def _permuted(answers: AnswerTable, rng: random.Random) -> bytes:
    order = list(answers.table.rows)
    rng.shuffle(order)
    taken = iter(order)
    places = {place for place, _ in answers.fields}
    rows = []
    for row in answers.table.rows:
        other = next(taken)
        rows.append(tuple(other[place] if place in places else cell for place, cell in enumerate(row)))
    return answers.written(rows)


def _shuffled(answers: AnswerTable, rng: random.Random) -> bytes:
    rows = list(answers.table.rows)
    rng.shuffle(rows)
    return answers.written(rows)


def _partly_right(share: float) -> Callable[[AnswerTable, random.Random], bytes]:
    """So many answers right, the others as they were, or another known one."""

    def change(answers: AnswerTable, rng: random.Random) -> bytes:
        def answer(place: int, value: Any, right: Any) -> Any:
            if rng.random() < share:
                return right if not answers.numeric(place) or not is_number(right) else _as(value, right)
            return value if answers.numeric(place) else rng.choice(answers.known(place))

        return answers.each(answer)

    return change


def _noise(size: float) -> Callable[[AnswerTable, random.Random], bytes]:
    """Numbers with noise, within their bounds where these are 0 and 1; other answers changed as often."""

    def change(answers: AnswerTable, rng: random.Random) -> bytes:
        def answer(place: int, value: Any, right: Any) -> Any:
            if not answers.numeric(place):
                return rng.choice(answers.known(place)) if rng.random() < size else value
            numbers = [float(row[place]) for row in answers.table.rows]
            low, high = min(numbers), max(numbers)
            noisy = float(value) + rng.gauss(0, size * (high - low or 1))
            if low >= 0 and high <= 1:
                noisy = min(max(noisy, 0.0), 1.0)
            return _number_like(value, noisy)

        return answers.each(answer)

    return change


def _constant(which: int) -> Callable[[AnswerTable, random.Random], bytes]:
    def change(answers: AnswerTable, rng: random.Random) -> bytes:
        known = {place: answers.known(place) for place, _ in answers.fields}
        return answers.each(lambda place, value, right: known[place][which % len(known[place])])

    return change


def _dropped(share: float) -> Callable[[AnswerTable, random.Random], bytes]:
    def change(answers: AnswerTable, rng: random.Random) -> bytes:
        rows = list(answers.table.rows)
        return answers.written(rows[: len(rows) - max(1, round(len(rows) * share))])

    return change


def _twice(answers: AnswerTable, rng: random.Random) -> bytes:
    return answers.written([*answers.table.rows, rng.choice(answers.table.rows)])


def _unknown_row(answers: AnswerTable, rng: random.Random) -> bytes:
    row = list(rng.choice(answers.table.rows))
    for place in answers.key:
        row[place] = f"{row[place]}9" if isinstance(row[place], str) else row[place] * 10 + 9
    return answers.written([*answers.table.rows, tuple(row)])


def _cell(value: Any) -> Callable[[AnswerTable, random.Random], bytes]:
    """One answer is something else."""

    def change(answers: AnswerTable, rng: random.Random) -> bytes:
        rows = [list(row) for row in answers.table.rows]
        rows[rng.randrange(len(rows))][answers.fields[0][0]] = value
        return answers.written([tuple(row) for row in rows])

    return change


def _another_header(answers: AnswerTable, rng: random.Random) -> bytes:
    """The first answer's column is called otherwise; a table without header stays as it is."""
    table, place = answers.table, answers.fields[0][0]
    columns = tuple(f"my_{name}" if at == place else name for at, name in enumerate(table.columns))
    return replace(table, columns=columns).written()


def _no_rows(answers: AnswerTable, rng: random.Random) -> bytes:
    return answers.written([])


def _empty(answers: AnswerTable, rng: random.Random) -> bytes:
    return b""


Change = Callable[[AnswerTable, random.Random], bytes]
WELL_FORMED: Sequence[tuple[str, Change]] = (
    ("rewritten", _itself),
    ("permuted", _permuted),
    ("permuted", _permuted),
    ("90-percent-right", _partly_right(0.9)),
    ("60-percent-right", _partly_right(0.6)),
    ("30-percent-right", _partly_right(0.3)),
    ("10-percent-right", _partly_right(0.1)),
    ("noise", _noise(0.02)),
    ("noise", _noise(0.1)),
    ("noise", _noise(0.3)),
    ("noise", _noise(0.6)),
    ("permuted", _permuted),
    ("75-percent-right", _partly_right(0.75)),
    ("45-percent-right", _partly_right(0.45)),
    ("all-right", _partly_right(1.0)),
    ("none-known-right", _partly_right(0.0)),
    ("shuffled-rows", _shuffled),
    ("shuffled-rows", _shuffled),
    ("constant", _constant(0)),
    ("constant", _constant(-1)),
)
"""First the search's: what comes early must tell metrics apart."""
MALFORMED: Sequence[tuple[str, Change]] = (
    ("without-last-row", _dropped(0)),
    ("first-half", _dropped(0.5)),
    ("a-row-twice", _twice),
    ("row-of-an-unknown-id", _unknown_row),
    ("unknown-answer", _cell(UNKNOWN)),
    ("answer-nan", _cell("nan")),
    ("another-header", _another_header),
    ("no-rows", _no_rows),
    ("empty-file", _empty),
)
