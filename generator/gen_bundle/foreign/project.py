"""A foreign project → the files of its bundle: what is declared is written down, and what lies there packed as it is.

No program of it runs for a build, and none is looked into but by the check.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import time
from pathlib import Path
from typing import Any

from gen_bundle.codabench.competition import MEASURED, TIE_BREAK
from gen_bundle.codabench.reading import YAML_NAME
from gen_bundle.declaration.dates import parse_moment
from gen_bundle.declaration.foreign import (
    DATA,
    ForeignColumn,
    ForeignCompetition,
    ForeignPhase,
    ForeignSolution,
    ForeignTask,
    is_below_data,
    is_on_server,
    place_of,
    source_of,
)
from gen_bundle.declaration.read import check_inside, read_foreign
from gen_bundle.errors import UserError
from gen_bundle.platforms.codabench import (
    SUBMISSION_RULES,
    column_entry,
    milestones,
    optional_settings,
    phase_settings,
    yaml_text,
)
from gen_bundle.render.pages import page_name, rendered, terms_name
from gen_bundle.render.tables import utc
from gen_bundle.zips.writing import all_files, folder_members, write_zip

SOLUTIONS = "solutions"
PUBLIC_DATA = (f"{DATA}/public", "public")
Files = dict[str, str]
"""A key of competition.yaml → the path of what it names, beside bundle.yaml."""


@dataclass(frozen=True)
class ProjectPlaces:
    """What lies in a project's folder; below `data/` in the folder `data`, where that is given."""

    folder: Path
    data: Path | None
    declaration: ForeignCompetition

    def of_task(self, task: ForeignTask, phase: ForeignPhase | None) -> Files:
        """The files of a task in a phase; of a task that no phase has, with `phase` None, those that are given."""
        programs = self.declaration.programs_of(task, phase)
        reference, code_input = task.reference_data, task.input_data
        if phase is not None:
            phases = [other.data_id for other in self.declaration.phases]
            if "reference_data" not in task.model_fields_set:
                tasks = [other.id for other in self.declaration.tasks_of(phase)]
                reference = self._usual(f"{DATA}/{phase.data_id}", task.id, tasks)
            if "input_data" not in task.model_fields_set:
                code_input = self._usual(f"{DATA}/input", phase.data_id, phases)
        files = {
            "scoring_program": programs.scoring,
            "ingestion_program": programs.ingestion,
            "reference_data": reference,
            "input_data": code_input,
        }
        return {key: path for key, path in files.items() if path is not None}

    def of_phase(self, phase: ForeignPhase) -> Files:
        """A phase's public data and starting kit."""
        public, kit = phase.public_data, phase.starting_kit
        phases = [other.data_id for other in self.declaration.phases]
        if "public_data" not in phase.model_fields_set:
            found = [self._usual(place, phase.data_id, phases) for place in PUBLIC_DATA]
            public = next(filter(None, found), None)
        if "starting_kit" not in phase.model_fields_set:
            kit = self._usual("kits", phase.id, [other.id for other in self.declaration.phases])
        files = {"public_data": public, "starting_kit": kit}
        return {key: path for key, path in files.items() if path is not None}

    def solutions(self) -> Iterator[ForeignSolution]:
        """The example submissions: those that are declared, or all that lie in their folder."""
        if "solutions" in self.declaration.model_fields_set:
            yield from self.declaration.solutions or []
            return
        folder = self.folder / SOLUTIONS
        tasks = [task.id for task in self.declaration.tasks]
        for path in sorted(folder.iterdir()) if folder.is_dir() else []:
            if not path.name.startswith("."):
                yield ForeignSolution(path=f"{SOLUTIONS}/{path.name}", tasks=tasks, name=path.stem)

    def _usual(self, parent: str, name: str, names: Sequence[str]) -> str | None:
        """What lies in a folder under a name, or with .zip; where nothing is called by any of the names, the folder."""
        own = [path for path in (f"{parent}/{name}", f"{parent}/{name}.zip") if self._is_filled(path)]
        if own:
            return own[0]
        taken = [f"{parent}/{other}{suffix}" for other in names for suffix in ("", ".zip")]
        if any(map(self._is_filled, taken)):
            return None
        whole = [path for path in (parent, f"{parent}.zip") if self._is_filled(path)]
        return whole[0] if whole else None

    def _is_filled(self, path: str) -> bool:
        """Whether there is a file, or a folder with anything in it but what only keeps it."""
        source = source_of(self.folder, self.data, path)
        return source.is_file() or (source.is_dir() and bool(folder_members(source)))


@dataclass(frozen=True)
class PackedTask:
    """A Codabench task: a declared one, or where its files differ between phases, what it is in some of them.

    Attributes:
        phases: ids of those that have it.
        files: what it is packed with.
    """

    task: ForeignTask
    name: str
    phases: tuple[str, ...]
    files: Files


