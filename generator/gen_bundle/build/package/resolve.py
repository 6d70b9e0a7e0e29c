"""A declaration and what was asked for on the command line → what is to be built."""

import filecmp
import hashlib
import shlex
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from gen_bundle.build.package.client import Organiser, ScoringPackage, VerbProgress, find_package
from gen_bundle.codabench.reading import YAML_NAME
from gen_bundle.declaration import model
from gen_bundle.declaration.read import FILE, check_inside, read_declaration
from gen_bundle.declaration.scoring import DECLARED, DeclaredScoring
from gen_bundle.declaration.scoring.columns import DeclaredMetric
from gen_bundle.declaration.source import nearest
from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.local_files import file_digest, is_known, remember
from gen_bundle.ground.made_up import is_made_up
from gen_bundle.ground.resources import known_competitions
from gen_bundle.ground.zips.writing import folder_members

PATH_STARTS = ("/", "./", "../", "~/")
"""Beginnings that a hub's model name never has."""
TAKEN = ("data", "pages", "starting_kit")
"""The folders of a competition that go into its bundle; the first gives way to --data."""
CODE = (".py", ".pyc", ".so", ".pyd")
"""Endings of files that are code of a competition's own; what comes with the tool the user has chosen to run."""
EXAMPLE = "example"
"""Beside the data of a new competition: made-up data of the same shape."""


class Identified(Protocol):
    """A task, a phase or a program part."""

    @property
    def id(self) -> str: ...


def ids(things: Iterable[Identified]) -> list[str]:
    """Return the ids of tasks, phases or program parts."""
    return [one.id for one in things]


@dataclass(frozen=True)
class ProgramPart:
    """The tasks of one scoring program, one Codabench task a phase: all tasks together (`joint`), or a single one."""

    id: str
    name: str
    tasks: tuple[model.DeclaredTask, ...]

    @property
    def task_ids(self) -> list[str]:
        return ids(self.tasks)


