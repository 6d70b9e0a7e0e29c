"""Which engine runs a dry run, and which programs it may run: those of others without isolation only with `--trust`."""

import filecmp
import zipfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gen_bundle.codabench.competition import Phase, Task
from gen_bundle.codabench.runnable import open_bundle, read_competition
from gen_bundle.codabench.versions import Differences
from gen_bundle.codabench.worker import METADATA_NAMES, read_metadata
from gen_bundle.dry_run.engines import Engine, EngineError
from gen_bundle.dry_run.engines.process import ProcessEngine
from gen_bundle.dry_run.layout import lay_out, new_run_id, scratch_folder
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import file_digest, is_known
from gen_bundle.ground.resources import resource
from scoring_kit.base.submissions import UNREADABLE

if TYPE_CHECKING:
    from gen_bundle.dry_run.engines.docker import DockerEngine

# Long enough for an engine on this machine, short enough not to be noticed where there is none.
PING_SECONDS = 1
NO_CODE = {"program.json", "metadata.yaml"}
"""Files at the root of our programs that are made for each competition; the command in the latter is looked at."""
NAMED = 5


def choose_engine(
    wanted: str | None,
    on_step: Callable[[str], None],
    *,
    gpu: bool = False,
    network: bool = False,
    pull: bool = False,
    python: Path | None = None,
) -> "DockerEngine | ProcessEngine":
    """Return the engine that is asked for; without a wish containers where an engine answers, else processes.

    Args:
        wanted: `docker`, `process` or None.
        on_step: Called with a line on what was chosen.
        gpu: Ask for the GPUs.
        network: Leave the network on.
        pull: Fetch a missing image.
        python: The interpreter of the process engine.

    Raises:
        UserError: No container engine answers, although one is asked for or an option needs one.
    """
    chosen = "engine: process"
    is_wish = bool(wanted or pull)
    if python is not None and wanted != "process":
        if is_wish:
            raise UserError("--python: only with --engine process; in containers the image's own interpreter runs")
        wanted, chosen = "process", "engine: process (by --python)"
    if wanted == "process" and pull:
        raise UserError("--pull: only with --engine docker")
    if wanted != "process":
        try:
            containers = _containers(gpu=gpu, network=network, pull=pull)
        except EngineError as error:
            if is_wish:
                raise UserError(
                    f"{error}. Start Docker, point DOCKER_HOST at an engine's socket, or use --engine process"
                ) from error
            chosen = "engine: process (no container engine answers)"
        else:
            if not wanted:
                on_step(f"engine: docker ({containers.version})")
            return containers
    processes = ProcessEngine(gpu=gpu, network=network, python=python)
    kept = "programs are kept apart from this machine"
    if processes.together:
        kept = f"nothing is isolated: {processes.together}"
    on_step(f"{chosen}; the image is not used, and {kept}")
    return processes


def _containers(*, gpu: bool, network: bool, pull: bool) -> "DockerEngine":
    """The container engine at hand; `EngineError` where none answers."""
    from gen_bundle.dry_run.engines.docker import API_SECONDS, DockerEngine, connect

    connect(PING_SECONDS).close()
    with ExitStack() as held:
        client = held.enter_context(closing(connect(API_SECONDS)))
        engine = DockerEngine(client, new_run_id(), gpu=gpu, network=network, pull=pull)
        held.pop_all()  # from here on the engine closes it
    return engine


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
    if trust or not together or (bundle.is_file() and is_known(file_digest(bundle))):
        return
    with scratch_folder() as work:
        competition = read_competition(open_bundle(bundle, work / "bundle"))
        foreign = programs_of_others(competition.used_tasks, work)
        if not foreign:
            takes_code = any(task.file("ingestion_program") is not None for task in competition.used_tasks)
            foreign = sorted(one.path.name for one in competition.solutions if takes_code or _has_a_command(one.path))
    if foreign:
        raise StrangersError(
            f"{bundle}: was not built here, or packs programs of others: {', '.join(foreign)} would run on this "
            f"machine without isolation ({together}). Start Docker and use --engine docker, or, if you trust its "
            "authors, add --trust."
        )


def programs_of_others(tasks: Iterable[Task], work: Path) -> list[str]:
    """Return the names of the tasks' programs that are not this installation's, unpacked below the folder `work`."""
    from gen_bundle.build.package.programs import COMMAND

    programs: set[Any] = set()
    for task in tasks:
        programs |= {task.file("scoring_program"), task.file("ingestion_program")}
    foreign = []
    for number, program in enumerate(programs - {None}):
        unpacked = work / f"{number}"
        lay_out(program, unpacked)
        if read_metadata(unpacked).command != COMMAND or not is_ours(unpacked):
            foreign.append(program.name)
    return sorted(foreign)


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
    try:
        with zipfile.ZipFile(submission) as opened:
            return not {*METADATA_NAMES}.isdisjoint(opened.namelist())
    except UNREADABLE:
        return False


def is_ours(program: Path) -> bool:
    """Return whether every file of an unpacked program is one of this installation's, but for what no Python runs."""
    from gen_bundle.build.package.resolve import CODE  # here, since workers that rescore choose an engine alone

    ours = resource("scoring_programs")
    for path in program.rglob("*"):
        name = path.relative_to(program).as_posix()
        is_data = name in NO_CODE or (name.startswith("files/") and path.suffix.lower() not in CODE)
        if path.is_dir() or is_data:
            continue
        if not (ours / name).is_file() or not filecmp.cmp(ours / name, path, shallow=False):
            return False
    return True
