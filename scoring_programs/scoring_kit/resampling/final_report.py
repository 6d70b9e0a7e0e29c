"""The final report's figures beside the ranking: per task, and over all tasks. The press makes the pages of it.

It rests on the per-unit results of all teams, which are kept for the organisers.
"""

import dataclasses
import math
import time
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scoring_kit.base.lines_to_press import show_progress
from scoring_kit.board import (
    NO_TIES,
    Goodness,
    RankingView,
    Scores,
    average_ranks,
    mid_ranks,
    shared_ranks,
    task_standing,
    tie_breaks,
)
from scoring_kit.errors import OrganiserError
from scoring_kit.outputs import signature
from scoring_kit.program import AVERAGE_RANK, Program, ScoreColumn
from scoring_kit.resampling.draws import Part, TeamColumn, bootstrap_counts, few_units
from scoring_kit.resampling.significance import ALPHA
from scoring_kit.resampling.task import Resampled, Resampling, families, family_of_units, other_rankings, resampled
from scoring_kit.results import comparable
from scoring_kit.results_page.withholding import open_metrics
from scoring_kit.team_results import TeamResults
from scoring_kit.units import ScoredUnits, Units

SAME = 1e-9
"""How far the score over all units may be from the score itself, relative to it."""
RESAMPLES, MOST_RESAMPLES = 10_000, 100_000
"""Where the request does not say how many: these, and at most so many where there are many pairs."""

FEWEST_RESAMPLES, LONGEST_S = 200, 120.0
"""Where functions are called for each resample: as many as this time has room for, and no fewer."""

PerUnit = Mapping[str, Mapping[str, "Units | None"]]
"""Team → task that it entered → its per-unit results; None where the scorer gives none."""


def final_report(
    request: Mapping[str, Any], program: Program, scores: Scores, scored: TeamResults | None, view: RankingView
) -> dict[str, Any]:
    """Return everything that the report shows.

    Args:
        request: `resamples` (None: as many as are needed), `seed`, and `units`, the folder to keep the per-unit results
            in.
        program: what was scored.
        scores: of every team.
        scored: the results of all submissions; None where a table of scores is ranked.
        view: which teams are shown how.

    Returns:
        `tasks`: id → what report.json holds of the task and, beside it, `title`, `sort`, `decimals` and `name`;
        `without`, why there are no intervals, or None; `shares`, team → share of resamples with each rank;
        `rankings`, other ways to rank; `groups`, metrics by class, type or language.
        `overall`: the mean rank over several tasks, or None. `signature`: of the scoring, or None. `counted`: team →
        the path of its submission that counted; `late`: those of them whose submission was late. `notes`: what the
        organisers should know.
    """
    per_unit = per_unit_results(scored)
    keep(Path(request["units"]), per_unit)
    reports: list[TaskReport] = []
    wanted, seconds, steps = RESAMPLES, 0.0, 0
    for task in program.tasks:
        one = TaskReport(task, program, scores, scored, per_unit, view)
        reports.append(one)
        wanted = max(wanted, one.fewest_resamples)
        seconds += one.seconds_a_resample()
        steps += one.steps
    settings = Resampling(request["resamples"] or min(MOST_RESAMPLES, wanted), request["seed"])
    fitting, told = within_time(settings.resamples, seconds, is_asked=request["resamples"] is not None)
    if told:
        show_progress("resampling", line=told)
    notes = []
    if fitting < settings.resamples:
        notes.append(f"{told} --resamples {fitting} makes the same figures again, a larger number more exact ones.")
    settings = Resampling(fitting, settings.seed)
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        show_progress("resampling", done, settings.resamples * steps)

    tasks, ranks = {}, {}
    for one in reports:
        tasks[one.task] = one.written(settings, advance)
        ranks[one.task] = one.standing.ranks
        notes += one.notes(settings)
    overall = _overall(ranks, view)
    return {"tasks": tasks, "overall": overall, **_submissions(program, scored, view), "notes": notes}


def within_time(resamples: int, seconds: float, *, is_asked: bool) -> tuple[int, str]:
    """As many resamples as the organisers' own functions have time for, and what to say of it before they are called.

    Args:
        resamples: as many as there would be else.
        seconds: what their calls take for each of them; 0 where none is called.
        is_asked: the organisers want so many, however long that takes.
    """
    if not seconds:
        return resamples, ""
    fitting = max(FEWEST_RESAMPLES, int(LONGEST_S / seconds))
    what = "A function of your own is called for each resample"
    if is_asked or fitting >= resamples:
        return resamples, f"{what}: {_in_words(seconds * resamples)} for {resamples:,}."
    longer, taken = _in_words(seconds * resamples), _in_words(seconds * fitting)
    return fitting, f"{what}: {longer} for {resamples:,}, so that only {fitting:,} are taken, {taken}."


