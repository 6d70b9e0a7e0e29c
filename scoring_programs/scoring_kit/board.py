"""All teams' scores as the platform's board has them: written, computed, and compared with each other."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, TypeVar

from scoring_kit.csv_reading import read_gold_table
from scoring_kit.errors import OrganiserError, Problems, printable, shown
from scoring_kit.program import AVERAGE_RANK, STORED, Program, ScoreColumn
from scoring_kit.results import comparable
from scoring_kit.team_results import TeamResults

TEAM = "team"
Value = TypeVar("Value")

Scores = dict[str, dict[str, "float | None"]]
"""Team → column key → score; None where the team did not enter the column's task."""


def read_scores(path: Path, keys: Sequence[str], also: Sequence[str] = ()) -> Scores:
    """Read a CSV table `team,<column>,…`; an empty cell or a missing column is a task that the team did not enter.

    It has one of the columns `keys` at least, and may have those in `also`, for one of `keys` or beside them. Raises
    OrganiserError with everything that is wrong, with file and line.
    """
    problems = Problems()
    if not path.is_file():
        what = "is a folder" if path.exists() else "no such file"
        raise OrganiserError(f"{path}: {what}. Expected a CSV table with the columns {TEAM}, {', '.join(keys)}.")
    table = read_gold_table(path, problems)
    problems.stop_organisers_if_any()
    known = [*keys, *also]
    places = table.places(known)
    if TEAM not in table.header or not places or not {TEAM, *known}.issuperset(table.header):
        problems.error(f"{path.name}:1", f"has the columns {', '.join(table.header)}", f"{TEAM}, {', '.join(keys)}")
        problems.stop_organisers_if_any()
    scores: Scores = {}
    team_at = table.header.index(TEAM)
    for line, cells in table.rows:
        team = cells[team_at].strip()
        if not team:
            problems.error(f"{path.name}:{line}", f"{TEAM} is empty", "one row for each team")
        elif team in scores:
            problems.error(f"{path.name}:{line}", f"the team {shown(team)} already has a row", "one row for each team")
        scores[team] = dict.fromkeys(known)
        for key, at in places.items():
            scores[team][key] = _number(cells[at].strip(), f"{path.name}:{line} ({key})", problems)
    if not scores and not problems.found:
        problems.error(path.name, "has no rows", "one row for each team")
    problems.stop_organisers_if_any()
    return scores


def _number(cell: str, where: str, problems: Problems) -> float | None:
    if not cell:
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        problems.error(where, f"{shown(cell)} is not a finite number", "a number such as 0.53, or nothing")
    return value


NO_TIES: Mapping[str, "Goodness"] = {}


def written_scores(program: Program, scored: TeamResults) -> Scores:
    """Return every scored team's value in every column that the scorer writes; None where it did not enter the task."""
    written: Scores = {}
    for team, own in scored.results.items():
        written[team] = {}
        for column in program.columns:
            if column.computation is None and column.task in own:
                value = own[column.task].metrics[column.key].value
                written[team][column.key] = None if value is None else column.bounded(value)
    return written


def board(program: Program, written: Scores, baselines: Collection[str] = ()) -> Scores:
    """Return every team's value in every column as the platform makes them; None where it entered nothing of it.

    A computed column is made of the `worst` of a task that the team did not enter, because that is on the board.
    Average ranks are those among the teams that are no baselines; a baseline has the one that it would have as one more
    team. A computed column that is given is taken as it is.
    """
    scores = {team: _with_computed(program, own) for team, own in written.items()}
    for column in program.columns:
        if column.computation == AVERAGE_RANK:
            ranks = average_ranks(program, column, scores, baselines)
            for team, own in scores.items():
                if own[column.key] is None and _entered(column, own):
                    own[column.key] = ranks.get(team)
    return scores


