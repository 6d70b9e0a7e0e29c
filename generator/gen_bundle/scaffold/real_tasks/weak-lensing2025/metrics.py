"""Estimates and error bars of two parameters: the likelihood of a normal distribution, and the error itself."""

from math import log

WEIGHT = 1000


def score(gold, predicted, **_):
    total = 0.0
    for right, answered, bars in zip(gold["means"], predicted["means"], predicted["errorbars"]):
        for true, mean, sigma in zip(right["theta"], answered["theta"], bars["sigma"]):
            error = (true - mean) ** 2
            total -= error / sigma**2 + log(sigma**2) + WEIGHT * error
    return max(total / len(gold["means"]), -1e6)