def _in_words(seconds: float) -> str:
    """A time to wait."""
    if seconds < 100:
        return f"about {max(seconds, 1):.0f} s"
    return f"about {seconds / 60:.0f} minutes"


def _submissions(program: Program, scored: TeamResults | None, view: RankingView) -> dict[str, Any]:
    """Return what is known of the submissions: the signature of their scoring, which counted, and which were late."""
    if scored is None:
        return {"signature": None, "counted": {}, "late": []}
    results = {}
    for task in program.tasks:
        for own in scored.results.values():
            if task in own:
                results[task] = own[task]
    return {
        "signature": signature(program, results, scored.reference_digest),
        "counted": view.seen(scored.counted),
        "late": [team for team in scored.late if team not in view.unseen],
    }


class TaskReport:
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
        per_unit: PerUnit,
        view: RankingView,
    ) -> None:
        self.task, self.program, self.scores, self.scored, self.view = task, program, scores, scored, view
        self.per_unit = per_unit
        self.late = scored.late if scored else ()
        self.columns = program.columns_of(task)
        first = self.columns[0]
        self.standing = task_standing(program, first, scores, view)
        everyone = task_standing(program, first, scores, RankingView(baselines=view.baselines))
        order = [team for team, _ in everyone.rows if scores[team][first.key] is not None]
        self.units: Units | None = None
        self.teams: dict[str, TeamColumn] = {}
        self.without: str | None = "A table of scores was ranked, which says nothing about single units."
        if scored is not None:
            over = column_over_units(first, program, order, per_unit, view.baselines)
            self.units, self.teams, self.without = over.units, over.teams, over.without
        if self.units is not None:
            check_scores(self.teams, scores, len(self.units.names))

    def written(self, settings: Resampling, advance: Callable[[int], None]) -> dict[str, Any]:
        """Return the task's part of the report."""
        column, view = self.columns[0], self.view
        scores = view.seen(self._scores_in(column))
        found, kind, units = Resampled(), None, 0
        if self.units is not None:
            kind, units = self.units.unit, len(self.units.names)
            few = self.without is not None
            found = resampled(self.teams, self.standing.ranks, units, settings, advance, few)
        teams, shown, pairs = [], list[str](), list[dict[str, Any]]()
        for team, _ in self.standing.rows:
            teams.append(self._team(team, found))
            if team in scores:
                shown.append(team)
        if self.units is not None:
            for a, b in combinations(shown, 2):
                low, high = found.differences.get((a, b), (None, None))
                pair = {"a": a, "b": b, "difference": scores[a] - scores[b], "low": low, "high": high}
                pair |= {"p": found.p.get((a, b)), "p_holm": found.p_holm.get((a, b)), "why": found.reasons.get((a, b))}
                pairs.append(pair)
        return {
            "column": column.key,
            "unit": kind,
            "units": units,
            "resamples": settings.resamples,
            "seed": settings.seed,
            "teams": teams,
            "pairs": pairs,
            "stability": {"tau_mean": found.tau_mean, "wins": view.seen(found.wins)},
            "winner": self._winner(found, scores),
            "not_ranked": sorted(self.scores.keys() - view.unseen - scores.keys()),
            "name": self.program.task_names[self.task],
            "title": column.title,
            "sort": column.sort,
            "smallest": found.smallest,
            "decimals": column.decimals,
            "without": self.without or found.without,
            "shares": view.seen(found.shares),
            "rankings": list(self._rankings()),
            "groups": [*self._groups(shown), *self._groups_of_units(shown, settings)],
        }

    def _winner(self, found: Resampled, scores: Mapping[str, float]) -> dict[str, Any] | None:
        """Who won, by how much, and who cannot be told apart from the winner; None where that may not be said.

        Args:
            found: what resampling says.
            scores: of the teams that are shown.

        Returns:
            `teams`, those that share the first place; `next`, those that follow, and `ahead`, by how much; `alike`, the
            ranked teams whose difference from every winner is not significant, None without tests; `optimism`, see
            `Resampled`.
        """
        ranks = self.standing.ranks
        first = [team for team, rank in ranks.items() if rank == 1]
        if not first or not set(first) <= set(scores):
            return None
        others = {team: ranks[team] for team in scores if ranks.get(team, 1) > 1}
        following = [team for team, rank in others.items() if rank == min(others.values())]
        alike = None
        if found.p_holm:
            alike = []
            for team in sorted(others, key=lambda team: (others[team], team)):
                p = [found.p_holm.get((one, team), found.p_holm.get((team, one), 0.0)) for one in first]
                if min(p) >= ALPHA:
                    alike.append(team)
        ahead = abs(scores[first[0]] - scores[following[0]]) if following else None
        return {
            "teams": sorted(first),
            "next": sorted(following),
            "ahead": ahead,
            "alike": alike,
            "optimism": found.optimism,
        }

    @property
    def _pairs(self) -> int:
        return math.comb(len(self.teams), 2)

    @property
    def steps(self) -> int:
        """How much `resampled` does for each resample: one step a pair, and, with intervals, one a team."""
        if self.without:
            return self._pairs
        return self._pairs + len(self.teams)

    def seconds_a_resample(self) -> float:
        """Return how long functions take that are called for each resample, of which one call is measured."""
        if self.units is None:
            return 0.0
        seconds, counts = 0.0, next(bootstrap_counts(len(self.units.names), 1, 0))
        one = next(iter(self.teams))
        called: set[str] = set()
        for own in self.per_unit[one].values():
            if own is not None:
                called.update(own.called)
        for part in self.teams[one].parts:
            if part.column.key in called:
                start = time.perf_counter()
                part.over(counts)
                seconds += time.perf_counter() - start
        of_task = self.per_unit[one].get(self.task)
        families = len(called.intersection(of_task.groups)) if of_task is not None else 0
        intervals = 0 if self.without else 1
        return seconds * (2 * self._pairs + len(self.teams) * (intervals + families))

    @property
    def fewest_resamples(self) -> int:
        """So many that the smallest p, times the number of pairs, is below 0.05."""
        return math.ceil(self._pairs / ALPHA)

    def notes(self, settings: Resampling) -> list[str]:
        """That no difference can be significant: the smallest p, times the number of pairs, is not below 0.05."""
        if self._pairs / (settings.resamples + 1) < ALPHA:
            return []
        return [
            f"{self.program.task_names[self.task]}: with {settings.resamples} resamples no difference among "
            f"{self._pairs} pairs can be significant. Expected --resamples {self.fewest_resamples} or more."
        ]

    def _scores_in(self, column: ScoreColumn) -> dict[str, float]:
        """Team → score in a column, of the teams that have one."""
        found = {}
        for team, own in self.scores.items():
            if (value := own[column.key]) is not None:
                found[team] = value
        return found

    def _team(self, team: str, found: Resampled) -> dict[str, Any]:
        score, rank = self.scores[team][self.columns[0].key], self.standing.ranks.get(team)
        if team in self.view.unseen:
            score, rank, found = None, None, Resampled()
        low, high = found.intervals.get(team, (None, None))
        rank_low, rank_high = found.rank_intervals.get(team, (None, None))
        return {
            "team": team,
            "score": score,
            "low": low,
            "high": high,
            "why": found.reasons.get(team),
            "rank": rank,
            "rank_low": rank_low,
            "rank_high": rank_high,
            "group": found.groups.get(team),
        }

    def _rankings(self) -> Iterator[dict[str, Any]]:
        """Other ways to rank the task: way and, for each team, value and rank."""
        first, view = self.columns[0], self.view
        descending = first.sort == "desc"
        if self.units is not None:
            for name, values in other_rankings(self.teams, len(self.units.names)).items():
                highest_first = name == "share" or (descending and name != "mean_rank")
                yield self._ranking(name, values, highest_first, view.baselines)
        for column in self.columns[1:]:
            ranking = self._ranking("column", self._scores_in(column), column.sort == "desc", view.baselines)
            yield {**ranking, "title": column.title}
        own, ties = self._scores_in(first), tie_breaks(self.program, first, self.scores)
        in_time, rest = {}, {}
        for team, value in own.items():
            if team not in self.late:
                in_time[team], rest[team] = value, self.scores[team]
        if len(in_time) < len(own):
            if first.computation == AVERAGE_RANK:
                in_time = average_ranks(self.program, first, rest, view.baselines)
            yield self._ranking("without_late", in_time, descending, view.baselines, ties)
        if own.keys() & set(view.baselines):
            yield self._ranking("with_baselines", own, descending, (), ties)

    def _ranking(
        self,
        way: str,
        values: Mapping[str, float],
        descending: bool,
        baselines: Collection[str],
        ties: Mapping[str, Goodness] = NO_TIES,
    ) -> dict[str, Any]:
        ranks = shared_ranks(values, descending, ties, baselines)
        teams = {}
        for team, value in self.view.seen(values).items():
            teams[team] = {"value": value, "rank": ranks.get(team)}
        return {"way": way, "title": "", "teams": teams}

    def _groups_of_units(self, shown: Sequence[str], settings: Resampling) -> list[dict[str, Any]]:
        """The groups and classes that per-unit results name, with intervals; what is over too few items is left out."""
        there = {}
        for team in shown:
            if (of_team := self.per_unit.get(team, {}).get(self.task)) is not None:
                there[team] = of_team
        columns = {column.key: column for column in self.columns}
        names: dict[str, list[str]] = {}
        for one in there.values():
            for key, of_key in one.groups.items():
                names[key] = list(of_key)
        found, min_items = [], self.program.details_min_items
        for key, groups in names.items():
            found.append(family_of_units(key, groups, columns.get(key), there, settings, min_items))
        return found

    def _groups(self, shown: Sequence[str]) -> list[dict[str, Any]]:
        """Metrics by class, type or language of the shown teams; what is over too few items is left out."""
        if self.scored is None:
            return []
        values = {}
        for team in shown:
            result = self.scored.results.get(team, {}).get(self.task)
            if result is not None:
                names = open_metrics(result.metrics, self.program.keys, self.program.details_min_items)
                values[team] = {name: metric.value for name, metric in result.metrics.items() if name in names}
        return families(self.columns[0].key, values)


