"""Selected events: their significance, and ranks that are a permutation."""

from math import log, sqrt

REGULAR = 10
"""The regularisation of the challenge."""


def check(rows):
    ranks = sorted(row["RankOrder"] for row in rows)
    if ranks == list(range(1, len(rows) + 1)):
        return []
    return [f"RankOrder: expected each number from 1 to {len(rows)} once"]


def ams(gold, predicted, **_):
    selected = [right for right, answered in zip(gold, predicted) if answered["Class"] == "s"]
    signal = sum(float(row["Weight"]) for row in selected if row["Class"] == "s")
    background = sum(float(row["Weight"]) for row in selected if row["Class"] == "b") + REGULAR
    return sqrt(2 * ((signal + background) * log(1 + signal / background) - signal))
