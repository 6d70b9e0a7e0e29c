"""Diagnoses as probabilities, and numbers with an interval. What was not measured at a visit is None in the gold."""

from itertools import permutations

import numpy as np

DIAGNOSES = ["CN", "MCI", "AD"]


def multi_class_auc(gold, predicted, **_):
    shares = {name: [] for name in DIAGNOSES}
    for right, answered in zip(gold, predicted):
        if right["Diagnosis"]:
            shares[right["Diagnosis"]].append(answered["Diagnosis"])
    areas = []
    for one, other in permutations(range(3), 2):
        own = np.array(shares[DIAGNOSES[one]])[:, one, None]
        others = np.array(shares[DIAGNOSES[other]])[:, one]
        areas.append(((own > others) + (own == others) / 2).mean())
    return np.mean(areas)


def balanced_accuracy(gold, predicted, **_):
    counts = np.zeros((3, 3))
    for right, answered in zip(gold, predicted):
        if right["Diagnosis"]:
            counts[DIAGNOSES.index(right["Diagnosis"]), np.argmax(answered["Diagnosis"])] += 1
    pairs = list(permutations(range(3), 2))
    if not all(counts[one, one] + counts[one, other] for one, other in pairs):
        return float("nan")
    return np.mean([counts[one, one] / (counts[one, one] + counts[one, other]) for one, other in pairs])


def weighted_error(gold, predicted, field, interval, **_):
    if gold[field] is None:
        return None
    width = predicted[f"{interval}Upper"] - predicted[f"{interval}Lower"]
    if width <= 0:
        return float("nan"), 1
    return abs(predicted[field] - gold[field]) / width, 1 / width


def within(gold, predicted, field, interval, **_):
    if gold[field] is None:
        return None
    return float(predicted[f"{interval}Lower"] < gold[field] < predicted[f"{interval}Upper"])
