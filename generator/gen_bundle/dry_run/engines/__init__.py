"""Engines, which run a program: the worker's container request, for the engine at hand."""

import errno
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from gen_bundle.codabench.worker import ContainerKind

LineListener = Callable[[str], None]
CACHE = "cache"
LIMITS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN}
"""A full or failing disk, too little memory, too many open files or processes."""


class EngineError(Exception):
    """The engine itself cannot do what is asked (no image, no GPU, engine gone); says what to do about it."""


def is_machine_fault(error: BaseException) -> bool:
    """Return whether an error, or its cause, is the machine's or its engine's, which another try may not meet."""
    if isinstance(error, EngineError) or (isinstance(error, OSError) and error.errno in LIMITS):
        return True
    return error.__cause__ is not None and is_machine_fault(error.__cause__)


@dataclass(frozen=True)
class Mount:
    """A folder of the job, as the program sees it. Modes as the worker writes them: `z` and `rw` writable, `ro` not."""

    source: Path
    target: str
    mode: Literal["z", "rw", "ro"] = "rw"


@dataclass(frozen=True)
class Container:
    """A container that the worker asks an engine to run.

    Attributes:
        kind: The program itself, or the ingestion program beside it.
        image: The competition's image.
        argv: The command of the metadata file, split as `shlex.split` does; no shell is involved.
        mounts: Folders under `/app`.
        environment: Variables beside those of the worker, which the one who runs the twin asks for.
    """

    kind: ContainerKind
    image: str
    argv: tuple[str, ...]
    mounts: tuple[Mount, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def program(self) -> Path:
        """The program's own folder."""
        return next(mount.source for mount in self.mounts if mount.target == "/app/program")


@dataclass(frozen=True)
class Usage:
    """The time and memory of a run; None where it could not be measured.

    Attributes:
        memory_bytes: Largest memory seen.
        cpu_seconds: Processor time.
        gpu_memory_bytes: Largest memory of the GPU seen.
    """

    memory_bytes: int | None = None
    cpu_seconds: float | None = None
    gpu_memory_bytes: int | None = None

    @classmethod
    def peak(cls, usages: "Iterable[Usage]") -> "Usage":
        seen = list(usages)
        return cls(
            max((usage.memory_bytes for usage in seen if usage.memory_bytes is not None), default=None),
            max((usage.cpu_seconds for usage in seen if usage.cpu_seconds is not None), default=None),
            max((usage.gpu_memory_bytes for usage in seen if usage.gpu_memory_bytes is not None), default=None),
        )


@dataclass(frozen=True)
class Ended:
    """How a run ended.

    Attributes:
        exit_code: As the engine reports it (127 command not found, 137 killed); None when it never started or was
            stopped by us.
        seconds: Wall-clock time.
        timed_out: It was killed at the time limit.
        problem: Why it was stopped or could not start, in words; empty when it simply ended.
        usage: What it used.
        notes: What the engine did besides; reported once, since it is the same for every run.
    """

    exit_code: int | None
    seconds: float
    timed_out: bool = False
    problem: str = ""
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()


class Engine(Protocol):
    """Runs one container at a time and leaves nothing behind."""

    name: str

    def prepare(self, image: str) -> list[str]:
        """Look at the engine and the image before the first run.

        Returns:
            What the image's owner should know (an ENTRYPOINT, no registry has it).

        Raises:
            EngineError: The engine has no such image, or cannot keep what the options promise.
        """

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        """Run to the end, or kill at the time limit.

        Args:
            container: What to run.
            seconds: Wall-clock limit.
            stdout: File for what the program prints, made even when it prints nothing.
            stderr: File for what it prints there, also made in any case.
            on_line: Called with each line of output while it runs.

        Raises:
            EngineError, OSError: The engine cannot do it at all, or lacks memory, space or the like for it.
        """

    def close(self) -> None:
        """Remove whatever is left of this dry run."""


def model_mounts(container: Container) -> list[Mount]:
    """Mounts, at the same path, of every existing folder that the program's options name; only `cache` is writable.

    A snapshot in the Hugging Face cache is links into its model's folder, so that whole folder is mounted.
    """
    try:
        content = json.loads((container.program / "program.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    options = content.get("options") if isinstance(content, dict) else None
    cache = options.pop(CACHE, None) if isinstance(options, dict) else None
    folders: dict[Path, None] = {}
    for text in _texts(options):
        if not _is_folder(text):
            continue
        folder = Path(text)
        folders[folder.parent.parent if folder.parent.name == "snapshots" else folder] = None
    mounts = [Mount(folder, str(folder), "ro") for folder in folders]
    if isinstance(cache, str) and _is_folder(cache):
        mounts.append(Mount(Path(cache), cache, "rw"))
    return mounts


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _is_folder(text: str) -> bool:
    try:
        return text != "/" and Path(text).is_absolute() and Path(text).is_dir()
    except (OSError, ValueError):
        return False
