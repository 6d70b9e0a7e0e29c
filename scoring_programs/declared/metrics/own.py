"""Metrics of the organisers' own: a function beside bundle.yaml, `name(gold, predicted, **options) -> float`.

It is called with all keys at once, or, as `per: key` says, with one key at a time (`per_key.py`). No package is needed
here, so that a function without one runs in an image without numpy.
"""

import importlib.util
import math
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from declared.answers import ArrayFile
from declared.own_checks import last_line
from declared.plan import Plan
from declared.samples import OwnRows
from scoring_kit.base.environment import missing_package
from scoring_kit.errors import OrganiserError
from scoring_kit.results import NotComputed

Own = Callable[..., Any]


class OwnMetricError(Exception):
    """A function of the organisers' own gave no number for a submission; `failed` says where and why."""

    def __init__(self, place: str, words: str) -> None:
        super().__init__(f"{place}: {words}")
        self.failed = NotComputed(place, words)


@cache
def own_function(file: Path, name: str) -> Own:
    """Return the function `name` of a Python file.

    Raises:
        OrganiserError: the file cannot be run, or has no such function.
        ModuleNotFoundError: a package that it needs is not installed.
    """
    if str(file.parent) not in sys.path:  # where the files lie that travel beside it, modules among them
        sys.path.insert(0, str(file.parent))
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
    """Return the value of a plan's function over the rows of its tables; NaN where it says that it is undefined.

    Raises:
        OwnMetricError: it raises, wants to end the program, or gives something else than a number.
    """
    keys, gold, predicted = {}, {}, {}
    for name, rows in tables.items():
        keys[name], gold[name], predicted[name] = [list(column) for column in zip(*rows, strict=True)] or ([], [], [])
    if plan.tables:
        return number_of(plan, called(plan, gold, predicted, keys=keys), "a number")
    return number_of(plan, called(plan, gold[plan.table], predicted[plan.table]), "a number")


def called(plan: Plan, gold: Any, predicted: Any, **further: Any) -> Any:
    """Return what the function returns; raises OwnMetricError where it does not."""
    file = plan.file or Path()
    for name in plan.beside:
        if not (file.parent / name).is_file():  # as in what participants get
            raise OrganiserError(f"{name}: is not beside {file.name}. Expected the file that the organisers keep.")
    function = own_function(file, plan.metric)
    if _has_arrays(gold, predicted):
        from declared.arrays import opened  # numpy, which functions of rows need not

        gold, predicted = opened(gold), opened(predicted)
    try:
        return function(gold, predicted, **{**plan.options, **further})
    except (Exception, SystemExit) as error:  # whatever it is, the run ends as with any other answer
        if isinstance(error, ModuleNotFoundError) and missing_package(error):
            raise  # which no answer changes
        raise OwnMetricError(f"{_line(file, error)} in {plan.metric}", f"{type(error).__name__}: {error}") from error


def _has_arrays(*rows: Any) -> bool:
    """Whether rows hold files of arrays, for all of which the first speaks."""
    for one in rows:
        first = next(iter(one), {}) if isinstance(one, list) else one
        if isinstance(first, dict) and ArrayFile in map(type, first.values()):
            return True
    return False


def number_of(plan: Plan, value: Any, expected: str) -> float:
    """Return what a function gave as a number; NaN where it is not finite, and OwnMetricError where it is none."""
    place = f"{(plan.file or Path()).name} in {plan.metric}"
    if not hasattr(value, "__float__") or isinstance(value, bool):
        raise OwnMetricError(place, f"gives {type(value).__name__}, not {expected}")
    try:
        number = float(value)
    except Exception as error:  # as of an array of several numbers
        raise OwnMetricError(place, f"{type(error).__name__}: {error}") from error
    return math.nan if math.isinf(number) else number


def _line(file: Path, error: BaseException) -> str:
    """The file and the last line of it that ran."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f"{file.name}:{error.lineno}"
    return file.name + last_line(error, str(file))
