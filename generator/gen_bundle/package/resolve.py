"""A declaration and what was asked for on the command line → what is to be built."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gen_bundle.competitions import known_competitions
from gen_bundle.declaration import model
from gen_bundle.declaration.declared import DECLARED
from gen_bundle.declaration.declared.remarks import remarks
from gen_bundle.declaration.inside import TAKEN, leads_outside
from gen_bundle.declaration.overrides import nearest
from gen_bundle.declaration.read import FILE, read_competition, read_with_places
from gen_bundle.errors import UserError
from gen_bundle.package.client import ScoringPackage, find_package

# What a hub's model name never begins with.
PATH_STARTS = ("/", "./", "../", "~/")


@dataclass(frozen=True)
class Part:
    """What one scoring program scores, one Codabench task a phase: all tasks together (`joint`), or a single one."""

    id: str
    name: str
    tasks: tuple[model.Task, ...]

    @property
    def task_ids(self) -> list[str]:
        return [task.id for task in self.tasks]


@dataclass(frozen=True)
class Resolved:
    """A competition with layout and options applied.

    Attributes:
        name: short name: that of its folder.
        folder: where bundle.yaml lies.
        data: where its data lie: a folder a phase, `public/`, `baselines/`.
        declaration: bundle.yaml, overrides put in.
        package: its scoring package.
        tasks: those of this bundle (all, or one in layout `separate`).
        parts: the Codabench tasks of a phase that has all tasks.
        options: options as the scoring programs get them: model folders absolute, files by their place in the program.
        program_files: files that travel inside the programs (place in the program → file).
        notes: what the organiser should know about the options.
    """

    name: str
    folder: Path
    data: Path
    declaration: model.Competition
    package: ScoringPackage
    tasks: tuple[model.Task, ...]
    parts: tuple[Part, ...]
    options: Mapping[str, Any]
    program_files: Mapping[str, Path]
    notes: tuple[str, ...]

    @property
    def layout(self) -> model.Layout:
        return self.declaration.layout

    @property
    def takes_code(self) -> bool:
        """Whether participants hand in code, which an ingestion program runs."""
        return self.declaration.submission.kind == "code"

    @property
    def all_task_ids(self) -> list[str]:
        return [task.id for task in self.declaration.tasks]

    @property
    def columns(self) -> list[tuple[model.Task, model.Column]]:
        """The leaderboard's columns in order, each with its task."""
        return [(task, column) for task in self.tasks for column in task.columns]

    @property
    def public_options(self) -> dict[str, Any]:
        """The options as participants may read them: of a folder on the organisers' machines only its name."""
        return {key: _without_path(value) for key, value in self.options.items()}

    @property
    def phases(self) -> list[model.Phase]:
        """The phases of this bundle: those that have one of its tasks."""
        return [phase for phase in self.declaration.phases if self.tasks_of(phase)]

    @property
    def tie_break(self) -> list[str] | None:
        """Keys of this bundle's columns that order equal scores; None: those that follow, as on the platform."""
        declared = self.declaration.leaderboard
        here = {column.key for _, column in self.columns}
        return [key for key in declared.tie_break if key in here] if declared.ties == "equal" else None

    def tasks_of(self, phase: model.Phase) -> tuple[model.Task, ...]:
        return tuple(task for task in self.tasks if phase.tasks is None or task.id in phase.tasks)

    def parts_of(self, phase: model.Phase) -> tuple[Part, ...]:
        """The Codabench tasks of a phase, each with the tasks that the phase has."""
        own = self.tasks_of(phase)
        cut = [replace(part, tasks=tuple(task for task in part.tasks if task in own)) for part in self.parts]
        return tuple(part for part in cut if part.tasks)

    def tasks_of_data(self, data_id: str) -> tuple[model.Task, ...]:
        """This bundle's tasks in the phases that use a phase's data."""
        users = [phase for phase in self.phases if phase.data_id == data_id]
        return tuple(task for task in self.tasks if any(task in self.tasks_of(phase) for phase in users))

    def only(self, task_id: str) -> "Resolved":
        """The bundle of a single task (layout `separate`)."""
        (task,) = (task for task in self.tasks if task.id == task_id)
        return replace(self, tasks=(task,), parts=(Part(task.id, task.name, (task,)),))


def find_competition(name_or_folder: str) -> Path:
    """The folder of a competition: a folder with bundle.yaml, or the name of one that is installed.

    Raises:
        UserError: neither, which names the nearest competition; or a name that several competitions have.
    """
    folder = Path(name_or_folder).expanduser()
    if (folder / FILE).is_file():
        return folder.resolve()
    known = known_competitions()
    if name_or_folder in known:
        if known[name_or_folder].fault:
            raise UserError(known[name_or_folder].fault)
        return known[name_or_folder].folder
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
    notes, overrides = _settled_rule(folder, layout, overrides)
    declaration, option_places = read_with_places(folder, overrides, layout)
    package = find_package(declaration.scoring_program or folder.name, folder)
    own_modules = declaration.scoring_program != DECLARED
    missing = [
        task.id for task in declaration.tasks if own_modules and not (package.folder / f"{task.id}.py").is_file()
    ]
    if missing:
        raise UserError(
            *(f"tasks.{name}: no module {name}.py in the scoring package {package.folder}." for name in missing)
        )
    if data is not None and not data.is_dir():
        raise UserError(
            f"--data {data}: {'is a file' if data.exists() else 'no such folder'}. Expected one folder per phase in it."
        )
    options, files, placed = _place_files(declaration.options, folder)
    asked = tuple(f"{override.partition('=')[0]}." for override in overrides)
    declared = [path for option, path in files.values() if not f"{option}.".startswith(asked)]
    if outside := _outside(folder, declaration, declared, own_data=data is not None):
        raise UserError(*outside)
    return Resolved(
        name=declaration.name or folder.name,
        folder=folder,
        data=(data or folder / "data").resolve(),
        declaration=declaration,
        package=replace(package, option_places=option_places),
        tasks=tuple(declaration.tasks),
        parts=_parts(declaration),
        options=options,
        program_files={place: path for place, (_, path) in files.items()},
        notes=(*notes, *placed, *_worst_notes(declaration), *_rank_notes(declaration), *_remarks(declaration)),
    )


