"""The final ranking over all participants: by default one ranking for each task, by the task's first column.

Served by every scoring package as the organiser's verb `rank`; a package with a rule of its own serves that instead.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoring_kit.board import (
    NO_TIES,
    TEAM,
    Goodness,
    Scores,
    board,
    read_scores,
    shared_ranks,
    tie_breaks,
    written_scores,
)
from scoring_kit.errors import OrganiserError, printable
from scoring_kit.program import Program, ScoreColumn
from scoring_kit.results import TaskResult
from scoring_kit.team_results import TeamResults, score_all

HIDDEN = "(hidden)"
NOT_SCORED = "not_scored"
MOST_REASONS = 3
"""So many are in the table, for each team."""


@dataclass(frozen=True)
class View:
    """Which teams are shown how.

    Attributes:
        hide: teams of which nothing is shown. They hold their ranks all the same.
        hide_figures: teams of which the name alone is shown.
        baselines: systems that are shown without a rank and do not count for anybody else's.
    """

    hide: Collection[str] = ()
    hide_figures: Collection[str] = ()
    baselines: Collection[str] = ()

    @classmethod
    def of(cls, request: Mapping[str, Any], teams: Collection[str]) -> "View":
        """What a request asks for; raises OrganiserError for teams that are not there."""
        options = {"--hide": "hide", "--hide-figures": "hide_figures", "--baseline": "baselines"}
        asked = {field: list(request.get(field, ())) for field in options.values()}
        unknown = [(o, name) for o, field in options.items() for name in asked[field] if name not in teams]
        if unknown:
            known = ", ".join(sorted(teams))
            raise OrganiserError(*(printable(f"{o} {n}: no such team. Expected one of {known}.") for o, n in unknown))
        return cls(**asked)

    @property
    def unseen(self) -> set[str]:
        """Teams whose figures are not shown."""
        return {*self.hide, *self.hide_figures}


@dataclass(frozen=True)
class Standing:
    """The teams by one column.

    Attributes:
        ranks: the rank of every team that competes and has a value.
        rows: (team, rank as it is printed) in the order of a table: `=` marks a shared rank; a baseline is where its
            value puts it; teams without a value, or with hidden figures, come last.
    """

    ranks: Mapping[str, int]
    rows: Sequence[tuple[str, str]]


def rank(request: Mapping[str, Any], scored: TeamResults | None = None) -> dict[str, Any]:
    """One ranking for each task, ties as the declaration has them.

    Args:
        request: `program`, the path of a program.json; `scores`, the path of a table of scores, or else `submissions`
            and `reference`, the folders of all submissions and of the prepared gold; what `View` names; and `report`,
            as `scoring_kit.resampling.final_report` takes it, where one is wanted.
        scored: what `score_all` gives for the request, where that is known already.

    Returns:
        `teams`: a record for each team, with its columns and its rank in each task; `tables`: to be printed, each with
        `title`, `header` and `rows` of texts; `notes`: what the organisers should know; `report`, if it is wanted.
        Where submissions could not be scored, each record says why in `not_scored`.
    """
    program = Program.read(Path(request["program"]))
    if request.get("scores"):
        given = read_scores(Path(request["scores"]), [column.key for column in program.columns])
        view = View.of(request, given)
    else:
        scored = score_all(request, program) if scored is None else scored
        given = written_scores(program, scored)
        view = View.of(request, scored.teams)
    scores = board(program, given, view.baselines)
    records: dict[str, dict[str, Any]] = {team: {TEAM: team, **values} for team, values in scores.items()}
    tables, notes = [], []
    for task in program.tasks:
        columns = [column for column in program.columns if column.task == task]
        standing = task_standing(program, columns[0], scores, view)
        if all(values[columns[0].key] is None for values in scores.values()):
            notes.append(f"{program.task_names[task]}: no team entered it.")
        for team, record in records.items():
            record[f"{task}_rank"] = standing.ranks.get(team)
            record.setdefault("tied", []).extend([task] if team in tied(standing.ranks, view.unseen) else [])
        tables.append(_table(program.task_names[task], columns, scores, standing, view))
        notes += [f"{program.task_names[task]}: {text}" for text in tie_notes(standing.ranks, view.unseen)]
    notes += failed_notes(scored.results if scored else {}, view.unseen)
    ordered = sorted(records.values(), key=lambda record: record[TEAM] in view.hide_figures)
    answer = {"teams": shown_records(ordered, view), "tables": tables, "notes": notes}
    return with_report(with_unscored(answer, scored, view), request, program, scores, scored)


def task_standing(program: Program, column: ScoreColumn, scores: Scores, view: View) -> Standing:
    """The teams by a column, then by `tie_breaks`: those that have a value there, and those that have none in any."""
    values = {team: own[column.key] for team, own in scores.items()}
    entered = {team for team, own in scores.items() if any(value is not None for value in own.values())}
    if all(value is None for value in values.values()):
        return standing({}, column.sort == "desc", view)
    shown = {team: value for team, value in values.items() if value is not None or team not in entered}
    return standing(shown, column.sort == "desc", view, tie_breaks(program, column, scores))


def standing(
    values: Mapping[str, float | None], descending: bool, view: View, ties: Mapping[str, Goodness] = NO_TIES
) -> Standing:
    """The order of the teams by their values; `ties` orders those of equal values, and the others share a rank."""
    ranks = shared_ranks({team: v for team, v in values.items() if team not in view.baselines}, descending, ties)
    shared = tied(ranks, view.unseen)
    shown = {team: v for team, v in values.items() if v is not None and team not in view.unseen}
    place = shared_ranks(shown, descending, ties)
    best_first = sorted(shown, key=lambda team: (place[team], team))
    last = sorted(team for team in values if team not in shown and team not in view.hide)
    rows = [(team, f"{ranks.get(team, '')}{'=' if team in shared else ''}") for team in best_first]
    return Standing(ranks, [*rows, *((team, "") for team in last)])


def tied(ranks: Mapping[str, int], unseen: Collection[str]) -> set[str]:
    """The shown teams that tie with another shown one; a tie with an unseen team would reveal its figures."""
    counts = Counter(place for team, place in ranks.items() if team not in unseen)
    return {team for team, place in ranks.items() if team not in unseen and counts[place] > 1}


def tie_notes(ranks: Mapping[str, int], unseen: Collection[str]) -> list[str]:
    """A sentence for each rank that is shared."""
    equal: dict[int, list[str]] = {}
    for team in sorted(tied(ranks, unseen)):
        equal.setdefault(ranks[team], []).append(team)
    return [f"{' and '.join(teams)} share rank {place}." for place, teams in sorted(equal.items())]


def failed_notes(results: Mapping[str, Mapping[str, TaskResult]], unseen: Collection[str]) -> list[str]:
    """A sentence for each function of the organisers' own that failed on a submission, which has its worst value."""
    return [
        f"{team}: {metric} could not be computed ({why.place}: {why.words}); its worst value counts."
        for team, own in results.items()
        if team not in unseen
        for result in own.values()
        for metric, why in result.failed.items()
    ]