@dataclass(frozen=True)
class Resolved:
    """A competition with layout and options applied: the value that travels through a build.

    Attributes:
        name: short name: that of its folder.
        folder: where bundle.yaml lies.
        data: where its data lie: a folder a phase, `public/`, `baselines/`.
        declaration: bundle.yaml, overrides put in.
        scoring: its declared tables and metrics, files by their place in the program.
        package: its scoring package.
        tasks: those of this bundle (all, or one in layout `separate`).
        parts: the Codabench tasks of a phase that has all tasks.
        options: options as the scoring programs get them: model folders absolute, files by their place in the program;
            with the declared tables and metrics.
        program_files: files that travel inside the programs (place in the program → file).
        notes: what the organiser should know about the options.
        organiser: the package's running process, while the competition is `opened`.
    """

    name: str
    folder: Path
    data: Path
    declaration: model.DeclaredCompetition
    scoring: DeclaredScoring
    package: ScoringPackage
    tasks: tuple[model.DeclaredTask, ...]
    parts: tuple[ProgramPart, ...]
    options: Mapping[str, Any]
    program_files: Mapping[str, Path]
    notes: tuple[str, ...]
    organiser: Organiser | None = field(default=None, compare=False)

    @contextmanager
    def opened(self, site: Path | None = None) -> Iterator["Resolved"]:
        """The competition with its package's organiser process, which answers verbs until the block ends.

        Packages in the folder `site` need not be installed.
        """
        with self.package.opened(site) as organiser:
            yield replace(self, organiser=organiser)

    def ask(self, verb: str, request: Mapping[str, Any], advance: Callable[[VerbProgress], None] | None = None) -> Any:
        """Return what the scoring package answers to a verb; raises as `Organiser.call`."""
        if self.organiser is None:
            return self.package.call(verb, request)
        return self.organiser.call(verb, request, advance or (lambda _: None))

    def request(self, tasks: Sequence[model.DeclaredTask]) -> dict[str, Any]:
        """Return what most verbs are asked with: some of the tasks, and what holds for all."""
        return {
            "tasks": ids(tasks),
            "all_tasks": self.all_task_ids,
            "layout": self.layout,
            "options": self.options,
        }

    @property
    def layout(self) -> model.Layout:
        return self.declaration.layout

    @property
    def takes_code(self) -> bool:
        """Whether participants hand in code, which an ingestion program runs."""
        return self.declaration.submission.kind == "code"

    @property
    def is_declared(self) -> bool:
        """Whether it is scored without Python of its own."""
        return self.declaration.scoring_program == DECLARED

    @property
    def all_task_ids(self) -> list[str]:
        return ids(self.declaration.tasks)

    @property
    def task_ids(self) -> list[str]:
        """Those of this bundle."""
        return ids(self.tasks)

    @property
    def columns(self) -> list[tuple[model.DeclaredTask, model.DeclaredColumn]]:
        """The leaderboard's columns in order, each with its task."""
        return [(task, column) for task in self.tasks for column in task.columns]

    @property
    def public_options(self) -> dict[str, Any]:
        """The options as participants may read them: of a folder on the organisers' machines only its name."""
        public: dict[str, Any] = _without_path(self.options)
        return public

    @property
    def phases(self) -> list[model.DeclaredPhase]:
        """The phases of this bundle: those that have one of its tasks."""
        return [phase for phase in self.declaration.phases if self.tasks_of(phase)]

    @property
    def tie_break(self) -> list[str] | None:
        """Keys of this bundle's columns that order equal scores; None: those that follow, as on the platform."""
        board = self.declaration.leaderboard
        if board.ties != "equal":
            return None
        here = [column.key for _, column in self.columns]
        return [key for key in board.tie_break if key in here]

    @cached_property
    def synthetic_phases(self) -> list[str]:
        """The phases with data of their own that hold made-up gold: of the tool, or this competition's example."""
        found = []
        for phase in self.declaration.phases:
            if phase.data is None and _holds_made_up(self.data / phase.id, self.folder / EXAMPLE / phase.id):
                found.append(phase.id)
        return found

    @property
    def data_ids(self) -> list[str]:
        """The folders of reference data that this bundle's phases use, each once."""
        return list(dict.fromkeys(phase.data_id for phase in self.phases))

    def tasks_of(self, phase: model.DeclaredPhase) -> tuple[model.DeclaredTask, ...]:
        return _in_phase(self.tasks, phase)

    def parts_of(self, phase: model.DeclaredPhase) -> tuple[ProgramPart, ...]:
        """Return the Codabench tasks of a phase, each with the tasks that the phase has."""
        parts = []
        for part in self.parts:
            if tasks := _in_phase(part.tasks, phase):
                parts.append(replace(part, tasks=tasks))
        return tuple(parts)

    def tasks_of_data(self, data_id: str) -> tuple[model.DeclaredTask, ...]:
        """This bundle's tasks in the phases that use a phase's data."""
        used: list[model.DeclaredTask] = []
        for phase in self.phases:
            if phase.data_id == data_id:
                used += self.tasks_of(phase)
        return tuple(task for task in self.tasks if task in used)

    def only(self, task_id: str) -> "Resolved":
        """Return the bundle of a single task (layout `separate`)."""
        (task,) = (task for task in self.tasks if task.id == task_id)
        return replace(self, tasks=(task,), parts=(ProgramPart(task.id, task.name, (task,)),))


def find_competition(name_or_folder: str) -> Path:
    """Return the folder of a competition: a folder with bundle.yaml, or the name of one that is installed.

    Raises:
        UserError: neither, which names the nearest competition; or a name that several competitions have.
    """
    folder = Path(name_or_folder).expanduser()
    if folder.name == FILE and folder.is_file():
        folder = folder.parent
    if (folder / FILE).is_file():
        return folder.resolve()
    known = known_competitions()
    if name_or_folder in known:
        if known[name_or_folder].fault:
            raise UserError(known[name_or_folder].fault)
        return known[name_or_folder].folder
    if (folder / YAML_NAME).is_file() or zipfile.is_zipfile(folder):
        advice = f"Make a project of it: gen-bundle import {shlex.quote(name_or_folder)}"
        raise UserError(f"{folder}: is a bundle already, and not a project with {FILE}. {advice}")
    if folder.is_dir():
        raise UserError(f"{folder}: no {FILE} in this folder.")
    what = "is a file" if folder.exists() else "no such file or folder"
    raise UserError(
        f"{name_or_folder}: {what}, and no competition has this name. {nearest(name_or_folder, list(known))} "
        f"Or give a folder that holds {FILE} (`gen-bundle new` makes one)."
    )


