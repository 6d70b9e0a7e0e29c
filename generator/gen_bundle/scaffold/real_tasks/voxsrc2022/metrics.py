"""Errors of detection: trials are accepted from some score on."""

import numpy as np


def error_rates(gold, predicted):
    """Rates of misses and of false alarms, from none accepted to all."""
    target = np.array([row["label"] == "1" for row in gold])
    scores = np.array([row["score"] for row in predicted])
    order = np.argsort(-scores)
    last = np.append(np.diff(scores[order]) != 0, True)  # of those with equal scores
    misses, false_alarms = ([0, *side[order].cumsum()[last] / side.sum()] for side in (target, ~target))
    return 1 - np.array(misses), np.array(false_alarms)


def min_dcf(gold, predicted, prior, **_):
    misses, false_alarms = error_rates(gold, predicted)
    return (prior * misses + (1 - prior) * false_alarms).min() / min(prior, 1 - prior)


def equal_error_rate(gold, predicted, **_):
    misses, false_alarms = error_rates(gold, predicted)
    apart = misses - false_alarms
    after = np.argmax(apart <= 0)
    part = apart[after - 1] / (apart[after - 1] - apart[after])
    return 100 * (false_alarms[after - 1] + part * (false_alarms[after] - false_alarms[after - 1]))
