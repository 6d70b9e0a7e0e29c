"""Common to annotation tools: items, each answered by no, one or several annotators."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gen_bundle.ground.plain_text import listed
from gen_bundle.ground.tables.table import NUMBERED, FileTable

Answer = Mapping[str, Any]
"""One annotator's word on an item: name of the question → spans as lists, a label, labels, a number or a text."""
PLAIN = (str, int, float)
MOST_NAMED = 5


@dataclass
class Item:
    """An annotated item, and its annotations.

    Attributes:
        number: of its line or place.
        given: what the annotators saw, by name.
        answers: of each annotator.
    """

    number: int
    given: dict[str, Any]
    answers: list[Answer] = field(default_factory=list)


def spans_in_order(spans: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return spans by their places, each once."""
    found: list[list[Any]] = []
    for span in sorted(spans, key=_place):
        if list(span) not in found:
            found.append(list(span))
    return found


def _place(span: Sequence[Any]) -> list[str]:
    return [str(part).zfill(12) for part in span]


def table_of(name: str, suffix: str, tool: str, items: Sequence[Item], notes: Sequence[str]) -> FileTable:
    """Return the items as a table: what was given, and a column for each question.

    Where all items have as many annotators, each has a column for a question with one label or number; else the first
    annotator counts. An item without an answer has no spans or labels, and nothing in place of a label or number.
    """
    found = [f"{name}: an export of {tool}; each of its items is a row", *notes]
    columns = _given(items)
    asked: dict[str, None] = {}
    for item in items:
        for answer in item.answers:
            asked |= dict.fromkeys(answer)
    for question in asked:
        values: list[list[Any]] = []
        for item in items:
            values.append([answer.get(question) for answer in item.answers])
        fewest, most = len(min(values, key=len)), len(max(values, key=len))
        # spans or labels, of which there may be none
        are_sets = any(isinstance(value, list) for value in itertools.chain.from_iterable(values))
        if are_sets or fewest < most or most < 2:
            title = question if question not in columns else f"{question}_answer"
            columns[title], several = _first_of_each(values, are_sets=are_sets)
            if several:
                what = f"{several} items have several annotations; for {question} the first of each counts"
                found.append(f"{name}: {what}; leave the one that counts in the export to choose otherwise")
            continue
        before = f"{question}_" * (len(asked) > 1)
        for number, said in enumerate(zip(*values, strict=True), start=1):
            columns[f"{before}annotator_{number}"] = list(said)
        found.append(f"{name}: {question} was answered by {most} annotators, who have a column each")
    found += _without_annotation(name, items)
    return FileTable(name, suffix, columns, [item.number for item in items], notes=tuple(found))


def _first_of_each(values: Sequence[Sequence[Any]], *, are_sets: bool) -> tuple[list[Any], int]:
    """Return the first answer of each item, and how many items have several."""
    found: list[Any] = []
    several = 0
    for answers in values:
        first = answers[0] if answers else None
        if first is None and are_sets:
            first = []
        found.append(first)
        several += len(answers) > 1
    return found, several


def _without_annotation(name: str, items: Sequence[Item]) -> list[str]:
    without = [str(item.number) for item in items if not any(item.answers)]
    if not without:
        return []
    shown = listed(without, MOST_NAMED)
    return [f"{name}: {len(without)} items have no annotation, or an empty one (numbers {shown}); they stay"]


def _given(items: Sequence[Item]) -> dict[str, list[Any]]:
    """Return what was given, after an id; items are numbered where they have none."""
    columns: dict[str, list[Any]] = {NUMBERED: [str(at) for at in range(1, len(items) + 1)]}
    names: dict[str, bool] = {}
    for item in items:
        for name, value in item.given.items():
            names[name] = names.get(name, False) or _can_be_given(value)
    for name, can_be_given in names.items():
        if can_be_given:
            columns[name] = [item.given.get(name) for item in items]
    return columns


def _can_be_given(value: Any) -> bool:
    return isinstance(value, PLAIN) or (isinstance(value, list) and {type(one) for one in value} == {str})


def one_or_labels(answers: Sequence[Sequence[str]]) -> bool:
    """Return whether all of these sets hold at most one label, so that they are labels rather than sets."""
    return len(max(answers, key=len, default=())) < 2
