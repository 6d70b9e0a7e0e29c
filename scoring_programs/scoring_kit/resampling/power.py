"""The power of a test set, before anybody has submitted: systems made of the gold, tested as the report does it.

The gold's units and what made-up systems do on them are the population; test sets of any size are drawn from it with
replacement. Source of the idea: Card et al., With Little Power Comes Great Responsibility, EMNLP 2020.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import count, cycle, pairwise, permutations
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np

from scoring_kit.base.lines_to_press import show_progress
from scoring_kit.base.power_settings import FOUND, WHOLE, PowerSettings
from scoring_kit.errors import OrganiserError
from scoring_kit.program import AVERAGE_RANK, Program, ScoreColumn
from scoring_kit.resampling import draws
from scoring_kit.resampling.draws import TeamColumn, bootstrap_counts, over
from scoring_kit.resampling.final_report import OverUnits, PerUnit, column_over_units, per_unit_results
from scoring_kit.resampling.significance import ALPHA, p_values
from scoring_kit.resampling.task import Resampling, resampled
from scoring_kit.team_results import score_all
from scoring_kit.units import Array, Units

PAIRS = 200
"""Simulated pairs of systems, each in a test set of its own."""
DIFFERENT = 4
"""Systems of which pairs are made in turn, so that no figure rests on the luck of one of them."""
FEWEST_EXCHANGES = 400
RANKED = 1000
"""Simulated test sets in which all teams are ranked, and of which standard errors are."""
STEPS = 20
"""Systems of so many qualities are made; of two neighbours' units is any other made."""
MOST_WORSE = 0.1
"""Of the whole range: by so much a score may become worse though more answers are right, as by chance in small gold."""
SPREADS = (2.0, 3.0, 4.5, 6.0)
"""Gaps that are tried beside those asked for, in their standard errors: there power crosses `FOUND`."""
DEFAULT_GAPS = (0.01, 0.02, 0.05)
"""Shares of the best score, or where that is 0, of the level."""
APPROACHES = 3
"""So often a gap is held against its own standard error."""
TEST_SETS, TEAM_SETS = 0, 1
"""Which sequence of random numbers."""


class MadeUp(Protocol):
    """Systems that a scoring package makes of the gold."""

    def per_unit(self, keys: Mapping[str, Sequence[str]], system: int, quality: float) -> dict[str, Units]:
        """Task → the per-unit results of a system in some columns; quality 1 is the gold's own answers."""
        ...

    def why_not(self, task: str, keys: Sequence[str]) -> str | None:
        """Return why some columns of a task cannot be computed often enough; None where they can."""
        ...


class NothingSaidError(Exception):
    """Why nothing can be said of a task."""


def power(request: Mapping[str, Any], program: Program, systems: MadeUp) -> dict[str, Any]:
    """Return what power.json holds of the tasks.

    Args:
        request: `settings`, those of `PowerSettings`; `reference`, the prepared gold; `submissions`, a folder with the
            baselines, or None.
        program: what scores it.
        systems: made of this gold.

    Returns:
        Task → `name`, `column`, `title`, `without`, why nothing can be said of it, or else what `TaskPower.written`
        gives.
    """
    asked = PowerSettings(**request["settings"])
    scored = score_all(request, program) if request["submissions"] else None
    baselines = per_unit_results(scored)
    found: dict[str, dict[str, Any]] = {}
    tasks: dict[str, TaskPower] = {}
    for task in program.tasks:
        column = program.columns_of(task)[0]
        found[task] = {"name": program.task_names[task], "column": column.key, "title": column.title, "without": None}
        try:
            tasks[task] = TaskPower(column, program, systems, baselines, asked)
        except NothingSaidError as reason:
            found[task]["without"] = str(reason)
    sizes, done = sorted({WHOLE, *asked.sizes}), count(1)

    def advance() -> None:
        show_progress("simulating test sets", next(done), PAIRS * len(sizes) * len(tasks))

    for task, of_task in tasks.items():
        found[task] |= of_task.written(sizes, advance)
    return found


