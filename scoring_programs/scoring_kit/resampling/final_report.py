"""What the final report says beside the ranking: per task, and over all tasks. The press makes the pages of it."""

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scoring_kit.board import NO_TIES, Goodness, Scores, average_ranks, mid_ranks, shared_ranks, tie_breaks
from scoring_kit.organiser import show_progress
from scoring_kit.outputs import signature
from scoring_kit.program import AVERAGE_RANK, Program
from scoring_kit.ranking import View, task_standing
from scoring_kit.report.withholding import open_metrics
from scoring_kit.resampling.draws import bootstrap_counts
from scoring_kit.resampling.intervals import FEWEST_UNITS, uncut_interval
from scoring_kit.resampling.per_unit import PerUnit, check_scores, keep, per_unit_results, ranking_column
from scoring_kit.resampling.task import (
    ALPHA,
    NOTHING,
    Resampled,
    Resampling,
    other_rankings,
    pair_records,
    resampled,
    work,
)
from scoring_kit.results import Metric, comparable
from scoring_kit.team_results import TeamResults
from scoring_kit.units import Array, Group


def final_report(
    request: Mapping[str, Any], program: Program, scores: Scores, scored: TeamResults | None, view: View
) -> dict[str, Any]:
    """Everything that the report shows.

    Args:
        request: `resamples` (None: as many as are needed), `seed`, and `units`, the folder to keep the per-unit results
            in.
        program: what was scored.
        scores: of every team.
        scored: the results of all submissions; None where a table of scores is ranked.
        view: which teams are shown how.

    Returns:
        `tasks`: id → what report.json holds of the task and, beside it, `title`, `sort`, `decimals` and `name`;
        `without`, why there are no intervals, or None; `cut`, the teams that have none for themselves; `shares`, team →
        share of resamples with each rank; `rankings`, other ways to rank; `groups`, metrics by class, type or language.
        `overall`: the mean rank over several tasks, or None. `signature`: of the scoring, or None. `counted`: team →
        the path of its submission that counted; `late`: those of them whose submission was late. `notes`: what the
        organisers should know.
    """
    per_unit = per_unit_results(scored)
    keep(Path(request["units"]), per_unit)
    reports = [_TaskReport(task, program, scores, scored, per_unit, view) for task in program.tasks]
    resamples = request["resamples"] or min(MOST_RESAMPLES, max(RESAMPLES, *(one.fewest_resamples for one in reports)))
    settings = Resampling(resamples, request["seed"])
    total = sum(work(len(one.teams), settings.resamples, one.without is not None) for one in reports if one.units)
    done = 0

    def advance(steps: int) -> None:
        nonlocal done
        done += steps
        show_progress("resampling", done, total)

    tasks = {one.task: one.written(settings, advance) for one in reports}
    return {
        "tasks": tasks,
        "overall": _overall({one.task: one.standing.ranks for one in reports}, view),
        "signature": _signature(program, scored),
        "counted": {t: file for t, file in scored.counted.items() if t not in view.unseen} if scored else {},
        "late": [team for team in scored.late if team not in view.unseen] if scored else [],
        "notes": [note for one in reports for note in one.notes(settings)],
    }


Values = Mapping[str, Mapping[str, float | None]]
"""Team → metric → value, of those that may be shown."""


RESAMPLES, MOST_RESAMPLES = 10_000, 100_000
"""Where the request does not say how many: these, and at most so many where there are many pairs."""


