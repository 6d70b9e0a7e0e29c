"""A bundle, opened so that submissions can be run: unpacked, its competition.yaml read, its files there.

Whether the platform would accept the bundle is `gen-bundle check`'s question. Both start from the same reader,
`gen_bundle.codabench`, so that a bundle that the check calls sound can be run here. Only what a run needs must be
there.
"""

import datetime as dt
import json
import re
import shlex
import zipfile
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gen_bundle.codabench.competition import TASK_FILES, Competition, Phase, Task
from gen_bundle.codabench.reading import YAML_NAME, CompetitionYaml, no_yaml
from gen_bundle.codabench.settings import Text, check_top, declared_fields
from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.yaml_document import UnreadableYamlError, dotted, read_yaml
from gen_bundle.ground.zips.unpacking import BUNDLE, ArchiveError, unpack
from scoring_kit.base.submissions import UNREADABLE

PROGRAM_JSON = "program.json"
A_LIST = "expected a list with at least one mapping"
_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def open_bundle(bundle: Path, into: Path) -> Path:
    """Return the bundle as a folder: a folder itself, or a zip unpacked into `into`.

    Raises:
        UserError: It is neither, or not safe to unpack.
    """
    if bundle.is_dir():
        return bundle
    if not bundle.is_file():
        raise UserError(f"{bundle}: no such bundle; expected a bundle's zip or unpacked folder")
    try:
        unpack(bundle, into, BUNDLE)
    except ArchiveError as error:
        raise UserError(f"{bundle}: not unpacked. {error}") from error
    return into


def read_competition(folder: Path, version: PlatformVersion = NEWEST) -> Competition:
    """Return the competition that a version of the platform makes of an unpacked bundle.

    Its files are named by where they lie, and its phases and tasks have ids that can name folders.

    Raises:
        UserError: competition.yaml, or what a run needs of it, is missing or wrong; all that was found.
    """
    declared = _declared(folder, version)
    problems = [*_wrong_structure(declared), *_wrong_fields(declared), *_missing_files(declared, folder)]
    if problems:
        raise UserError(*(f"{YAML_NAME}: {problem}" for problem in problems))
    return _opened(declared.competition, folder)


def _declared(folder: Path, version: PlatformVersion) -> CompetitionYaml:
    file = folder / YAML_NAME
    if not file.is_file():
        near = [*folder.glob("*"), *folder.glob("*/*")]
        raise UserError(no_yaml(folder, (path.relative_to(folder).as_posix() for path in near)))
    try:
        declared = CompetitionYaml(dt.datetime.now(dt.UTC), read_yaml(file.read_bytes()), version)
    except UnreadableYamlError as error:
        raise UserError(f"{error.place(YAML_NAME)}: {error}") from error
    check_top(declared)
    if declared.version != "2":
        raise UserError(
            f"{YAML_NAME}: version {declared.yaml.get('version', 'missing')!r}, expected 2; "
            "make a project of a CodaLab 1.5 bundle with 'gen-bundle import' first, and build that"
        )
    return declared


def _wrong_structure(declared: CompetitionYaml) -> Iterator[str]:
    """Lists that are none, and indexes that meet nothing."""
    for name in ("tasks", "phases", "leaderboards"):
        if not declared.entries(name):
            yield f"{name}: {A_LIST}"
    if declared.entries("leaderboards") and not declared.entries("leaderboards", 0, "columns"):
        yield f"leaderboards[0].columns: {A_LIST}"
    indexes: list[Hashable] = []
    for task in declared.entries("tasks"):
        index = task.value.get("index", [])
        if not isinstance(index, Hashable):
            yield f"tasks[{task.position}].index: expected a number"
        elif index in indexes:
            yield f"tasks: the index {index!r} comes twice"
        else:
            indexes.append(index)
        if "key" in task.value:
            yield f"tasks[{task.position}].key: a task of the server; a dry run needs the task's own files"
    for entry in (*declared.entries("phases"), *declared.entries("solutions")):
        yield from _unknown_tasks(f"{dotted(entry.at)}.tasks", entry.get("tasks"), indexes)
    try:
        sorted(phase.value.get("index", 0) for phase in declared.entries("phases"))
    except TypeError:
        yield "phases: the indexes cannot be compared with each other"


def _unknown_tasks(where: str, named: Any, indexes: Sequence[Hashable]) -> Iterator[str]:
    if not isinstance(named, (list, dict, str, set)):
        yield f"{where}: expected a list of the tasks' indexes"
        return
    for index in named:
        if index not in indexes:
            yield f"{where}: no task has the index {index!r}"