class TaskPower:
    """A task's ranking column, and systems of any score in it.

    Attributes:
        sign: 1 where higher scores are better, else -1.
        best, chance: the score of the gold's own answers, and of the worst system.
        baseline: name and score of the best one that is not better than the gold's own answers.
        level: the score of the better system.
        room: how far it is from there to the worst system.
        has_sums: whether its tests of pairs are of sums.
        pairs_of_teams: how many tests there will be.
    """

    def __init__(
        self, column: ScoreColumn, program: Program, systems: MadeUp, baselines: PerUnit, asked: PowerSettings
    ) -> None:
        """Raise NothingSaidError where nothing can be said; OrganiserError where no system has the level or a gap."""
        self.column, self.program, self.systems, self.asked = column, program, systems, asked
        self.sign = 1 if column.sort == "desc" else -1
        self.by_task: dict[str, list[str]] = {}
        for one in program.columns:
            if one.key in (column.of or [column.key]):
                self.by_task.setdefault(one.task, []).append(one.key)
        self._check_column()
        gold = self._over_units(0, STEPS)
        if gold.units is None:
            raise NothingSaidError(gold.without)
        self.unit, self.number = gold.units.unit, len(gold.units.names)
        self.has_sums = True
        for part in self._made(0, STEPS).parts:
            if part.statistic is not None and part.statistic.to_exchange().as_sums() is None:
                self.has_sums = False
        scores = [self._score(self._made(0, step)) for step in range(0, STEPS + 1, STEPS // 4)]
        self.chance, self.best = scores[0], scores[-1]
        worse = -self.sign * np.diff(scores)
        if self.best == self.chance or worse.max() > MOST_WORSE * abs(self.best - self.chance):
            raise NothingSaidError(f"{column.title} does not become better the more answers are right.")
        self.baseline = self._best_baseline(baselines)
        self.level = self._half_way() if asked.level is None else asked.level
        if not self._is_within(self.level):
            raise OrganiserError(
                f"--level {self.level:g}: no system has that {column.title} in {program.task_names[column.task]}. "
                f"Expected a score between {self.chance:.4g} and {self.best:.4g}."
            )
        self.room = abs(self.level - self.chance)
        if asked.gaps and max(asked.gaps) > self.room:
            raise OrganiserError(
                f"--gaps {max(asked.gaps):g}: in {program.task_names[column.task]} no system is by so much worse than "
                f"{self.level:.4g} {column.title}. Expected less than {self.room:.4g}, or another --level."
            )
        self.pairs_of_teams = math.comb(asked.teams, 2)

    def _check_column(self) -> None:
        if self.column.computation == AVERAGE_RANK:
            raise NothingSaidError("It is ranked by average ranks, which are no figure of a single team's answers.")
        if self.column.measured:
            raise NothingSaidError("It is ranked by the seconds that submitted code runs.")
        for task, keys in self.by_task.items():
            if (reason := self.systems.why_not(task, keys)) is not None:
                raise NothingSaidError(reason)

    def _best_baseline(self, baselines: PerUnit) -> tuple[str, float] | None:
        entered = [name for name, own in baselines.items() if own.keys() >= self.by_task.keys()]
        found = []
        for name, team in column_over_units(self.column, self.program, entered, baselines).teams.items():
            score = self._score(team)
            if self.sign * score <= self.sign * self.best:
                found.append((name, score))
        return max(found, key=lambda one: self.sign * one[1], default=None)

    def _half_way(self) -> float:
        """Return the score half-way between the best baseline and the gold's own answers.

        Without a baseline, or where no system has that score, half-way between the worst system and these.
        """
        if self.baseline is not None and self._is_within(level := (self.baseline[1] + self.best) / 2):
            return level
        return (self.chance + self.best) / 2

    def _is_within(self, score: float) -> bool:
        return self.sign * self.chance < self.sign * score < self.sign * self.best

    @cache  # noqa: B019 as long as its task
    def _over_units(self, system: int, step: int) -> OverUnits:
        """Return the column of one system, of as many of `STEPS` qualities."""
        per_unit = {"system": self.systems.per_unit(self.by_task, system, step / STEPS)}
        return column_over_units(self.column, self.program, ["system"], per_unit)

    def _made(self, system: int, step: int) -> TeamColumn:
        return self._over_units(system, step).teams["system"]

    def _score(self, team: TeamColumn) -> float:
        return float(over([team], np.ones((1, self.number)))[0][0, 0])

    def _mixed(self, system: int, place: int) -> TeamColumn:
        """Return a system that has so many of its units from the next of two qualities."""
        step, better = divmod(place, self.number)
        order = np.random.default_rng(self.asked.seed).permutation(self.number)  # for all alike, who then err together
        both = self._made(system, step).joined(self._made(system, step + 1))
        return both.at(np.arange(self.number) + self.number * (order < better))

    def _place(self, system: int, goal: float) -> int:
        """Return which of its mixtures has this score, or the nearest that there is."""
        mixtures = range(STEPS * self.number - 1)
        return bisect_left(mixtures, self.sign * goal, key=lambda at: self.sign * self._score(self._mixed(system, at)))

    @cache  # noqa: B019 as long as its task
    def _system(self, system: int, gap: float = 0.0) -> TeamColumn:
        """Return a system that is by a gap worse than the level, over the units of the whole gold."""
        return self._mixed(system, self._place(system, self.level - self.sign * gap))

    def written(self, sizes: Sequence[float], advance: Callable[[], None]) -> dict[str, Any]:
        """Return the task's part of power.json.

        Returns:
            `sort`, `decimals`, `unit`, `units`, `level`, `baseline` and `sizes`. Of each size: `size`, `units`,
            `intervals` (None, or why there would be none), `smallest` and `smallest_among_teams` (None where no
            difference that was tried is found so often), `curve`, the power of all gaps that were tried, and `gaps`,
            of those asked for: `gap`, `power`, `power_among_teams`, and what `_ranked` gives.
        """
        scale = abs(self.best) or abs(self.level)
        usual = [float(f"{share * scale:.2g}") for share in DEFAULT_GAPS]
        gaps = sorted({*self.asked.gaps}) or [gap for gap in usual if gap <= self.room]
        return {
            "sort": self.column.sort,
            "decimals": self.column.decimals,
            "unit": self.unit,
            "units": self.number,
            "level": self.level,
            "baseline": self.baseline and {"name": self.baseline[0], "score": self.baseline[1]},
            "sizes": [self._of_size(size, gaps, advance) for size in sizes],
        }

    def _of_size(self, size: float, gaps: Sequence[float], advance: Callable[[], None]) -> dict[str, Any]:
        units = max(2, round(size * self.number))
        tried = sorted({*gaps, *(self._gap_of(times, units) for times in SPREADS)})
        p = self._p_values(units, tried, advance)
        alone: list[float] = (p < ALPHA).mean(axis=0).tolist()
        among_teams: list[float] = (self.pairs_of_teams * p < ALPHA).mean(axis=0).tolist()
        curve = [{"gap": gap, "power": share} for gap, share in zip(tried, alone, strict=True)]
        of_gaps = []
        for gap in gaps:
            place = tried.index(gap)
            of_gaps.append({**curve[place], "power_among_teams": among_teams[place], **self._ranked(units, gap)})
        return {
            "size": size,
            "units": units,
            "intervals": self._intervals(size, units),
            "smallest": crossing(tried, alone),
            "smallest_among_teams": crossing(tried, among_teams),
            "curve": curve,
            "gaps": of_gaps,
        }

    def _resampled(self, teams: Sequence[TeamColumn], seed: int, units: int) -> Array:
        """Return the scores of some teams in test sets of so many units, of shape [teams, test sets]."""
        blocks = [over(teams, counts)[0] for counts in bootstrap_counts(self.number, RANKED, seed, units)]
        return np.concatenate(blocks, axis=1)

    def _error(self, units: int, gap: float) -> float:
        """Return the standard error of the difference between two systems, the second one by a gap worse."""
        better, worse = self._resampled([self._system(0), self._system(1, gap)], self.asked.seed, units)
        return float((better - worse).std())

    def _gap_of(self, times: float, units: int) -> float:
        """Return the gap that is so many of its standard errors; at most the largest that there is.

        These depend on the gap: a system that is all right or all wrong has none.
        """
        gap = self.room / 2
        for _ in range(APPROACHES):
            gap = min(times * self._error(units, gap), self.room)
        return round(gap, 10)

    def _p_values(self, units: int, gaps: Sequence[float], advance: Callable[[], None]) -> Array:
        """Return p of two systems in each test set and with each gap, of shape [test sets, gaps].

        Exchanging the answers of a metric that no sum replaces would take an hour: its p are those of a difference of
        so many standard errors.
        """
        random = np.random.default_rng([self.asked.seed, units, TEST_SETS])
        # so many that the smallest p, times the number of pairs of teams, is below 0.05
        exchanges = max(FEWEST_EXCHANGES, round(self.pairs_of_teams / ALPHA))
        pairs = [(0, place) for place in range(1, 1 + len(gaps))]
        systems = cycle(permutations(range(min(self.asked.teams, DIFFERENT)), 2))
        errors = [] if self.has_sums else [self._error(units, gap) for gap in gaps]
        p = np.empty((PAIRS, len(gaps)))
        for test_set, (better, worse) in zip(range(PAIRS), systems, strict=False):
            drawn = random.integers(self.number, size=units)
            teams = [self._system(better).at(drawn), *(self._system(worse, gap).at(drawn) for gap in gaps)]
            if self.has_sums:
                found = p_values(teams, units, exchanges, self.asked.seed + test_set, pairs=pairs)
                p[test_set] = list(found.values())
            else:
                scores = over(teams, np.ones((1, units)))[0][:, 0]
                distances = np.abs(scores[0] - scores[1:]) / errors
                p[test_set] = [2 * NormalDist().cdf(-distance) for distance in distances]
            advance()
        return p

    def _ranked(self, units: int, gap: float) -> dict[str, float | None]:
        """Rank all teams, each so much worse than the one before it, in simulated test sets.

        Returns:
            `teams`, how many these are: as many as there are scores between the level and the worst; `first`, the share
            in which the best one is first; `tau`, the mean Kendall tau to their true order; `optimism`, how much too
            good the score of the one that is first is on average.
        """
        number = self.asked.teams
        if gap:
            number = min(number, 1 + int(self.room / gap))
        teams = [self._system(team, team * gap) for team in range(number)]
        values = self._resampled(teams, self.asked.seed + TEAM_SETS, units)
        places = draws.ranks(values, self.sign > 0)
        return {
            "teams": number,
            "first": float(draws.wins(places)[0]),
            "tau": draws.mean_tau(np.arange(1, 1 + number), places),
            "optimism": self.sign * draws.optimism(values, places, np.array([self._score(team) for team in teams])),
        }

    def _intervals(self, size: float, units: int) -> str | None:
        """Return why the report would print no intervals for a system of the level; None where it would."""
        step = self._place(0, self.level) // self.number
        few = self._over_units(0, step).of_size(size)
        if few is not None:
            return few
        drawn = np.random.default_rng([self.asked.seed, units]).integers(self.number, size=units)
        team = {"system": self._system(0).at(drawn)}
        found = resampled(team, {"system": 1}, units, Resampling(RANKED, self.asked.seed))
        return found.without or found.reasons.get("system")


def crossing(gaps: Sequence[float], power: Sequence[float]) -> float | None:
    """Return the gap at which power crosses `FOUND`, between two that were tried; None where it does not.

    Its quantile of a normal is a line there.
    """
    rising = np.maximum.accumulate(np.clip(power, 0.5 / PAIRS, 1 - 0.5 / PAIRS))
    quantiles = [NormalDist().inv_cdf(one) for one in rising]
    goal = NormalDist().inv_cdf(FOUND)
    if quantiles[0] >= goal:
        return gaps[0]
    for (gap, quantile), (next_gap, next_quantile) in pairwise(zip(gaps, quantiles, strict=True)):
        if next_quantile >= goal:
            return gap + (next_gap - gap) * (goal - quantile) / (next_quantile - quantile)
    return None
