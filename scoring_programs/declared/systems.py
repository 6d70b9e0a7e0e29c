"""Systems of any quality, made of the gold alone: what a test set tells apart can be seen before anybody submits.

Of each place a share is right. At a wrong one there is what another place of the gold has, or a mention without its
end; numbers have noise; of sets elements are missing, and by a chance of its own as many are wrong. Two systems have
wrong places, or noise, in common as far as is asked for. Places are labels, numbers, words of a text, elements of sets,
mentions, and with many rows the rows of a key.
"""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, islice
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
Form = Callable[[Iterable[Any]], Any]
"""A function that makes of elements what an answer is."""
SETS: Mapping[str, type] = {"labels": frozenset, "offsets": frozenset, "spans": list}
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
        part: of the gold that they are for: numbers of table, field and so on.
    """

    seed: int
    system: int
    common: float
    quality: float
    part: tuple[int, ...] = ()

    def of_part(self, number: int) -> "Chance":
        return replace(self, part=(*self.part, number))

    def sources(self, things: Sequence[Hashable]) -> NDArray[np.intp]:
        """Return which thing stands at the place of each: itself where it is right, else one that is not equal."""
        together, alone = self._both()
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

    def noise(self, *shape: int) -> Array:
        """Normal noise, as wide for numbers of a spread of 1 as the quality says."""
        together, alone = self._both()
        of_system = math.sqrt(self.common) * together.normal(size=shape)
        return self.width * (of_system + math.sqrt(1 - self.common) * alone.normal(size=shape))

    @property
    def width(self) -> float:
        quality = max(self.quality, LEAST)
        return (1 - quality) / quality

    def _both(self) -> tuple[np.random.Generator, np.random.Generator]:
        numbers = [self.seed, *self.part]
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
        columns: dict[str, ColumnSources] = {}
        plans: dict[str, list[Plan]] = {}
        for task, own_keys in keys.items():
            columns[task] = self._columns(task, own_keys)
            for plan in columns[task].metrics:
                for name in plan.all_tables:
                    plans.setdefault(name, []).append(plan)
        tables: dict[str, Answers] = {}
        for number, (name, gold) in enumerate(self.reference.items()):
            tables[name] = _answers(gold, plans.get(name, ()), chance.of_part(number))
        made = Submission(tables, frozenset(self.tasks))
        found = {}
        for task, own in columns.items():
            of_keys = {}
            for plan in own.metrics:
                if plan.per:
                    of_keys[plan.key] = compute(plan, self.reference, made).of_keys
            found[task] = units_of(own, self.reference, made, of_keys)
        return found

    def why_not(self, task: str, keys: Sequence[str]) -> str | None:
        """Return why the columns `keys` of a task cannot be computed often enough; None where they can."""
        for plan in self._columns(task, keys).metrics:
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

    def _columns(self, task: str, keys: Sequence[str]) -> ColumnSources:
        """Of a task's columns those of some keys, and what their expressions are made of."""
        columns = columns_of_task(task, self.options, self.tasks)
        wanted = set(keys)
        for one in reversed(columns.made):
            if one.key in wanted:
                wanted.update(one.expression.keys)

        def some(given: Sequence[Any]) -> list[Any]:
            return [column for column in given if column.key in wanted]

        kept = [key for key in columns.keys if key in wanted]
        own, made, beside = some(columns.own), some(columns.made), some(columns.beside)
        return replace(columns, keys=kept, own=own, made=made, beside=beside)


def _answers(gold: GoldTable, plans: Sequence[Plan], chance: Chance) -> Answers:
    """A system's answers to a table."""
    for plan in plans:
        if plan.module == "rankings":
            return _ranking(gold, plan, chance)
    truth, columns = {}, dict[tuple[str, str], list[Any]]()
    compared = _compared(gold, plans)
    for name, (_, of_gold) in compared.items():
        truth[name] = _whole(gold.answers.columns[of_gold.name, of_gold.type])
    if gold.table.many:
        rows = gold.answers.by_key(list(zip(*truth.values(), strict=True)), len(gold.keys))
        owners: list[int] = []
        made: list[Any] = []
        for at, own in enumerate(_sets(rows, chance, list)):
            owners += [at] * len(own)
            made += own
        for place, name in enumerate(truth):
            columns[name, gold.table.field(name).type] = [row[place] for row in made]
        return Answers(columns, owners, list(range(len(owners))))
    for number, (name, (plan, of_gold)) in enumerate(compared.items(), start=1):
        field = with_values(gold.table.field(name), gold.labels)
        columns[name, field.type] = _column(field, of_gold, plan, truth[name], chance.of_part(number))
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


