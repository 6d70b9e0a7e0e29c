"""Code of others: it runs in a container, or kept apart from this machine, or because the user says so."""

import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from gen_bundle.codabench.versions import Differences
from gen_bundle.codabench.worker import METADATA_NAMES
from gen_bundle.errors import UserError
from gen_bundle.twin.bundle import Phase
from gen_bundle.twin.engines import Engine
from gen_bundle.twin.engines.process import ProcessEngine
from gen_bundle.zips.unpacking import UNREADABLE, is_zip


def require_trust(
    engine: Engine, phases: Iterable[Phase], given: Sequence[Path], version: Differences, *, trusted: bool
) -> None:
    """See that nobody's code runs with our rights unasked; the bundle's own solutions do.

    Args:
        engine: what would run it.
        phases: those that take the submissions.
        given: the submissions that the user names.
        version: what runs of a submission.
        trusted: `--trust` was given.

    Raises:
        UserError: it would.
    """
    if trusted or not isinstance(engine, ProcessEngine) or not engine.together:
        return
    takes_code = any(task.ingestion_program is not None for phase in phases for task in phase.tasks)
    programs = [path for path in given if takes_code or (version.submission_is_a_program and _is_program(path))]
    if programs:
        names = ", ".join(sorted(path.name for path in programs)[:5])
        raise UserError(
            f"{names}: programs of others, which --engine process would run with your rights: they could read your "
            f"files and change the results of others ({engine.together}). Use --engine docker, or --trust where you "
            "know who wrote them."
        )


def _is_program(submission: Path) -> bool:
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
