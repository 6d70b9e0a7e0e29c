"""What a test set can tell apart, before anybody has submitted: systems made of the gold, tested as the report does it.

The gold's units and what made-up systems do on them are the population; test sets of any size are drawn from it with
replacement. Source of the idea: Card et al., With Little Power Comes Great Responsibility, EMNLP 2020.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import comb
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np

from scoring_kit.base.lines_to_press import show_progress
from scoring_kit.errors import OrganiserError
from scoring_kit.program import AVERAGE_RANK, Program
from scoring_kit.resampling import draws
from scoring_kit.resampling.draws import TeamColumn, bootstrap_counts, over
from scoring_kit.resampling.final_report import OverUnits, column_over_units
from scoring_kit.resampling.significance import ALPHA, p_values
from scoring_kit.resampling.task import Resampling, resampled
from scoring_kit.team_results import score_all
from scoring_kit.units import Units

PAIRS = 200
"""Simulated pairs of systems, each in a test set of its own."""
FOUND = 0.8
"""The smallest difference is found in so many of the test sets."""
FEWEST_EXCHANGES = 400
RANKED = 1000
"""Simulated test sets in which all teams are ranked."""
STEPS = 20
"""Systems of so many qualities are made; of two neighbours' units is any other made."""
HALVINGS = 14
MOST_WORSE = 0.1
"""Of the whole range: by so much a score may become worse though more answers are right, as by chance in small gold."""
PILOT = 400
SPREADS = (2.0, 3.0, 4.5, 6.0)
"""Gaps that are tried beside those asked for, in standard errors of a difference: there power crosses 8 of 10."""
DEFAULT_GAPS = (0.01, 0.02, 0.05)
"""Of the column's scale, see `TaskPower`."""
TEST_SETS, TEAM_SETS = 0, 1
"""Which sequence of random numbers."""


class MadeUp(Protocol):
    """Systems that a scoring package makes of the gold."""

    def per_unit(self, keys: Mapping[str, Sequence[str]], system: int, quality: float) -> dict[str, Units]:
        """Task → the per-unit results of a system in some columns; quality 1 is the gold's own answers."""
        ...

    def why_not(self, task: str, keys: Sequence[str]) -> str | None:
        """Why some columns of a task cannot be computed often enough; None where they can."""
        ...


@dataclass(frozen=True)
class Asked:
    """What is simulated.

    Attributes:
        teams: how many there will be.
        gaps: differences in the column; None: shares of its scale.
        sizes: of test sets, as multiples of the number of units.
        level: the better system's score; None: half-way between the best baseline and the gold's own answers.
        seed: of all random numbers.
    """

    teams: int
    gaps: Sequence[float] | None
    sizes: Sequence[float]
    level: float | None
    seed: int

    @property
    def pairs_of_teams(self) -> int:
        return comb(self.teams, 2)

    @property
    def exchanges(self) -> int:
        """So many that the smallest p, times the number of pairs of teams, is below 0.05."""
        return max(FEWEST_EXCHANGES, round(self.pairs_of_teams / ALPHA))


def power(request: Mapping[str, Any], program: Program, systems: MadeUp) -> dict[str, Any]:
    """What power.json holds of the tasks.

    Args:
        request: `reference`, the prepared gold; `submissions`, a folder with the baselines, or None; `teams`, `gaps`,
            `sizes`, `level`, `seed` as in `Asked`.
        program: what scores it.
        systems: made of this gold.

    Returns:
        Task → its part, see `TaskPower.written`.
    """
    asked = Asked(*(request[name] for name in ("teams", "gaps", "sizes", "level", "seed")))
    baselines: dict[str, dict[str, float]] = {}
    if request["submissions"] is not None:
        for name, results in score_all(request, program).results.items():
            for result in results.values():
                scores = {key: metric.value for key, metric in result.metrics.items() if metric.value is not None}
                baselines.setdefault(name, {}).update(scores)
    tasks = [TaskPower(task, program, systems, baselines, asked) for task in program.tasks]
    done, total = 0, PAIRS * len(asked.sizes) * sum(task.without is None for task in tasks)

    def advance() -> None:
        nonlocal done
        done += 1
        show_progress("simulating test sets", done, total)

    return {task.task: task.written(advance) for task in tasks}