def _column(field: Field, of_gold: Field, plan: Plan, truth: Sequence[Any], chance: Chance) -> list[Any]:
    """A system's answers to a field, one for each key."""
    if of_gold.type == "texts" and field.type == "text":
        truth = [texts[0] for texts in truth]
    match field.type:
        case "probabilities":
            return [tuple(shares) for shares in _shares(list(field.values or ()), truth, chance).tolist()]
        case "number" if of_gold.type != "number":  # how probable the positive label is
            shares = _shares([False, True], [value == positive_of(plan.options, truth) for value in truth], chance)
            bounds = (0.0 if field.min is None else field.min), (1.0 if field.max is None else field.max)
            return list(np.interp(shares[:, 1], (0, 1), bounds).tolist())
        case "number":
            return list(_noisy(truth, field, chance).tolist())
        case "numbers":
            return _regrouped(_noisy(_flat(truth), field, chance).tolist(), truth, tuple)
        case "ordinal":
            labels, numbers = list(field.numbers), np.array(list(field.numbers.values()))
            noisy = _noisy([field.numbers[value] for value in truth], field, chance)
            return [labels[i] for i in np.abs(noisy[:, np.newaxis] - numbers).argmin(axis=1)]
        case "labels" | "offsets" | "spans":
            return _sets(truth, chance, SETS[field.type])
        case "tags":
            return _tags(truth, chance)
        case "texts":
            return _regrouped(_replaced(_flat(truth), chance), truth, list)
        case "text":
            words = [text.split() for text in truth]
            return _regrouped(_replaced(_flat(words), chance), words, " ".join)
    return _replaced(truth, chance)


def _flat(groups: Iterable[Iterable[Any]]) -> list[Any]:
    return list(chain.from_iterable(groups))


def _regrouped(flat: Iterable[Any], like: Iterable[Collection[Any]], form: Form) -> list[Any]:
    """Return what stood in these groups, each in a form."""
    left = iter(flat)
    return [form(islice(left, len(own))) for own in like]


def _replaced(pieces: Sequence[Hashable], chance: Chance) -> list[Any]:
    """Pieces, where they are wrong with others."""
    return [pieces[source] for source in chance.sources(pieces)]


def _tags(truth: Sequence[Sequence[str]], chance: Chance) -> list[list[str]]:
    """Tags of which wrong mentions lack their end."""
    runs: list[list[str]] = []
    for tag in _flat(truth):
        if tag.startswith("I-") and runs and runs[-1][-1] != "O":
            runs[-1].append(tag)
        else:
            runs.append([tag])
    made = []
    for i, source in enumerate(chance.sources([tuple(run) for run in runs])):
        made += runs[i] if source == i else [*runs[i][:-1], "O"]
    return _regrouped(made, truth, list)


def _sets(truth: Sequence[Collection[Any]], chance: Chance, form: Form) -> list[Any]:
    """Sets in which elements are missing, and as many are wrong: both happen by chances of their own."""
    sets = [sorted(set(own), key=repr) for own in truth]  # a set's own order differs from run to run
    every = _flat(sets)
    missed, wrong = chance.of_part(0).sources(every), chance.of_part(1).sources(every)
    made = []
    for own, places in zip(sets, _regrouped(range(len(every)), sets, list), strict=True):
        there: list[Any] = []
        others: dict[Any, None] = {}
        for i in places:
            if missed[i] == i:
                there.append(every[i])
            if wrong[i] != i and every[wrong[i]] not in own:
                others[every[wrong[i]]] = None
        made.append(form([*there, *others]))
    return made


def _noisy(truth: Sequence[float], field: Field, chance: Chance) -> Array:
    """Numbers with noise relative to their spread, within the field's bounds."""
    numbers = np.array(truth, dtype=np.float64)
    spread = float(numbers.std()) or 1.0
    bounds = (-math.inf if field.min is None else field.min), (math.inf if field.max is None else field.max)
    return np.clip(numbers + spread * chance.noise(len(numbers)), *bounds)


def _shares(labels: Sequence[Hashable], truth: Sequence[Hashable], chance: Chance) -> Array:
    """The probability of each label after numbers with noise, of which the right label's is higher by 1."""
    at = [labels.index(value) for value in truth]
    evidence = np.eye(len(labels))[at] + chance.noise(len(truth), len(labels))
    scaled = evidence / max(chance.width, 1e-3) ** 2
    shares: Array = np.exp(np.clip(scaled - scaled.max(axis=1, keepdims=True), -700, 0))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def _ranking(gold: GoldTable, plan: Plan, chance: Chance) -> Answers:
    """Items in the order of their relevance with noise.

    Where the gold has relevant ones alone, `OTHERS` times as many that other keys have are ranked with them.
    """
    item, *relevant = (gold.answers.columns[field.name, field.type] for field in gold.fields[plan.key])
    pairs = list(zip(gold.answers.owners, item, strict=True))
    relevance = list(relevant[0]) if relevant else [1.0] * len(pairs)
    if len(set(relevance)) == 1:
        random, others = np.random.default_rng([chance.seed, *chance.part]), dict.fromkeys(pairs)
        for _ in range(OTHERS):
            others |= dict.fromkeys(zip(gold.answers.owners, random.permutation(item).tolist(), strict=True))
        pairs = list(others)
        relevance += [0.0] * (len(pairs) - len(relevance))
    queries, items = zip(*pairs, strict=True)
    owners = np.array(queries, dtype=np.intp)
    score = np.array(relevance) + (np.std(relevance) or 1.0) * chance.noise(len(pairs))
    order = np.lexsort([-score, owners])
    ranks = np.arange(1.0, 1 + len(order)).tolist()
    values = {plan.options["item"]: [items[i] for i in order], plan.options["rank"]: ranks}
    columns = {}
    for name in plan.fields:
        columns[name, gold.table.field(name).type] = values.get(name, score[order].tolist())
    return Answers(columns, owners[order].tolist(), list(range(len(order))))
