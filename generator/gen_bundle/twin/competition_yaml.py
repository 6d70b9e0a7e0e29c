"""Reading competition.yaml as the platform's unpacker does.

Unknown keys are ignored and only the first leaderboard counts, as in Codabench's `competitions/unpackers/v2.py` (commit
c7dbc756). Whether the platform would accept the bundle is `gen-bundle check`'s question; here only what a run needs
must be there.
"""

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from gen_bundle.codabench.dates import read_instant
from gen_bundle.codabench.leaderboard import Column, Leaderboard
from gen_bundle.codabench.yaml_document import UnreadableYamlError, is_endless, read_yaml
from gen_bundle.errors import UserError
from gen_bundle.twin.bundle import Competition, Phase, Solution, Task

FILE = "competition.yaml"
DEFAULT_IMAGE = "codalab/codalab-legacy:py37"
_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

Index = int | str


class _Mapping(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True, str_strip_whitespace=True)


class _Task(_Mapping):
    index: Index
    scoring_program: str
    id: str | None = None
    name: str = ""
    reference_data: str | None = None
    input_data: str | None = None
    ingestion_program: str | None = None
    ingestion_only_during_scoring: bool | None = None


class _Phase(_Mapping):
    tasks: list[Index]
    index: Index = 0
    id: str | None = None
    name: str = ""
    start: object = None
    end: object = None
    max_submissions: int | None = 100
    max_submissions_per_day: int | None = 5
    execution_time_limit: int | None = None
    auto_migrate_to_this_phase: bool = False


class _Solution(_Mapping):
    path: str | None = None
    tasks: list[Index] = []


class _Column(_Mapping):
    index: int
    key: str
    title: str = ""
    sorting: Literal["desc", "asc"] = "desc"
    precision: int = 2
    hidden: bool = False
    computation: Literal["avg", "sum", "min", "max"] | None = None
    computation_indexes: list[int] | None = None

    @field_validator("computation_indexes", mode="before")
    @classmethod
    def _text_is_split(cls, value: object) -> object:
        """The platform goes through a text character by character."""
        return list(value) if isinstance(value, str) else value

    def column(self) -> Column:
        inputs = frozenset(self.computation_indexes or ())
        title = self.title or self.key
        return Column(self.index, self.key, title, self.sorting, self.precision, self.hidden, self.computation, inputs)


class _Leaderboard(_Mapping):
    columns: list[_Column] = Field(min_length=1)
    title: str = ""
    primary_index: int = 0
    submission_rule: Literal[
        "Add", "Add_And_Delete", "Add_And_Delete_Multiple", "Force_Last", "Force_Latest_Multiple", "Force_Best"
    ] = "Add"

    def leaderboard(self) -> Leaderboard:
        columns = sorted((column.column() for column in self.columns), key=lambda column: column.index)
        return Leaderboard(tuple(columns), self.primary_index, self.submission_rule, self.title)


class _Competition(_Mapping):
    tasks: list[_Task] = Field(min_length=1)
    phases: list[_Phase] = Field(min_length=1)
    leaderboards: list[_Leaderboard] = Field(min_length=1)
    solutions: list[_Solution] | None = None
    title: str = ""
    docker_image: str = DEFAULT_IMAGE
    queue: str | None = None
    enable_detailed_results: bool = False


def read_competition(folder: Path) -> Competition:
    """Read an unpacked bundle's competition.yaml.

    Raises:
        UserError: The file, or what a run needs of it, is missing or wrong; all that was found.
    """
    content = _content(folder)
    try:
        told = _Competition.model_validate(content)
    except ValidationError as error:
        raise UserError(*(f"{FILE}: {_place(e['loc'])}: {e['msg']}" for e in error.errors())) from None
    problems = list(_problems(folder, told))
    if problems:
        raise UserError(*(f"{FILE}: {problem}" for problem in problems))
    tasks = _tasks(folder, told)
    return Competition(
        title=told.title,
        image=told.docker_image,
        own_queue=bool(told.queue),
        detailed_results=told.enable_detailed_results,
        phases=_phases(told, tasks),
        solutions=tuple(
            Solution(folder / solution.path, frozenset(tasks[index].position for index in solution.tasks))
            for solution in told.solutions or []
            if solution.path is not None
        ),
        leaderboard=told.leaderboards[0].leaderboard(),
    )


def stored_date(value: object) -> dt.datetime | None:
    """A date as the platform stores it, in UTC; None where there is none that it can read."""
    return read_instant(value, dt.datetime.now(dt.UTC)).moment


