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
    table = gold.table
    fields = [with_values(field, gold.labels) for field in table.answers]
    owners = list(gold.answers.owners) if table.many else list(range(len(gold.keys)))
    every = list(range(len(gold.keys)))
    known = expected(gold)
    right = {field.name: _gold_column(field, gold) for field in fields}
    choices = {field.name: _choices(field) for field in fields}

    def column(field: Field, at: Sequence[int], which: int) -> list[Any]:
        if field.type == "tags" and not table.many:
            return [[("O", "B-x", "I-x")[which % 3]] * known["lengths"].get(field.name, [1] * len(at))[i] for i in at]
        return [choices[field.name][which % len(choices[field.name])]] * len(at)

    def made(name: str, at: list[int], columns: list[list[Any]]) -> tuple[str, Answers]:
        keyed = {(field.name, field.type): values for field, values in zip(fields, columns, strict=True)}
        return name, Answers(keyed, at if table.many else [], list(range(len(at))))

    gold_columns = [right[field.name] or column(field, owners, 0) for field in fields]
    yield made("right answers", owners, gold_columns)
    template = [[field.of_json(emptiest(field, known["lengths"], at)) for at in every] for field in fields]
    yield made("the template", every, template)
    for which in range(min(SAME, max(map(len, choices.values()), default=0))):
        yield made("the same answer to every key", every, [column(field, every, which) for field in fields])
    others = [[column(field, owners, which) for which in (0, 1, 2)] for field in fields]
    wrong = [_unlike(values, *candidates) for values, candidates in zip(gold_columns, others, strict=True)]
    yield made("wrong answers", owners, wrong)
    movable = [field.type != "tags" for field in fields]  # which are as many as the gold's in their place
    pairs = zip(gold_columns, movable, strict=True)
    yield made("shuffled answers", owners, [_moved(values) if moves else values for values, moves in pairs])
    if not table.reject_missing or not any(field.required for field in fields):
        none = [] if table.many else every
        yield made("empty answers", none, [[field.empty for _ in none] for field in fields])


def _moved(values: list[Any]) -> list[Any]:
    """The values, each in another's place."""
    return [*values[len(values) // 3 :], *values[: len(values) // 3]]


def _unlike(values: Sequence[Any], *candidates: Sequence[Any]) -> list[Any]:
    """For each value the first candidate in its place that differs from it."""
    unlike = []
    for value, *others in zip(values, *candidates, strict=True):
        differing = [other for other in others if other != value]
        unlike.append(differing[0] if differing else value)
    return unlike


def _gold_column(field: Field, gold: GoldTable) -> list[Any]:
    """The gold's values of a field, as answers; empty where the gold has none of that name and type."""
    column = gold.answers.columns.get((field.name, field.type), ())
    other = _choices(field)[0] if None in column else None
    return [other if value is None else value for value in column]


def _choices(field: Field) -> list[Any]:
    """Some values of a field."""
    return [field.of_json(value) for value in field.kind.some(field)]