def _wrong_fields(declared: CompetitionYaml) -> Iterator[str]:
    """Numbers, truth values and choices that are none; texts are shown as they are, but for a column's key."""
    for field in declared_fields(declared):
        if field.at[0] not in ("tasks", "phases", "leaderboards", "docker_image", "enable_detailed_results"):
            continue
        needed = not isinstance(field.kind, Text) or field.at[-2:-1] == ("columns",) or field.at[-1] == "key"
        if needed and field.refused:
            yield f"{dotted(field.at)} {field.refused[1]}"


def _missing_files(declared: CompetitionYaml, folder: Path) -> Iterator[str]:
    for task in declared.competition.tasks:
        if task.file("scoring_program") is None:
            yield f"{dotted((*task.at, 'scoring_program'))}: is missing"
        for role in TASK_FILES:
            path = task.file(role)
            if path is not None and (problem := _missing(folder, path)):
                yield f"{dotted((*task.at, role))}: {problem}"
    for solution in declared.competition.solutions:
        if problem := _missing(folder, solution.path):
            yield f"{dotted(solution.at)}: {problem}"


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
    if there:
        return None
    if value.endswith(".zip") and (folder / value.removesuffix(".zip")).is_dir():
        pack = f"gen-bundle check {shlex.quote(str(folder))} --pack bundle.zip"
        return f"{value!r} is not packed yet, its folder is there. Pack the bundle: {pack}"
    return f"{value!r} is not in the bundle (a dataset's key works on the server alone)"


def _opened(read: Competition, folder: Path) -> Competition:
    """The competition with its files' places and ids for folders.

    A task's id is the same in all phases, and different from those of the other tasks of each.
    """
    phase_ids = _ids(read.phases, [range(len(read.phases))])
    order = [task.at for task in read.tasks]
    together = []
    for phase in read.phases:
        together.append(sorted(order.index(task.at) for task in phase.tasks))
    task_ids = _ids(read.tasks, together)
    tasks = []
    for task, task_id in zip(read.tasks, task_ids, strict=True):
        files = {role: replace(use, path=folder / use.path) for role, use in task.files.items() if use.path is not None}
        tasks.append(replace(task, id=task_id, files=files))
    phases = []
    for phase, phase_id, places in zip(read.phases, phase_ids, together, strict=True):
        phases.append(replace(phase, id=phase_id, tasks=tuple(tasks[place] for place in places)))
    solutions = tuple(replace(solution, path=folder / solution.path) for solution in read.solutions)
    return read._replace(tasks=tuple(tasks), phases=tuple(phases), solutions=solutions)


def _ids(named: Sequence[Phase | Task], groups: Sequence[Sequence[int]]) -> list[str]:
    """Names for folders: the `id` keys where all are usable, else the indexes, else the positions.

    `groups` are positions whose names must differ: for example the tasks of one phase.
    """
    for key in ("id", "index"):
        names, usable = [], True
        for one in named:
            name = getattr(one, key)
            names.append(str(name))
            usable = usable and name is not None and _SAFE_ID.fullmatch(str(name)) is not None
        for group in groups:
            usable = usable and len({names[place] for place in group}) == len(group)
        if usable:
            return names
    return [str(one) for one in range(len(named))]


def column_owners(phase: Phase) -> dict[str, str]:
    """Column → the task that fills it, in a phase of several tasks and as far as their programs say so."""
    owners: dict[str, str] = {}
    for task in phase.tasks if len(phase.tasks) > 1 else ():
        owners |= dict.fromkeys(_own_columns(task), task.id)
    return owners


def program_description(task: Task) -> Any:
    """Return what `program.json` of a task's scoring program holds; an empty mapping of a program that is not ours."""
    program: Path = task.file("scoring_program")
    try:
        if program.is_dir():
            return json.loads((program / PROGRAM_JSON).read_bytes())
        with zipfile.ZipFile(program) as opened:
            return json.loads(opened.read(PROGRAM_JSON))
    except (KeyError, *UNREADABLE):
        return {}


def _own_columns(task: Task) -> list[str]:
    """Keys of the columns that a task's own program fills, as it says; none for one that is not ours.

    In layout `tasks` every program writes all columns, those of other tasks at their worst.
    """
    content = program_description(task)
    try:
        return [str(column["key"]) for column in content["columns"] if column["task"] in content["tasks"]]
    except (KeyError, TypeError):
        return []
