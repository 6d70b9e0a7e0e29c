"""competition.yaml of a bundle, read as the platform reads it, as far as running submissions needs it.

Whether the platform would accept the bundle is `gen-bundle check`'s question. Both start from the same reader,
`gen_bundle.codabench`, so that a bundle that the check calls sound can be run here. Only what a run needs must be
there.
"""

import datetime as dt
import re
import shlex
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gen_bundle.codabench import competition as platform
from gen_bundle.codabench.competition import TASK_FILES, leaderboard
from gen_bundle.codabench.document import YAML_NAME
from gen_bundle.codabench.fields import Text, fault_of, fault_words
from gen_bundle.codabench.reading import ReadYaml
from gen_bundle.codabench.serializer_fields import declared_fields
from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.codabench.yaml_document import UnreadableYamlError, dotted, read_yaml
from gen_bundle.errors import UserError
from gen_bundle.twin.bundle import Competition, Phase, Solution, Task

_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def read_competition(folder: Path, platform: PlatformVersion = NEWEST) -> Competition:
    """Read an unpacked bundle's competition.yaml, as a version of the platform takes it.

    Raises:
        UserError: The file, or what a run needs of it, is missing or wrong; all that was found.
    """
    declared = _declared(folder, platform)
    problems = [*_wrong_structure(declared), *_wrong_fields(declared), *_missing_files(declared, folder)]
    if problems:
        raise UserError(*(f"{YAML_NAME}: {problem}" for problem in problems))
    read = declared.competition
    tasks = _tasks(read, folder)
    return Competition(
        title=read.title,
        image=read.image,
        own_queue=read.queue,
        detailed_results=read.detailed_results,
        phases=_phases(read, tasks),
        solutions=tuple(
            Solution(folder / str(solution.path), frozenset(tasks[index].position for index in solution.tasks))
            for solution in read.solutions
        ),
        leaderboard=leaderboard(read),
    )


def _declared(folder: Path, version: PlatformVersion) -> ReadYaml:
    file = folder / YAML_NAME
    if not file.is_file():
        is_ours = (folder / "bundle.yaml").is_file()
        build = f"gen-bundle {shlex.quote(str(folder.absolute()))} --out bundle.zip"
        hint = f"This is a declaration: build it first, {build}" if is_ours else "A wrapping folder is not looked into."
        raise UserError(f"{folder}: no {YAML_NAME} at the root of the bundle. {hint}")
    try:
        declared = ReadYaml(dt.datetime.now(dt.UTC), read_yaml(file.read_bytes()), version)
    except UnreadableYamlError as error:
        place = f":{error.line}:{error.column}" if error.line else ""
        raise UserError(f"{YAML_NAME}{place}: {error}") from error
    if not declared.yaml:
        raise UserError(f"{YAML_NAME}: expected a mapping at the top level")
    if declared.huge:
        raise UserError(f"{YAML_NAME}: its aliases (&, *) repeat each other to enormous size. Write them out.")
    if declared.version != "2":
        raise UserError(
            f"{YAML_NAME}: version {declared.yaml.get('version', 'missing')!r}, expected 2; "
            "turn a CodaLab 1.5 bundle into a Codabench one with 'gen-bundle convert' first"
        )
    return declared


def _wrong_structure(declared: ReadYaml) -> Iterator[str]:
    """Lists that are none, and indexes that meet nothing."""
    for name in ("tasks", "phases", "leaderboards"):
        if not declared.entries(name):
            yield f"{name}: expected a list with at least one mapping"
    if declared.entries("leaderboards") and not declared.entries("leaderboards", 0, "columns"):
        yield "leaderboards[0].columns: expected a list with at least one mapping"
    indexes: list[Hashable] = []
    for task in declared.entries("tasks"):
        index = task.get("index")
        if "index" not in task.value or not isinstance(index, Hashable):
            yield f"tasks[{task.position}].index: expected a number"
        elif index in indexes:
            yield f"tasks: the index {index!r} comes twice"
        else:
            indexes.append(index)
        if "key" in task.value:
            yield f"tasks[{task.position}].key: a task of the server; a dry run needs the task's own files"
    yield from _unknown_tasks(declared, "phases", indexes)
    yield from _unknown_tasks(declared, "solutions", indexes)
    try:
        sorted(phase.value.get("index", 0) for phase in declared.entries("phases"))
    except TypeError:
        yield "phases: the indexes cannot be compared with each other"


