"""The verbs for the organisers of SeeDev alone: prepare and check gold, manifest, template, secrets, ranking."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scoring_kit.errors import Problems
from scoring_kit.organiser import Request, Secrets, Warned, read_reference, serve, write_empty_answers
from scoring_kit.program import Program
from scoring_kit.results import TaskResult
from scoring_kit.submission_files import copy_task_folders
from seedev2016 import reference
from seedev2016.schema import EVENT_TYPES
from seedev2016.standoff import Entity

ByType = dict[str, dict[str, float | None]]
"""Event type → measure → alternate score."""


def prepare(request: Request) -> Warned:
    """Copy the `.txt`, `.a1` and `.a2` files of the asked tasks; raises OrganiserError where a folder is missing."""
    copy_task_folders(Path(request["source"]), Path(request["out"]), request["tasks"], reference.SUFFIXES)
    return {"warnings": []}


def check_reference(request: Request) -> Warned:
    """Check the gold, and the entities against the text that they annotate; warn of a task without any event.

    Raises:
        OrganiserError: with every fault.
    """
    folder = Path(request["reference"])
    gold = read_reference(reference.read, request)
    problems = Problems()
    warnings: list[str] = []
    for task in request["tasks"]:
        if not any(gold.events[task].values()):
            warnings.append(f"{task}: no .a2 file holds an event, so that every submission gets an F1 of 0.")
        for document in reference.documents(folder, task, problems):
            text = reference.read_text(folder, f"{task}/{document}.txt", problems)
            for identifier, entity in reference.read_document_entities(folder, task, document, problems):
                where = f"{task}/{document}.a1 {identifier}"
                if any(not start < end <= len(text) for start, end in entity.fragments):
                    problems.error(where, "is outside the text", f"offsets up to {len(text)}")
                elif not _quotes(text, entity):
                    warnings.append(f"{where}: is not the text at these offsets.")
    problems.stop_organisers_if_any()
    return {"warnings": warnings}


def _quotes(text: str, entity: Entity) -> bool:
    """Whether the entity's own text is that of its fragments, however blanks and line ends are written."""
    fragments = "".join(text[start:end] for start, end in entity.fragments)
    return "".join(fragments.split()) == "".join(entity.surface.split())


def template(request: Request) -> dict[str, Any]:
    """Write an empty `.a2` file for each document: no event is predicted."""
    write_empty_answers(request, read_reference(reference.read, request).entities, ".a2", "")
    return {}


def secrets(request: Request) -> Secrets:
    """Return the events, line by line."""
    return {"files": [{"name": f"{task}/*.a2", "lines": True} for task in request["tasks"]]}


def rank(request: Mapping[str, Any]) -> dict[str, Any]:
    """One ranking for each task, that of all competitions, with the alternate scores where submissions are scored.

    These are for the organisers, who have the gold: nothing is withheld in them, however rare a type is.

    Args:
        request: as for `scoring_kit.ranking.rank`.

    Returns:
        What that returns, with a table for each task, and with `by_type`: task → team → event type → measure → value.
    """
    # Here, since a build, which does not rank, would wait for them.
    from scoring_kit import ranking
    from scoring_kit.board import RankingView
    from scoring_kit.team_results import score_all

    if not request.get("submissions"):
        return ranking.rank(request)
    program = Program.read(Path(request["program"]))
    scored = score_all(request, program)
    answer = ranking.rank(request, scored)
    unseen = RankingView.of(request, scored.teams).unseen
    answer["by_type"] = {}
    for task in program.tasks:
        scores: dict[str, ByType] = {}
        gold: dict[str, int] = {}
        for team, results in sorted(scored.results.items()):
            if task in results and team not in unseen:
                scores[team] = _by_type(task, results[task], gold)
        answer["by_type"][task] = scores
        if scores:
            answer["tables"].append(_table(program.task_names[task], gold, scores))
    return answer


def _by_type(task: str, result: TaskResult, gold: dict[str, int]) -> ByType:
    """The alternate scores of a team; `gold` gets the types of its events and of gold ones: how many gold ones."""
    scores: ByType = {event_type: {} for event_type in sorted(EVENT_TYPES[task])}
    for name, metric in result.metrics.items():
        measure, _, event_type = name.partition(".")
        if event_type:
            scores[event_type][measure] = metric.value
        if event_type and measure == "f1" and metric.rows:
            gold[event_type] = result.metrics[f"recall.{event_type}"].rows
    return scores


def _table(title: str, gold: Mapping[str, int], scores: Mapping[str, ByType]) -> dict[str, Any]:
    rows = []
    for event_type, events in sorted(gold.items()):
        figures = [f"{own[event_type]['f1']:.3f}" for own in scores.values()]
        rows.append([event_type, str(events), *figures])
    return {"title": f"{title}: F1 by event type", "header": ["Event type", "Gold", *scores], "rows": rows}


if __name__ == "__main__":
    raise SystemExit(serve(globals()))
