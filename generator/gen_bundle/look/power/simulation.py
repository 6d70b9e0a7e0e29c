"""From a project or a bundle to what simulated test sets of a phase show of it."""

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from gen_bundle.build.package.client import VerbProgress, find_package
from gen_bundle.build.package.phase_data import checked_reference
from gen_bundle.build.package.power import Tasks, ask_power, power_request
from gen_bundle.build.package.resolve import CODE, Resolved, check_own_code, find_competition, resolve
from gen_bundle.codabench.runnable import PROGRAM_JSON, open_bundle, read_competition
from gen_bundle.declaration.read import FILE, is_foreign
from gen_bundle.declaration.source import nearest
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import file_digest, is_known, read_json
from gen_bundle.ground.zips.unpacking import BUNDLE, unpack
from scoring_kit.base.power_settings import PowerSettings

Advance = Callable[[VerbProgress], None]
Phase = TypeVar("Phase")


@dataclass(frozen=True)
class Simulated:
    """The results of simulated test sets.

    Attributes:
        title: of the competition.
        phase: the id of the phase.
        settings: what was asked for.
        tasks: id → what `scoring_kit.resampling.power` says of it.
        notes: what the organiser should know.
    """

    title: str
    phase: str
    settings: PowerSettings
    tasks: Tasks
    notes: Sequence[str] = ()


def simulate(
    source: str,
    settings: PowerSettings,
    *,
    data: Path | None = None,
    phase: str | None = None,
    trust: bool = False,
    advance: Advance = lambda _: None,
    announce: Callable[[str], None] = lambda _: None,
) -> Simulated:
    """Simulate test sets of a phase, with systems that are made of its gold.

    Args:
        source: name or folder of a competition, or a bundle's zip or folder.
        settings: what is to be simulated.
        data: the competition's data, as for a build.
        phase: whose gold it is; None: the last one.
        trust: run code of a bundle that was not built here.
        advance: is called with how far that is.
        announce: is called with a line on the code of the competition's folder that is about to run.

    Raises:
        UserError: request or data are wrong, or nothing can be said of this kind of scoring program.
    """
    path = Path(source).expanduser()
    with tempfile.TemporaryDirectory(prefix="gen-bundle-") as work:
        if not path.exists() or path.name == FILE or (path / FILE).is_file():
            folder = find_competition(source)
            if is_foreign(folder):
                raise UserError(f"{folder / FILE}: has programs of others, of whose gold nothing is known.")
            competition = resolve(folder, data=data)
            check_own_code(competition, trust=True, announce=announce)
            return _of_project(competition, settings, phase, Path(work), advance)
        if data is not None:
            raise UserError("--data is for a project; a bundle has its own reference data.")
        return _of_bundle(path, settings, phase, trust, Path(work), advance)


def _of_project(
    competition: Resolved, settings: PowerSettings, phase_id: str | None, work: Path, advance: Advance
) -> Simulated:
    phase = _chosen(phase_id, {phase.id: phase for phase in competition.phases})
    notes = []
    if phase.data_id in competition.synthetic_phases:
        notes.append(f"the gold in {competition.data / phase.data_id} is synthetic: so is what is said of it.")
    with competition.opened() as opened:
        reference, _ = checked_reference(opened, competition.tasks_of(phase), phase.data_id, work / "ref")
        found = ask_power(opened, phase, reference, settings, advance)
    return Simulated(competition.declaration.title, phase.id, settings, found, notes)


def _of_bundle(
    path: Path, settings: PowerSettings, phase_id: str | None, trust: bool, work: Path, advance: Advance
) -> Simulated:
    competition = read_competition(open_bundle(path, work / "bundle"))
    phase = _chosen(phase_id, {str(phase.id): phase for phase in competition.phases})
    is_trusted = trust or (path.is_file() and is_known(file_digest(path)))
    tasks: dict[str, Any] = {}
    for task in phase.tasks:
        own = work / str(task.id)
        program = _folder(task.file("scoring_program"), own / "program")
        about = program / PROGRAM_JSON
        package = read_json(about, dict[str, Any], "Build the bundle again.", missing={}).get("package")
        if package is None:
            raise UserError(f"{path}: has a scoring program of others, of whose gold nothing is known.")
        code = [file.relative_to(program).as_posix() for file in (program / "files").rglob("*") if file.suffix in CODE]
        if code and not is_trusted:
            raise UserError(f"{path}: its own code ({', '.join(code)}) was not built here. --trust runs it.")
        if task.file("reference_data") is None:
            raise UserError(f"{path}: its task {task.id} has no reference_data. Expected gold, to make systems of.")
        reference = _folder(task.file("reference_data"), own / "ref")
        baselines = None
        for number, solution in enumerate(one.path for one in competition.solutions if task.index in one.tasks):
            baselines = own / "solutions"
            baselines.mkdir(exist_ok=True)
            copied = baselines / f"{number}-{solution.name}"
            (shutil.copytree if solution.is_dir() else shutil.copy)(solution, copied)
        with find_package(package, work).opened() as organiser:
            tasks |= organiser.call("power", power_request(settings, about, reference, baselines), advance)
    return Simulated(competition.title, str(phase.id), settings, tasks)


def _folder(file: Path, into: Path) -> Path:
    """A file of a bundle as a folder."""
    if file.is_dir():
        return file
    unpack(file, into, BUNDLE)
    return into


def _chosen(asked: str | None, phases: Mapping[str, Phase]) -> Phase:
    """The phase that is asked for, or the last one."""
    if asked is None:
        return list(phases.values())[-1]
    if asked not in phases:
        raise UserError(f"--phase {asked}: no such phase. {nearest(asked, list(phases))}")
    return phases[asked]
