"""From a project or a bundle to what simulated test sets of a phase show of it."""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gen_bundle.build.package.client import VerbProgress, find_package
from gen_bundle.build.package.phase_data import checked_reference
from gen_bundle.build.package.power import PowerSettings, Tasks, ask_power
from gen_bundle.build.package.resolve import CODE, check_own_code, find_competition, resolve
from gen_bundle.codabench.runnable import PROGRAM_JSON, open_bundle, read_competition
from gen_bundle.declaration.read import FILE, is_foreign
from gen_bundle.declaration.source import nearest
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import file_digest, is_known, read_json
from gen_bundle.ground.zips.unpacking import BUNDLE, unpack

Advance = Callable[[VerbProgress], None]


@dataclass(frozen=True, kw_only=True)
class PowerRequest(PowerSettings):
    """What is to be simulated, and of what.

    Attributes:
        source: name or folder of a competition, or a bundle's zip or folder.
        data: the competition's data, as for a build.
        phase: whose gold it is; None: the last one.
        trust: run code of a bundle that was not built here.
    """

    source: str
    data: Path | None = None
    phase: str | None = None
    trust: bool = False


@dataclass(frozen=True)
class Simulated:
    """What simulated test sets show.

    Attributes:
        title: of the competition.
        phase: the id of the phase.
        request: what was asked for.
        tasks: id → what `scoring_kit.resampling.power` says of it.
        notes: what the organiser should know.
    """

    title: str
    phase: str
    request: PowerRequest
    tasks: Tasks
    notes: Sequence[str] = ()


def simulate(
    request: PowerRequest, advance: Advance = lambda _: None, announce: Callable[[str], None] = lambda _: None
) -> Simulated:
    """Simulate test sets of a phase, with systems that are made of its gold.

    Args:
        request: what is to be simulated.
        advance: is called with how far that is.
        announce: is called with a line on the code of the competition's folder that is about to run.

    Raises:
        UserError: request or data are wrong, or nothing can be said of this kind of scoring program.
    """
    path = Path(request.source).expanduser()
    with tempfile.TemporaryDirectory(prefix="gen-bundle-") as work:
        if path.exists() and path.name != FILE and not (path / FILE).is_file():
            return _of_bundle(path, request, Path(work), advance)
        return _of_project(request, Path(work), advance, announce)


def _of_project(request: PowerRequest, work: Path, advance: Advance, announce: Callable[[str], None]) -> Simulated:
    folder = find_competition(request.source)
    if is_foreign(folder):
        raise UserError(f"{folder / FILE}: has programs of others, of whose gold nothing is known.")
    competition = resolve(folder, data=request.data)
    check_own_code(competition, trust=True, announce=announce)
    phases = {phase.id: phase for phase in competition.phases}
    phase = phases[_chosen(request.phase, list(phases))]
    notes = []
    if phase.data_id in competition.synthetic_phases:
        notes.append(f"the gold in {competition.data / phase.data_id} is synthetic: so is what is said of it.")
    with competition.opened() as opened:
        reference, _ = checked_reference(opened, competition.tasks_of(phase), phase.data_id, work / "ref")
        found = ask_power(opened, phase, reference, request, advance)
    return Simulated(competition.declaration.title, phase.id, request, found, notes)


def _of_bundle(path: Path, request: PowerRequest, work: Path, advance: Advance) -> Simulated:
    if request.data is not None:
        raise UserError("--data is for a project; a bundle has its own reference data.")
    competition = read_competition(open_bundle(path, work / "bundle"))
    phases = {str(phase.id): phase for phase in competition.phases}
    chosen = _chosen(request.phase, list(phases))
    tasks: dict[str, Any] = {}
    for number, task in enumerate(phases[chosen].tasks):
        own = work / str(number)
        program = _folder(task.file("scoring_program"), own / "program")
        about = program / PROGRAM_JSON
        package = read_json(about, dict[str, Any], "Build the bundle again.", missing={}).get("package")
        if package is None:
            raise UserError(f"{path}: has a scoring program of others, of whose gold nothing is known.")
        code = [file.relative_to(program).as_posix() for file in (program / "files").rglob("*") if file.suffix in CODE]
        if code and not (request.trust or (path.is_file() and is_known(file_digest(path)))):
            raise UserError(f"{path}: its own code ({', '.join(code)}) was not built here. --trust runs it.")
        reference = _folder(task.file("reference_data"), own / "ref")
        solutions = [one.path for one in competition.solutions if task.index in one.tasks]
        for place, solution in enumerate(solutions):
            copied = own / "solutions" / f"{place}-{solution.name}"
            copied.parent.mkdir(exist_ok=True)
            (shutil.copytree if solution.is_dir() else shutil.copy)(solution, copied)
        baselines = own / "solutions" if solutions else None
        with find_package(package, work).opened() as organiser:
            tasks |= organiser.call("power", request.request(about, reference, baselines), advance)
    return Simulated(competition.title, chosen, request, tasks)


def _folder(file: Path | None, into: Path) -> Path:
    """A file of a bundle as a folder."""
    if file is None:
        raise UserError("a task of the bundle has no reference data. Expected gold, of which systems are made.")
    if file.is_dir():
        return file
    unpack(file, into, BUNDLE)
    return into


def _chosen(asked: str | None, phases: Sequence[str]) -> str:
    """The phase that is asked for, or the last one."""
    if asked is None:
        return phases[-1]
    if asked not in phases:
        raise UserError(f"--phase {asked}: no such phase. {nearest(asked, list(phases))}")
    return asked
