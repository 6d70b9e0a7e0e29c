"""Metrics of the organisers' own: a function beside bundle.yaml, `name(gold, predicted, **options) -> float`."""

import importlib.util
import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

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
    file = plan.file or Path()
    function = own_function(file, plan.metric)
    keys, gold, predicted = {}, {}, {}
    for name, rows in tables.items():
        keys[name], gold[name], predicted[name] = list(map(list, zip(*rows, strict=True))) or ([], [], [])
    try:
        if plan.tables:
            value = function(gold, predicted, **{**plan.options, "keys": keys})
        else:
            value = function(gold[plan.table], predicted[plan.table], **plan.options)
        is_number = hasattr(value, "__float__") and not isinstance(value, bool)
        number = float(value) if is_number else math.nan
    except (Exception, SystemExit) as error:  # whatever it is, the run ends as with any other answer
        raise OwnMetricError(f"{_line(file, error)} in {plan.metric}", f"{type(error).__name__}: {error}") from error
    if not is_number:
        raise OwnMetricError(f"{file.name} in {plan.metric}", f"gives {type(value).__name__}, not a number")
    return math.nan if math.isinf(number) else number


def _line(file: Path, error: BaseException) -> str:
    """The file and the last line of it that ran."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f"{file.name}:{error.lineno}"
    return file.name + last_line(error, str(file))
