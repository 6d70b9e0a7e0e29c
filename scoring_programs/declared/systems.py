"""Systems of any quality, made of the gold alone: what a test set tells apart can be seen before anybody submits.

Of each place a share is right. At a wrong one there is what another place of the gold has, or a mention without its
end; numbers have noise; of sets elements are missing, and by a chance of its own as many are wrong. Two systems have
wrong places, or noise, in common as far as is asked for. Places are labels, numbers, words of a text, elements of sets,
mentions, and with many rows the rows of a key.
"""

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declared.answers import Answers
from declared.metrics import positive_of
from declared.plan import ColumnSources, Plan, columns_of_task
from declared.reference import GoldTable, Reference
from declared.submission import Submission, with_values
from declared.tasks import compute
from declared.units import units_of
from scoring_kit.base.field_types import Field
from scoring_kit.units import Array, Units

OTHERS = 10
TRIES = 50
"""To find something that is not equal."""
SETS: Mapping[str, Callable[[list[Any]], Any]] = {"labels": frozenset, "offsets": frozenset, "spans": list}
LEAST = 0.02
"""The lowest quality, with noise of 49 times the gold's spread."""
TOGETHER, ALONE = 0, 1
"""Which sequence of random numbers: of what all systems have in common, and of each by itself."""


@dataclass(frozen=True)
class Chance:
    """The random numbers of one system.

    Attributes:
        seed: of all systems.
        system: its number.
        common: the share of wrong places, and of noise, that it has in common with others.
        quality: the share of places that are right.
    """

    seed: int
    system: int
    common: float
    quality: float

    def sources(self, place: Sequence[int], things: Sequence[Hashable]) -> NDArray[np.intp]:
        """Which of some things stands at the place of each: it itself where it is right, else one that is not equal."""
        together, alone = self._both(place)
        number, kinds = len(things), dict(zip(things, count()))
        kind = np.array([kinds[thing] for thing in things], dtype=np.intp)
        is_common = together.random(number) < self.common
        coins = np.where(is_common, together.random(number), alone.random(number))
        source = np.arange(number)
        if len(kinds) > 1:
            for _ in range(TRIES):
                other = np.where(is_common, together.integers(number, size=number), alone.integers(number, size=number))
                source = np.where(kind[source] == kind, other, source)
        return np.where(coins < self.quality, np.arange(number), source)

    def noise(self, place: Sequence[int], *shape: int) -> Array:
        """Normal noise, as wide for numbers of a spread of 1 as the quality says."""
        together, alone = self._both(place)
        of_system = math.sqrt(self.common) * together.normal(size=shape)
        return self.width * (of_system + math.sqrt(1 - self.common) * alone.normal(size=shape))

    @property
    def width(self) -> float:
        quality = max(self.quality, LEAST)
        return (1 - quality) / quality

    def _both(self, place: Sequence[int]) -> tuple[np.random.Generator, np.random.Generator]:
        numbers = [self.seed, *place]
        return (
            np.random.default_rng([*numbers, TOGETHER]),
            np.random.default_rng([*numbers, ALONE, self.system]),
        )


class Systems:
    """The systems that are made of a phase's gold, and their per-unit results in some columns."""

    def __init__(
        self, reference: Reference, tasks: Sequence[str], options: Mapping[str, Any], seed: int, common: float
    ) -> None:
        self.reference, self.tasks, self.options = reference, tasks, options
        self.seed, self.common = seed, common

    def per_unit(self, keys: Mapping[str, Sequence[str]], system: int, quality: float) -> dict[str, Units]:
        """Task → the per-unit results of a system in the columns `keys` of the task."""
        chance = Chance(self.seed, system, self.common, quality)
        columns = {task: _needed(columns_of_task(task, self.options, self.tasks), own) for task, own in keys.items()}
        plans: list[Plan] = []
        for needed in columns.values():
            plans += (*needed.own, *needed.beside)
        tables: dict[str, Answers] = {}
        for place, (name, gold) in enumerate(self.reference.items()):
            reading = [plan for plan in plans if name in plan.all_tables]
            tables[name] = _answers(gold, reading, chance, place)
        made = Submission(tables, frozenset(self.tasks))
        found = {}
        for task, own in columns.items():
            of_keys = {}
            for plan in (*own.own, *own.beside):
                if plan.per:
                    of_keys[plan.key] = compute(plan, self.reference, made).of_keys
            found[task] = units_of(own, self.reference, made, of_keys)
        return found

    def why_not(self, task: str, keys: Sequence[str]) -> str | None:
        """Why the columns `keys` of a task cannot be computed often enough; None where they can."""
        needed = _needed(columns_of_task(task, self.options, self.tasks), keys)
        for plan in (*needed.own, *needed.beside):
            if self.reference[plan.table].table.holds_files:
                return f"{plan.key} reads files, of which no systems are made."
            if plan.module == "embeddings":
                return f"{plan.key} needs a model, which would take too long for so many systems."
            if plan.file is not None and plan.per is None:
                return (
                    f"{plan.key} is a function of your own over all rows at once, which would take too long for so "
                    "many systems. One with `per: key` would do."
                )
        return None


