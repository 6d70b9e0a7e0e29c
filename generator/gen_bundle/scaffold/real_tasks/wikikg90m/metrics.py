"""Reciprocal ranks of entities among ten candidates."""

import numpy as np


def reciprocal_rank(gold, predicted, **_):
    found = predicted["candidates"] == gold["candidates"][:, None]
    return np.where(found.any(1), 1 / (found.argmax(1) + 1), 0).mean()
