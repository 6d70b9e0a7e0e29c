"""The final ranking: that of all competitions, and beside it every team's F1 by event type.

The tables by type are for the organisers, who have the gold: nothing is withheld in them, however rare a type is.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from scoring_kit import ranking
from scoring_kit.program import Program
from scoring_kit.results import TaskResult
from scoring_kit.team_results import score_all
from seedev2016.schema import EVENT_TYPES


def rank(request: Mapping[str, Any]) -> dict[str, Any]:
    """One ranking for each task, with the alternate scores where submissions are scored.

    Args:
        request: as for `scoring_kit.ranking.rank`.

    Returns:
        What that returns, with a table for each task, and with `by_type`: task → team → event type → measure → value.
    """
    if not request.get("submissions"):
        return ranking.rank(request)
    program = Program.read(Path(request["program"]))
    scored = score_all(request, program)
    answer = ranking.rank(request, scored)
    results, unseen = scored.results, ranking.View.of(request, scored.teams).unseen
    answer["by_type"] = {}
    for task in program.tasks:
        scores = {
            team: _by_type(task, results[team][task])
            for team in sorted(results)
            if task in results[team] and team not in unseen
        }
        answer["by_type"][task] = scores
        if scores:
            types = _occurring(task, [results[team][task] for team in scores])
            answer["tables"].append(_table(program.task_names[task], types, scores))
    return answer


def _by_type(task: str, result: TaskResult) -> dict[str, dict[str, float | None]]:
    """Event type → measure → alternate score."""
    scores: dict[str, dict[str, float | None]] = {event_type: {} for event_type in sorted(EVENT_TYPES[task])}
    for name, metric in result.metrics.items():
        measure, _, event_type = name.partition(".")
        if event_type:
            scores[event_type][measure] = metric.value
    return scores


def _occurring(task: str, results: Sequence[TaskResult]) -> dict[str, int]:
    """The event types of gold events or of anybody's predictions, with the number of gold events."""
    return {
        event_type: results[0].metrics[f"recall.{event_type}"].rows
        for event_type in sorted(EVENT_TYPES[task])
        if any(result.metrics[f"f1.{event_type}"].rows for result in results)
    }


def _table(
    title: str, types: Mapping[str, int], scores: Mapping[str, Mapping[str, Mapping[str, float | None]]]
) -> dict[str, Any]:
    teams: Collection[str] = scores.keys()
    rows = [
        [event_type, str(gold), *(f"{scores[team][event_type]['f1']:.3f}" for team in teams)]
        for event_type, gold in types.items()
    ]
    return {"title": f"{title}: F1 by event type", "header": ["Event type", "Gold", *teams], "rows": rows}
