"""Errors of depth in metres. A gold of 0 is none; an answer of 0 is infinitely near, and the image counts as the worst."""

import numpy as np

SCALE = 256


def error(gold, predicted, kind, **_):
    there = gold["depth"] > 0
    right, answered = gold["depth"][there] / SCALE, predicted["depth"][there] / SCALE
    if not answered.all():
        return float("nan")
    if kind == "silog":
        return 100 * np.log(answered / right).std()
    if kind == "irmse":
        return 1000 * np.sqrt(((1 / answered - 1 / right) ** 2).mean())
    relative = abs(answered - right) / right
    return 100 * (relative ** 2 if kind == "sq_rel" else relative).mean()
