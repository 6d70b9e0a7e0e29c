"""The logarithm of the mean absolute error; `by: type` has the mean over types."""

from math import log

LEAST = 1e-9


def log_mae(gold, predicted, field, **_):
    errors = [abs(right[field] - answered[field]) for right, answered in zip(gold, predicted)]
    return log(max(sum(errors) / len(errors), LEAST))