class _TaskReport:
    """A task on its way into the report.

    Attributes:
        columns: its columns; the first one ranks.
        standing: the teams by the ranking column.
        units: the units that the ranking column scores; None where there are none.
        teams: the teams with a score, best first, and the ranking column of each over the units.
        without: why there are no intervals.
    """

    def __init__(
        self,
        task: str,
        program: Program,
        scores: Scores,
        scored: TeamResults | None,
        per_unit: PerUnit | None,
        view: View,
    ) -> None:
        self.task, self.program, self.scores, self.scored, self.view = task, program, scores, scored, view
        self.per_unit, self._min_items = per_unit, program.details_min_items
        self.columns = [column for column in program.columns if column.task == task]
        first = self.columns[0]
        self.standing = task_standing(program, first, scores, view)
        everyone = task_standing(program, first, scores, View(baselines=view.baselines))
        order = [team for team, _ in everyone.rows if scores[team][first.key] is not None]
        self.units, self.teams, self.without = ranking_column(first, order, program, per_unit, view.baselines)
        if self.units is not None:
            check_scores(self.teams, scores, len(self.units.names))

    def written(self, settings: Resampling, advance: Any) -> dict[str, Any]:
        """The task's part of the report."""
        column, view = self.columns[0], self.view
        found = NOTHING
        if self.units is not None:
            ranks, units, few = self.standing.ranks, len(self.units.names), self.without is not None
            found = resampled(self.teams, ranks, units, settings, advance, few)
        values = {team: own[column.key] for team, own in self.scores.items()}
        shown = [t for t, _ in self.standing.rows if values[t] is not None and t not in view.unseen]
        visible = {team: float(values[team] or 0) for team in shown}
        return {
            "column": column.key,
            "unit": self.units.unit if self.units else None,
            "units": len(self.units.names) if self.units else 0,
            "resamples": settings.resamples,
            "seed": settings.seed,
            "teams": [self._team(team, values[team], found) for team, _ in self.standing.rows],
            "pairs": pair_records(found, visible, shown) if self.units else [],
            "stability": {
                "tau_mean": found.tau_mean,
                "wins": {team: share for team, share in found.wins.items() if team not in view.unseen},
            },
            "name": self.program.task_names[self.task],
            "title": column.title,
            "sort": column.sort,
            "decimals": column.decimals,
            "without": self.without or found.without,
            "cut": [team for team in shown if found.intervals and team not in found.intervals],
            "shares": {team: own for team, own in found.shares.items() if team not in view.unseen},
            "rankings": self._rankings(),
            "groups": [*self._groups(shown), *self._groups_of_units(shown, settings)],
        }

    @property
    def fewest_resamples(self) -> int:
        """So many that the smallest p, times the number of pairs, is below 0.05."""
        pairs = len(self.teams) * (len(self.teams) - 1) // 2
        return math.ceil(pairs / ALPHA)

    def notes(self, settings: Resampling) -> list[str]:
        """That no difference can be significant: the smallest p, times the number of pairs, is not below 0.05."""
        pairs = len(self.teams) * (len(self.teams) - 1) // 2
        if self.units is None or pairs / (settings.resamples + 1) < ALPHA:
            return []
        name, fewest = self.program.task_names[self.task], self.fewest_resamples
        return [
            f"{name}: with {settings.resamples} resamples no difference among {pairs} pairs can be significant. "
            f"Expected --resamples {fewest} or more."
        ]

    def _team(self, team: str, score: float | None, found: Resampled) -> dict[str, Any]:
        if team in self.view.unseen:
            score, found = None, NOTHING
        low, high = found.intervals.get(team, (None, None))
        rank_low, rank_high = found.rank_intervals.get(team, (None, None))
        return {
            "team": team,
            "score": score,
            "low": low,
            "high": high,
            "rank": None if team in self.view.unseen else self.standing.ranks.get(team),
            "rank_low": rank_low,
            "rank_high": rank_high,
            "group": found.groups.get(team),
        }

    def _rankings(self) -> list[dict[str, Any]]:
        """Other ways to rank the task: way and, for each team, value and rank."""
        ways: list[tuple[str, str, dict[str, float], bool]] = []
        descending = self.columns[0].sort == "desc"
        if self.units is not None and self.teams:
            for name, values in other_rankings(self.teams, len(self.units.names)).items():
                ways.append((name, "", values, name == "share" or (descending and name != "mean_rank")))
        for column in self.columns[1:]:
            own = {team: value for team in self.scores if (value := self.scores[team][column.key]) is not None}
            ways.append(("column", column.title, own, column.sort == "desc"))
        rankings = [self._ranking(name, title, values, desc, self.view) for name, title, values, desc in ways]
        ties = tie_breaks(self.program, self.columns[0], self.scores)
        own = {t: v for t in self.scores if (v := self.scores[t][self.columns[0].key]) is not None}
        if self.scored is not None and own.keys() & set(self.scored.late):
            in_time = {team: value for team, value in own.items() if team not in self.scored.late}
            if self.columns[0].computation == AVERAGE_RANK:
                rest = {team: self.scores[team] for team in in_time}
                in_time = average_ranks(self.program, self.columns[0], rest, self.view.baselines)
            rankings.append(self._ranking("without_late", "", in_time, descending, self.view, ties))
        if own.keys() & set(self.view.baselines):
            all_compete = dataclasses.replace(self.view, baselines=())
            rankings.append(self._ranking("with_baselines", "", own, descending, all_compete, ties))
        return rankings

    def _ranking(
        self,
        way: str,
        title: str,
        values: Mapping[str, float],
        descending: bool,
        view: View,
        ties: Mapping[str, Goodness] = NO_TIES,
    ) -> dict[str, Any]:
        ranks = shared_ranks({t: v for t, v in values.items() if t not in view.baselines}, descending, ties)
        shown = {team: value for team, value in values.items() if team not in view.unseen}
        return {
            "way": way,
            "title": title,
            "teams": {team: {"value": value, "rank": ranks.get(team)} for team, value in shown.items()},
        }

    def _groups_of_units(self, shown: Sequence[str], settings: Resampling) -> list[dict[str, Any]]:
        """The groups and classes that per-unit results name, with intervals; what is over too few items is left out."""
        every = {team: (self.per_unit or {}).get(team, {}).get(self.task) for team in shown}
        there = {team: units for team, units in every.items() if units is not None}
        titles = {column.key: column.title for column in self.columns}
        units = max((len(one.names) for one in there.values()), default=0)
        found = []
        for key, names in {key: list(own) for one in there.values() for key, own in one.groups.items()}.items():
            figures = {
                team: group_figures(one.groups[key], units, settings, self._min_items) for team, one in there.items()
            }
            found.append(
                {
                    "name": titles.get(key, key),
                    "groups": names,
                    "values": {team: [one[name][0] for name in names] for team, one in figures.items()},
                    "intervals": {team: [one[name][1] for name in names] for team, one in figures.items()},
                }
            )
        return found

    def _groups(self, shown: Sequence[str]) -> list[dict[str, Any]]:
        """Metrics by class, type or language of the shown teams; what is over too few items is left out."""
        if self.scored is None:
            return []
        board = {column.key for column in self.program.columns}
        values = {}
        for team in shown:
            result = self.scored.results.get(team, {}).get(self.task)
            if result is not None:
                names = open_metrics(result.metrics, board, self._min_items)
                values[team] = {name: result.metrics[name].value for name in names}
        return families(self.columns[0].key, values)


