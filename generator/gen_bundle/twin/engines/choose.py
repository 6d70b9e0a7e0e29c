"""Which engine runs a dry run."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from gen_bundle.errors import UserError
from gen_bundle.twin.engines import EngineError
from gen_bundle.twin.engines.process import ProcessEngine
from gen_bundle.twin.engines.strict import StrictLimits
from gen_bundle.twin.sweep import new_run_id

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
    strict: bool = False,
    pull: bool = False,
) -> "DockerEngine | ProcessEngine":
    """The engine that is asked for; without a wish containers where an engine answers, else processes.

    Args:
        wanted: `docker`, `process` or None.
        on_step: Called with a line on what was chosen.
        gpu: Ask for the GPUs.
        network: Leave the container's network on.
        strict: Bound memory, processors, processes and disk.
        pull: Fetch a missing image.

    Raises:
        UserError: No container engine answers, although one is asked for or an option needs one.
    """
    needed = [name for name, given in (("--strict", strict), ("--network", network), ("--pull", pull)) if given]
    if wanted == "process":
        if needed:
            raise UserError(f"{', '.join(needed)}: only with --engine docker")
        return ProcessEngine(gpu=gpu)
    from gen_bundle.twin.engines.connection import API_SECONDS, connect
    from gen_bundle.twin.engines.docker import DockerEngine

    try:
        connect(PING_SECONDS).close()
        with ExitStack() as held:
            engine = DockerEngine(
                held.enter_context(closing(connect(API_SECONDS))),
                new_run_id(),
                gpu=gpu,
                network=network,
                strict=StrictLimits() if strict else None,
                pull=pull,
            )
            held.pop_all()  # from here on the engine closes it
    except EngineError as error:
        if wanted or needed:
            raise UserError(
                f"{error}. Start Docker, point DOCKER_HOST at an engine's socket, or use --engine process"
            ) from error
        on_step("engine: process (no container engine answers); nothing is isolated, and the image is not used")
        return ProcessEngine(gpu=gpu)
    if not wanted:
        on_step(f"engine: docker ({engine.version})")
    return engine
