"""A bundle with all that scoring the submissions to one of its phases takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gen_bundle.codabench.board import time_limit
from gen_bundle.codabench.competition import Competition, Leaderboard, Phase, Task
from gen_bundle.codabench.runnable import column_owners, open_bundle, read_competition
from gen_bundle.errors import UserError
from gen_bundle.rescore.scoring_job import EngineName, Scorer, digest_of, digest_of_value, environment_of
from gen_bundle.twin.engines import EngineError
from gen_bundle.twin.engines.choose import programs_of_others, refuse_strangers
from gen_bundle.twin.engines.process import ProcessEngine

if TYPE_CHECKING:
    from gen_bundle.twin.engines.docker import DockerEngine


@dataclass(frozen=True)
class OpenedBundle:
    """A bundle, one of its phases, and what scores there.

    Attributes:
        scorers: of each task, in the order in which they run.
    """

    competition: Competition
    phase: Phase
    scorers: tuple[Scorer, ...]

    @property
    def leaderboard(self) -> Leaderboard:
        return self.competition.leaderboard

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(task.id for task in self.phase.tasks)

    @property
    def owners(self) -> Mapping[str, str]:
        """Column → the task that fills it, in a phase of several tasks and as far as programs say so."""
        return column_owners(self.phase)


def opened_bundle(
    path: Path,
    phase: str,
    work: Path,
    engine: "DockerEngine | ProcessEngine",
    *,
    gpu: bool = False,
    trust: bool = False,
    named: str | None = None,
) -> OpenedBundle:
    """Open a bundle's zip, which is unpacked into the folder `work`, or folder; messages call it as it was `named`.

    Raises:
        UserError: it cannot be read, has no such phase, or the engine does not have its image.
    """
    refuse_strangers(path, engine, trust=trust)
    trusted = trust or not programs_of_others(path)
    competition = read_competition(open_bundle(path, work))
    chosen = next((one for one in competition.phases if phase in (one.id, one.name)), None)
    if chosen is None:
        known = ", ".join(one.id for one in competition.phases)
        raise UserError(f"--phase {phase}: no such phase in {named or path}. Expected one of {known}.")
    if not chosen.tasks:
        raise UserError(f"--phase {phase}: has no task in {named or path}. Expected a phase with at least one.")
    name: EngineName = "docker"
    image, python = competition.image, None
    if isinstance(engine, ProcessEngine):
        name, python = "process", engine.named_python
    else:
        try:
            image = engine.pinned(competition.image)
        except EngineError as error:
            raise UserError(str(error)) from error
    scorers = [
        Scorer(
            task=task,
            files=_files_digest(task),
            seconds=time_limit(chosen.limit_s, own_queue=competition.queue),
            image=image,
            detailed_results=competition.detailed_results,
            engine=name,
            gpu=gpu,
            environment=environment_of(name),
            trusted=trusted,
            python=python,
        )
        for task in chosen.tasks
    ]
    return OpenedBundle(competition, chosen, tuple(scorers))


def _files_digest(task: Task) -> str:
    roles = ("scoring_program", "reference_data", "input_data", "ingestion_program")
    return digest_of_value([digest_of(task.file(role)) for role in roles])
