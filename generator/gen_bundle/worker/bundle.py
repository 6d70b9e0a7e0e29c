"""A bundle as the platform has stored it: what `competition.yaml` says that running submissions needs."""

import datetime as dt
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gen_bundle.board import Column, Leaderboard
from gen_bundle.errors import UserError
from gen_bundle.unpack import BUNDLE, ArchiveError, unpack

DEFAULT_IMAGE = "codalab/codalab-legacy:py37"
_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Task:
    """A task; each program or data is a folder or a zip.

    Attributes:
        position: Its place in the yaml's list, which is the order in which a phase's tasks run.
        id: Our `id` key, else the index; different within a phase.
    """

    position: int
    id: str
    name: str
    scoring_program: Path
    reference_data: Path | None
    input_data: Path | None
    ingestion_program: Path | None
    ingestion_only_during_scoring: bool


@dataclass(frozen=True)
class Phase:
    """A phase, in the platform's order.

    Attributes:
        id: Our `id` key, else the index.
        start: In UTC as the platform stores it; None when it cannot be read.
        end: None for endless.
        execution_time_limit: Seconds; None means the default.
    """

    id: str
    name: str
    tasks: tuple[Task, ...]
    start: dt.datetime | None
    end: dt.datetime | None
    max_submissions: int | None
    max_submissions_per_day: int | None
    execution_time_limit: int | None
    auto_migrate: bool


@dataclass(frozen=True)
class Solution:
    """An example submission of the bundle, attached to tasks by their positions."""

    path: Path
    tasks: frozenset[int]


@dataclass(frozen=True)
class Competition:
    """What a bundle becomes on the platform."""

    title: str
    image: str
    own_queue: bool
    detailed_results: bool
    phases: tuple[Phase, ...]
    solutions: tuple[Solution, ...]
    leaderboard: Leaderboard


