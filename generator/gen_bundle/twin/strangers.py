"""Whether the programs of a bundle may run without isolation: those of others only where the user says so."""

import filecmp
from collections.abc import Iterator
from pathlib import Path

from gen_bundle.codabench.worker import read_metadata
from gen_bundle.errors import UserError
from gen_bundle.package.own_code import CODE
from gen_bundle.package.programs import COMMAND
from gen_bundle.remembered import file_digest, is_known
from gen_bundle.resources import resource
from gen_bundle.twin.bundle import open_bundle
from gen_bundle.twin.competition_yaml import read_competition
from gen_bundle.twin.engines import Engine
from gen_bundle.twin.sweep import scratch_folder
from gen_bundle.zips.bounds import BUNDLE
from gen_bundle.zips.unpacking import unpack

NO_CODE = {"program.json", "metadata.yaml"}
"""Files at the root of our programs that are made for each competition; the command in the latter is looked at."""


class StrangersError(UserError):
    """Programs of others would run on this machine itself."""


def refuse_strangers(bundle: Path, engine: Engine, *, trust: bool) -> None:
    """Let no program of others run on this machine itself, unless `trust` says so.

    A bundle that this user has built passes, and one whose programs are, byte for byte, those of this installation.

    Raises:
        StrangersError: other programs are in it, and the engine does not isolate.
        UserError: it cannot be read.
    """
    if trust or engine.name != "process" or (bundle.is_file() and is_known(file_digest(bundle))):
        return
    with scratch_folder() as work:
        competition = read_competition(open_bundle(bundle, work / "bundle"))
        tasks = [task for phase in competition.phases for task in phase.tasks]
        programs = {path for task in tasks for path in (task.scoring_program, task.ingestion_program) if path}
        foreign = sorted(path.name for number, path in enumerate(programs) if not _is_ours(path, work / f"{number}"))
    if foreign:
        raise StrangersError(
            f"{bundle}: was not built here, and {', '.join(foreign)} would run on this machine without isolation. "
            "Start Docker and use --engine docker, or, if you trust its authors, add --trust."
        )


def _is_ours(program: Path, work: Path) -> bool:
    """Whether every file of a program is one of this installation's, but for what no Python runs."""
    if not program.is_dir():
        unpack(program, work, BUNDLE)
        program = work
    return read_metadata(program).command == COMMAND and not any(_foreign_files(program))


def _foreign_files(program: Path) -> Iterator[str]:
    ours = resource("scoring_programs")
    for path in program.rglob("*"):
        name = path.relative_to(program).as_posix()
        is_data = name in NO_CODE or (name.startswith("files/") and path.suffix.lower() not in CODE)
        if path.is_dir() or is_data:
            continue
        if not (ours / name).is_file() or not filecmp.cmp(ours / name, path, shallow=False):
            yield name
