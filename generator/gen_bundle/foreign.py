"""A foreign project → the files of its bundle: what was written is put down again, and what lies there packed as it is.

No program of it runs for a build, and none is looked into but by the check.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from gen_bundle.codabench.competition import TIE_BREAK
from gen_bundle.codabench.reading import YAML_NAME
from gen_bundle.declaration.foreign import (
    ForeignColumn,
    ForeignCompetition,
    ForeignPhase,
    ForeignSolution,
    ForeignTask,
)
from gen_bundle.declaration.inside import check_inside
from gen_bundle.declaration.read import FILE, read_foreign
from gen_bundle.errors import UserError
from gen_bundle.platforms.codabench import SUBMISSION_RULES, yaml_text
from gen_bundle.zips.writing import all_files, zipped

DATA = "data"
"""The folder of a project that --data replaces."""
UUID = re.compile(r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


@dataclass(frozen=True)
class ForeignProject:
    """A foreign competition and where its files lie.

    Attributes:
        name: short name: that of its folder, where it declares none.
        folder: where bundle.yaml lies.
        packed: path in bundle.yaml → where it is in the bundle, or the UUID of a data set on the server.
        sources: place in the bundle → the file or folder that is packed there.
    """

    name: str
    folder: Path
    declaration: ForeignCompetition
    packed: Mapping[str, str]
    sources: Mapping[str, Path]

    @property
    def tasks(self) -> Sequence[ForeignTask]:
        return self.declaration.tasks


def resolve_foreign(folder: Path, *, data: Path | None = None, overrides: tuple[str, ...] = ()) -> ForeignProject:
    """Read a foreign project's folder, with what the command line overrides, and find everything that is packed.

    Raises:
        UserError: everything that is wrong with the declaration; named files that are missing, or lie elsewhere.
    """
    declaration = read_foreign(folder, overrides)
    if data is not None and not data.is_dir():
        what = "is a file" if data.exists() else "no such folder"
        raise UserError(f"--data {data}: {what}. Expected what bundle.yaml names below {DATA}/.")
    packed, sources = _found(folder, data, declaration)
    named = [path for path in packed if not (data and _below_data(path))]
    check_inside(folder, [*declaration.files, *named], named)
    for name in declaration.files:
        sources[posixpath.normpath(name)] = folder / name
    return ForeignProject(declaration.name or folder.name, folder, declaration, packed, sources)


def _found(folder: Path, data: Path | None, declaration: ForeignCompetition) -> tuple[dict[str, str], dict[str, Path]]:
    """Where each named path is in the bundle, and what is packed there.

    Raises:
        UserError: paths that lead nowhere, or to the same place as another.
    """
    packed: dict[str, str] = {}
    sources: dict[str, Path] = {}
    problems: list[str] = []
    for key, path in _named_paths(declaration):
        source = _source(folder, data, path)
        packed[path] = place = posixpath.normpath(path) + (".zip" if source.is_dir() else "")
        if not source.exists():
            if not UUID.fullmatch(path):
                problems.append(f"{FILE}: {key}: no file or folder {source}. Expected what is packed there.")
        elif not sources.setdefault(place, source).samefile(source):
            problems.append(
                f"{FILE}: {key}: {source} and {sources[place]} would both be {place} in the bundle. Give one of them "
                "another name."
            )
    if problems:
        raise UserError(*dict.fromkeys(problems))
    return packed, sources


def _below_data(path: str) -> bool:
    return PurePosixPath(posixpath.normpath(path)).parts[0] == DATA


def _source(folder: Path, data: Path | None, path: str) -> Path:
    """Where a path of bundle.yaml leads to: below `data/`, into the folder given for it."""
    if data is not None and _below_data(path):
        return data.resolve() / PurePosixPath(posixpath.normpath(path)).relative_to(DATA)
    return folder / path


def _named_paths(declaration: ForeignCompetition) -> Iterator[tuple[str, str]]:
    """Everything that is packed: the key that names it, and its path."""
    for task in declaration.tasks:
        for role, path in _task_files(declaration, task).items():
            yield f"tasks.{task.id}.{role}", path
    for phase in declaration.phases:
        for role, path in _phase_files(phase).items():
            yield f"phases.{phase.id}.{role}", path
    for number, solution in enumerate(declaration.solutions):
        yield f"solutions.{number}.path", solution.path


def _task_files(declaration: ForeignCompetition, task: ForeignTask) -> dict[str, str]:
    """A task's files by the platform's own keys."""
    programs = declaration.programs_of(task)
    files = {
        "scoring_program": programs.scoring,
        "ingestion_program": programs.ingestion,
        "reference_data": task.reference_data,
        "input_data": task.input_data,
    }
    return {role: path for role, path in files.items() if path is not None and task.key is None}


def _phase_files(phase: ForeignPhase) -> dict[str, str]:
    files = {"public_data": phase.public_data, "starting_kit": phase.starting_kit}
    return {role: path for role, path in files.items() if path is not None}


def foreign_tree(project: ForeignProject) -> dict[str, bytes | Path]:
    """All files of the bundle by name: folders as zips with all that is in them, files byte for byte."""
    tree: dict[str, bytes | Path] = {YAML_NAME: yaml_text(foreign_document(project))}
    for place, source in project.sources.items():
        tree[place] = zipped(all_files(source)) if source.is_dir() else source
    return tree


def foreign_document(project: ForeignProject) -> dict[str, Any]:
    """competition.yaml as data."""
    declaration = project.declaration
    numbers = {task.id: number for number, task in enumerate(declaration.tasks)}
    document: dict[str, Any] = {
        "version": 2,
        "title": declaration.title,
        "description": declaration.description,
        "image": posixpath.normpath(declaration.logo),
        "terms": posixpath.normpath(declaration.terms),
        "registration_auto_approve": declaration.registration == "auto",
        "docker_image": declaration.image,
        "forum_enabled": declaration.forum,
        "competition_type": declaration.competition_type,
    }
    flags = [key for key, field in ForeignCompetition.model_fields.items() if field.annotation is bool]
    document |= {key: getattr(declaration, key) for key in flags if key not in ("forum", "raw")}
    optional = {
        "contact_email": declaration.contact,
        "queue": declaration.queue,
        "reward": declaration.reward,
        "fact_sheet": declaration.fact_sheet,
    }
    document |= {key: value for key, value in optional.items() if value}
    document["pages"] = [{"title": page.title, "file": posixpath.normpath(page.file)} for page in declaration.pages]
    document["tasks"] = [_task(project, *one) for one in enumerate(declaration.tasks)]
    document["solutions"] = [_solution(project, numbers, *one) for one in enumerate(declaration.solutions)]
    document["phases"] = [_phase(project, numbers, *one) for one in enumerate(declaration.phases)]
    document["leaderboards"] = [_leaderboard(declaration)]
    return document


def _task(project: ForeignProject, number: int, task: ForeignTask) -> dict[str, Any]:
    entry: dict[str, Any] = {"index": number, "id": task.id, "name": task.name}
    if task.key is not None:
        return {**entry, "key": task.key}
    if task.description:
        entry["description"] = task.description
    entry |= {role: project.packed[path] for role, path in _task_files(project.declaration, task).items()}
    if task.ingestion_only_during_scoring:
        entry["ingestion_only_during_scoring"] = True
    return entry


def _solution(
    project: ForeignProject, numbers: Mapping[str, int], number: int, solution: ForeignSolution
) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "index": number,
        "path": project.packed[solution.path],
        "tasks": [numbers[task] for task in solution.tasks],
    }
    texts = {"name": solution.name, "description": solution.description}
    return entry | {key: text for key, text in texts.items() if text}


def _phase(project: ForeignProject, numbers: Mapping[str, int], number: int, phase: ForeignPhase) -> dict[str, Any]:
    texts = {"name": phase.name, "description": phase.description, "start": phase.start, "end": phase.end}
    entry: dict[str, Any] = {"index": number, "id": phase.id}
    entry |= {key: text for key, text in texts.items() if text}
    entry |= {
        "max_submissions_per_day": phase.max_submissions_per_day,
        "max_submissions": phase.max_submissions,
        "execution_time_limit": phase.execution_time_limit,
        "auto_migrate_to_this_phase": phase.auto_migrate,
        "hide_output": phase.hide_output,
        "hide_prediction_output": phase.hide_prediction_output,
        "hide_score_output": phase.hide_score_output,
    }
    entry |= {role: project.packed[path] for role, path in _phase_files(phase).items()}
    entry["tasks"] = [numbers[task.id] for task in project.declaration.tasks_of(phase)]
    if phase.gold == "public":
        entry["gold"] = phase.gold  # the platform ignores it; the search for leaks does not
    return entry


def _leaderboard(declaration: ForeignCompetition) -> dict[str, Any]:
    board = declaration.leaderboard
    places = {column.key: _place(number, column) for number, column in enumerate(board.columns)}
    ties = {} if board.ties == "columns" else {TIE_BREAK: board.tie_break}
    return {
        "title": board.title,
        "key": board.key,
        "hidden": board.hidden,
        "submission_rule": SUBMISSION_RULES.get(declaration.submission_rule, declaration.submission_rule),
        "primary_index": board.primary_index,
        **ties,
        "columns": [_column(column, places) for column in board.columns],
    }


def _place(number: int, column: ForeignColumn) -> int:
    return number if column.index is None else column.index


def _column(column: ForeignColumn, places: Mapping[str, int]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "index": places[column.key],
        "key": column.key,
        "title": column.title,
        "sorting": column.sort,
        "precision": column.precision,
        "hidden": column.hidden,
    }
    if column.computation is not None:
        entry["computation"] = column.computation
        entry["computation_indexes"] = None if column.of is None else [places[key] for key in column.of]
    return entry
