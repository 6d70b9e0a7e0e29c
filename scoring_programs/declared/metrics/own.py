"""Metrics of the organisers' own: a function beside bundle.yaml, `name(gold, predicted, **options) -> float`.

It is called with all keys at once, or, as `per: key` says, with one key at a time, and then gives terms of sums.
"""

import importlib.util
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from declared.metrics.keys import Keys
from declared.own_checks import last_line
from declared.plan import Plan
from declared.samples import OwnRows
from scoring_kit.base.environment import missing_package
from scoring_kit.errors import OrganiserError, shown
from scoring_kit.metrics import summed
from scoring_kit.results import NotComputed
from scoring_kit.units import Additive, Array

Own = Callable[..., Any]


class OwnMetricError(Exception):
    """A function of the organisers' own gave no number for a submission; `failed` says where and why."""

    def __init__(self, place: str, words: str) -> None:
        super().__init__(f"{place}: {words}")
        self.failed = NotComputed(place, words)


@cache
def own_function(file: Path, name: str) -> Own:
    """The function `name` of a Python file.

    Raises:
        OrganiserError: the file cannot be run, or has no such function.
        ModuleNotFoundError: a package that it needs is not installed.
    """
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise OrganiserError(f"{file.name}: no such file. Expected: the module with the metric {name}.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and missing_package(error):
            raise
        words = f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}"
        what = f"{_line(file, error)}: cannot be run ({words}). Expected a module that defines {name}."
        raise OrganiserError(what) from error
    function = getattr(module, name, None)
    if not callable(function):
        raise OrganiserError(f"{file.name}: has no function {name}. Expected: def {name}(gold, predicted, **options).")
    return function  # type: ignore[no-any-return]


def own_value(plan: Plan, tables: Mapping[str, OwnRows]) -> float:
    """The value of a plan's function over the rows of its tables; NaN where it says that it is undefined.

    Raises:
        OwnMetricError: it raises, wants to end the program, or gives something else than a number.
    """
    keys, gold, predicted = {}, {}, {}
    for name, rows in tables.items():
        keys[name], gold[name], predicted[name] = list(map(list, zip(*rows, strict=True))) or ([], [], [])
    if plan.tables:
        return _number(plan, _called(plan, gold, predicted, keys=keys), "a number")
    return _number(plan, _called(plan, gold[plan.table], predicted[plan.table]), "a number")


def _called(plan: Plan, gold: Any, predicted: Any, **further: Any) -> Any:
    """What the function returns; raises OwnMetricError where it does not."""
    file = plan.file or Path()
    for name in plan.beside:
        if not (file.parent / name).is_file():  # as in what participants get
            raise OrganiserError(f"{name}: is not beside {file.name}. Expected the file that the organisers keep.")
    function = own_function(file, plan.metric)
    try:
        return function(gold, predicted, **{**plan.options, **further})
    except (Exception, SystemExit) as error:  # whatever it is, the run ends as with any other answer
        if isinstance(error, ModuleNotFoundError) and missing_package(error):
            raise  # which no answer changes
        raise OwnMetricError(f"{_line(file, error)} in {plan.metric}", f"{type(error).__name__}: {error}") from error


def _number(plan: Plan, value: Any, expected: str) -> float:
    """What a function gave as a number; NaN where it is not finite, and OwnMetricError where it is none."""
    place = f"{(plan.file or Path()).name} in {plan.metric}"
    if not hasattr(value, "__float__") or isinstance(value, bool):
        raise OwnMetricError(place, f"gives {type(value).__name__}, not {expected}")
    try:
        number = float(value)
    except Exception as error:  # as of an array of several numbers
        raise OwnMetricError(place, f"{type(error).__name__}: {error}") from error
    return math.nan if math.isinf(number) else number


@dataclass(frozen=True, eq=False)
class OfKeys:
    """What a function that is called once a key gave for some keys.

    Attributes:
        terms: of every key of the gold its numerator, its denominator, and 1 if it counts, shape [keys, 3]; a number is
            its own numerator, over 1.
        undefined: for how many keys it gave NaN, so that the column's value counts.
    """

    terms: Array
    undefined: int = 0

    def statistic(self, positions: Sequence[int], keys: Keys) -> Additive:
        """The sum of the numerators over that of the denominators, each as much as its key weighs."""
        return keys.additive(partial(_of_sums, undefined=keys.worst), *self.terms[positions].T)


def values_of_keys(plan: Plan, rows: OwnRows, positions: Iterable[int]) -> OfKeys:
    """Call a plan's function once for each key at these positions.

    Raises:
        OwnMetricError: it raises, or gives something else than a number, a pair of numbers or None; or numbers for
            some keys and pairs for others.
    """
    terms, undefined = np.zeros((len(rows), 3)), 0
    kinds: dict[str, Any] = {}  # a number, or a pair → the first key with one
    for at in positions:
        key, gold, predicted = rows[at]
        value = _called(plan, gold, predicted)
        if value is None:
            continue
        kind, parts = "a number", (value, 1)
        if isinstance(value, tuple) and len(value) == 2:
            kind, parts = "a pair", value
        expected = "a number, a tuple (numerator, denominator) or None"
        numerator, denominator = (_number(plan, part, expected) for part in parts)
        is_undefined = math.isnan(numerator) or math.isnan(denominator)
        if is_undefined:
            undefined += 1
            denominator = 1.0 if math.isnan(denominator) else denominator
            numerator = plan.undefined * denominator
        if kind == "a pair" or not is_undefined:  # NaN alone goes with either
            kinds.setdefault(kind, key)
        terms[at] = numerator, denominator, 1
    if len(kinds) > 1:
        (one, key), (other, another) = ((kind, _shown(key)) for kind, key in kinds.items())
        what = f"gives {one} for {key}, and {other} for {another}: numbers for all keys, or pairs for all"
        raise OwnMetricError(f"{(plan.file or Path()).name} in {plan.metric}", what)
    return OfKeys(terms, undefined)


def _shown(key: Any) -> str:
    """A key, or one of several parts, in a message."""
    return ", ".join(map(shown, key)) if isinstance(key, tuple) else shown(key)


def _of_sums(sums: Array, undefined: float) -> Array:
    """Return Σ numerators / Σ denominators, with 0/0 = 0; `undefined` where no key counts, which is the third term."""
    numerator, denominator, counted = np.moveaxis(sums, -1, 0)
    values = summed.quotient(numerator, denominator, math.nan)
    values = np.where((numerator == 0) & (denominator == 0), 0.0, values)
    return np.where((counted == 0) | ~np.isfinite(values), undefined, values)


def _line(file: Path, error: BaseException) -> str:
    """The file and the last line of it that ran."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f"{file.name}:{error.lineno}"
    return file.name + last_line(error, str(file))
