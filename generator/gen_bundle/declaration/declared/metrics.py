"""The metrics that a declaration can name, as the scoring package `declared` describes them in its `table.json`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter

from gen_bundle.resources import resource


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


def default_worst(metric: MetricRow, types: Sequence[str]) -> float:
    """The default of the worst score of a column with fields of these types."""
    of_types = [metric.worst_of[kind] for kind in types if kind in metric.worst_of]
    return of_types[0] if of_types else metric.worst


@cache
def metrics() -> dict[str, MetricRow]:
    """All metrics by name, in the order of the documentation."""
    rows = json.loads((resource("scoring_programs") / "declared/metrics/table.json").read_text(encoding="utf-8"))
    named = {name: {"name": name, **row} for name, row in rows.items()}
    return TypeAdapter(dict[str, MetricRow]).validate_python(named)
