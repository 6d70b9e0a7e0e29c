"""The metrics that a declaration can name, as the scoring package `declared` describes them in its `table.json`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter

from gen_bundle.resources import resource


@dataclass(frozen=True)
class Option:
    """One option of a metric: a choice, or a value of a type, as `schema.TYPES` describes it.

    Attributes:
        default: what counts where it is not given.
        choices: the values there are; besides, a `unit` may be {separator: text}, and `labels` a list.
        type: what kind of value it is.
        max: the largest number; the least is 0.
        required: whether it must be given.
    """

    default: Any = None
    choices: tuple[str, ...] = ()
    type: str = "choice"
    max: float | None = None
    required: bool = False


@dataclass(frozen=True)
class Metric:
    """A metric.

    Attributes:
        name: as a declaration names it.
        title: for headings.
        definition: one sentence for participants.
        edges: further sentences for organisers: special cases, and what the options mean.
        types: of fields that it takes.
        probability: whether its fields are probabilities.
        many: `never`, `any` or `only` for tables with many rows a key.
        joint: whether several fields are taken together instead of averaged.
        gold: the type that the gold is read as where that is not the field's own.
        sort: `desc` where higher is better.
        worst: the default of a column's `worst`.
        best: the best value there is.
        options: its own options by name.
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
    gold: str | None = None
    options: Mapping[str, Option] = field(default_factory=dict)

    @property
    def is_ranking(self) -> bool:
        """Whether it judges the order of items."""
        return self.many == "only"


@cache
def metrics() -> dict[str, Metric]:
    """All metrics by name, in the order of the documentation."""
    rows = json.loads((resource("scoring_programs") / "declared/metrics/table.json").read_text(encoding="utf-8"))
    return TypeAdapter(dict[str, Metric]).validate_python({name: {"name": name, **row} for name, row in rows.items()})
