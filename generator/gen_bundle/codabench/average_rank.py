"""`avg_rank`, a computed column that compares the rows of a board with each other; since 1.29.

Source: Codabench `src/apps/leaderboards/ranking.py` at commit 70f08eff, called by `PhaseViewSet.get_leaderboard`.
Nothing is stored: every reading of the board computes it anew, so any new row may change it in all others.
"""

from collections.abc import Mapping, Sequence

from gen_bundle.codabench.leaderboard import Column

AVERAGE_RANK = "avg_rank"


def average_ranks(rows: Sequence[Mapping[int, float]], column: Column, visible: Sequence[Column]) -> list[float] | None:
    """The mean rank of each row over the columns that a column refers to, rounded to its precision.

    Ranks are those of the shown scores, in each column's own direction; ties share the mean of their places, and a row
    without a score has the rank of the last of all rows. Hidden columns, and those without any score, take no part.

    Args:
        rows: What each row shows, by the columns' indexes; summed over tasks.
        column: The column to compute.
        visible: The board's columns that participants see.

    Returns:
        None where no column takes part.
    """
    sources = [source for source in visible if source.index in column.inputs]
    ranks = [
        _ranks([row.get(source.index) for row in rows], descending=source.sorting == "desc")
        for source in sources
        if any(source.index in row for row in rows)
    ]
    if not ranks:
        return None
    return [round(sum(of_row) / len(of_row), column.precision) for of_row in zip(*ranks, strict=True)]


def _ranks(scores: Sequence[float | None], *, descending: bool) -> list[float]:
    """1 for the best; a place between two for ties, as scipy's `rankdata(method="average")`."""
    there = [score for score in scores if score is not None]

    def rank(score: float) -> float:
        better = sum(other > score if descending else other < score for other in there)
        return better + (there.count(score) + 1) / 2

    return [float(len(scores)) if score is None else rank(score) for score in scores]
