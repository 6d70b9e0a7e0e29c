"""A bundle as the platform has stored it, as far as running submissions needs it."""

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from gen_bundle.codabench.leaderboard import Leaderboard
from gen_bundle.errors import UserError
from gen_bundle.zips.bounds import BUNDLE
from gen_bundle.zips.unpacking import ArchiveError, unpack


@dataclass(frozen=True)
class Task:
    """A task; each program or data is a folder or a zip.

    Attributes:
        position: Its place in the yaml's list, which is the order in which a phase's tasks run.
        id: Our `id` key, else the index; different within a phase.
    """

    position: int
    id: str
    name: str
    scoring_program: Path
    reference_data: Path | None
    input_data: Path | None
    ingestion_program: Path | None
    ingestion_only_during_scoring: bool


@dataclass(frozen=True)
class Phase:
    """A phase, in the platform's order.

    Attributes:
        id: Our `id` key, else the index.
        start: In UTC as the platform stores it; None when it cannot be read.
        end: None for endless.
        execution_time_limit: Seconds; None means the default.
    """

    id: str
    name: str
    tasks: tuple[Task, ...]
    start: dt.datetime | None
    end: dt.datetime | None
    max_submissions: int | None
    max_submissions_per_day: int | None
    execution_time_limit: int | None
    auto_migrate: bool


@dataclass(frozen=True)
class Solution:
    """An example submission of the bundle, attached to tasks by their positions."""

    path: Path
    tasks: frozenset[int]


@dataclass(frozen=True)
class Competition:
    """What a bundle becomes on the platform."""

    title: str
    image: str
    own_queue: bool
    detailed_results: bool
    phases: tuple[Phase, ...]
    solutions: tuple[Solution, ...]
    leaderboard: Leaderboard


def open_bundle(bundle: Path, into: Path) -> Path:
    """The bundle as a folder: a folder itself, or a zip unpacked into `into`.

    Raises:
        UserError: It is neither, or not safe to unpack.
    """
    if bundle.is_dir():
        return bundle
    if not bundle.is_file():
        raise UserError(f"{bundle}: no such bundle; expected a bundle's zip or unpacked folder")
    try:
        unpack(bundle, into, BUNDLE)
    except ArchiveError as error:
        raise UserError(f"{bundle}: not unpacked. {error}") from error
    return into