def shown_records(records: Sequence[Mapping[str, Any]], view: View) -> list[dict[str, Any]]:
    """The teams' records: none of a hidden team, and nothing but the name where figures are hidden."""
    return [
        {**dict.fromkeys(record), TEAM: record[TEAM]} if record[TEAM] in view.hide_figures else dict(record)
        for record in records
        if record[TEAM] not in view.hide
    ]


def with_unscored(answer: dict[str, Any], scored: TeamResults | None, view: View) -> dict[str, Any]:
    """The answer with a record and a row for each submission that could not be scored, and the reasons."""
    unscored = {team: why for team, why in (scored.unscored if scored else {}).items() if team not in view.hide}
    if not unscored:
        return answer
    fields = dict.fromkeys(answer["teams"][0]) if answer["teams"] else {}
    records = [{**record, NOT_SCORED: []} for record in answer["teams"]]
    records += [{**fields, TEAM: team, NOT_SCORED: why} for team, why in unscored.items()]
    rows = [[team, text] for team, why in unscored.items() for text in _brief(why)]
    table = {"title": "Not scored", "header": ["Team", "Reason"], "rows": rows}
    return {**answer, "teams": records, "tables": [*answer["tables"], table]}


def _brief(why: Sequence[str]) -> list[str]:
    """The first reasons, and how many more there are; the records have all that were noted."""
    if len(why) <= MOST_REASONS:
        return list(why)
    beyond = re.search("… and ([0-9]+) more[.]$", why[-1])
    more = len(why) - MOST_REASONS + (int(beyond[1]) - 1 if beyond else 0)
    return [*why[:MOST_REASONS], f"… and {more} more"]


def with_report(
    answer: dict[str, Any],
    request: Mapping[str, Any],
    program: Program,
    scores: Scores,
    scored: TeamResults | None,
) -> dict[str, Any]:
    """The answer with what the final report needs, where the request asks for it."""
    if not request.get("report"):
        return answer
    from scoring_kit.resampling.final_report import final_report  # which is in no scoring program

    everyone = [*scores, *(scored.unscored if scored else ())]
    report = final_report(request["report"], program, scores, scored, View.of(request, everyone))
    return {**answer, "report": report, "notes": [*answer["notes"], *report.pop("notes")]}


def _table(
    title: str, columns: Sequence[ScoreColumn], scores: Scores, standing: Standing, view: View
) -> dict[str, Any]:
    rows = []
    for team, place in standing.rows:
        values = [None if team in view.unseen else scores[team][column.key] for column in columns]
        figures = ["" if v is None else f"{v:.{c.decimals}f}" for v, c in zip(values, columns, strict=True)]
        rows.append([place, team, *figures])
    return {"title": title, "header": ["Rank", "Team", *(column.title for column in columns)], "rows": rows}
