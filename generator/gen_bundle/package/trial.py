"""Tries the scoring package on what every competition has: its columns, the empty template and the baselines.

A column's key that no metric has, a task that `entered` misspells and a scorer that fails on the template are found
here, before a participant finds them. Tasks that need a model are tried by a dry run.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gen_bundle.declaration.model import Task
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
    """Score template and baselines of each phase with every program of the layout, in the tasks that need no model.

    `named` is what `check_columns` gave; `phases` are prepared, and `work` is a folder for what is tried.

    Raises:
        UserError: everything that failed, with phase and submission.
    """
    tasks = [task for task in competition.tasks if not named[task.id]["needs_model"]]
    submission = work / "submission.zip"
    problems: list[str] = []
    entered: set[str] = set()
    baselines: dict[str, dict[str, dict[str, float]]] = {data.phase.id: {} for data in phases}
    for data, reference, program in _programs(competition, tasks, phases, work):
        results = {} if competition.takes_code else data.baselines
        for name, files in {TEMPLATE: data.template, **results}.items():
            write_zip(submission, files)
            try:
                request = {"program": program, "phase": reference.parent, "submission": submission}
                tried: Tried = organiser.call("trial", {**request, "is_template": name == TEMPLATE})
            except UserError as error:
                where = name if name == TEMPLATE else f"baselines/{data.phase.data_id}/{name}"
                problems += [f"{data.phase.id}: {where}: {message}" for message in error.messages]
                continue
            if "missing" in tried:
                return Trial({}, (f"Neither template nor baselines were scored. {tried['missing']}",))
            entered |= set(tried["scores"])
            for scores in tried["scores"].values() if name != TEMPLATE else ():
                baselines[data.phase.id].setdefault(name, {}).update(scores)
    if problems:
        raise UserError(*dict.fromkeys(problems))
    return Trial(baselines if tasks else {}, [_not_tried(task) for task in tasks if _is_untried(task, named, entered)])


def _programs(
    competition: Resolved, tasks: Sequence[Task], phases: Sequence[PhaseData], work: Path
) -> Iterator[tuple[PhaseData, Path, Path]]:
    """Each program of each phase, with those of its tasks that are tried, and its reference data."""
    for data in phases:
        for part in competition.parts_of(data.phase):
            own = [task for task in part.tasks if task in tasks]
            if own:
                program = write_program(competition, own, work / "trial" / data.phase.id / part.id)
                yield data, data.references[part.id], program


def _is_untried(task: Task, named: Mapping[str, TaskColumns], entered: Collection[str]) -> bool:
    return task.id not in entered and named[task.id]["metrics"] is None


def _not_tried(task: Task) -> str:
    return (
        f"tasks.{task.id}: neither template nor baselines enter it, and its module names no METRICS, so that the "
        "columns' keys were not checked."
    )