def _overall(ranks: Mapping[str, Mapping[str, int]], view: RankingView) -> list[dict[str, Any]] | None:
    """The mean rank of the teams that entered all tasks, ranked; None where there is one task, or no such team.

    Within a task, teams of an equal score get the mean of the places that they share.
    """
    if len(ranks) < 2:
        return None
    first, *others = ranks.values()
    entered = set(first).intersection(*others)
    if not entered:
        return None
    places, totals = {}, dict.fromkeys(entered, 0.0)
    for task, own in ranks.items():
        places[task] = shared_ranks(own, descending=False, apart=own.keys() - entered)
        for team, place in mid_ranks(places[task]).items():
            totals[team] += place
    means = {team: comparable(total / len(ranks)) for team, total in totals.items()}
    overall = shared_ranks(means, descending=False)
    records = []
    for team in sorted(entered - view.unseen, key=lambda team: (overall[team], team)):
        own_places = {task: of_task[team] for task, of_task in places.items()}
        records.append({"team": team, "rank": overall[team], "mean_rank": means[team], "ranks": own_places})
    return records


def per_unit_results(scored: TeamResults | None) -> PerUnit:
    """Return those of every submission; none where a table of scores is ranked."""
    found: dict[str, dict[str, Units | None]] = {}
    if scored is not None:
        for team, own in scored.results.items():
            found[team] = {}
            for task, result in own.items():
                found[team][task] = result.units and result.units()
    return found


