"""Functions of the organisers' own that are called with one key at a time: what they give are terms of sums."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from declared.answers import named_key
from declared.metrics.keys import Keys
from declared.metrics.own import OwnMetricError, called, number_of
from declared.plan import Plan
from declared.samples import OwnRows
from scoring_kit.errors import shown
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array


@dataclass(frozen=True, eq=False)
class OfKeys:
    """The values that a function which is called once a key gave for some keys.

    Attributes:
        terms: of every key of the gold its numerator, its denominator, and 1 if it counts, shape [keys, 3]; a number is
            its own numerator, over 1.
        undefined: for how many keys it gave NaN, so that the column's value counts.
    """

    terms: Array
    undefined: int = 0

    def statistic(self, positions: Sequence[int], keys: Keys) -> Additive:
        """Return Σ numerators / Σ denominators, each as much as its key weighs; 0/0 = 0.

        Where no key counts it is undefined.
        """

        def of_sums(sums: Array) -> Array:
            numerator, denominator, counted = np.moveaxis(sums, -1, 0)
            values = summed.quotient(numerator, denominator, math.nan)
            values = np.where((numerator == 0) & (denominator == 0), 0.0, values)
            return np.where((counted == 0) | ~np.isfinite(values), keys.worst, values)

        return keys.additive(of_sums, *self.terms[positions].T)


def values_of_keys(plan: Plan, rows: OwnRows, positions: Iterable[int]) -> OfKeys:
    """Call a plan's function once for each key at these positions.

    Raises:
        OwnMetricError: it raises, or gives something else than a number, a pair of numbers or None; or numbers for
            some keys and pairs for others.
    """
    terms, undefined = np.zeros((len(rows), 3)), 0
    kinds: dict[str, str] = {}  # a number, or a pair → the first key with one
    for at in positions:
        key, gold, predicted = rows[at]
        value = called(plan, gold, predicted)
        if value is None:
            continue
        kind, parts = "a number", (value, 1)
        if isinstance(value, tuple) and len(value) == 2:
            kind, parts = "a pair", value
        expected = "a number, a tuple (numerator, denominator) or None"
        numerator, denominator = number_of(plan, parts[0], expected), number_of(plan, parts[1], expected)
        is_undefined = math.isnan(numerator) or math.isnan(denominator)
        if is_undefined:
            undefined += 1
            denominator = 1.0 if math.isnan(denominator) else denominator
            numerator = plan.undefined * denominator
        if kind not in kinds and (kind == "a pair" or not is_undefined):  # NaN alone goes with either
            kinds[kind] = named_key(key) if isinstance(key, tuple) else shown(key)
        terms[at] = numerator, denominator, 1
    if len(kinds) > 1:
        (one, key), (other, another) = kinds.items()
        what = f"gives {one} for {key}, and {other} for {another}: numbers for all keys, or pairs for all"
        raise OwnMetricError(f"{(plan.file or Path()).name} in {plan.metric}", what)
    return OfKeys(terms, undefined)