def average_ranks(
    program: Program, column: ScoreColumn, scores: Scores, baselines: Collection[str] = ()
) -> dict[str, float]:
    """Return the mean of each team's ranks in the columns that an `avg_rank` column refers to.

    Ranks are those of the shown scores, in each column's own direction; equal ones share the mean of their places.
    `gen_bundle.codabench.board` names the source, and a test holds both to the same figures. Every team that
    entered anything has a score in all these columns, which are written and shown (the declaration allows no others).
    """
    sources = program.sources(column)
    entered = teams_entered(scores)
    if not sources:
        return {}
    totals = dict.fromkeys(entered, 0.0)
    for source in sources:
        values, competing = {}, {}
        for team in entered:
            score = source.or_worst(scores[team][source.key])
            if score is not None:  # as the board shows it: stored with ten decimals, then rounded
                score = round(float(Decimal(score).quantize(STORED, ROUND_HALF_UP)), source.precision)
            values[team] = score
            if team not in baselines:
                competing[team] = values[team]
        for team in entered:
            among = {**competing, team: values[team]}
            totals[team] += mid_ranks(shared_ranks(among, source.sort == "desc"))[team]
    return {team: round(total / len(sources), column.precision) for team, total in totals.items()}


def teams_entered(scores: Scores) -> list[str]:
    """Return the teams that entered anything."""
    return [team for team, own in scores.items() if set(own.values()) - {None}]


Goodness = tuple[float, ...]
"""Values of several columns, turned so that higher is better, in the order in which they decide."""


def shared_ranks(
    values: Mapping[str, float | None],
    descending: bool,
    ties: Mapping[str, Goodness] = NO_TIES,
    apart: Collection[str] = (),
) -> dict[str, int]:
    """Return the rank of every team with a value, best first; equal ones share the best of their ranks (1, 2, 2, 4).

    `ties` says what orders teams of equal values, see `tie_breaks`; teams that stand `apart` have no rank.

    >>> shared_ranks({"A": 0.9, "B": 0.7, "C": 0.7, "D": None}, descending=True)
    {'A': 1, 'B': 2, 'C': 2}
    """
    sign = 1 if descending else -1
    there: dict[str, Goodness] = {}
    for team, value in values.items():
        if value is not None and team not in apart:
            there[team] = (sign * comparable(value), *ties.get(team, ()))
    first: dict[Goodness, int] = {}
    # equal ones take several places, of which the first is the best
    for place, goodness in enumerate(sorted(there.values(), reverse=True), start=1):
        first.setdefault(goodness, place)
    return {team: first[goodness] for team, goodness in there.items()}


def tie_breaks(program: Program, column: ScoreColumn, scores: Scores) -> dict[str, Goodness]:
    """Return what orders teams of equal scores in a column: scores in `tie_break`, else in all columns that follow.

    So the platform orders them, whose board shows no hidden columns; where an average rank comes first, and between
    average ranks, no column decides there. A task that a team did not enter counts as the column's `worst`.
    """
    shown = [one for one in program.columns if not one.hidden]
    deciding: list[ScoreColumn] = []
    if program.tie_break is not None:
        by_key = {one.key: one for one in shown}
        deciding = [by_key[key] for key in program.tie_break if key in by_key]
    elif column in shown and column.computation != AVERAGE_RANK:
        following = shown[shown.index(column) + 1 :]
        deciding = [one for one in following if one.computation != AVERAGE_RANK]
    return {team: _goodness(deciding, own) for team, own in scores.items()}


def _goodness(columns: Sequence[ScoreColumn], values: Mapping[str, float | None]) -> Goodness:
    goodness = []
    for column in columns:
        score = column.or_worst(values.get(column.key))
        if score is None:
            goodness.append(-math.inf)
        else:
            sign = 1 if column.sort == "desc" else -1
            goodness.append(sign * comparable(score))
    return tuple(goodness)


def mid_ranks(ranks: Mapping[str, int]) -> dict[str, float]:
    """Shared ranks (1, 2, 2, 4) as the mean of the places that are shared (1, 2.5, 2.5, 4).

    >>> mid_ranks({"A": 1, "B": 2, "C": 2})
    {'A': 1.0, 'B': 2.5, 'C': 2.5}
    """
    counts = Counter(ranks.values())
    # n teams that share rank p take the places p to p + n - 1
    return {team: place + (counts[place] - 1) / 2 for team, place in ranks.items()}


