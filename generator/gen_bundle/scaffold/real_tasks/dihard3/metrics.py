"""Errors of diarisation. Speakers of a recording are mapped one to one, as is best for each of the errors."""

import numpy as np
from scipy.optimize import linear_sum_assignment


def diarisation_error(gold, predicted, **_):
    lengths, right, answered = stretches(gold, predicted)
    shared = right * lengths @ answered.T
    most = np.maximum(right.sum(0), answered.sum(0)) @ lengths
    return 100 * (most - shared[linear_sum_assignment(-shared)].sum()), (right @ lengths).sum()


def jaccard_error(gold, predicted, **_):
    lengths, right, answered = stretches(gold, predicted)
    shared = right * lengths @ answered.T
    jaccard = shared / ((right @ lengths)[:, None] + answered @ lengths - shared)
    return 100 * (len(right) - jaccard[linear_sum_assignment(-jaccard)].sum()), len(right)


def stretches(gold, predicted):
    """The lengths of what lies between two edges of turns, and who speaks there: speakers × stretches of each side."""
    turns = [row for row in (*gold, *predicted) if row["duration"]]
    edges = np.unique([edge for row in turns for edge in (row["onset"], end_of(row))])
    sides = []
    for rows in (gold, predicted):
        speakers = sorted({row["speaker"] for row in rows if row["duration"]})
        speaks = np.zeros((len(speakers), max(len(edges) - 1, 0)))
        for row in rows:
            if row["duration"]:
                speaks[speakers.index(row["speaker"]), (edges[:-1] >= row["onset"]) & (edges[1:] <= end_of(row))] = 1
        sides.append(speaks)
    return np.diff(edges), *sides


def end_of(row):
    return row["onset"] + row["duration"]