def _needed(columns: ColumnSources, keys: Sequence[str]) -> ColumnSources:
    """Of a task's columns those of some keys, and what their expressions are made of."""
    wanted = set(keys)
    for one in reversed(columns.made):
        if one.key in wanted:
            wanted.update(one.expression.keys)
    return replace(
        columns,
        keys=[key for key in columns.keys if key in wanted],
        own=[plan for plan in columns.own if plan.key in wanted],
        made=[one for one in columns.made if one.key in wanted],
        beside=[plan for plan in columns.beside if plan.key in wanted],
    )


def _answers(gold: GoldTable, plans: Sequence[Plan], chance: Chance, place: int) -> Answers:
    """A system's answers to a table."""
    for plan in plans:
        if plan.module == "rankings":
            return _ranking(gold, plan, chance, place)
    compared = _compared(gold, plans)
    truth = {}
    for name, (_, of_gold) in compared.items():
        truth[name] = _whole(gold.answers.columns[of_gold.name, of_gold.type])
    columns: dict[tuple[str, str], list[Any]] = {}
    owners: list[int] = []
    if gold.table.many:
        rows = list(zip(*truth.values(), strict=True))
        made: list[Any] = []
        for owner, own in enumerate(_sets(gold.answers.by_key(rows, len(gold.keys)), chance, [place])):
            made += own
            owners += [owner] * len(own)
        for place_in_row, name in enumerate(truth):
            columns[name, gold.table.field(name).type] = [row[place_in_row] for row in made]
        return Answers(columns, owners, list(range(len(owners))))
    for number, (name, (plan, of_gold)) in enumerate(compared.items(), start=1):
        field = with_values(gold.table.field(name), gold.labels)
        columns[name, field.type] = _column(field, of_gold, plan, truth[name], chance, [place, number])
    return Answers(columns, [], list(range(len(gold.keys))))


def _compared(gold: GoldTable, plans: Sequence[Plan]) -> dict[str, tuple[Plan, Field]]:
    """Each field that a metric reads, with this metric and the gold's column."""
    found: dict[str, tuple[Plan, Field]] = {}
    for plan in plans:
        of_gold = gold.fields[plan.key]
        names = [own.name for own in of_gold] if plan.file else plan.fields
        for name, own in zip(names, of_gold, strict=True):
            found.setdefault(name, (plan, own))
    return found


def _whole(values: Sequence[Any]) -> list[Any]:
    """Values with the first one in the place of those that are left out, which no metric reads."""
    first = next((value for value in values if value is not None), None)
    return [first if value is None else value for value in values]


def _column(
    field: Field, of_gold: Field, plan: Plan, truth: Sequence[Any], chance: Chance, place: Sequence[int]
) -> list[Any]:
    """A system's answers to a field, one for each key."""
    if of_gold.type == "texts" and field.type == "text":
        truth = [texts[0] for texts in truth]
    if field.type == "probabilities":
        return _shares(list(field.values or ()), truth, chance, place)
    if field.type == "number" and of_gold.type != "number":
        outcome = np.array([value == positive_of(plan.options, truth) for value in truth], dtype=np.float64)
        shares = _posterior(outcome - 0.5 + chance.noise(place, len(truth)), chance.width)
        low, high = (0.0 if field.min is None else field.min), (1.0 if field.max is None else field.max)
        return list((low + (high - low) * shares).tolist())
    if field.type == "number":
        return list(_noisy(np.array(truth), field, chance, place).tolist())
    if field.type == "ordinal":
        labels = sorted(field.numbers, key=field.numbers.__getitem__)
        of_labels = np.array([field.numbers[label] for label in labels])
        numbers = _noisy(np.array([field.numbers[value] for value in truth]), field, chance, place)
        nearest = np.abs(numbers[:, np.newaxis] - of_labels).argmin(axis=1)
        return [labels[i] for i in nearest]
    if field.type == "numbers":
        lengths = [len(value) for value in truth]
        numbers = _noisy(np.array([one for value in truth for one in value]), field, chance, place)
        return [tuple(part.tolist()) for part in np.split(numbers, np.cumsum(lengths)[:-1])]
    if field.type in SETS:
        return [SETS[field.type](own) for own in _sets(truth, chance, place)]
    take_apart, put_together = PIECES.get(field.type, (_one, _only))
    pieces = [take_apart(value) for value in truth]
    every = [piece for own in pieces for piece in own]
    source = chance.sources(place, every)
    made, start = [], 0
    for own in pieces:
        made.append(put_together([_piece(every, start + i, source[start + i]) for i in range(len(own))]))
        start += len(own)
    return made