def keep(folder: Path, per_unit: PerUnit) -> None:
    """Write the per-unit results as `<task>.npz`: `unit`, `names`, `teams`, and `<team's number>.<metric>.<part>`.

    They give the gold away to those who know what a team submitted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    by_task: dict[str, dict[str, Units]] = {}
    for team, own in per_unit.items():
        for task, units in own.items():
            if units is not None:
                by_task.setdefault(task, {})[team] = units
    for task, teams in by_task.items():
        first = next(iter(teams.values()))
        parts: list[tuple[str, object]] = [("unit", np.array(first.unit)), ("names", np.array(list(first.names)))]
        parts.append(("teams", np.array(list(teams))))
        for number, units in enumerate(teams.values()):
            for metric, statistic in units.statistics.items():
                parts.append((f"{number}.{metric}", statistic))
        with zipfile.ZipFile(folder / f"{task}.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            for part, value in parts:
                for name, array in _arrays(part, value):
                    with archive.open(f"{name}.npy", "w") as member:
                        np.lib.format.write_array(member, array, allow_pickle=False)


def _arrays(name: str, value: object) -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays of numbers that a statistic is made of, by their dotted names; sparse ones filled."""
    if isinstance(value, np.ndarray):
        yield name, value
    elif hasattr(value, "toarray"):
        yield name, value.toarray()
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield from _arrays(f"{name}.{number}", one)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _arrays(f"{name}.{field.name}", getattr(value, field.name))


class OverUnits(NamedTuple):
    """A column over the units that it scores.

    Attributes:
        units: these; None where it cannot be computed over any.
        teams: what each team has in it.
        without: why there are no intervals, as far as the number of units says it.
        of_size: likewise, were there so many times as many units.
    """

    units: Units | None
    teams: dict[str, TeamColumn]
    without: str | None
    of_size: Callable[[float], str | None]