@dataclass(frozen=True)
class ForeignProject:
    """A foreign competition and where its files lie.

    Attributes:
        name: short name: that of its folder, where it declares none.
        folder: where bundle.yaml lies.
        data: its data.
        packed_tasks: Codabench's tasks.
        phase_files: what each phase is packed with, by the phase's id.
        packed: path in bundle.yaml → where it is in the bundle, or the UUID of a data set on the server.
        sources: place in the bundle → the file or folder that is packed there.
    """

    name: str
    folder: Path
    data: Path
    declaration: ForeignCompetition
    packed_tasks: Sequence[PackedTask]
    phase_files: Mapping[str, Files]
    solutions: Sequence[ForeignSolution]
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
    if data is not None:
        if not data.is_dir():
            raise UserError(f"--data {data}: is no folder. Expected what a project has below {DATA}/.")
        data = data.resolve()
    declaration = read_foreign(folder, overrides, data)
    places = ProjectPlaces(folder, data, declaration)
    tasks = [packed for task in declaration.tasks for packed in _packed_tasks(places, task)]
    phase_files = {phase.id: places.of_phase(phase) for phase in declaration.phases}
    solutions = list(places.solutions())
    paths = [solution.path for solution in solutions]
    for files in (*(one.files for one in tasks), *phase_files.values()):
        paths += files.values()
    packed, sources = _packed(places, paths)
    name = declaration.name or folder.name
    own_data = data or folder / DATA
    return ForeignProject(name, folder, own_data, declaration, tasks, phase_files, solutions, packed, sources)


def _packed(places: ProjectPlaces, paths: Sequence[str]) -> tuple[dict[str, str], dict[str, Path]]:
    """Where what paths lead to is in the bundle, and what lies there.

    Raises:
        UserError: two would be in the same place; one leads out of the project.
    """
    packed: dict[str, str] = {}
    sources: dict[str, Path] = {}
    problems = []
    for path in paths:
        source = source_of(places.folder, places.data, path)
        packed[path] = path
        if is_on_server(path, source):
            continue
        packed[path] = place = place_of(path, source)
        if not sources.setdefault(place, source).samefile(source):
            both = f"{sources[place]} and {source}"
            problems.append(f"{path}: {both} would be {place} in the bundle. Expected another name for one.")
    if problems:
        raise UserError(*dict.fromkeys(problems))
    own = [path for path in packed if places.data is None or not is_below_data(path)]
    check_inside(places.folder, [*places.declaration.files, *own], own)
    return packed, sources


def _packed_tasks(places: ProjectPlaces, task: ForeignTask) -> Iterator[PackedTask]:
    """The Codabench tasks of a declared one: one for each kind of files that its phases have."""
    if task.key is not None:
        yield PackedTask(task, task.name, tuple(phase.id for phase in places.declaration.phases_of(task)), {})
        return
    kinds: list[tuple[Files, list[ForeignPhase]]] = []
    for phase in places.declaration.phases_of(task):
        files = places.of_task(task, phase)
        alike = [phases for other, phases in kinds if other == files]
        if alike:
            alike[0].append(phase)
        else:
            kinds.append((files, [phase]))
    for files, phases in kinds or [(places.of_task(task, None), [])]:
        name = task.name
        if len(kinds) > 1:
            name = f"{name} ({', '.join(phase.name for phase in phases)})"
        yield PackedTask(task, name[:256], tuple(phase.id for phase in phases), files)


def unused_data(project: ForeignProject) -> Iterator[str]:
    """Remarks on what lies in the data and is not packed."""
    sources = project.sources.values()
    for path in sorted(project.data.iterdir()) if project.data.is_dir() else []:
        packed = any(source.is_relative_to(path) or path.is_relative_to(source) for source in sources)
        if not packed and not path.name.startswith("."):
            yield f"{path}: is not packed: nothing in bundle.yaml names it, and no phase is called so."


def foreign_tree(project: ForeignProject, work: Path) -> dict[str, bytes | Path]:
    """All files of the bundle by name: folders as zips with all that is in them, files byte for byte.

    The zips are written to the folder `work`, since data may be larger than memory.

    Raises:
        UserError: what is wrong with pages that are templates.
    """
    declaration = project.declaration
    tree: dict[str, bytes | Path] = {
        YAML_NAME: yaml_text(foreign_document(project)),
        posixpath.normpath(declaration.logo): project.folder / declaration.logo,
        **rendered(project.folder, declaration, _context(project)),
    }
    for number, (place, source) in enumerate(project.sources.items()):
        tree[place] = source
        if source.is_dir():
            tree[place] = packed = work / f"{number}.zip"
            write_zip(packed, all_files(source))
    return tree