class TaskPower:
    """A task's ranking column, and systems of any score in it.

    Attributes:
        without: why nothing can be said of it; None where something can.
        best, chance: the score of the gold's own answers, and of the worst system.
        has_sums: whether its tests of pairs are of sums.
        scale: what gaps are shares of: the best score, or where that is 0, that of the level.
    """

    def __init__(
        self,
        task: str,
        program: Program,
        systems: MadeUp,
        baselines: Mapping[str, Mapping[str, float]],
        asked: Asked,
    ) -> None:
        self.task, self.program, self.systems, self.asked = task, program, systems, asked
        self.column = program.columns_of(task)[0]
        self.keys = list(self.column.of or [self.column.key])
        self.by_task: dict[str, list[str]] = {}
        for one in program.columns:
            if one.key in self.keys:
                self.by_task.setdefault(one.task, []).append(one.key)
        self.without = self._why_not()
        if self.without is not None:
            return
        first = self._over_units(0, STEPS)
        self.without = first.without if first.units is None else None
        if first.units is None:
            return
        self.units, self.number = first.units, len(first.units.names)
        self.descending = self.column.sort == "desc"
        of_gold = [part.statistic for part in self._made(0, STEPS).parts if part.statistic is not None]
        self.has_sums = all(one.to_exchange().as_sums() is not None for one in of_gold)
        scores = [self._score(self._made(0, step)) for step in range(0, STEPS + 1, STEPS // 4)]
        self.best, self.chance = scores[-1], scores[0]
        worse = np.diff(scores) * (-1 if self.descending else 1)
        if self.best == self.chance or worse.max() > MOST_WORSE * abs(self.best - self.chance):
            self.without = f"{self.column.title} does not become better the more answers are right."
            return
        self.baseline = self._best_baseline(baselines)
        self.level = self._half_way() if asked.level is None else asked.level
        if not min(self.best, self.chance) < self.level < max(self.best, self.chance):
            raise OrganiserError(
                f"--level {self.level:g}: no system has that {self.column.title} in {program.task_names[task]}. "
                f"Expected a score between {self.chance:.4g} and {self.best:.4g}."
            )
        self.scale = abs(self.best) or abs(self.level)

    def _why_not(self) -> str | None:
        if self.column.computation == AVERAGE_RANK:
            return "It is ranked by average ranks, which are no figure of a single team's answers."
        if self.column.measured:
            return "It is ranked by the seconds that submitted code runs."
        for task, keys in self.by_task.items():
            if (reason := self.systems.why_not(task, keys)) is not None:
                return reason
        return None

    def _best_baseline(self, baselines: Mapping[str, Mapping[str, float]]) -> tuple[str, float] | None:
        """Name and score of the best baseline that is not better than the gold's own answers."""
        found = [(name, own[self.column.key]) for name, own in baselines.items() if self.column.key in own]
        return min(found, key=lambda one: abs(one[1] - self.best), default=None)

    def _half_way(self) -> float:
        """The score half-way between the best baseline and the gold's own answers.

        Without a baseline, or where no system has that score, half-way between the worst system and these.
        """
        of_baseline = self.chance if self.baseline is None else self.baseline[1]
        level = (of_baseline + self.best) / 2
        within = min(self.best, self.chance) < level < max(self.best, self.chance)
        return level if within else (self.chance + self.best) / 2

    @cache  # noqa: B019 as long as its task
    def _over_units(self, system: int, step: int) -> OverUnits:
        """The column of one system, of as many of `STEPS` qualities."""
        per_unit = {"system": dict(self.systems.per_unit(self.by_task, system, step / STEPS))}
        return column_over_units(self.column, self.program, ["system"], per_unit)

    def _made(self, system: int, step: int) -> TeamColumn:
        return self._over_units(system, step).teams["system"]

    def _score(self, team: TeamColumn) -> float:
        return float(over([team], np.ones((1, self.number)))[0][0, 0])

    @cache  # noqa: B019 as long as its task
    def _system(self, system: int, goal: float) -> TeamColumn:
        """A system with this score, or the nearest that there is, over the units of the whole gold."""
        order = np.random.default_rng(self.asked.seed).random(self.number)  # for all alike, who then err together
        low, high = 0.0, float(STEPS)
        nearest, off = self._made(system, 0), abs(self.chance - goal)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            step = int(middle)
            better = self.number * (order < middle - step)
            team = self._both(system, step).at(np.arange(self.number) + better)
            score = self._score(team)
            if abs(score - goal) < off:
                nearest, off = team, abs(score - goal)
            if (score < goal) == self.descending:
                low = middle
            else:
                high = middle
        return nearest

    @cache  # noqa: B019 as long as its task
    def _both(self, system: int, step: int) -> TeamColumn:
        return self._made(system, step).joined(self._made(system, step + 1))

    def _below(self, gap: float) -> float:
        """The score that is so much worse than the level."""
        return self.level - gap if self.descending else self.level + gap

    def written(self, advance: Callable[[], None]) -> dict[str, Any]:
        """The task's part of power.json.

        Returns:
            `name`, `column`, `title`, `without`, and, where there is no reason against it, `sort`, `decimals`, `unit`,
            `units`, `level`, `baseline` and `sizes`. Of each size: `size`, `units`, `intervals` (None, or why there
            would be none), `smallest` and `smallest_among_teams` (None where no difference that was tried is found so
            often), `curve`, the power of all gaps that were tried, and `gaps`, of those asked for: `gap`, `power`,
            `power_among_teams`, and what `_ranked` gives.
        """
        about = {"name": self.program.task_names[self.task], "column": self.column.key, "title": self.column.title}
        if self.without is not None:
            return {**about, "without": self.without}
        gaps = self.asked.gaps or [float(f"{share * self.scale:.2g}") for share in DEFAULT_GAPS]
        return {
            **about,
            "without": None,
            "sort": self.column.sort,
            "decimals": self.column.decimals,
            "unit": self.units.unit,
            "units": self.number,
            "level": self.level,
            "baseline": self.baseline and {"name": self.baseline[0], "score": self.baseline[1]},
            "sizes": [self._of_size(size, gaps, advance) for size in self.asked.sizes],
        }

    def _of_size(self, size: float, gaps: Sequence[float], advance: Callable[[], None]) -> dict[str, Any]:
        units = max(2, round(size * self.number))
        spread = self._spread(units)
        most = abs(self._below(0) - self.chance)
        tried = sorted({*gaps, *(round(times * spread, 10) for times in SPREADS if times * spread < most)})
        alone, among_teams = self._found(units, tried, advance)
        of_gaps = []
        for gap in gaps:
            place = tried.index(gap)
            of_teams = self._ranked(units, gap)
            of_gaps.append({"gap": gap, "power": alone[place], "power_among_teams": among_teams[place], **of_teams})
        return {
            "size": size,
            "units": units,
            "intervals": self._intervals(size, units),
            "smallest": _crossing(tried, alone),
            "smallest_among_teams": _crossing(tried, among_teams),
            "curve": [{"gap": gap, "power": share} for gap, share in zip(tried, alone, strict=True)],
            "gaps": of_gaps,
        }

    def _spread(self, units: int) -> float:
        """The standard error of the difference of two systems of the level, in so many units."""
        teams = [self._system(0, self._below(0)), self._system(1, self._below(0))]
        blocks = []
        for counts in bootstrap_counts(self.number, PILOT, self.asked.seed, units):
            values, _ = over(teams, counts)
            blocks.append(values[0] - values[1])
        return float(np.concatenate(blocks).std())

    def _found(self, units: int, gaps: Sequence[float], advance: Callable[[], None]) -> tuple[list[float], list[float]]:
        """The share of test sets in which each gap is significant: alone, and as the first of all pairs of teams."""
        if not self.has_sums:
            return self._found_by_spread(units, gaps, advance)
        random = np.random.default_rng([self.asked.seed, units, TEST_SETS])
        pairs = [(0, place) for place in range(1, 1 + len(gaps))]
        alone, among_teams = np.zeros(len(gaps)), np.zeros(len(gaps))
        for test_set in range(PAIRS):
            better, worse = _two_of(self.asked.teams, test_set)
            drawn = random.integers(self.number, size=units)
            teams = [self._system(better, self._below(0)).at(drawn)]
            teams += [self._system(worse, self._below(gap)).at(drawn) for gap in gaps]
            p = p_values(teams, units, self.asked.exchanges, self.asked.seed + test_set, pairs=pairs)
            values = np.array([p[pair] for pair in pairs])
            alone += values < ALPHA
            among_teams += values * self.asked.pairs_of_teams < ALPHA
            advance()
        return list((alone / PAIRS).tolist()), list((among_teams / PAIRS).tolist())

    def _found_by_spread(
        self, units: int, gaps: Sequence[float], advance: Callable[[], None]
    ) -> tuple[list[float], list[float]]:
        """`_found` for metrics that no sum replaces, whose exchanges would take an hour.

        A difference is found that is so many standard errors large as one that exchanges find, if their differences
        are normal; the standard error is that of the test sets.
        """
        counts = np.concatenate(list(bootstrap_counts(self.number, PAIRS, self.asked.seed + units, units)))
        systems = [_two_of(self.asked.teams, test_set) for test_set in range(PAIRS)]
        needed = [NormalDist().inv_cdf(1 - ALPHA / 2 / tests) for tests in (1, self.asked.pairs_of_teams)]
        shares: list[list[float]] = [[], []]
        for gap in gaps:
            differences = np.empty(PAIRS)
            for better, worse in set(systems):
                own = [place for place, two in enumerate(systems) if two == (better, worse)]
                teams = [self._system(better, self._below(0)), self._system(worse, self._below(gap))]
                values, _ = over(teams, counts[own])
                differences[own] = values[0] - values[1]
            for least, of_gaps in zip(needed, shares, strict=True):
                of_gaps.append(float(np.mean(np.abs(differences) > least * differences.std())))
        for _ in range(PAIRS):
            advance()
        return shares[0], shares[1]

    def _ranked(self, units: int, gap: float) -> dict[str, float | None]:
        """All teams, each so much worse than the one before it, in simulated test sets.

        Returns:
            `teams`, how many these are: as many as there are scores between the level and the worst; `first`, the share
            in which the best one is first; `tau`, the mean Kendall tau to their true order; `optimism`, how much too
            good the score of the one that is first is on average.
        """
        number = self.asked.teams
        if gap:
            number = min(number, 1 + int(abs(self._below(0) - self.chance) / gap))
        teams = [self._system(team, self._below(team * gap)) for team in range(number)]
        blocks = []
        for counts in bootstrap_counts(self.number, RANKED, self.asked.seed + TEAM_SETS, units):
            blocks.append(over(teams, counts)[0])
        values = np.concatenate(blocks, axis=1)
        places, published = draws.ranks(values, self.descending), np.arange(1, 1 + number)
        true = np.array([self._score(team) for team in teams])
        optimism = draws.optimism(values, places, true)
        if not self.descending:
            optimism = -optimism
        return {
            "teams": number,
            "first": float(draws.wins(places)[0]),
            "tau": draws.mean_tau(published, places),
            "optimism": optimism,
        }

    def _intervals(self, size: float, units: int) -> str | None:
        """Why the report would print no intervals for a system of the level; None where it would."""
        level = self._below(0)
        nearest = min(range(STEPS), key=lambda step: abs(self._score(self._made(0, step)) - level))
        few = self._over_units(0, nearest).of_size(size)
        if few is not None:
            return few
        drawn = np.random.default_rng([self.asked.seed, units]).integers(self.number, size=units)
        team = {"system": self._system(0, level).at(drawn)}
        found = resampled(team, {"system": 1}, units, Resampling(RANKED, self.asked.seed))
        return found.without or found.reasons.get("system")


def _two_of(teams: int, number: int) -> tuple[int, int]:
    """Two different ones of a few teams, in turn."""
    every = [(a, b) for a in range(min(teams, 4)) for b in range(min(teams, 4)) if a != b]
    return every[number % len(every)]


def _crossing(gaps: Sequence[float], power: Sequence[float]) -> float | None:
    """The gap at which power crosses `FOUND`, between two that were tried: its quantile of a normal is a line there."""
    rising = np.maximum.accumulate(np.clip(power, 0.5 / PAIRS, 1 - 0.5 / PAIRS))
    quantiles = [NormalDist().inv_cdf(one) for one in rising]
    goal = NormalDist().inv_cdf(FOUND)
    if quantiles[0] >= goal:
        return gaps[0]
    for (gap, quantile), (next_gap, next_quantile) in pairwise(zip(gaps, quantiles, strict=True)):
        if next_quantile >= goal:
            return gap + (next_gap - gap) * (goal - quantile) / (next_quantile - quantile)
    return None
