"""Whether programs may run without isolation, those of bundles and of submissions: of others only with `--trust`."""

import filecmp
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from gen_bundle.codabench.competition import Phase
from gen_bundle.codabench.versions import Differences
from gen_bundle.codabench.worker import METADATA_NAMES, read_metadata
from gen_bundle.errors import UserError
from gen_bundle.local_files import file_digest, is_known
from gen_bundle.package.own_code import CODE
from gen_bundle.package.programs import COMMAND
from gen_bundle.resources import resource
from gen_bundle.twin.bundle import open_bundle, read_competition
from gen_bundle.twin.engines import Engine
from gen_bundle.twin.engines.process import ProcessEngine
from gen_bundle.twin.layout import scratch_folder
from gen_bundle.zips.unpacking import BUNDLE, UNREADABLE, unpack
from scoring_kit.base.submissions import is_zip

NO_CODE = {"program.json", "metadata.yaml"}
"""Files at the root of our programs that are made for each competition; the command in the latter is looked at."""


NAMED = 5


class StrangersError(UserError):
    """Programs of others would run on this machine itself."""


def refuse_strangers(bundle: Path, engine: Engine, *, trust: bool) -> None:
    """Let no program of others run on this machine itself, unless `trust` says so.

    They may where the engine keeps them apart. A bundle that this user has built passes, and one whose programs are,
    byte for byte, those of this installation, unless these would run its solutions.

    Raises:
        StrangersError: other programs are in it, solutions among them, and the engine does not isolate.
        UserError: it cannot be read.
    """
    together = _together(engine)
    if trust or not together:
        return
    foreign = programs_of_others(bundle) or _solutions_that_run(bundle)
    if foreign:
        raise StrangersError(
            f"{bundle}: was not built here, or packs programs of others: {', '.join(foreign)} would run on this "
            f"machine without isolation ({together}). Start Docker and use --engine docker, or, if you trust its "
            "authors, add --trust."
        )


def programs_of_others(bundle: Path) -> list[str]:
    """The names of the programs in a bundle that are neither this user's work nor this installation's.

    Raises:
        UserError: it cannot be read.
    """
    if bundle.is_file() and is_known(file_digest(bundle)):
        return []
    with scratch_folder() as work:
        competition = read_competition(open_bundle(bundle, work / "bundle"))
        tasks = competition.used_tasks
        programs = {task.file(role) for task in tasks for role in ("scoring_program", "ingestion_program")} - {None}
        return sorted(path.name for number, path in enumerate(programs) if not _is_ours(path, work / f"{number}"))


def _solutions_that_run(bundle: Path) -> list[str]:
    """The names of a bundle's solutions that are programs, unless this user has built it."""
    if bundle.is_file() and is_known(file_digest(bundle)):
        return []
    with scratch_folder() as work:
        competition = read_competition(open_bundle(bundle, work / "bundle"))
        takes_code = any(task.file("ingestion_program") is not None for task in competition.used_tasks)
        paths = [Path(solution.path) for solution in competition.solutions]
        return sorted(path.name for path in paths if takes_code or _has_a_command(path))


def refuse_code(
    phases: Iterable[Phase], given: Iterable[Path], version: Differences, engine: Engine, *, trust: bool
) -> None:
    """Let no submission that is a program run on this machine itself; those that the bundle brings are its own.

    Args:
        phases: those that take the submissions.
        given: the submissions that the user names.
        version: what it runs of a submission.
        engine: what would run it.
        trust: the user says so.

    Raises:
        StrangersError: there are such, and the engine does not isolate.
    """
    together = _together(engine)
    if trust or not together:
        return
    takes_code = any(task.file("ingestion_program") is not None for phase in phases for task in phase.tasks)
    programs = [path for path in given if takes_code or (version.submission_is_a_program and _has_a_command(path))]
    if programs:
        names = ", ".join(sorted(path.name for path in programs)[:NAMED])
        if len(programs) > NAMED:
            names += f" and {len(programs) - NAMED} more"
        raise StrangersError(
            f"{names}: programs of others, which would run on this machine without isolation ({together}): they "
            "could read your files and change the results of others. Start Docker and use --engine docker, or, if you "
            "know who wrote them, add --trust."
        )


def _together(engine: Engine) -> str:
    """Why an engine runs programs with all our rights; empty where it does not."""
    return engine.together if isinstance(engine, ProcessEngine) else ""


def _has_a_command(submission: Path) -> bool:
    """Whether a submission names a command of its own, which version 1.25 runs."""
    if submission.is_dir():
        return any((submission / name).exists() for name in METADATA_NAMES)
    if not is_zip(submission):
        return False
    try:
        with zipfile.ZipFile(submission) as opened:
            return not {*METADATA_NAMES}.isdisjoint(opened.namelist())
    except UNREADABLE:
        return False


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
