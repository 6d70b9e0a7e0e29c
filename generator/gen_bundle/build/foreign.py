"""A foreign project → the files of its bundle: what is declared is written down, and what lies there packed as it is.

No program of it runs for a build, and none is looked into but by the check.
"""

import hashlib
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import time
from pathlib import Path
from typing import Any, NamedTuple

from gen_bundle.build.package.resolve import ids
from gen_bundle.build.platforms.codabench import (
    SUBMISSION_RULES,
    column_entry,
    milestones,
    optional_settings,
    phase_entry,
    settings,
    yaml_text,
)
from gen_bundle.build.render.pages import page_name, rendered, terms_name
from gen_bundle.codabench.competition import MEASURED, TIE_BREAK
from gen_bundle.codabench.dates import utc
from gen_bundle.codabench.reading import YAML_NAME
from gen_bundle.codabench.settings import SETTINGS
from gen_bundle.declaration.dates import parse_moment
from gen_bundle.declaration.read import check_inside, read_foreign
from gen_bundle.declaration.ready_programs import (
    DATA,
    ForeignCompetition,
    ForeignPhase,
    ForeignSolution,
    ForeignTask,
    is_below_data,
    is_on_server,
    place_of,
    source_of,
)
from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.local_files import file_digest
from gen_bundle.ground.zips.writing import all_files, folder_members, write_zip
from scoring_kit.base.submissions import is_junk

SOLUTIONS = "solutions"
ORIGINAL = "original"
"""The folder of an imported project with what it was made of, and the digest of what was made."""
DIGEST = "project.sha256"
Files = dict[str, str]
"""A key of competition.yaml → where in the bundle that is what it names."""
PackedTask = tuple[dict[str, Any], list[ForeignPhase]]
"""A task of competition.yaml, and the phases that have it."""


class ForeignProject(NamedTuple):
    """A foreign competition and where its files lie.

    Attributes:
        name: short name: that of its folder, where it declares none.
        folder: where bundle.yaml lies.
        data: its data.
        packed_tasks: Codabench's tasks, with where their files are in the bundle.
        solutions: the example submissions, each with where it is in the bundle.
        phase_files: of each phase: where its public data and starting kit are in the bundle.
        sources: place in the bundle → the file or folder that is packed there.
    """

    name: str
    folder: Path
    data: Path
    declaration: ForeignCompetition
    packed_tasks: Sequence[PackedTask]
    solutions: Sequence[tuple[ForeignSolution, str]]
    phase_files: Sequence[Files]
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
    packing = _Packing(folder, data, declaration)
    tasks = list(packing.tasks())
    solutions = [(solution, packing.place(solution.path)) for solution in packing.solutions()]
    phase_files = [packing.of_phase(phase) for phase in declaration.phases]
    raise_all(dict.fromkeys(packing.problems))
    own = [path for path in packing.paths if data is None or not is_below_data(path)]
    check_inside(folder, [*declaration.files, *own], own)
    return ForeignProject(
        name=declaration.name or folder.name,
        folder=folder,
        data=data or folder / DATA,
        declaration=declaration,
        packed_tasks=tasks,
        solutions=solutions,
        phase_files=phase_files,
        sources=packing.sources,
    )