def _content(folder: Path) -> dict[str, Any]:
    file = folder / FILE
    if not file.is_file():
        raise UserError(f"{folder}: no {FILE} at the root of the bundle (a wrapping folder is not looked into)")
    try:
        content = read_yaml(file.read_bytes()).value
    except UnreadableYamlError as error:
        place = f":{error.line}" if error.line else ""
        raise UserError(f"{FILE}{place} {error}") from error
    if is_endless(content):
        raise UserError(f"{FILE}: its aliases (&, *) repeat each other to enormous size. Write them out.")
    if not isinstance(content, dict):
        raise UserError(f"{FILE}: expected a mapping at the top level")
    if str(content.get("version", 1)) != "2":
        raise UserError(
            f"{FILE}: version {content.get('version', 'missing')!r}, expected 2; "
            "turn a CodaLab 1.5 bundle into a Codabench one with 'gen-bundle convert' first"
        )
    return content


def _place(location: Sequence[int | str]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).lstrip(".")


def _problems(folder: Path, told: _Competition) -> Iterable[str]:
    """What no single field shows: indexes that meet nothing, files that are not there."""
    known = [task.index for task in told.tasks]
    yield from (
        f"tasks: the index {index!r} comes twice" for index in sorted({str(i) for i in known if known.count(i) > 1})
    )
    groups = [(f"phases[{n}]", phase.tasks) for n, phase in enumerate(told.phases)]
    groups += [(f"solutions[{n}]", solution.tasks) for n, solution in enumerate(told.solutions or [])]
    for where, group in groups:
        yield from (f"{where}.tasks: no task has the index {index!r}" for index in group if index not in known)
    if len({type(phase.index) for phase in told.phases}) > 1:
        yield "phases: the indexes cannot be compared with each other"
    files = [
        (f"tasks[{n}].{key}", getattr(task, key))
        for n, task in enumerate(told.tasks)
        for key in ("scoring_program", "reference_data", "input_data", "ingestion_program")
    ]
    files += [(f"solutions[{n}].path", solution.path) for n, solution in enumerate(told.solutions or [])]
    for where, value in files:
        if value is not None and (problem := _missing(folder, value)):
            yield f"{where}: {value!r} {problem}"


def _missing(folder: Path, value: str) -> str | None:
    relative = Path(value)
    if relative.is_absolute() or ".." in relative.parts:
        return "leaves the bundle; give a path inside it"
    try:
        there = (folder / relative).exists()
    except (OSError, ValueError):
        there = False
    return None if there else "is not in the bundle (a dataset's key works on the server alone)"


def _tasks(folder: Path, told: _Competition) -> dict[Index, Task]:
    positions = {task.index: position for position, task in enumerate(told.tasks)}
    groups = [[positions[index] for index in phase.tasks] for phase in told.phases]
    ids = _ids([task.id for task in told.tasks], [task.index for task in told.tasks], groups)

    def path(value: str | None) -> Path | None:
        return folder / value if value is not None else None

    return {
        task.index: Task(
            position=position,
            id=task_id,
            name=task.name or task_id,
            scoring_program=folder / task.scoring_program,
            reference_data=path(task.reference_data),
            input_data=path(task.input_data),
            ingestion_program=path(task.ingestion_program),
            ingestion_only_during_scoring=bool(task.ingestion_only_during_scoring),
        )
        for (position, task), task_id in zip(enumerate(told.tasks), ids, strict=True)
    }


def _phases(told: _Competition, tasks: dict[Index, Task]) -> tuple[Phase, ...]:
    ordered = sorted(told.phases, key=lambda phase: phase.index)
    ids = _ids([phase.id for phase in ordered], [phase.index for phase in ordered], [list(range(len(ordered)))])
    return tuple(
        Phase(
            id=phase_id,
            name=phase.name or phase_id,
            # The list's order is not kept: tasks run in the order of the yaml's own `tasks`.
            tasks=tuple(task for index, task in tasks.items() if index in phase.tasks),
            start=stored_date(phase.start),
            end=stored_date(phase.end),
            max_submissions=phase.max_submissions,
            max_submissions_per_day=phase.max_submissions_per_day,
            execution_time_limit=phase.execution_time_limit,
            auto_migrate=phase.auto_migrate_to_this_phase,
        )
        for phase, phase_id in zip(ordered, ids, strict=True)
    )


def _ids(given: Sequence[str | None], indexes: Sequence[Index], groups: Sequence[Sequence[int]]) -> list[str]:
    """Names for folders: the `id` keys where they are usable, else the indexes, else the positions.

    Args:
        given: The `id` keys.
        indexes: The indexes.
        groups: Positions whose names must differ: the tasks of one phase, say.
    """
    for names in (given, indexes):
        texts = [str(name) for name in names]
        usable = all(name is not None and _SAFE_ID.fullmatch(str(name)) for name in names)
        if usable and all(len({texts[n] for n in set(group)}) == len(set(group)) for group in groups):
            return texts
    return [str(position) for position in range(len(given))]