def resolve(
    folder: Path, *, data: Path | None = None, layout: str | None = None, overrides: tuple[str, ...] = ()
) -> Resolved:
    """Read a competition's folder and apply layout, data folder and overrides.

    Raises:
        UserError: everything that is wrong with the declaration, the overrides or the data folder's place; files of the
            competition that lie outside its folder.
    """
    read = read_declaration(folder, overrides, layout)
    declaration = read.competition
    package = _package_of(declaration, folder)
    if data is not None and not data.is_dir():
        what = "is a file" if data.exists() else "no such folder"
        raise UserError(f"--data {data}: {what}. Expected one folder per phase in it.")
    placed = _PlacedOptions(folder)
    for at, name in enumerate(declaration.scoring_files):  # first, so that each keeps its name, beside the functions
        placed.files[f"files/{name}"] = (f"scoring_files.{at}", (folder / name).resolve())
    scoring = placed.of_scoring(read.scoring)
    options = placed.put(declaration.options, "options")
    taken = TAKEN[1:] if data else TAKEN
    check_inside(folder, [*declaration.files, *placed.declared(overrides)], taken)
    notes = [*read.notes, *placed.notes, *_worst_notes(declaration), *_rank_notes(declaration), *read.scoring.remarks()]
    parts = tuple(ProgramPart(task.id, task.name, (task,)) for task in declaration.tasks)
    if declaration.layout == "joint":
        parts = (ProgramPart("joint", declaration.title, tuple(declaration.tasks)),)
    return Resolved(
        name=declaration.name or folder.name,
        folder=folder,
        data=(data or folder / "data").resolve(),
        declaration=declaration,
        scoring=scoring,
        package=replace(package, option_places=read.option_places),
        tasks=tuple(declaration.tasks),
        parts=parts,
        options={**options, **scoring.as_options()},
        program_files={place: path for place, (_, path) in placed.files.items()},
        notes=tuple(notes),
    )


def _package_of(declaration: model.DeclaredCompetition, folder: Path) -> ScoringPackage:
    """The scoring package, which has a module for each task."""
    package = find_package(declaration.scoring_program or folder.name, folder)
    missing = []
    for name in ids(declaration.tasks):
        if declaration.scoring_program != DECLARED and not (package.folder / f"{name}.py").is_file():
            missing.append(f"tasks.{name}: no module {name}.py in the scoring package {package.folder}.")
    raise_all(missing)
    return package


def _in_phase(tasks: Iterable[model.DeclaredTask], phase: model.DeclaredPhase) -> tuple[model.DeclaredTask, ...]:
    """Those of some tasks that a phase has."""
    return tuple(task for task in tasks if phase.tasks is None or task.id in phase.tasks)


