"""The final ranking over all participants: by default one ranking for each task, by the task's first column.

Served by every scoring package as the organiser's verb `rank`; a package with a rule of its own serves that instead.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from scoring_kit.board import (
    TEAM,
    RankingView,
    Scores,
    Standing,
    board,
    read_scores,
    task_standing,
    written_scores,
)
from scoring_kit.program import Program, ScoreColumn
from scoring_kit.results import TaskResult
from scoring_kit.team_results import TeamResults, score_all

HIDDEN = "(hidden)"
NOT_SCORED = "not_scored"
MOST_REASONS = 3
"""So many are in the table, for each team."""


def rank(request: Mapping[str, Any], scored: TeamResults | None = None) -> dict[str, Any]:
    """Return one ranking for each task, ties as the declaration has them.

    Args:
        request: `program`, the path of a program.json; `scores`, the path of a table of scores, or else `submissions`
            and `reference`, the folders of all submissions and of the prepared gold; what `RankingView` names; and
            `report`, as `scoring_kit.resampling.final_report` takes it, where one is wanted.
        scored: what `score_all` gives for the request, where that is known already.

    Returns:
        `teams`: a record for each team, with its columns and its rank in each task; `tables`: to be printed, each with
        `title`, `header` and `rows` of texts; `notes`: what the organisers should know; `report`, if it is wanted.
        Where submissions could not be scored, each record says why in `not_scored`.
    """
    program = Program.read(Path(request["program"]))
    if request.get("scores"):
        given = read_scores(Path(request["scores"]), program.keys)
        view = RankingView.of(request, given)
    else:
        scored = score_all(request, program) if scored is None else scored
        given = written_scores(program, scored)
        view = RankingView.of(request, scored.teams)
    scores = board(program, given, view.baselines)
    records: dict[str, dict[str, Any]] = {team: {TEAM: team, **values} for team, values in scores.items()}
    tables, notes = [], []
    for task in program.tasks:
        name, columns = program.task_names[task], program.columns_of(task)
        standing = task_standing(program, columns[0], scores, view)
        without = set()
        for team, record in records.items():
            record[f"{task}_rank"] = standing.ranks.get(team)
            in_ties = record.setdefault("tied", [])
            if team in standing.tied:
                in_ties.append(task)
            if scores[team][columns[0].key] is None:
                without.add(team)
        tables.append(_table(name, columns, scores, standing, view))
        for text in tie_notes(standing):
            notes.append(f"{name}: {text}")
        if len(without) == len(scores):
            notes.append(f"{name}: no team entered it.")
        elif named := sorted(without - view.unseen):
            notes.append(f"{name}: not ranked, without {columns[0].title}: {', '.join(named)}.")
    if scored is not None:
        notes += failed_notes(scored.results, view.unseen)
    ordered = sorted(records.values(), key=lambda record: record[TEAM] in view.hide_figures)
    answer = {"teams": shown_records(ordered, view), "tables": tables, "notes": notes}
    return with_report(with_unscored(answer, scored, view), request, program, scores, scored)


def tie_notes(standing: Standing) -> list[str]:
    """Return a sentence for each rank that is shared."""
    equal: dict[int, list[str]] = {}
    for team in sorted(standing.tied):
        equal.setdefault(standing.ranks[team], []).append(team)
    return [f"{' and '.join(teams)} share rank {place}." for place, teams in sorted(equal.items())]


def failed_notes(results: Mapping[str, Mapping[str, TaskResult]], unseen: Collection[str]) -> list[str]:
    """Return a sentence for each own function that failed on a submission, which has its worst value."""
    notes = []
    for team, own in results.items():
        if team in unseen:
            continue
        for result in own.values():
            for metric, why in result.failed.items():
                reason = f"{why.place}: {why.words}"
                notes.append(f"{team}: {metric} could not be computed ({reason}); its worst value counts.")
    return notes


def shown_records(records: Sequence[Mapping[str, Any]], view: RankingView) -> list[dict[str, Any]]:
    """Return the teams' records: none of a hidden team, and nothing but the name where figures are hidden.

    >>> shown_records([{"team": "A", "f1": 0.5}], RankingView(hide_figures=["A"]))
    [{'team': 'A', 'f1': None}]
    """
    shown = []
    for record in records:
        team = record[TEAM]
        if team in view.hide:
            continue
        if team in view.hide_figures:
            record = {**dict.fromkeys(record), TEAM: team}
        shown.append(dict(record))
    return shown


def with_unscored(answer: dict[str, Any], scored: TeamResults | None, view: RankingView) -> dict[str, Any]:
    """Return the answer with a record and a row for each submission that could not be scored, and the reasons."""
    if scored is None or not scored.unscored.keys() - view.hide:
        return answer
    fields = dict.fromkeys(answer["teams"][0]) if answer["teams"] else {}
    records = [{**record, NOT_SCORED: []} for record in answer["teams"]]
    rows = []
    for team, why in scored.unscored.items():
        if team not in view.hide:
            records.append({**fields, TEAM: team, NOT_SCORED: why})
            for text in _brief(why):
                rows.append([team, text])
    table = {"title": "Not scored", "header": ["Team", "Reason"], "rows": rows}
    return {**answer, "teams": records, "tables": [*answer["tables"], table]}


def _brief(why: Sequence[str]) -> list[str]:
    """The first reasons, and how many more there are; the records have all that were noted."""
    if len(why) <= MOST_REASONS:
        return list(why)
    more = len(why) - MOST_REASONS
    if beyond := re.search("… and ([0-9]+) more[.]$", why[-1]):
        more += int(beyond[1]) - 1
    return [*why[:MOST_REASONS], f"… and {more} more"]


def with_report(
    answer: dict[str, Any],
    request: Mapping[str, Any],
    program: Program,
    scores: Scores,
    scored: TeamResults | None,
) -> dict[str, Any]:
    """Return the answer with what the final report needs, where the request asks for it."""
    if not request.get("report"):
        return answer
    from scoring_kit.resampling.final_report import final_report  # which is in no scoring program

    everyone = scores if scored is None else [*scores, *scored.unscored]
    report = final_report(request["report"], program, scores, scored, RankingView.of(request, everyone))
    return {**answer, "report": report, "notes": [*answer["notes"], *report.pop("notes")]}


def _table(
    title: str, columns: Sequence[ScoreColumn], scores: Scores, standing: Standing, view: RankingView
) -> dict[str, Any]:
    rows = []
    for team, place in standing.rows:
        row: list[str] = [place, team]
        for column in columns:
            value, text = scores[team][column.key], ""
            if value is not None and team not in view.unseen:
                text = f"{value:.{column.decimals}f}"
            row.append(text)
        rows.append(row)
    return {"title": title, "header": ["Rank", "Team", *(column.title for column in columns)], "rows": rows}