def _unknown_tasks(declared: ReadYaml, name: str, indexes: Sequence[Hashable]) -> Iterator[str]:
    for entry in declared.entries(name):
        named = entry.get("tasks")
        where = f"{name}[{entry.position}].tasks"
        if not isinstance(named, (list, dict, str, set)):
            yield f"{where}: expected a list of the tasks' indexes"
            continue
        yield from (f"{where}: no task has the index {index!r}" for index in named if index not in indexes)


def _wrong_fields(declared: ReadYaml) -> Iterator[str]:
    """Numbers, truth values and choices that are none; texts are shown as they are, but for a column's key."""
    for field in declared_fields(declared):
        if field.at[0] not in ("tasks", "phases", "leaderboards", "docker_image", "enable_detailed_results"):
            continue
        needed = not isinstance(field.kind, Text) or field.at[-2:-1] == ("columns",) or field.at[-1] == "key"
        if needed and (fault := fault_of(field.kind, field.value)):
            yield f"{dotted(field.at)} {fault_words(field.kind, fault, field.value)}"


def _missing_files(declared: ReadYaml, folder: Path) -> Iterator[str]:
    for task in declared.competition.tasks:
        if _path(task, "scoring_program") is None:
            yield f"{dotted((*task.at, 'scoring_program'))}: is missing"
        for role in TASK_FILES:
            path = _path(task, role)
            if path is not None and (problem := _missing(folder, path)):
                yield f"{dotted((*task.at, role))}: {problem}"
    for solution in declared.competition.solutions:
        if problem := _missing(folder, solution.path):
            yield f"{dotted(solution.at)}: {problem}"


def _path(task: platform.Task, role: str) -> Any:
    """What the yaml gives for a file of a task; None where it gives nothing, or null, which the check refuses."""
    return task.files[role].path if role in task.files else None


def _missing(folder: Path, value: Any) -> str | None:
    if not isinstance(value, str):
        return f"{value!r} is not a path"
    try:
        place = (folder / value).resolve()
        there = (folder / value).exists()
    except (OSError, ValueError):
        return f"{value!r} is not a path"
    if not place.is_relative_to(folder.resolve()):
        return f"{value!r} leaves the bundle; give a path inside it"
    return None if there else f"{value!r} is not in the bundle (a dataset's key works on the server alone)"


def _tasks(read: platform.Competition, folder: Path) -> Mapping[Hashable, Task]:
    order = {task.at: position for position, task in enumerate(read.tasks)}
    groups = [[order[task.at] for task in phase.tasks] for phase in read.phases]
    ids = _ids([task.id for task in read.tasks], [task.index for task in read.tasks], groups)

    def place(task: platform.Task, role: str) -> Path | None:
        path = _path(task, role)
        return None if path is None else folder / path

    return {
        task.index: Task(
            position=position,
            id=task_id,
            name=task.name,
            scoring_program=folder / _path(task, "scoring_program"),
            reference_data=place(task, "reference_data"),
            input_data=place(task, "input_data"),
            ingestion_program=place(task, "ingestion_program"),
            ingestion_only_during_scoring=task.ingestion_only_during_scoring,
        )
        for (position, task), task_id in zip(enumerate(read.tasks), ids, strict=True)
    }


def _phases(read: platform.Competition, tasks: Mapping[Hashable, Task]) -> tuple[Phase, ...]:
    ids = _ids(
        [phase.id for phase in read.phases], [phase.index for phase in read.phases], [list(range(len(read.phases)))]
    )
    return tuple(
        Phase(
            id=phase_id,
            name=phase.name,
            # The list's order is not kept: tasks run in the order of the yaml's own `tasks`.
            tasks=tuple(sorted((tasks[task.index] for task in phase.tasks), key=lambda task: task.position)),
            start=phase.start.moment,
            end=phase.end.moment,
            max_submissions=phase.in_all,
            max_submissions_per_day=phase.a_day,
            execution_time_limit=phase.limit_s,
            auto_migrate=phase.auto_migrate,
        )
        for phase, phase_id in zip(read.phases, ids, strict=True)
    )


def _ids(given: Sequence[Any], indexes: Sequence[Any], groups: Sequence[Sequence[int]]) -> list[str]:
    """Names for folders: the `id` keys where they are usable, else the indexes, else the positions.

    Args:
        given: The `id` keys.
        indexes: The indexes.
        groups: Positions whose names must differ: for example the tasks of one phase.
    """
    for names in (given, indexes):
        texts = [str(name) for name in names]
        usable = all(name is not None and _SAFE_ID.fullmatch(str(name)) for name in names)
        if usable and all(len({texts[n] for n in set(group)}) == len(set(group)) for group in groups):
            return texts
    return [str(position) for position in range(len(given))]