@dataclass
class _Packing:
    """Finds what is packed, below `data/` in the folder `data` where that is given, and notes where it goes.

    Attributes:
        paths: what was found, as bundle.yaml names it.
        sources: place in the bundle → the file or folder that is packed there.
        problems: what would be in the same place, a line each.
    """

    folder: Path
    data: Path | None
    declaration: ForeignCompetition
    paths: list[str] = field(default_factory=list)
    sources: dict[str, Path] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def place(self, path: str) -> str:
        """Return where what a path leads to is in the bundle; the UUID of a data set on the server stays."""
        self.paths.append(path)
        source = source_of(self.folder, self.data, path)
        if is_on_server(path, source):
            return path
        place = place_of(path, source)
        if not self.sources.setdefault(place, source).samefile(source):
            both = f"{self.sources[place]} and {source}"
            self.problems.append(f"{path}: {both} would be {place} in the bundle. Expected another name for one.")
        return place

    def tasks(self) -> Iterator[PackedTask]:
        """Yield the declared tasks; one of several phases is a Codabench task for each kind of files that they have."""
        for task in self.declaration.tasks:
            having = self.declaration.phases_of(task)
            entry: dict[str, Any] = {"id": task.id, "name": task.name}
            if task.key is not None:
                yield {**entry, "key": task.key}, having
                continue
            kinds = self._kinds(task, having)
            for files, phases in kinds:
                if len(kinds) > 1:
                    names = ", ".join(phase.name for phase in phases)
                    entry["name"] = f"{task.name} ({names})"[:256]
                packed = {**entry, "description": task.description, **files}
                if not task.description:
                    del packed["description"]
                if task.ingestion_only_during_scoring:
                    packed["ingestion_only_during_scoring"] = True
                yield packed, phases

    def _kinds(self, task: ForeignTask, phases: Sequence[ForeignPhase]) -> list[tuple[Files, list[ForeignPhase]]]:
        """The files that a task has, and in which phases."""
        if not phases:
            return [(self._of_task(task, None), [])]
        kinds: list[tuple[Files, list[ForeignPhase]]] = []
        for phase in phases:
            files = self._of_task(task, phase)
            # phases with the same files have one task
            for other, having in kinds:
                if other == files:
                    having.append(phase)
                    break
            else:
                kinds.append((files, [phase]))
        return kinds

    def _of_task(self, task: ForeignTask, phase: ForeignPhase | None) -> Files:
        """The files of a task in a phase; of a task that no phase has, with `phase` None, those that are given."""
        programs = self.declaration.programs_of(task, phase)
        reference, code_input = task.reference_data, task.input_data
        if phase is not None:
            if "reference_data" not in task.model_fields_set:
                tasks = self.declaration.tasks_of(phase)
                reference = self._usual(f"{DATA}/{phase.data_id}", task.id, ids(tasks))
            if "input_data" not in task.model_fields_set:
                code_input = self._usual(f"{DATA}/input", phase.data_id, self._data_ids())
        return self._placed(
            {
                "scoring_program": programs.scoring,
                "ingestion_program": programs.ingestion,
                "reference_data": reference,
                "input_data": code_input,
            }
        )

    def of_phase(self, phase: ForeignPhase) -> Files:
        """Return a phase's public data and starting kit."""
        public, kit = phase.public_data, phase.starting_kit
        if "public_data" not in phase.model_fields_set:
            usual = self._usual(f"{DATA}/public", phase.data_id, self._data_ids())
            public = usual or self._usual("public", phase.data_id, self._data_ids())
        if "starting_kit" not in phase.model_fields_set:
            kit = self._usual("kits", phase.id, ids(self.declaration.phases))
        return self._placed({"public_data": public, "starting_kit": kit})

    def _data_ids(self) -> list[str]:
        return [phase.data_id for phase in self.declaration.phases]

    def solutions(self) -> Iterator[ForeignSolution]:
        """Yield the example submissions: those that are declared, or all that lie in their folder."""
        if "solutions" in self.declaration.model_fields_set:
            yield from self.declaration.solutions or []
            return
        folder = self.folder / SOLUTIONS
        tasks = ids(self.declaration.tasks)
        for path in sorted(folder.iterdir()) if folder.is_dir() else []:
            if not path.name.startswith(".") and not is_junk(path.name):
                yield ForeignSolution(path=f"{SOLUTIONS}/{path.name}", tasks=tasks, name=path.stem)

    def _placed(self, files: Mapping[str, str | None]) -> Files:
        return {key: self.place(path) for key, path in files.items() if path is not None}

    def _usual(self, parent: str, name: str, names: Sequence[str]) -> str | None:
        """Return what lies in a folder under a name; where nothing is called by any of the names, the folder."""
        if own := self._filled(f"{parent}/{name}"):
            return own
        for other in names:
            if self._filled(f"{parent}/{other}"):
                return None
        return self._filled(parent)

    def _filled(self, path: str) -> str | None:
        """The path, or with .zip, of a file, or of a folder with anything in it but what only keeps it."""
        for one in (path, f"{path}.zip"):
            source = source_of(self.folder, self.data, one)
            if source.is_file() or (source.is_dir() and folder_members(source)):
                return one
        return None