class _PlacedOptions:
    """Options as programs get them: folders become absolute, and named files are copied into them as `files/NAME`.

    A second file of that name comes to lie in a folder of its own. Each file comes with the option that names it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[str, tuple[str, Path]] = {}
        self.notes: list[str] = []

    def put(self, values: Mapping[str, Any], trail: str) -> dict[str, Any]:
        placed: dict[str, Any] = {}
        for key, value in values.items():
            if isinstance(value, Mapping):
                placed[key] = self.put(value, f"{trail}.{key}")
            else:
                placed[key] = self._put_one(value, f"{trail}.{key}")
        return placed

    def of_scoring(self, scoring: DeclaredScoring) -> DeclaredScoring:
        """The files of own functions, and what options of metrics name, are placed likewise."""
        metrics: dict[str, dict[str, DeclaredMetric]] = {}
        for task, columns in scoring.metrics.items():
            metrics[task] = {}
            for key, metric in columns.items():
                trail = f"options.metrics.{task}.{key}"
                file = self._put_one(metric.file, f"{trail}.file")
                options = self.put(metric.options, f"{trail}.options")
                metrics[task][key] = replace(metric, file=file, options=options)
        return replace(scoring, metrics=metrics, checks=self.put(scoring.checks, "options.checks"))

    def _put_one(self, value: Any, trail: str) -> Any:
        path = _existing(value, self.folder)
        if path is None:
            if not (isinstance(value, str) and value.startswith(PATH_STARTS)):
                return value
            there = str(Path(value).expanduser().absolute())
            where = "The folder must exist, at this very path, where the program runs."
            self.notes.append(f"{trail}: there is no {there} on this machine. {where}")
            return there
        if path.is_dir():
            self.notes.append(f"{trail}: the folder {path} must exist, at this very path, where the program runs.")
            return str(path)
        name = f"files/{path.name}"
        if name in self.files and self.files[name][1] != path:
            name = f"files/{len(self.files) + 1}/{path.name}"
        self.files.setdefault(name, (trail, path))
        return name

    def declared(self, overrides: Iterable[str]) -> list[str]:
        """Return the files that the declaration names, not the command line."""
        asked = tuple(f"{override.partition('=')[0]}." for override in overrides)
        return [str(path) for option, path in self.files.values() if not f"{option}.".startswith(asked)]


def _existing(value: Any, folder: Path) -> Path | None:
    """The file or folder that an option names, if its text looks like a path at all (`published` does not)."""
    if not isinstance(value, str) or "\0" in value or not ("/" in value or Path(value).suffix):
        return None
    for path in (folder / value, Path(value).expanduser()):
        if path.exists():
            return path.resolve()
    return None


def _without_path(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_path(inner) for key, inner in value.items()}
    return Path(value).name if isinstance(value, str) and Path(value).is_absolute() else value


def _holds_made_up(folder: Path, example: Path) -> bool:
    """Whether a file below a folder comes with the tool, or is, byte for byte, the one of that name in the example."""
    for path in folder.rglob("*"):
        if not path.is_file() or not (size := path.stat().st_size):
            continue
        twin = example / path.relative_to(folder)
        if twin.is_file() and filecmp.cmp(path, twin, shallow=False):
            return True
        if is_made_up(path.name, size, path.read_bytes):
            return True
    return False


def _worst_notes(declaration: model.DeclaredCompetition) -> Iterator[str]:
    """Columns whose `worst` may be meant as the best score: what is worse is not written."""
    for task in declaration.tasks:
        for column in task.columns:
            worst, rises = column.worst, column.sort == "desc"
            if worst is not None and ((rises and worst >= 1) or (not rises and worst <= 0)):
                better = model.BETTER[column.sort]
                yield (
                    f"tasks.{task.id}.columns.{column.key}.worst: {better} is better, and every score that is worse "
                    f"than {worst:g} is written as {worst:g}. Make sure that it is the worst score that there can be."
                )


def _rank_notes(declaration: model.DeclaredCompetition) -> Iterator[str]:
    """Phases whose board the primary column cannot order."""
    first = declaration.tasks[0]
    column = first.columns[0]
    if declaration.layout == "separate" or column.worst is None:
        return
    for phase in declaration.phases:
        if phase.tasks is not None and first.id not in phase.tasks:
            yield (
                f"phases.{phase.id}.tasks: without {first.id}, whose {column.key} ranks: it is {column.worst:g} on "
                "every row of this phase, and the next columns order its board."
            )


def check_own_code(competition: Resolved, *, trust: bool, announce: Callable[[str], None]) -> None:
    """Say which code of the folder is about to run, once for each state of it; without `trust` let none run.

    Raises:
        UserError: without `trust`: this user has not run the folder's own code as it is now.
    """
    files, digest = _own_code(competition)
    if not files or is_known(digest):
        return
    names = set()
    for name in files:
        top, in_folder, _ = name.partition("/")
        names.add(f"./{top}{in_folder}")
    places = ", ".join(sorted(names))
    if not trust:
        raise UserError(
            f"{competition.folder}: only bundle.yaml was looked at, and nothing is wrong in it. The rest takes running "
            f"the folder's own code ({places}), which was not built here as it is now. --trust runs it."
        )
    announce(f"runs the code of {places}")
    remember(digest)


def remember_own_code(competition: Resolved) -> None:
    """The user has made it with gen-bundle."""
    _, digest = _own_code(competition)
    remember(digest)


def _own_code(competition: Resolved) -> tuple[Sequence[str], str]:
    """The names of the folder's files of code, none of what comes with the tool, and a digest of these files."""
    package = competition.package
    found = {path.name: path for path in competition.program_files.values() if path.suffix.lower() in CODE}
    if package.is_own:
        members = folder_members(package.folder, f"{package.name}/")
        found |= {name: path for name, path in members.items() if isinstance(path, Path)}
    if found and competition.folder in [known.folder for known in known_competitions().values()]:
        found = {}
    digest = hashlib.sha256()
    for name, path in sorted(found.items()):
        digest.update(f"{name} {file_digest(path)}\n".encode())
    return list(found), digest.hexdigest()
