"""The report's tables as data frames: for the CSV files and the LaTeX document."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gen_bundle.render.rankings import csv_cell
from gen_bundle.report.content import Report, figure, interval, probability

if TYPE_CHECKING:
    from pandas import DataFrame

RANKING = ("task", "rank", "team", "score", "low", "high", "rank_low", "rank_high", "group")
PAIRWISE = ("task", "a", "b", "difference", "low", "high", "p", "p_holm")


def ranking_frame(report: Report) -> "DataFrame":
    """Every team of every task, as in report.json."""
    rows = [{"task": task, **team} for task, one in report.tasks.items() for team in one["teams"]]
    return _frame(rows, RANKING)


def pairwise_frame(report: Report) -> "DataFrame":
    """Every pair of every task, as in report.json."""
    rows = [{"task": task, **pair} for task, one in report.tasks.items() for pair in one["pairs"]]
    return _frame(rows, PAIRWISE)


def csv_text(frame: "DataFrame") -> str:
    """A frame as CSV that no spreadsheet takes for formulas."""
    safe = frame.assign(**{name: frame[name].map(csv_cell) for name in frame if name in ("team", "a", "b")})
    return str(safe.to_csv(index=False, lineterminator="\n"))


def results_frame(task: "dict[str, Any]") -> "DataFrame":
    """The table of a task as readers see it."""
    from pandas import DataFrame

    decimals = task["decimals"]
    columns = ["Rank", "Team", task["title"], "95 % interval", "Rank interval", "Tie group"]
    rows = [
        (
            "" if team["rank"] is None else str(team["rank"]),
            team["team"],
            figure(team["score"], decimals),
            interval(team["low"], team["high"], decimals),
            interval(team["rank_low"], team["rank_high"], 0),
            "" if team["group"] is None else str(team["group"]),
        )
        for team in task["teams"]
    ]
    return DataFrame(rows, columns=columns)


def pairs_frame(task: "dict[str, Any]") -> "DataFrame":
    """The pairs of a task as readers see them."""
    from pandas import DataFrame

    decimals = task["decimals"]
    columns = ["Team", "Other team", "Difference", "95 % interval", "p", "p (Holm)"]
    rows = [
        (
            pair["a"],
            pair["b"],
            figure(pair["difference"], decimals),
            interval(pair["low"], pair["high"], decimals),
            probability(pair["p"]),
            probability(pair["p_holm"]),
        )
        for pair in task["pairs"]
    ]
    return DataFrame(rows, columns=columns)


def _frame(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> "DataFrame":
    from pandas import DataFrame

    return DataFrame([[row[column] for column in columns] for row in rows], columns=list(columns), dtype=object)
