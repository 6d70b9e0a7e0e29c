"""Where everything of a foreign project lies that is packed as it is: at the path that is given, or a usual place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gen_bundle.declaration.foreign import (
    DATA,
    ForeignCompetition,
    ForeignPhase,
    ForeignSolution,
    ForeignTask,
    source_of,
)
from gen_bundle.zips.writing import folder_members

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
