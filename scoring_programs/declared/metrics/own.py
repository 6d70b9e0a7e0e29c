"""Metrics of the organisers' own: a function beside bundle.yaml, `name(gold, predicted, **options) -> float`."""

import importlib.util
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from scoring_kit.errors import OrganiserError

Row = dict[str, Any]
Own = Callable[..., Any]


@cache
def own_function(file: Path, name: str) -> Own:
    """The function `name` of a Python file.

    Raises:
        OrganiserError: the file or the function does not exist.
    """
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise OrganiserError(f"{file.name}: no such file. Expected: the module with the metric {name}.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        raise OrganiserError(f"{file.name}: has no function {name}. Expected: def {name}(gold, predicted, **options).")
    return function  # type: ignore[no-any-return]


def own_value(
    metric: str, function: Own, gold: Sequence[Any], predicted: Sequence[Any], options: Mapping[str, Any]
) -> float:
    """The function's value; NaN where it says that it is undefined.

    Raises:
        OrganiserError: it gives something else than a number.
    """
    value = function(list(gold), list(predicted), **options)
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise OrganiserError(f"{metric}: gives {type(value).__name__}. Expected a number.")
    number = float(value)
    return math.nan if math.isinf(number) else number
