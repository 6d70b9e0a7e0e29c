"""Answers that a build tries the organisers' own functions on: where one raises, no participant has to find out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from declared.answers import Answers
from declared.plan import Plan
from declared.reference import GoldTable, Reference, expected
from declared.submission import Submission, with_values
from declared.tasks import compute
from declared.template import emptiest
from scoring_kit.base.fields import Field
from scoring_kit.base.missing_packages import missing_package

SAME = 6
"""So many different answers are tried for all keys alike."""
Columns = dict[tuple[str, str], list[Any]]


def failing(plan: Plan, tables: Mapping[str, GoldTable]) -> Iterator[str]:
    """What an organiser must know of an own function that gives no number for some valid answers."""
    try:
        for every in zip(*(tries(tables[name]) for name in plan.all_tables), strict=False):
            what = every[0][0]
            answers = {name: one for name, (_, one) in zip(plan.all_tables, every, strict=True)}
            failed = compute(plan, Reference(tables), Submission(answers, frozenset())).failed
            if failed is not None:
                said = f"{failed.place}: {plan.key} could not be computed for {what} ({failed.words})."
                yield f"{said} Expected a number for every valid answer, or NaN where it is undefined."
                return
    except ModuleNotFoundError as error:
        if missing_package(error) is None:
            raise  # else the trial of the template says what is missing


def tries(gold: GoldTable) -> Iterator[tuple[str, Answers]]:
    """Valid answers to a table, each with its name: from right ones to none at all."""
    made = _Made(gold)
    table, every = gold.table, list(range(len(gold.keys)))
    lengths = made.known["lengths"]
    right, wrong, moved, template = [], [], [], []
    for field in made.fields:
        values = _gold_column(field, gold) or made.alike(field, made.owners, 0)
        others = [made.alike(field, made.owners, which) for which in range(3)]
        right.append(values)
        wrong.append(_unlike(values, *others))
        moved.append(_moved(field, values))
        template.append([field.of_json(emptiest(field, lengths, at)) for at in every])
    yield "right answers", made.answers(made.owners, right)
    yield "the template", made.answers(every, template)
    for which in range(min(SAME, made.most)):
        same = [made.alike(field, every, which) for field in made.fields]
        yield "the same answer to every key", made.answers(every, same)
    yield "wrong answers", made.answers(made.owners, wrong)
    yield "shuffled answers", made.answers(made.owners, moved)
    if not table.reject_missing or not any(field.required for field in made.fields):
        none = [] if table.many else every
        yield "empty answers", made.answers(none, [[field.empty] * len(none) for field in made.fields])


class _Made:
    """Answers that are made up for a table.

    Attributes:
        fields: with the labels that may be answered.
        owners: the position of each gold row's key.
        known: what participants know.
        most: of how many answers to a field there are, the largest number.
    """

    def __init__(self, gold: GoldTable) -> None:
        self.many = gold.table.many
        self.fields = [with_values(field, gold.labels) for field in gold.table.answers]
        self.owners = list(gold.answers.owners) if self.many else list(range(len(gold.keys)))
        self.known = expected(gold)
        self.most = max((len(_choices(field)) for field in self.fields), default=0)

    def alike(self, field: Field, at: Sequence[int], which: int) -> list[Any]:
        """The same answer to the keys at these positions; of tags as many as there must be."""
        if field.type == "tags" and not self.many:
            tag = ("O", "B-x", "I-x")[which % 3]
            lengths = self.known["lengths"].get(field.name, [1] * len(self.owners))
            return [[tag] * lengths[i] for i in at]
        some = _choices(field)
        return [some[which % len(some)]] * len(at)

    def answers(self, at: list[int], columns: Sequence[list[Any]]) -> Answers:
        """Columns of values for the keys at these positions."""
        keyed = {(field.name, field.type): values for field, values in zip(self.fields, columns, strict=True)}
        owners = at if self.many else []
        return Answers(keyed, owners, list(range(len(at))))


def _moved(field: Field, values: list[Any]) -> list[Any]:
    """The values, each in another's place, but for tags, which are as many as the gold's in their place."""
    if field.type == "tags":
        return values
    return [*values[len(values) // 3 :], *values[: len(values) // 3]]


def _unlike(values: Sequence[Any], *candidates: Sequence[Any]) -> list[Any]:
    """For each value the first candidate in its place that differs from it."""
    unlike = []
    for value, *others in zip(values, *candidates, strict=True):
        differing = [other for other in others if other != value] or [value]
        unlike.append(differing[0])
    return unlike


def _gold_column(field: Field, gold: GoldTable) -> list[Any]:
    """The gold's values of a field, as answers; empty where the gold has none of that name and type."""
    column = gold.answers.columns.get((field.name, field.type), ())
    other = _choices(field)[0] if None in column else None
    return [other if value is None else value for value in column]


def _choices(field: Field) -> list[Any]:
    """Some values of a field."""
    return [field.of_json(value) for value in field.kind.some(field)]