def _context(project: ForeignProject) -> dict[str, Any]:
    """What pages that are templates may use: what is declared, as plain values."""
    declaration = project.declaration
    return {
        "competition": declaration.model_dump(),
        "name": project.name,
        "phases": [phase.model_dump() for phase in declaration.phases],
        "milestones": [milestone.model_dump() for milestone in declaration.milestones],
        "tasks": [task.model_dump() for task in declaration.tasks],
        "columns": [column.model_dump() for column in declaration.columns],
    }


def foreign_document(project: ForeignProject) -> dict[str, Any]:
    """competition.yaml as data."""
    declaration = project.declaration
    document: dict[str, Any] = {
        "version": 2,
        "title": declaration.title,
        "description": declaration.description,
        "image": posixpath.normpath(declaration.logo),
        "terms": terms_name(declaration),
        "registration_auto_approve": declaration.registration == "auto",
        "docker_image": declaration.image,
        "forum_enabled": declaration.forum,
        "competition_type": declaration.competition_type,
    }
    flags = [key for key, field in ForeignCompetition.model_fields.items() if field.annotation is bool]
    document |= {key: getattr(declaration, key) for key in flags if key not in ("forum", "raw")}
    document |= optional_settings(declaration)
    pages = [{"title": page.title, "file": page_name(declaration, page.file)} for page in declaration.pages]
    document |= {
        "pages": pages,
        "tasks": [_task(project, *one) for one in enumerate(project.packed_tasks)],
        "solutions": [_solution(project, *one) for one in enumerate(project.solutions)],
        "phases": [_phase(project, *one) for one in enumerate(declaration.phases)],
        "leaderboards": [_leaderboard(declaration)],
    }
    return document | milestones(declaration)


def _task(project: ForeignProject, number: int, packed: PackedTask) -> dict[str, Any]:
    task = packed.task
    entry: dict[str, Any] = {"index": number, "id": task.id, "name": packed.name}
    if task.key is not None:
        return {**entry, "key": task.key}
    if task.description:
        entry["description"] = task.description
    entry |= {key: project.packed[path] for key, path in packed.files.items()}
    if task.ingestion_only_during_scoring:
        entry["ingestion_only_during_scoring"] = True
    return entry


def _solution(project: ForeignProject, number: int, solution: ForeignSolution) -> dict[str, Any]:
    tasks = [at for at, packed in enumerate(project.packed_tasks) if packed.task.id in solution.tasks]
    entry: dict[str, Any] = {"index": number, "path": project.packed[solution.path], "tasks": tasks}
    texts = {"name": solution.name, "description": solution.description}
    return entry | {key: text for key, text in texts.items() if text}


def _phase(project: ForeignProject, number: int, phase: ForeignPhase) -> dict[str, Any]:
    texts = {
        "name": phase.name,
        "description": phase.description,
        "start": platform_date(phase.start, time(0, 0, 0)),
        "end": phase.end and platform_date(phase.end, time(23, 59, 59)),
    }
    entry: dict[str, Any] = {"index": number, "id": phase.id}
    entry |= {key: text for key, text in texts.items() if text}
    entry |= phase_settings(phase)
    entry |= {key: project.packed[path] for key, path in project.phase_files[phase.id].items()}
    entry["tasks"] = [at for at, packed in enumerate(project.packed_tasks) if phase.id in packed.phases]
    if phase.gold == "public":
        entry["gold"] = phase.gold  # the platform ignores it; the search for leaks does not
    return entry


def platform_date(text: str, date_alone: time) -> str:
    """A date as the platform is to read it: in UTC where it has a zone as in other declarations, else as written."""
    try:
        return utc(parse_moment(text, date_alone))
    except ValueError:
        return text


def _leaderboard(declaration: ForeignCompetition) -> dict[str, Any]:
    board = declaration.leaderboard
    places = {column.key: _place(number, column) for number, column in enumerate(declaration.columns)}
    ties = {} if board.ties == "columns" else {TIE_BREAK: board.tie_break}
    return {
        "title": board.title,
        "key": board.key,
        "hidden": board.hidden,
        "submission_rule": SUBMISSION_RULES.get(declaration.submission_rule, declaration.submission_rule),
        "primary_index": board.primary_index,
        **ties,
        "columns": [_column(column, places) for column in declaration.columns],
    }


def _place(number: int, column: ForeignColumn) -> int:
    return number if column.index is None else column.index


def _column(column: ForeignColumn, places: Mapping[str, int]) -> dict[str, Any]:
    entry = column_entry(places[column.key], column, places)
    if column.measured is not None:
        entry[MEASURED] = column.measured
    return entry