def _with_computed(program: Program, written: Mapping[str, float | None]) -> dict[str, float | None]:
    values, stored = {}, {}
    for column in program.columns:
        values[column.key] = written.get(column.key)
        score = column.or_worst(values[column.key])
        if score is not None and column.computation is None:
            stored[column.key] = score
    computed = program.with_computed(stored)
    for column in program.columns:
        if column.computation not in (None, AVERAGE_RANK) and values[column.key] is None and _entered(column, values):
            values[column.key] = computed[column.key]
    return values


def _entered(column: ScoreColumn, values: Mapping[str, float | None]) -> bool:
    """Whether a team entered anything of a computed column."""
    return any(values[key] is not None for key in column.of)


@dataclass(frozen=True)
class RankingView:
    """Which teams are shown how.

    Attributes:
        hide: teams of which nothing is shown. They hold their ranks all the same.
        hide_figures: teams of which the name alone is shown.
        baselines: systems that are shown without a rank and do not count for anybody else's.

    >>> sorted(RankingView(hide=["A"], hide_figures=["B"], baselines=["C"]).unseen)
    ['A', 'B']
    """

    hide: Collection[str] = ()
    hide_figures: Collection[str] = ()
    baselines: Collection[str] = ()

    @classmethod
    def of(cls, request: Mapping[str, Any], teams: Collection[str]) -> "RankingView":
        """Return what a request asks for; raises OrganiserError for teams that are not there."""
        options = {"--hide": "hide", "--hide-figures": "hide_figures", "--baseline": "baselines"}
        known = ", ".join(sorted(teams))
        asked, problems = {}, []
        for option, field in options.items():
            asked[field] = list(request.get(field, ()))
            for name in asked[field]:
                if name not in teams:
                    problems.append(printable(f"{option} {name}: no such team. Expected one of {known}."))
        if problems:
            raise OrganiserError(*problems)
        return cls(**asked)

    @property
    def unseen(self) -> set[str]:
        """Teams whose figures are not shown."""
        return {*self.hide, *self.hide_figures}

    def seen(self, of_teams: Mapping[str, Value]) -> dict[str, Value]:
        """Return what there is by team, without the teams whose figures are not shown."""
        unseen = self.unseen
        return {team: own for team, own in of_teams.items() if team not in unseen}


@dataclass(frozen=True)
class Standing:
    """The teams by one column.

    Attributes:
        ranks: the rank of every team that competes and has a value.
        rows: (team, rank as it is printed) in the order of a table: `=` marks a shared rank; a baseline is where its
            value puts it; teams without a value, or with hidden figures, come last.
        tied: the shown teams that tie with another shown one; a tie with an unseen team would reveal its figures.
    """

    ranks: Mapping[str, int]
    rows: Sequence[tuple[str, str]]
    tied: Collection[str]


def task_standing(program: Program, column: ScoreColumn, scores: Scores, view: RankingView) -> Standing:
    """Return the teams by a column, then by `tie_breaks`: those with a value there, and those without any."""
    entered = teams_entered(scores)
    values = {}
    for team, own in scores.items():
        if own[column.key] is not None or team not in entered:
            values[team] = own[column.key]
    if set(values.values()) == {None}:
        values = {}
    return standing(values, column.sort == "desc", view, tie_breaks(program, column, scores))


def standing(
    values: Mapping[str, float | None], descending: bool, view: RankingView, ties: Mapping[str, Goodness] = NO_TIES
) -> Standing:
    """Return the order of the teams by their values; `ties` orders equal ones, and the others share a rank.

    >>> standing({"A": 0.7, "B": 0.9, "C": 0.7}, descending=True, view=RankingView(hide=["C"])).rows
    [('B', '1'), ('A', '2')]
    """
    ranks = shared_ranks(values, descending, ties, view.baselines)
    shown = view.seen(ranks)
    counts = Counter(shown.values())
    tied = {team for team, rank in shown.items() if counts[rank] > 1}
    place = shared_ranks(values, descending, ties, view.unseen)
    rows = []
    for team in sorted(values.keys() - view.hide, key=lambda team: (place.get(team, math.inf), team)):
        rank = str(shown.get(team, ""))
        if team in tied:
            rank += "="
        rows.append((team, rank))
    return Standing(ranks, rows, tied)