def project_digest(folder: Path) -> str:
    """Return the SHA-256 of all that a project holds, but for what it was made of."""
    digest = hashlib.sha256()
    for name, content in sorted(all_files(folder).items()):
        if not name.startswith(f"{ORIGINAL}/"):
            whole = file_digest(content) if isinstance(content, Path) else hashlib.sha256(content).hexdigest()
            digest.update(f"{whole} {name}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()


def is_as_imported(project: ForeignProject) -> bool:
    """Return whether nothing of a project was changed since it was imported."""
    known = project.folder / ORIGINAL / DIGEST
    own_data = project.data == project.folder / DATA
    return own_data and known.is_file() and known.read_text(encoding="utf-8") == project_digest(project.folder)


def unused_data(project: ForeignProject) -> Iterator[str]:
    """Remarks on what lies in the data and is not packed."""
    sources = project.sources.values()
    for path in sorted(project.data.iterdir()) if project.data.is_dir() else []:
        packed = any(source.is_relative_to(path) or path.is_relative_to(source) for source in sources)
        if not packed and not path.name.startswith(".") and not is_junk(path.name):
            yield f"{path}: is not packed: nothing in bundle.yaml names it, and no phase is called so."


def foreign_tree(project: ForeignProject, work: Path) -> dict[str, bytes | Path]:
    """Return all files of the bundle by name: folders as zips with all that is in them, files byte for byte.

    The zips are written to the folder `work`, since data may be larger than memory.

    Raises:
        UserError: what is wrong with pages that are templates.
    """
    declaration = project.declaration
    declared = declaration.model_dump()
    # What pages that are templates may use, as plain values.
    context = {
        "competition": declared,
        "name": project.name,
        "phases": declared["phases"],
        "milestones": declared["milestones"],
        "tasks": declared["tasks"],
        "columns": [column.model_dump() for column in declaration.columns],
    }
    document = foreign_document(project)
    tree: dict[str, bytes | Path] = {
        YAML_NAME: yaml_text(document),
        document["image"]: project.folder / declaration.logo,
        **rendered(project.folder, declaration, context),
    }
    for number, (place, source) in enumerate(project.sources.items()):
        tree[place] = source
        if source.is_dir():
            tree[place] = packed = work / f"{number}.zip"
            write_zip(packed, all_files(source))
    return tree


# competition.yaml


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
        **settings(declaration, SETTINGS),
        **optional_settings(declaration),
    }
    document |= {"pages": [], "tasks": [], "solutions": [], "phases": []}
    for page in declaration.pages:
        document["pages"].append({"title": page.title, "file": page_name(declaration, page.file)})
    tasks = project.packed_tasks
    for number, (task, _) in enumerate(tasks):
        document["tasks"].append({"index": number, **task})
    for number, (solution, path) in enumerate(project.solutions):
        known = [at for at, (task, _) in enumerate(tasks) if task["id"] in solution.tasks]
        entry = {"index": number, "path": path, "tasks": known}
        texts = {"name": solution.name, "description": solution.description}
        document["solutions"].append(entry | {key: text for key, text in texts.items() if text})
    for number, (phase, files) in enumerate(zip(declaration.phases, project.phase_files, strict=True)):
        own = [at for at, (_, phases) in enumerate(tasks) if phase in phases]
        end = phase.end and platform_date(phase.end, time(23, 59, 59))
        dates = {"start": platform_date(phase.start, time(0, 0, 0)), "end": end}
        document["phases"].append(phase_entry(number, phase, dates, files, own))
    document["leaderboards"] = [_leaderboard(declaration)]
    return document | milestones(declaration)


def platform_date(text: str, date_alone: time) -> str:
    """Return a date as the platform is to read it: in UTC where it has a zone as elsewhere, else as written."""
    try:
        return utc(parse_moment(text, date_alone))
    except ValueError:
        return text


def _leaderboard(declaration: ForeignCompetition) -> dict[str, Any]:
    board = declaration.leaderboard
    places: dict[str, int] = {}
    for number, column in enumerate(declaration.columns):
        places[column.key] = number if column.index is None else column.index
    entry: dict[str, Any] = {
        "title": board.title,
        "key": board.key,
        "hidden": board.hidden,
        "submission_rule": SUBMISSION_RULES.get(declaration.submission_rule, declaration.submission_rule),
        "primary_index": board.primary_index,
    }
    if board.ties != "columns":
        entry[TIE_BREAK] = board.tie_break
    entry["columns"] = []
    for column in declaration.columns:
        written = column_entry(places[column.key], column, places)
        if column.measured is not None:
            written[MEASURED] = column.measured
        entry["columns"].append(written)
    return entry