def _outside(folder: Path, declaration: model.Competition, option_files: list[Path], *, own_data: bool) -> list[str]:
    """What a competition's folder would publish of the rest of the machine."""
    files = [declaration.logo, declaration.terms, *(page.file for page in declaration.pages), *map(str, option_files)]
    outside = leads_outside(folder, files, [name for name in TAKEN if name != "data" or not own_data])
    if outside and folder in [known.folder for known in known_competitions().values()]:
        return []  # some installers put links in place of a package's files
    return outside


def _settled_rule(folder: Path, layout: str | None, overrides: tuple[str, ...]) -> tuple[list[str], tuple[str, ...]]:
    """`--layout tasks` for a competition declared otherwise: its rule `last` or `best` gives way to `all`, with a note.

    Codabench would keep the scores of one task alone. A rule given by --set gets an error instead.
    """
    asked = any(override.startswith("submission_rule=") for override in overrides)
    if layout != "tasks" or asked or (declared := read_competition(folder, overrides)).layout == "tasks":
        return [], overrides
    if declared.submission_rule not in ("last", "best"):
        return [], overrides
    note = (
        f"submission_rule: {declared.submission_rule} would lose the scores of all tasks but one in layout tasks; "
        "the board lists all submissions instead (all)."
    )
    return [note], (*overrides, "submission_rule=all")


def _worst_notes(declaration: model.Competition) -> list[str]:
    """Columns whose `worst` may be meant as the best score: what is worse is not written."""
    return [
        f"tasks.{task.id}.columns.{column.key}.worst: {'lower' if column.sort == 'asc' else 'higher'} is better, and "
        f"every score that is worse than {column.worst:g} is written as {column.worst:g}. Make sure that it is the "
        "worst score that there can be."
        for task in declaration.tasks
        for column in task.columns
        if column.worst is not None and (column.worst <= 0 if column.sort == "asc" else column.worst >= 1)
    ]


def _remarks(declaration: model.Competition) -> list[str]:
    return list(remarks(declaration.options)) if declaration.scoring_program == DECLARED else []


def _rank_notes(declaration: model.Competition) -> list[str]:
    """Phases whose board the primary column cannot order."""
    first = declaration.tasks[0]
    return [
        f"phases.{phase.id}.tasks: without {first.id}, whose {first.columns[0].key} ranks: it is "
        f"{first.columns[0].worst:g} on every row of this phase, and the next columns order its board."
        for phase in declaration.phases
        if declaration.layout != "separate"
        and phase.tasks is not None
        and first.id not in phase.tasks
        and first.columns[0].worst is not None
    ]


def _parts(declaration: model.Competition) -> tuple[Part, ...]:
    if declaration.layout == "joint":
        return (Part("joint", declaration.title, tuple(declaration.tasks)),)
    return tuple(Part(task.id, task.name, (task,)) for task in declaration.tasks)


def _place_files(
    options: Mapping[str, Any], folder: Path
) -> tuple[dict[str, Any], dict[str, tuple[str, Path]], list[str]]:
    """Options that name folders become absolute; named files are copied into the programs as `files/NAME`.

    A second file of that name comes to lie in a folder of its own. Each file comes with the option that names it.
    """
    files: dict[str, tuple[str, Path]] = {}
    notes: list[str] = []

    def place(values: Mapping[str, Any], trail: str) -> dict[str, Any]:
        placed: dict[str, Any] = {}
        for key, value in values.items():
            here = f"{trail}.{key}"
            if isinstance(value, Mapping):
                placed[key] = place(value, here)
                continue
            path = _existing(value, folder)
            if path is None and isinstance(value, str) and value.startswith(PATH_STARTS):
                placed[key] = str(Path(value).expanduser().absolute())
                notes.append(
                    f"{here}: there is no {placed[key]} on this machine. The folder must exist, at this very path, "
                    "where the program runs."
                )
            elif path is None:
                placed[key] = value
            elif path.is_dir():
                placed[key] = str(path)
                notes.append(f"{here}: the folder {path} must exist, at this very path, where the program runs.")
            else:
                name = f"files/{path.name}"
                if name in files and files[name][1] != path:
                    name = f"files/{len(files) + 1}/{path.name}"
                placed[key] = name
                files.setdefault(name, (here, path))
        return placed

    return place(options, "options"), files, notes


def _without_path(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_path(inner) for key, inner in value.items()}
    return Path(value).name if isinstance(value, str) and Path(value).is_absolute() else value


def _existing(value: Any, folder: Path) -> Path | None:
    """The file or folder that an option names, if its text looks like a path at all (`published` does not)."""
    if not isinstance(value, str) or "\0" in value or not ("/" in value or Path(value).suffix):
        return None
    for path in (folder / value, Path(value).expanduser()):
        if path.exists():
            return path.resolve()
    return None
