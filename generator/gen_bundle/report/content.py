"""What the report holds, before it is written in any form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gen_bundle.declaration.model import DeclaredCompetition, DeclaredPhase
from gen_bundle.fetched import Fetched
from gen_bundle.render.rankings import Ranking, RankingTable

FIXED = ("column", "unit", "units", "resamples", "seed", "teams", "pairs", "stability")
"""What report.json says of a task: a contract."""
ALPHA = 0.05
WAYS = {
    "mean": "mean over {units}",
    "share": "share of {units} with the better value",
    "median": "median over {units}",
    "mean_rank": "mean rank over {units}",
    "column": "by {title}",
    "with_baselines": "with the baselines ranked",
    "without_late": "without late submissions",
}


@dataclass(frozen=True)
class Report:
    """A final report.

    Attributes:
        declaration: the competition's.
        phase: whose submissions were ranked; None where a table of scores was.
        ranking: the ranking as it is printed.
        statistics: what `scoring_kit.resampling.final_report` gives.
        baselines: the systems without a rank.
        command: that makes the same report.
        fetched: what is known of submissions that `gen-bundle fetch` brought.
    """

    declaration: DeclaredCompetition
    phase: DeclaredPhase | None
    ranking: Ranking
    statistics: Mapping[str, Any]
    baselines: Sequence[str]
    command: str
    fetched: Fetched | None = None

    @property
    def tasks(self) -> Mapping[str, Mapping[str, Any]]:
        """What is known of each task, by its id."""
        tasks: Mapping[str, Mapping[str, Any]] = self.statistics["tasks"]
        return tasks

    @property
    def json(self) -> dict[str, Any]:
        return {"tasks": {task: {key: one[key] for key in FIXED} for task, one in self.tasks.items()}}

    @property
    def own_rankings(self) -> list[RankingTable]:
        """Rankings by a rule of the competition's own, such as over several tasks."""
        known = {task["name"] for task in self.tasks.values()}
        return [table for table in self.ranking.tables if table.header[0] == "Rank" and table.title not in known]


def figure(value: float | None, decimals: int) -> str:
    """A number as the board shows it; nothing where there is none."""
    return "" if value is None else f"{value:.{decimals}f}"


def interval(low: float | None, high: float | None, decimals: int) -> str:
    """Both ends of an interval."""
    return "" if low is None or high is None else f"{low:.{decimals}f} to {high:.{decimals}f}"


def probability(p: float | None) -> str:
    """A p value to three decimals."""
    return "" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def percent(share: float) -> str:
    """A share in per cent."""
    return f"{100 * share:.1f} %"


def plural(unit: str | None, number: int) -> str:
    """A number of units, such as `40 timelines`."""
    return f"{number:,} {units_word(unit)}"


def units_word(unit: str | None) -> str:
    """The units' name in the plural."""
    if not unit:
        return "units"
    return f"{unit[:-1]}ies" if unit.endswith("y") and unit[-2:-1] not in "aeiou" else f"{unit}s"


def way_words(way: Mapping[str, Any], unit: str | None) -> str:
    """Another way to rank, in words."""
    return WAYS[way["way"]].format(units=units_word(unit), title=way["title"])