def open_bundle(bundle: Path, into: Path) -> Path:
    """The bundle as a folder: a folder itself, or a zip unpacked into `into`.

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


def read_competition(folder: Path) -> Competition:
    """Read `competition.yaml` as the platform's unpacker does, as far as runs need it.

    Unknown keys are ignored, phases are sorted by index and only the first leaderboard counts, as in Codabench's
    `competitions/unpackers/v2.py` (commit c7dbc756). Whether the platform would accept the bundle is `gen-bundle
    check`'s question.

    Raises:
        UserError: The file or something in it that a run needs is missing or wrong; all that was found.
    """
    file = folder / "competition.yaml"
    if not file.is_file():
        raise UserError(
            f"{folder.name}: no competition.yaml at the root of the bundle (a wrapping folder is not looked into)"
        )
    try:
        content = yaml.safe_load(file.read_bytes())
    except (yaml.YAMLError, ValueError) as error:
        raise UserError(f"competition.yaml is no YAML: {error}") from error
    if not isinstance(content, dict):
        raise UserError("competition.yaml: expected a mapping at the top level")
    if str(content.get("version", 1)) != "2":
        raise UserError(
            f"competition.yaml: version {content.get('version', 'missing')!r}, expected 2; "
            "turn a CodaLab 1.5 bundle into a Codabench one with 'gen-bundle convert' first"
        )
    return _Reader(folder, content).read()


class _Reader:
    """Reads one competition.yaml and gathers every problem before it gives up."""

    def __init__(self, folder: Path, content: dict[str, Any]) -> None:
        self._folder = folder
        self._content = content
        self._problems: list[str] = []

    def read(self) -> Competition:
        content = self._content
        tasks = self._tasks()
        phases = self._phases(tasks)
        solutions = self._solutions(tasks)
        leaderboard = self._leaderboard()
        if self._problems or leaderboard is None:
            raise UserError(*self._problems)
        return Competition(
            title=str(content.get("title") or "?"),
            image=str(content.get("docker_image") or DEFAULT_IMAGE),
            own_queue=bool(content.get("queue")),
            detailed_results=bool(content.get("enable_detailed_results")),
            phases=phases,
            solutions=solutions,
            leaderboard=leaderboard,
        )

    def _items(self, key: str, *, required: bool = True) -> list[dict[str, Any]]:
        value = self._content.get(key)
        if value is None and not required:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value) or (required and not value):
            self._problems.append(f"competition.yaml: {key}: expected a list of mappings with at least one entry")
            return []
        return value

    def _tasks(self) -> dict[object, Task]:
        items = self._items("tasks")
        indexes = [item.get("index") for item in items]
        groups = [phase.get("tasks") or [] for phase in self._items("phases")]
        ids = _ids(items, indexes, [[n for n, index in enumerate(indexes) if index in group] for group in groups])
        tasks: dict[object, Task] = {}
        for position, (item, task_id) in enumerate(zip(items, ids, strict=True)):
            where = f"tasks[{position}]"
            if "index" not in item:
                self._problems.append(f"competition.yaml: {where}: 'index' is missing")
                continue
            program = self._data(item, "scoring_program", where)
            if program is None:
                if "scoring_program" not in item:
                    self._problems.append(f"competition.yaml: {where}: 'scoring_program' is missing")
                continue
            tasks[item["index"]] = Task(
                position=position,
                id=task_id,
                name=str(item.get("name", task_id)),
                scoring_program=program,
                reference_data=self._data(item, "reference_data", where),
                input_data=self._data(item, "input_data", where),
                ingestion_program=self._data(item, "ingestion_program", where),
                ingestion_only_during_scoring=bool(item.get("ingestion_only_during_scoring")),
            )
        return tasks

    def _phases(self, tasks: dict[object, Task]) -> tuple[Phase, ...]:
        items = self._items("phases")
        try:
            items = sorted(items, key=lambda item: item.get("index", 0))
        except TypeError:
            self._problems.append("competition.yaml: phases: the indexes cannot be compared with each other")
        ids = _ids(items, [item.get("index", n) for n, item in enumerate(items)], [list(range(len(items)))])
        order = list(tasks)
        phases = []
        for item, phase_id in zip(items, ids, strict=True):
            wanted = item.get("tasks") or []
            unknown = [index for index in wanted if index not in tasks]
            if unknown and not self._problems:
                self._problems.append(f"competition.yaml: phase {phase_id}: no task has the index {unknown[0]!r}")
            # The list's order is not kept: tasks run in the order of the yaml's own `tasks`.
            chosen = tuple(tasks[index] for index in order if index in wanted)
            phases.append(
                Phase(
                    id=phase_id,
                    name=str(item.get("name", phase_id)),
                    tasks=chosen,
                    start=stored_date(item.get("start")),
                    end=stored_date(item.get("end")),
                    max_submissions=_whole(item.get("max_submissions", 100)),
                    max_submissions_per_day=_whole(item.get("max_submissions_per_day", 5)),
                    execution_time_limit=_whole(item.get("execution_time_limit")),
                    auto_migrate=bool(item.get("auto_migrate_to_this_phase")),
                )
            )
        return tuple(phases)

    def _solutions(self, tasks: dict[object, Task]) -> tuple[Solution, ...]:
        solutions = []
        for position, item in enumerate(self._items("solutions", required=False)):
            path = self._data(item, "path", f"solutions[{position}]")
            if path is not None:
                attached = frozenset(tasks[index].position for index in item.get("tasks") or [] if index in tasks)
                solutions.append(Solution(path, attached))
        return tuple(solutions)

    def _leaderboard(self) -> Leaderboard | None:
        items = self._items("leaderboards")
        if not items:
            return None
        first = items[0]
        columns = first.get("columns")
        if not isinstance(columns, list) or not columns or not all(isinstance(column, dict) for column in columns):
            self._problems.append("competition.yaml: leaderboards[0].columns: expected a list with at least one column")
            return None
        missing = [
            f"columns[{n}]: {key!r}"
            for n, column in enumerate(columns)
            for key in ("key", "index")
            if key not in column
        ]
        if missing:
            self._problems.append(f"competition.yaml: leaderboards[0]: missing {', '.join(missing)}")
            return None
        return Leaderboard(
            title=str(first.get("title", "")),
            submission_rule=str(first.get("submission_rule", "Add")),
            primary_index=int(first.get("primary_index", 0)),
            columns=tuple(sorted((Column.from_yaml(column) for column in columns), key=lambda column: column.index)),
        )

    def _data(self, item: dict[str, Any], key: str, where: str) -> Path | None:
        value = item.get(key)
        if value is None:
            return None
        relative = Path(str(value))
        path = self._folder / relative
        if relative.is_absolute() or ".." in relative.parts:
            self._problems.append(
                f"competition.yaml: {where}.{key}: {value!r} leaves the bundle; give a path inside it"
            )
        elif not path.exists():
            self._problems.append(
                f"competition.yaml: {where}.{key}: {value!r} is not in the bundle "
                "(a dataset's key works on the server alone)"
            )
        else:
            return path
        return None


def stored_date(value: object) -> dt.datetime | None:
    """A date as the platform stores it, in UTC.

    What YAML itself reads as a date or timestamp loses its time of day, and the offset of a quoted text is dropped
    without converting (Codabench `unpackers/utils.py`, `get_datetime`). Only ISO texts are understood here; None for
    others.
    """
    if isinstance(value, dt.date):  # a datetime is one, too
        return dt.datetime(value.year, value.month, value.day, tzinfo=dt.UTC)
    if not isinstance(value, str):
        return None
    try:
        return dt.datetime.fromisoformat(value.strip()).replace(tzinfo=dt.UTC)
    except ValueError:
        return None


def _ids(items: list[dict[str, Any]], indexes: list[Any], groups: list[list[int]]) -> list[str]:
    """Names for folders: the `id` keys where they are usable, else the indexes, else the positions.

    Args:
        items: The mappings of competition.yaml.
        indexes: Their indexes.
        groups: Positions whose names must differ: the tasks of one phase, say.
    """
    for names in ([item.get("id") for item in items], indexes):
        texts = [str(name) for name in names]
        usable = all(name is not None and _SAFE_ID.fullmatch(text) for name, text in zip(names, texts, strict=True))
        if usable and all(len({texts[n] for n in group}) == len(group) for group in groups):
            return texts
    return [str(position) for position in range(len(items))]


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None
