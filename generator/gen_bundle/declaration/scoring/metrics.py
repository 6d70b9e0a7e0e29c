"""The metrics that a declaration can name, as the scoring package `declared` describes them in its `table.json`."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter

from gen_bundle.declaration.source import items_of, mapping_of, text_of
from gen_bundle.ground.resources import resource
from scoring_kit.base.field_types import bounds_text


class UnfitError(ValueError):
    """A value that an option does not take; its text says what was expected."""


@dataclass(frozen=True)
class MetricOption:
    """One option of a metric: a choice, or a value of a type, as `schema.TYPES` describes it.

    Attributes:
        default: what counts where it is not given.
        defaults: the same for fields of some types.
        choices: the values there are; besides, a `unit` may be {separator: text}, and `labels` a list.
        type: what kind of value it is.
        min: the smallest number.
        max: the largest number.
        required: whether it must be given.
        for_types: the types of fields that it is for; none: all that the metric takes.
    """

    default: Any = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    choices: tuple[str, ...] = ()
    type: str = "choice"
    min: float = 0
    max: float | None = None
    required: bool = False
    for_types: tuple[str, ...] = ()

    def read(self, value: Any) -> Any:
        """Return a value of bundle.yaml as the option's; raises UnfitError where it takes no such value."""
        return READERS[self.type](self, value)


@dataclass(frozen=True)
class MetricRow:
    """A metric.

    Attributes:
        name: as a declaration names it.
        title: for headings.
        definition: one sentence for participants.
        edges: further sentences for organisers: special cases, and what the options mean.
        types: of fields that it takes.
        probability: whether a field of numbers must lie between 0 and 1.
        many: `never`, `any` or `only` for tables with many rows a key.
        joint: whether several fields are taken together instead of averaged.
        gold: type of field → the type that the gold is read as, where that is another.
        sort: `desc` where higher is better.
        worst: the default of a column's `worst`.
        worst_of: the same for fields of some types.
        best: the best value there is.
        options: its own options by name.
        weighted: whether keys may have a `weight`; with `macro` only where keys are averaged.
        module: of the package `declared.metrics` that has its function.
        libraries: what computes it; nothing, where the kit does.
        equals: the library that the kit's own formula equals, as tests hold it to.
    """

    name: str
    title: str
    definition: str
    types: tuple[str, ...]
    sort: Literal["desc", "asc"]
    worst: float | int
    best: float | int
    module: str
    libraries: tuple[str, ...]
    equals: str | None = None
    edges: str = ""
    probability: bool = False
    many: str = "never"
    joint: bool = False
    gold: Mapping[str, str] = field(default_factory=dict)
    worst_of: Mapping[str, float | int] = field(default_factory=dict)
    options: Mapping[str, MetricOption] = field(default_factory=dict)
    weighted: bool | Literal["macro"] = False

    @property
    def required(self) -> list[str]:
        """The options that must be given."""
        return [name for name, option in self.options.items() if option.required]

    @property
    def is_ranking(self) -> bool:
        """Whether it judges the order of items."""
        return self.many == "only"


def of_types(by_type: Mapping[str, Any], types: Sequence[str], default: Any) -> Any:
    """Return what holds for the first of some types of which anything is said; else the default."""
    for kind in types:
        if kind in by_type:
            return by_type[kind]
    return default


def default_worst(metric: MetricRow, types: Sequence[str]) -> float:
    """Return the default of the worst score of a column with fields of these types."""
    worst: float = of_types(metric.worst_of, types, metric.worst)
    return worst


@cache
def metrics() -> dict[str, MetricRow]:
    """Return all metrics by name, in the order of the documentation."""
    rows = json.loads((resource("scoring_programs") / "declared/metrics/table.json").read_text(encoding="utf-8"))
    named = {name: {"name": name, **row} for name, row in rows.items()}
    return TypeAdapter(dict[str, MetricRow]).validate_python(named)


def is_number(value: Any) -> bool:
    """Return whether it is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _choice(option: MetricOption, value: Any) -> Any:
    if value not in option.choices:
        expected = ", ".join(option.choices)
        if option.choices[1:]:
            expected = f"one of {expected}"
        raise UnfitError(f"expected {expected}")
    return value


def _boolean(option: MetricOption, value: Any) -> bool:
    if not isinstance(value, bool):
        raise UnfitError("expected true or false")
    return value


def _integer(option: MetricOption, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise UnfitError("expected a whole number")
    if value < option.min:
        raise UnfitError(f"expected a whole number of at least {option.min:g}")
    if option.max is not None and value > option.max:
        raise UnfitError(f"expected a whole number up to {option.max:g}")
    return value


def _number(option: MetricOption, value: Any) -> float:
    if not is_number(value) or value < option.min or (option.max is not None and value > option.max):
        raise UnfitError(f"expected a number{bounds_text(0, option.max)}")
    return value  # type: ignore[no-any-return]


def _text(option: MetricOption, value: Any) -> str:
    text = text_of(value)
    if text is None:
        raise UnfitError("expected a text")
    return text


def _labels(option: MetricOption, value: Any) -> Any:
    if not isinstance(value, list) and option.choices:
        return _choice(option, value)
    labels = [text_of(label) for label in items_of(value)]
    if not labels or None in labels or len(set(labels)) < len(labels):
        raise UnfitError("expected a list of different labels")
    return labels


def _unit(option: MetricOption, value: Any) -> Any:
    if not isinstance(value, dict):
        return _choice(option, value)
    separator = value.get("separator")
    if list(value) != ["separator"] or not isinstance(separator, str) or not separator:
        raise UnfitError("expected {separator: text}")
    return value


def _matrix(option: MetricOption, value: Any) -> dict[str, dict[str, float]]:
    expected = "expected points for each gold label and answer, such as {pro: {pro: 1, con: -0.5}}"
    points: dict[str, dict[str, float]] = {}
    for gold, row in mapping_of(value).items():
        if not isinstance(row, dict) or not all(map(is_number, row.values())):
            raise UnfitError(expected)
        points[str(text_of(gold))] = {str(text_of(label)): number for label, number in row.items()}
    if not points:
        raise UnfitError(expected)
    return points


def _threshold(option: MetricOption, value: Any) -> Any:
    number = value
    if isinstance(value, dict) and list(value) == ["above"]:
        number = value["above"]
    if not is_number(number) or not 0 <= number <= 1:
        raise UnfitError("expected a number from 0 to 1, which counts as positive, or {above: number}")
    return value


READERS: Mapping[str, Callable[[MetricOption, Any], Any]] = {
    "choice": _choice,
    "boolean": _boolean,
    "integer": _integer,
    "number": _number,
    "label": _text,
    "text": _text,
    "field": _text,
    "column": _text,
    "labels": _labels,
    "unit": _unit,
    "matrix": _matrix,
    "threshold": _threshold,
}
"""By the type of an option: what makes a value of bundle.yaml the option's; raises UnfitError."""
