"""Concordance: of two patients it is known who relapsed first if the one with the shorter time did relapse."""

import numpy as np


def concordance(gold, predicted, **_):
    time = np.array([float(row["RFS"]) for row in gold])
    relapsed = np.array([row["Relapse"] == "1" for row in gold])
    risk = np.array([row["Prediction"] for row in predicted])
    sooner = (time[:, None] < time) | ((time[:, None] == time) & ~relapsed)
    known = relapsed[:, None] & sooner
    higher = (risk[:, None] > risk) + (risk[:, None] == risk) / 2
    return higher[known].mean() if known.any() else float("nan")