def families(column: str, values: Values) -> list[dict[str, Any]]:
    """The families like a column (`f1` for `binary_f1`), or all where none is: a table of teams by groups each.

    Returns:
        For each family its `name`, the names of its `groups`, and `values`, team → one for each group; None where a
        team's value may not be shown. `intervals` likewise, or None.
    """
    found: dict[str, dict[str, None]] = {}
    for metrics in values.values():
        for name in metrics:
            family, separator, group = re.match(r"([^:.]*)([:.]?)\s*(.*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
            if separator and group:
                found.setdefault(family, {})[name] = None
    measure = column.rsplit("_", 1)[-1]
    like = {family: names for family, names in found.items() if family.rsplit("_", 1)[-1] == measure}
    return [
        {
            "name": family,
            "groups": [name[len(family) + 1 :].strip() for name in sorted(names)],
            "values": {team: [metrics.get(name) for name in sorted(names)] for team, metrics in values.items()},
            "intervals": None,
        }
        for family, names in (like or found).items()
    ]


def group_figures(
    groups: Mapping[str, Group], units: int, settings: Resampling, min_items: int
) -> dict[str, tuple[float | None, tuple[float, float] | None]]:
    """Each group's value and interval; None of what is undefined, over too few items, or in too few units."""
    values = {name: float(group.statistic.over(np.ones((1, units)))[0]) for name, group in groups.items()}
    metrics = {f"group: {name}": Metric(values[name], one.items, one.items) for name, one in groups.items()}
    shown = open_metrics(metrics, (), min_items)
    values = {n: value for n, value in values.items() if f"group: {n}" in shown and math.isfinite(value)}
    enough = {name: groups[name].statistic for name in values if groups[name].units >= FEWEST_UNITS}
    drawn: dict[str, list[Array]] = {name: [] for name in enough}
    for counts in bootstrap_counts(units, settings.resamples if enough else 0, settings.seed):
        for name, statistic in enough.items():
            drawn[name].append(statistic.over(counts))
    resampled_values = {name: np.concatenate(blocks) for name, blocks in drawn.items()}
    intervals = {name: uncut_interval(own) for name, own in resampled_values.items() if not np.isnan(own).any()}
    return {name: (values.get(name), intervals.get(name)) for name in groups}


def _overall(ranks: Mapping[str, Mapping[str, int]], view: View) -> list[dict[str, Any]] | None:
    """The mean rank of the teams that entered all tasks, ranked; None where there is one task, or no such team.

    Within a task, teams of an equal score get the mean of the places that they share.
    """
    entered = [team for team in next(iter(ranks.values()), {}) if all(team in own for own in ranks.values())]
    if len(ranks) < 2 or not entered:
        return None
    places = {
        task: shared_ranks({team: own[team] for team in entered}, descending=False) for task, own in ranks.items()
    }
    mids = [mid_ranks(own) for own in places.values()]
    means = {team: comparable(sum(own[team] for own in mids) / len(mids)) for team in entered}
    overall = shared_ranks(means, descending=False)
    return [
        {
            "team": team,
            "rank": overall[team],
            "mean_rank": means[team],
            "ranks": {task: own[team] for task, own in places.items()},
        }
        for team in sorted(entered, key=lambda team: (overall[team], team))
        if team not in view.unseen
    ]


def _signature(program: Program, scored: TeamResults | None) -> str | None:
    if scored is None:
        return None
    results = {task: own[task] for task in program.tasks for own in scored.results.values() if task in own}
    return signature(program, results, scored.reference_digest)
