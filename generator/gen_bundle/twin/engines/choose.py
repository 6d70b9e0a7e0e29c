"""Which engine runs a dry run."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from gen_bundle.errors import UserError
from gen_bundle.twin.engines import EngineError
from gen_bundle.twin.engines.process import ProcessEngine
from gen_bundle.twin.layout import new_run_id

if TYPE_CHECKING:
    from gen_bundle.twin.engines.docker import DockerEngine

# Long enough for an engine on this machine, short enough not to be noticed where there is none.
PING_SECONDS = 1


def choose_engine(
    wanted: str | None,
    on_step: Callable[[str], None],
    *,
    gpu: bool = False,
    network: bool = False,
    pull: bool = False,
    python: Path | None = None,
) -> "DockerEngine | ProcessEngine":
    """The engine that is asked for; without a wish containers where an engine answers, else processes.

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
    if wanted == "process":
        if pull:
            raise UserError("--pull: only with --engine docker")
        return _processes(chosen, on_step, gpu=gpu, network=network, python=python)
    try:
        engine = _containers(gpu=gpu, network=network, pull=pull)
    except EngineError as error:
        if is_wish:
            raise UserError(
                f"{error}. Start Docker, point DOCKER_HOST at an engine's socket, or use --engine process"
            ) from error
        chosen = "engine: process (no container engine answers)"
        return _processes(chosen, on_step, gpu=gpu, network=network, python=python)
    if not wanted:
        on_step(f"engine: docker ({engine.version})")
    return engine


def _containers(*, gpu: bool, network: bool, pull: bool) -> "DockerEngine":
    """The container engine at hand; `EngineError` where none answers."""
    from gen_bundle.twin.engines.docker import API_SECONDS, DockerEngine, connect

    connect(PING_SECONDS).close()
    with ExitStack() as held:
        client = held.enter_context(closing(connect(API_SECONDS)))
        engine = DockerEngine(client, new_run_id(), gpu=gpu, network=network, pull=pull)
        held.pop_all()  # from here on the engine closes it
    return engine


def _processes(
    chosen: str, on_step: Callable[[str], None], *, gpu: bool, network: bool, python: Path | None
) -> ProcessEngine:
    engine = ProcessEngine(gpu=gpu, network=network, python=python)
    kept = "programs are kept apart from this machine"
    if engine.together:
        kept = f"nothing is isolated: {engine.together}"
    on_step(f"{chosen}; the image is not used, and {kept}")
    return engine
