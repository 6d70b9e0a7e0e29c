"""Where a model's files are: a local folder, or a snapshot in the local cache of the Hugging Face hub."""

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scoring_kit.errors import OrganiserError

WEIGHTS = (".safetensors", ".bin")
SAMPLE = 1 << 20  # bytes of a file's beginning and of its end


@dataclass(frozen=True)
class ModelFiles:
    """A model that is present on this machine.

    Attributes:
        name: what the organisers called it: a hub name or a folder.
        revision: the commit of the hub snapshot, or None for a folder.
        folder: where its files are.
    """

    name: str
    revision: str | None
    folder: Path

    @property
    def from_hub(self) -> bool:
        """Whether `name` is a hub name, so that bert-score's tables may know it."""
        return self.revision is not None

    @property
    def label(self) -> str:
        """The name that readers of a score get: of a folder its last part, the rest is the organisers' own affair."""
        return self.name if self.from_hub else self.folder.resolve().name

    def version(self) -> str:
        """What two runs of the same model share: the commit, or for a folder a digest of what it holds.

        Of a file, which may be gigabytes of weights, the size, the first and the last million bytes count.
        """
        if self.revision is not None:
            return self.revision
        digest = hashlib.sha256()
        for file in sorted(self.folder.iterdir()):
            if file.is_file():
                size = file.stat().st_size
                digest.update(f"{file.name}\0{size}\0".encode("utf-8", "surrogateescape"))
                with file.open("rb") as content:
                    digest.update(content.read(SAMPLE))
                    content.seek(max(0, size - SAMPLE))
                    digest.update(content.read(SAMPLE))
        return f"files-{digest.hexdigest()[:16]}"

    def identity(self) -> str:
        """What identifies this model, for keys of cached results.

        A hub snapshot is named by its commit. A folder can change under its name, so there the small files count by
        content, and the weights by their version and their time of change (reading gigabytes would cost more than a
        cache saves).
        """
        if self.revision is not None:
            return f"{self.name}@{self.revision}"
        digest = hashlib.sha256(self.version().encode())
        for file in sorted(self.folder.iterdir()):
            if file.is_file():
                digest.update(file.name.encode("utf-8", "surrogateescape") + b"\0")
                if file.suffix in WEIGHTS:
                    digest.update(str(file.stat().st_mtime_ns).encode())
                else:
                    digest.update(hashlib.sha256(file.read_bytes()).digest())
        return f"folder:{digest.hexdigest()}"


def locate(option: str, name: str, revision: str | None) -> ModelFiles:
    """Find a model on this machine, without touching the network.

    Args:
        option: the option that names the model, for messages (`bertscore.model`).
        name: a hub name (`organisation/model`) or a folder.
        revision: branch, tag or commit of a hub model; None takes what the local cache calls `main`.

    Raises:
        OrganiserError: the folder does not exist or holds no model, or the hub model is not in the local cache.
    """
    folder = Path(name)
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise OrganiserError(f"options.{option}: the folder {name} holds no config.json, so it is not a model.")
        if revision is not None:
            raise OrganiserError(
                f"options.{option}: {name} is a folder, which has no revision; set the revision to null."
            )
        return ModelFiles(name, None, folder)
    if folder.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        raise OrganiserError(f"options.{option}: there is no folder {name} where the scoring program runs.")
    return _snapshot(option, name, revision)


@contextmanager
def reading(files: ModelFiles) -> Iterator[None]:
    """Read files of a model with a library: what it raises is the organisers' fault, who chose the model."""
    try:
        with warnings.catch_warnings():
            # The libraries warn of what they will drop one day, which does not concern readers of the log.
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", FutureWarning)
            yield
    except Exception as error:
        raise OrganiserError(f"The model {files.name} cannot be loaded ({type(error).__name__}): {error}") from error


def _snapshot(option: str, name: str, revision: str | None) -> ModelFiles:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    wanted = name if revision is None else f"{name} at revision {revision}"
    try:
        folder = Path(snapshot_download(name, revision=revision, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError, OSError) as error:
        raise OrganiserError(
            f"options.{option}: {wanted} is not on this machine, and scoring programs run offline. "
            "Use a docker image that holds it, set HF_HOME to a folder that does, or name a local folder."
        ) from error
    if not (folder / "config.json").is_file():
        raise OrganiserError(f"options.{option}: the local copy of {wanted} is incomplete: it lacks config.json.")
    return ModelFiles(name, folder.name, folder)
