"""Columns with `computation: avg_rank`, which newer versions of the platform know."""

from collections.abc import Iterator

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import Problem, Topic
from gen_bundle.codabench.competition import AVERAGE_RANK, Column
from gen_bundle.codabench.versions import DIFFERENCES

RANKS = Topic("Average ranks", "Codabench source @ 70f08eff, src/apps/leaderboards/ranking.py")


def _average_ranks(bundle: Bundle) -> Iterator[Column]:
    known = AVERAGE_RANK in DIFFERENCES[bundle.platform].computations
    yield from (column for column in bundle.competition.columns if known and column.computation == AVERAGE_RANK)


def _primary(bundle: Bundle) -> Iterator[Column]:
    yield from (column for column in _average_ranks(bundle) if column.index == bundle.competition.primary_index)


@RANKS.trap("average-rank-descending", "an average rank sorted in descending order")
def _average_rank_descending(bundle: Bundle) -> Iterator[Problem]:
    """Rank 1 is the best, so the worst row comes first. → Set `sorting: asc`; the default is desc."""
    for column in _primary(bundle):
        if not column.ascending:
            yield Problem(f"the primary column {column.key} is an average rank, sorted desc", column.at)


@RANKS.trap("average-rank-blank", "an average rank that is never computed")
def _average_rank_blank(bundle: Bundle) -> Iterator[Problem]:
    """The column stays blank: a hidden one is not computed, and hidden columns and other average ranks do not count.
    → Show the column, and compute it from columns that are shown.
    """
    ranks = {column.index for column in _average_ranks(bundle)}
    counted = {column.index for column in bundle.competition.columns if not column.hidden} - ranks
    for column in _average_ranks(bundle):
        if column.hidden:
            yield Problem(f"the average rank {column.key} is hidden", column.at)
        elif not counted.intersection(column.inputs):
            yield Problem(f"no visible column counts for the average rank {column.key}", column.at)


@RANKS.trap("average-rank-incomplete", "an average rank that leaves columns out")
def _average_rank_incomplete(bundle: Bundle) -> Iterator[Problem]:
    """Hidden columns silently do not count. → Show them, or delete them from `computation_indexes`."""
    hidden = {column.index: column.key for column in bundle.competition.columns if column.hidden}
    for column in _average_ranks(bundle):
        left_out = [hidden[index] for index in column.inputs if index in hidden]
        if left_out and len(left_out) < len(set(column.inputs)):
            yield Problem(f"the average rank {column.key} leaves out {', '.join(left_out)}", column.at)


@RANKS.trap("average-rank-best", "Force_Best with an average rank as the primary column")
def _average_rank_best(bundle: Bundle) -> Iterator[Problem]:
    """A rank is not stored, so the remaining columns decide which submission is the best, from left to right.
    → Use Force_Last or Force_Latest_Multiple, or rank by a column that the scoring program writes.
    """
    if bundle.competition.submission_rule == "Force_Best":
        for column in _primary(bundle):
            yield Problem(f"Force_Best, and {column.key} is an average rank", ("leaderboards", 0, "submission_rule"))