def column_over_units(
    column: ScoreColumn, program: Program, order: Sequence[str], per_unit: PerUnit, baselines: Collection[str] = ()
) -> OverUnits:
    """Return the column for the teams in `order`, over the units that it scores; or why there are none."""
    written = program.sources(column)
    found, without = _with_units(written, order, per_unit)
    if without is not None:
        return OverUnits(None, {}, without, lambda _: without)
    names = list(found[0][1].names)
    every, scored = [], dict[str, NDArray[np.bool_]]()
    for one, units in found:
        every.append(units)
        own = units.scored.get(one.key, ScoredUnits(units.unit, range(len(names))))
        is_scored = scored.setdefault(own.unit, np.zeros(len(names), dtype=bool))
        is_scored[np.asarray(own.places, dtype=np.intp)] = True
    places = np.flatnonzero(np.any(list(scored.values()), axis=0))
    teams = {}
    for team in order:
        parts = [_part(one, per_unit[team].get(one.task), places) for one in written]
        teams[team] = TeamColumn(column, parts, team not in baselines)
    units = Units(" or ".join(scored), [names[place] for place in places], {})
    return OverUnits(
        units,
        teams,
        _too_few(written, every, scored),
        of_size=lambda times: _too_few(written, every, scored, times),
    )


def _with_units(
    written: Sequence[ScoreColumn], order: Sequence[str], per_unit: PerUnit
) -> tuple[list[tuple[ScoreColumn, Units]], str | None]:
    """Every written column with the per-unit results of every team that entered its task; over the same units.

    Beside it, why it cannot be computed over units; None where it can.
    """
    found = []
    for one in written:
        for team in order:
            if one.task in per_unit[team]:
                units = per_unit[team][one.task]
                if units is None:
                    return [], "The scoring program gives no per-unit results."
                found.append((one, units))
    if not found:
        return [], "No team entered the task."
    names = list(found[0][1].names)
    if any(list(units.names) != names for _, units in found):
        return [], "The column is made of tasks with different units."
    if any(one.key not in units.statistics for one, units in found):
        return [], "The per-unit results of the scoring program leave the column out."
    return found, None


def _too_few(
    written: Sequence[ScoreColumn],
    every: Sequence[Units],
    scored: Mapping[str, NDArray[np.bool_]],
    times: float = 1.0,
) -> str | None:
    """Why there are too few units for intervals of a column that is made of the written ones; None where they do.

    `every` has the per-unit results of all teams and tasks, `scored` which places are scored, by the kind of unit;
    there are to be so many `times` as many units.
    """
    numbers = {kind: round(times * np.count_nonzero(own)) for kind, own in scored.items()}
    kind, number = min(numbers.items(), key=lambda one: one[1])
    word = "units"
    if len(scored) > 1:
        word += f" of the kind {kind}"
    for column in written:
        errors = _errors(column, every)
        for own in every:
            classes = [round(times * units) for units in own.classes.get(column.key, ())]
            limit = own.limits.get(column.key)
            if (reason := few_units(column, number, word, classes, limit, min(errors, default=None))) is not None:
                return reason
    return None


def _errors(column: ScoreColumn, every: Sequence[Units]) -> list[float]:
    """The values of all teams in a column, but for those without any error."""
    found = []
    for units in every:
        if column.key in units.statistics:
            value = float(units.statistics[column.key].over(np.ones((1, len(units.names))))[0])
            if value > 0:
                found.append(value)
    return found


def _part(column: ScoreColumn, units: Units | None, places: NDArray[np.intp]) -> Part:
    """A team's results over the units at `places` in a written column; none in a task that it did not enter."""
    if units is None:
        return Part(column, None)
    statistic = units.statistics[column.key]
    if len(places) < len(units.names):
        statistic = statistic.at(places)
    return Part(column, statistic)


def check_scores(teams: Mapping[str, TeamColumn], scores: Scores, units: int) -> None:
    """Raise OrganiserError where a written score is not what its per-unit results give."""
    wrong = []
    once = np.ones((1, units))
    for team, own in teams.items():
        for part in own.parts:
            name = part.column.key
            score, over = scores[team][name], float(part.shown(part.over(once))[0])
            if score is not None and abs(score - over) > SAME * max(1.0, abs(score)):
                wrong.append(f"{name} of {team}: the score is {score!r}, but its per-unit results give {over!r}.")
    if wrong:
        raise OrganiserError(*wrong, "Expected the same: `units` of the scoring program has a bug.")
