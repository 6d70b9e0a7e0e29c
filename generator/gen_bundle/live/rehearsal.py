"""What a bundle's own submissions give here: a dry run of its solutions, and of the template in each starting kit."""

import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.opening import open_readable_bundle
from gen_bundle.codabench.versions import PlatformVersion
from gen_bundle.twin.bundle import Competition, Phase
from gen_bundle.twin.engines import Engine
from gen_bundle.twin.outcomes import Run
from gen_bundle.twin.plan import Planned, plan
from gen_bundle.twin.replay import DryRunRequest, dry_run
from gen_bundle.zips.unpacking import UNREADABLE
from gen_bundle.zips.writing import write_zip

TEMPLATE = "template"
"""The folder of a starting kit that holds an empty submission."""


@dataclass(frozen=True)
class Rehearsed:
    """A submission of the bundle, and what came of it here.

    Attributes:
        submission: what is uploaded, under which name, for which tasks.
        runs: the outcome for each task, by the task's name.
        logs: the folder with what the programs printed, likewise.
    """

    phase: Phase
    submission: Planned
    runs: Mapping[str, Run]
    logs: Mapping[str, Path]


@dataclass(frozen=True)
class Rehearsal:
    """A bundle that is rehearsed.

    Attributes:
        folder: the unpacked bundle.
        work: a folder for what is made on the way.
    """

    folder: Path
    work: Path
    competition: Competition
    version: PlatformVersion
    engine: Engine
    progress: Callable[[str], None]

    def run(self, phases: Sequence[Phase]) -> list[Rehearsed]:
        """Dry-run what the bundle holds for some phases; empty where it holds nothing.

        Raises:
            UserError: the bundle cannot be run.
        """
        found = [*self._solutions(phases)]
        with ExitStack() as held:
            bundle = open_readable_bundle(self.folder, datetime.now(UTC), held, self.version)
            for phase in phases:
                others = [one.submission.file for one in found if one.phase is phase]
                if template := self._template(bundle, phase, others):
                    found += self._template_run(phase, template)
        return sorted(found, key=lambda one: phases.index(one.phase))

    def _solutions(self, phases: Sequence[Phase]) -> list[Rehearsed]:
        attached = frozenset[int]().union(*(solution.tasks for solution in self.competition.solutions))
        ids = [phase.id for phase in phases if any(task.position in attached for task in phase.tasks)]
        if not ids:
            return []
        plans = plan(self.competition, ids, (), None, self.work / "submissions")
        runs = self._dry_run("solutions", ids)
        return [
            self._rehearsed("solutions", planned.phase, submission, runs)
            for planned in plans
            for submission in planned.submissions
        ]

    def _template_run(self, phase: Phase, template: Path) -> list[Rehearsed]:
        name = f"{TEMPLATE}-{phase.id}"
        runs = self._dry_run(name, [phase.id], [template])
        return [self._rehearsed(name, phase, Planned(template, template.stem, template.stem, phase.tasks), runs)]

    def _dry_run(self, name: str, phases: Sequence[str], submissions: Sequence[Path] = ()) -> list[Run]:
        request = DryRunRequest(
            bundle=self.folder,
            out=self.work / name,
            submissions=submissions,
            phases=phases,
            version=self.version,
            on_step=self.progress,
            trust=True,  # the template is of the bundle's own kit
        )
        return dry_run(request, self.engine).runs

    def _rehearsed(self, name: str, phase: Phase, submission: Planned, runs: Sequence[Run]) -> Rehearsed:
        own = {run.task: run for run in runs if (run.phase, run.submission) == (phase.id, submission.name)}
        folder = self.work / name / phase.id
        return Rehearsed(
            phase,
            submission,
            {task.name: own[task.id] for task in submission.tasks},
            {task.name: folder / task.id / submission.name for task in submission.tasks},
        )

    def _template(self, bundle: Bundle, phase: Phase, others: Sequence[Path]) -> Path | None:
        """The zip of a phase's template; None without one, or where a solution of the phase is the same."""
        kit = bundle.competition.phases[self.competition.phases.index(phase)].files.get("starting_kit")
        unpacked = bundle.unpacked(kit) if kit else None
        files = {
            name.removeprefix(f"{TEMPLATE}/"): node.read(node.size)
            for name, node in (unpacked.tree.root.files() if unpacked else ())
            if name.startswith(f"{TEMPLATE}/")
        }
        if not files or any(_files_of(other) == files for other in others):
            return None
        target = self.work / "templates" / phase.id / f"{TEMPLATE}.zip"
        target.parent.mkdir(parents=True)
        write_zip(target, files)
        return target


def _files_of(path: Path) -> dict[str, bytes] | None:
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    except UNREADABLE:
        return None