def _sets(truth: Sequence[Collection[Any]], chance: Chance, place: Sequence[int]) -> list[list[Any]]:
    """Sets in which elements are missing, and as many are wrong: both happen by chances of their own."""
    sets = [list(dict.fromkeys(own)) for own in truth]
    every = [element for own in sets for element in own]
    missed, wrong = (chance.sources([*place, kind], every) for kind in (0, 1))
    made, start = [], 0
    for own in sets:
        there = [element for i, element in enumerate(own, start) if missed[i] == i]
        others = [every[wrong[i]] for i in range(start, start + len(own)) if wrong[i] != i]
        made.append([*there, *(one for one in dict.fromkeys(others) if one not in own)])
        start += len(own)
    return made


def _noisy(truth: Array, field: Field, chance: Chance, place: Sequence[int]) -> Array:
    """Numbers with noise relative to their spread, within the field's bounds."""
    spread = float(truth.std()) or 1.0
    bounds = (-math.inf if field.min is None else field.min), (math.inf if field.max is None else field.max)
    return np.clip(truth + spread * chance.noise(place, len(truth)), *bounds)


def _posterior(evidence: Array, width: float) -> Array:
    """How probable the positive label is, both being as frequent, after a number with noise of this width."""
    scaled: Array = np.clip(evidence / max(width, 1e-3) ** 2, -50, 50)
    return 1 / (1 + np.exp(-scaled))


def _shares(labels: Sequence[str], truth: Sequence[str], chance: Chance, place: Sequence[int]) -> list[Any]:
    """The probability of each label after numbers with noise, of which the right label's is higher by 1."""
    at = [labels.index(value) for value in truth]
    evidence = np.eye(len(labels))[at] + chance.noise(place, len(truth), len(labels))
    scaled = evidence / max(chance.width, 1e-3) ** 2
    shares = np.exp(np.clip(scaled - scaled.max(axis=1, keepdims=True), -700, 0))
    return list(map(tuple, (shares / shares.sum(axis=1, keepdims=True)).tolist()))


def _ranking(gold: GoldTable, plan: Plan, chance: Chance, place: int) -> Answers:
    """Items in the order of their relevance with noise.

    Where the gold has relevant ones alone, `OTHERS` times as many that other keys have are ranked with them.
    """
    fields = gold.fields[plan.key]
    owners = np.array(gold.answers.owners, dtype=np.intp)
    items = np.array(gold.answers.columns[fields[0].name, fields[0].type], dtype=object)
    relevance = np.ones(len(items))
    if len(fields) > 1:
        relevance = np.array(gold.answers.columns[fields[1].name, fields[1].type], dtype=np.float64)
    if np.ptp(relevance) == 0:
        own = set(zip(owners.tolist(), items.tolist(), strict=True))
        random, pairs = np.random.default_rng([chance.seed, place]), list[tuple[int, str]]()
        for _ in range(OTHERS):
            pairs += zip(owners.tolist(), random.permutation(items).tolist(), strict=True)
        others = [pair for pair in dict.fromkeys(pairs) if pair not in own]
        owners = np.concatenate([owners, np.array([owner for owner, _ in others], dtype=np.intp)])
        items = np.concatenate([items, np.array([item for _, item in others], dtype=object)])
        relevance = np.concatenate([relevance, np.zeros(len(others))])
    score = relevance + (relevance.std() or 1.0) * chance.noise([place], len(items))
    order = np.lexsort([-score, owners])
    columns: dict[tuple[str, str], list[Any]] = {}
    for name in plan.fields:
        field, values = gold.table.field(name), score[order]
        if name == plan.options["item"]:
            columns[name, field.type] = items[order].tolist()
            continue
        if name == plan.options["rank"]:
            values = np.arange(1.0, 1 + len(order))
        columns[name, field.type] = values.tolist()
    return Answers(columns, owners[order].tolist(), list(range(len(order))))


def _piece(every: Sequence[Any], own: int, source: int) -> Any:
    """The piece at its own place where it is right, else what stands there instead; a mention lacks its end."""
    piece = every[own]
    if source == own or not isinstance(piece, _Run):
        return every[source]
    return _Run([*piece[:-1], "O"])


class _Run(tuple[str, ...]):
    """Tags of one mention, or one tag outside of any."""


def _runs(tags: Sequence[str]) -> list[_Run]:
    found: list[list[str]] = []
    for tag in tags:
        if tag.startswith("I-") and found and found[-1][-1] != "O":
            found[-1].append(tag)
        else:
            found.append([tag])
    return [_Run(run) for run in found]


def _one(value: Any) -> list[Any]:
    return [value]


def _only(pieces: Sequence[Any]) -> Any:
    return pieces[0]


def _tags(runs: Sequence[_Run]) -> list[str]:
    return [tag for run in runs for tag in run]


PIECES: Mapping[str, tuple[Callable[[Any], list[Any]], Callable[[Sequence[Any]], Any]]] = {
    "texts": (list, list),
    "text": (str.split, " ".join),
    "tags": (_runs, _tags),
}
"""Type → what a value is taken apart into, and what makes a value of such pieces."""
