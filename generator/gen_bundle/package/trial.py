"""Tries the scoring package on what every competition has: its columns, the empty template and the baselines.

A column's key that no metric has, a task that `entered` misspells and a scorer that fails on the template are found
here, before a participant finds them. Tasks that need a model are tried by a dry run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gen_bundle.declaration.overrides import nearest
from gen_bundle.errors import UserError
from gen_bundle.package.answers import TaskColumns, Tried
from gen_bundle.package.client import Organiser
from gen_bundle.package.phase_data import PhaseData
from gen_bundle.package.programs import write_program
from gen_bundle.package.resolve import Resolved
from gen_bundle.zips.writing import write_zip

TEMPLATE = "the template that organiser.py writes"


@dataclass(frozen=True)
class Trial:
    """What was tried.

    Attributes:
        baselines: phase id → baseline → column key → score, in the tasks that were tried and that it enters.
        notes: what could not be tried, and why.
    """

    baselines: Mapping[str, Mapping[str, Mapping[str, float]]]
    notes: Sequence[str]


def check_columns(competition: Resolved, organiser: Organiser) -> dict[str, TaskColumns]:
    """What the tasks' modules say of themselves, once the declared columns are found to be among their metrics.

    Raises:
        UserError: every column whose key is not a metric, and every task with a model that does not name its metrics.
    """
    tasks = [task.id for task in competition.tasks]
    request = {"package": competition.package.name, "tasks": tasks, "options": competition.options}
    named: dict[str, TaskColumns] = organiser.call("columns", request)
    problems: list[str] = []
    for task in competition.tasks:
        module = f"{competition.package.name}/{task.id}.py"
        metrics = named[task.id]["metrics"]
        if metrics is None and named[task.id]["needs_model"]:
            problems.append(
                f"{module}: sets NEEDS_MODEL and has no METRICS, so that a build cannot check the columns' keys. "
                'Expected METRICS = ("…", …), the names of the metrics that score returns.'
            )
        problems += [
            f"tasks.{task.id}.columns.{column.key}: {module} gives no such metric. {nearest(column.key, metrics)}"
            for column in task.columns
            if column.computation is None and column.measured is None  # the scoring program fills it
            if metrics is not None and column.key not in metrics
        ]
    if problems:
        raise UserError(*problems)
    return named


def try_out(
    competition: Resolved,
    organiser: Organiser,
    named: Mapping[str, TaskColumns],
    phases: Sequence[PhaseData],
    work: Path,
) -> Trial:
    """Score template and baselines of each phase as the packed program does, in the tasks that need no model.

    `named` is what `check_columns` gave; `phases` were prepared below the same `work` (see `prepare_phases`).

    Raises:
        UserError: everything that failed, with phase and submission.
    """
    tasks = tuple(task for task in competition.tasks if not named[task.id]["needs_model"])
    if not tasks:
        return Trial({}, ())
    problems: list[str] = []
    entered: set[str] = set()
    baselines: dict[str, dict[str, dict[str, float]]] = {}
    for data in phases:
        baselines[data.phase.id] = {}
        own = [task for task in tasks if task in competition.tasks_of(data.phase)]
        if not own:
            continue
        program = write_program(competition, own, work / "trial" / data.phase.id)
        results = {} if competition.takes_code else data.baselines
        for name, files in {TEMPLATE: data.template, **results}.items():
            submission = work / "trial" / "submission.zip"
            write_zip(submission, files)
            request = {"program": program, "phase": work / data.phase.data_id, "submission": submission}
            try:
                tried: Tried = organiser.call("trial", request)
            except UserError as error:
                where = name if name == TEMPLATE else f"baselines/{data.phase.data_id}/{name}"
                problems += [f"{data.phase.id}: {where}: {message}" for message in error.messages]
                continue
            if "missing" in tried:
                return Trial({}, (f"Neither template nor baselines were scored. {tried['missing']}",))
            entered |= set(tried["scores"])
            if name != TEMPLATE:
                baselines[data.phase.id][name] = {
                    key: score for scores in tried["scores"].values() for key, score in scores.items()
                }
    if problems:
        raise UserError(*problems)
    notes = [
        f"tasks.{task.id}: neither template nor baselines enter it, and its module names no METRICS, so that the "
        "columns' keys were not checked."
        for task in tasks
        if task.id not in entered and named[task.id]["metrics"] is None
    ]
    return Trial(baselines, notes)
