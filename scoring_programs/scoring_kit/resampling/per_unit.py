"""The per-unit results of all teams: kept for the organisers, and as the column that a task is ranked by."""

import dataclasses
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring_kit.board import Scores
from scoring_kit.errors import OrganiserError
from scoring_kit.program import Program, ScoreColumn
from scoring_kit.resampling.columns import AtUnits, Part, TeamColumn
from scoring_kit.resampling.intervals import few_units
from scoring_kit.team_results import TeamResults
from scoring_kit.units import ScoredUnits, Units

SAME = 1e-9
"""How far the score over all units may be from the score itself, relative to it."""

PerUnit = Mapping[str, Mapping[str, "Units | None"]]
"""Team → task that it entered → its per-unit results; None where the scorer gives none."""


def per_unit_results(scored: TeamResults | None) -> PerUnit | None:
    """Those of every submission; None where a table of scores is ranked."""
    if scored is None:
        return None
    return {
        team: {task: result.units() if result.units is not None else None for task, result in own.items()}
        for team, own in scored.results.items()
    }


def keep(folder: Path, per_unit: PerUnit | None) -> None:
    """Write the per-unit results as `<task>.npz`: `unit`, `names`, `teams`, and `<team's number>.<metric>.<part>`.

    They give the gold away to those who know what a team submitted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    by_task: dict[str, dict[str, Units]] = {}
    for team, own in (per_unit or {}).items():
        for task, units in own.items():
            if units is not None:
                by_task.setdefault(task, {})[team] = units
    for task, teams in by_task.items():
        first = next(iter(teams.values()))
        arrays = {
            "unit": np.array(first.unit),
            "names": np.array(list(first.names)),
            "teams": np.array(list(teams)),
            **{
                name: array
                for number, units in enumerate(teams.values())
                for metric, statistic in units.statistics.items()
                for name, array in _arrays(f"{number}.{metric}", statistic)
            },
        }
        with zipfile.ZipFile(folder / f"{task}.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, array in arrays.items():
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


def ranking_column(
    column: ScoreColumn,
    order: Sequence[str],
    program: Program,
    per_unit: PerUnit | None,
    baselines: Collection[str] = (),
) -> tuple[Units | None, dict[str, TeamColumn], str | None]:
    """The units that a column scores, its values over them for each team, and why there are no intervals."""
    if per_unit is None:
        return None, {}, "A table of scores was ranked, which says nothing about single units."
    written = [c for c in program.columns if c.key in (column.of if column.computation else [column.key])]
    tasks = {c.task for c in written}
    found = {team: {task: units for task, units in per_unit[team].items() if task in tasks} for team in order}
    if any(units is None for own in found.values() for units in own.values()):
        return None, {}, "The scoring program gives no per-unit results."
    every = [units for own in found.values() for units in own.values() if units is not None]
    if not every:
        return None, {}, "No team entered the task."
    if any(list(units.names) != list(every[0].names) for units in every):
        return None, {}, "The column is made of tasks with different units."
    names = every[0].names
    scored: dict[str, set[int]] = {}
    for column_ in written:
        for units in filter(None, (own.get(column_.task) for own in found.values())):
            own = units.scored.get(column_.key, ScoredUnits(units.unit, range(len(names))))
            scored.setdefault(own.unit, set()).update(map(int, own.places))
    places = np.array(sorted(set[int]().union(*scored.values())), dtype=np.intp)
    parts = {team: [_part(c, found[team].get(c.task), places) for c in written] for team in order}
    if any(part is None for own in parts.values() for part in own):
        return None, {}, "The per-unit results of the scoring program leave the column out."
    teams = {
        team: TeamColumn(column, [part for part in own if part is not None], team not in baselines)
        for team, own in parts.items()
    }
    units = Units(" or ".join(scored), [names[place] for place in places], {})
    return units, teams, _too_few(written, every, scored)


def _too_few(
    written: Sequence[ScoreColumn], every: Sequence[Units], scored: Mapping[str, Collection[int]]
) -> str | None:
    """Why there are too few units for intervals of a column that is made of the written ones; None where they do.

    Args:
        written: the columns.
        every: the per-unit results of all teams and tasks.
        scored: kind of unit → the places of those that are scored.
    """
    kind, number = min(((kind, len(own)) for kind, own in scored.items()), key=lambda one: one[1])
    word = f"units of the kind {kind}" if len(scored) > 1 else "units"
    reasons = (few_units(c, number, word, own.classes.get(c.key, ())) for c in written for own in every)
    return next(filter(None, reasons), None)


def _part(column: ScoreColumn, units: Units | None, places: NDArray[np.intp]) -> Part | None:
    """A team's results over the units at `places` in a written column; without any in a task that it did not enter.

    None: the per-unit results leave the column out.
    """
    if units is None:
        return Part(column, None)
    statistic = units.statistics.get(column.key)
    if statistic is not None and len(places) < len(units.names):
        statistic = AtUnits(statistic, places, len(units.names))
    return None if statistic is None else Part(column, statistic)


def check_scores(teams: Mapping[str, TeamColumn], scores: Scores, units: int) -> None:
    """Raise OrganiserError where a written score is not what its per-unit results give."""
    wrong = []
    for team, part in [(team, part) for team, own in teams.items() for part in own.parts]:
        score, over = scores[team][part.column.key], float(part.shown(part.over(np.ones((1, units))))[0])
        if score is not None and abs(score - over) > SAME * max(1.0, abs(score)):
            name = part.column.key
            wrong.append(f"{name} of {team}: the score is {score!r}, but its per-unit results give {over!r}.")
    if wrong:
        raise OrganiserError(*wrong, "Expected the same: `units` of the scoring program has a bug.")
