"""The metrics that a declaration can name: what each key adds to a metric, and a formula of what the keys add.

A metric is a function of its name, (sample, options, keys) → statistic, in the module that `table.json` names. Its
value is the statistic with all keys in one unit; per-unit results are the same statistic with the units of resampling.
`table.json` says what a declaration may ask of each metric; the generator reads it, too, without importing this.
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scoring_kit.base.field_types import Field

if TYPE_CHECKING:
    from declared.metrics.keys import Keys
    from scoring_kit.units import Limit, Statistic


def picked(values: Sequence[Any] | None, positions: Iterable[int]) -> Any:
    """Return the values at these positions; None of none."""
    return values and [values[i] for i in positions]


@dataclass(frozen=True)
class Sample:
    """Gold and answers to compare, one for each key, in the same order.

    Attributes:
        gold: a value of the field; for metrics over several fields a tuple of values; with many rows a list of rows,
            each a tuple of values.
        predicted: likewise.
        fields: the fields behind the values.
        many: whether there are many rows for a key.
        weight: how much each key counts; None: all the same.
        scale: what each key's error is relative to, for a metric that says so.
        mean_by: the group of each key, in which gold and predictions are averaged; None: each key by itself.
        worst: what counts for a key without an answer, where a metric says so.
    """

    gold: Sequence[Any]
    predicted: Sequence[Any]
    fields: Sequence[Field]
    many: bool = False
    weight: Sequence[float] | None = None
    scale: Sequence[float] | None = None
    mean_by: Sequence[str] | None = None
    worst: float = 0.0

    @property
    def has_places(self) -> bool:
        """Whether a value is a list of labels, each of them compared by itself."""
        return len(self.fields) == 1 and self.fields[0].scheme == "none" and not self.many

    def in_places(self) -> tuple[Sample, list[int]]:
        """Return the labels at all places as those of keys, and the key of each."""
        owners = []
        for at, labels in enumerate(self.gold):
            owners += [at] * len(labels)
        gold, predicted = chain.from_iterable(self.gold), chain.from_iterable(self.predicted)
        field = replace(self.fields[0], type="label", scheme=None)
        return Sample(list(gold), list(predicted), [field], weight=picked(self.weight, owners)), owners

    def at(self, positions: Sequence[int]) -> Sample:
        """Return the keys at these ascending positions alone."""
        if len(positions) == len(self.gold):
            return self

        some: dict[str, Any] = {}
        for name in ("gold", "predicted", "weight", "scale", "mean_by"):
            some[name] = picked(getattr(self, name), positions)
        return replace(self, **some)


Metric = Callable[..., "Statistic"]
"""Of a sample, its options and the units of its keys."""
Options = Mapping[str, Any]
"""A metric's options, every one of them given."""


@dataclass(frozen=True)
class Definition:
    """A row of `table.json`, as far as scoring needs it; the generator's `MetricRow` says what is what.

    Attributes:
        module: of this package, has its function.
        options: option → its default.
        resampled: whether final reports have intervals and tests of it.
        limit: what limits its intervals there, if anything does.
        best: the best value there is; None where there is none.
    """

    name: str
    module: str
    joint: bool = False
    gold: Mapping[str, str] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    options: Options = field(default_factory=dict)
    resampled: bool = True
    limit: Limit | None = None
    best: float | None = None

    def statistic(self, sample: Sample, options: Options, keys: Keys) -> Statistic:
        """Return what the units of `keys` add to the metric; its libraries are imported here."""
        module = importlib.import_module(f"declared.metrics.{self.module}")
        metric: Metric = getattr(module, self.name)
        if sample.mean_by is not None:
            from declared.metrics.means import of_means

            fields, sides = sample.fields, (sample.gold, sample.predicted)

            def of_sides(gold: Any, predicted: Any, keys: Keys) -> Statistic:
                return metric(Sample(gold, predicted, fields), options=options, keys=keys)

            is_correlation = self.name in ("pearson", "spearman", "kendall")
            return of_means(sample.mean_by, sides, of_sides, keys, is_correlation=is_correlation)
        if self.module == "labels" and sample.has_places:
            sample, owners = sample.in_places()
            keys = replace(keys, unit=keys.unit[owners])
        return metric(sample, options=options, keys=keys.weighing(sample.weight))

    def value(self, sample: Sample, options: Options) -> float:
        """Return the metric of a sample; NaN where it is undefined."""
        import numpy as np

        from declared.metrics.keys import in_one_unit

        statistic = self.statistic(sample, options, in_one_unit(len(sample.gold), math.nan))
        return float(statistic.over(np.ones((1, 1)))[0])


@cache
def definitions() -> dict[str, Definition]:
    """Return all metrics by name."""
    table = json.loads((Path(__file__).parent / "table.json").read_text(encoding="utf-8"))
    found = {}
    for name, row in table.items():
        options = {option: about.get("default") for option, about in row.get("options", {}).items()}
        joint, gold, resampled = row.get("joint", False), row.get("gold", {}), row.get("resampled", True)
        libraries, limit = tuple(row["libraries"]), row.get("limit")
        found[name] = Definition(name, row["module"], joint, gold, libraries, options, resampled, limit, row["best"])
    return found


def positive_of(options: Options, labels: Iterable[Any]) -> str:
    """Return the positive label: the one that is named, or else the `true` or `1` of the gold's labels."""
    named: str | None = options["positive"]
    if named is not None:
        return named
    return "true" if {"true", "false"}.intersection(labels) else "1"
