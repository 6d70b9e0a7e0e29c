"""The metrics that a declaration can name: what each takes, and the library that computes it.

`table.json` says for each metric what a declaration may ask of it; the generator reads it, too, without importing this.
"""

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from declared.fields import Field


@dataclass(frozen=True)
class Sample:
    """Gold and answers to compare, one for each key, in the same order.

    Attributes:
        gold: a value of the field; for metrics over several fields a tuple of values; with many rows a list of rows,
            each a tuple of values.
        predicted: likewise.
        fields: the fields behind the values.
        many: whether there are many rows for a key.
    """

    gold: Sequence[Any]
    predicted: Sequence[Any]
    fields: Sequence[Field]
    many: bool = False

    def at(self, positions: Sequence[int]) -> "Sample":
        """The keys at these ascending positions alone."""
        if len(positions) == len(self.gold):
            return self
        gold, predicted = [self.gold[i] for i in positions], [self.predicted[i] for i in positions]
        return Sample(gold, predicted, self.fields, self.many)


Options = Mapping[str, Any]
"""A metric's options, every one of them given."""
Measure = Callable[[Sample, Options], float]
"""Computes a metric; NaN where the library says that it is undefined."""


@dataclass(frozen=True)
class MeanOverKeys:
    """A metric that is the mean of a value for each key, which `values` gives."""

    values: Callable[[Sample, Options], Sequence[float]]

    def __call__(self, sample: Sample, options: Options) -> float:
        values = self.values(sample, options)
        return sum(values) / len(values)


@dataclass(frozen=True)
class Definition:
    """A row of `table.json`, as far as scoring needs it.

    Attributes:
        module: the module of this package that computes it, in a function of the metric's name.
        joint: whether several fields are taken together.
        gold: the type that the gold is read as; None: the field's own.
        libraries: distributions whose versions the value depends on.
        options: option → its default.
    """

    module: str
    joint: bool = False
    gold: str | None = None
    libraries: tuple[str, ...] = ()
    options: Options = field(default_factory=dict)


@cache
def definitions() -> dict[str, Definition]:
    """All metrics by name."""
    table = json.loads((Path(__file__).parent / "table.json").read_text(encoding="utf-8"))
    return {
        name: Definition(
            module=row["module"],
            joint=row.get("joint", False),
            gold=row.get("gold"),
            libraries=tuple(row["libraries"]),
            options={option: about.get("default") for option, about in row.get("options", {}).items()},
        )
        for name, row in table.items()
    }


def measure(name: str) -> Measure:
    """The function of a metric; its library is imported with it."""
    module = importlib.import_module(f"declared.metrics.{definitions()[name].module}")
    function: Measure = getattr(module, name)
    return function
