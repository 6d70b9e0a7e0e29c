"""Finding a model's files on this machine, and loading weights so that transformers 4.57 and 5 give the same numbers.

Files are in a local folder, or in a snapshot in the local cache of the Hugging Face hub. As for weights, version 5
takes the numeric type in which weights were saved (many NLI models are stored on the hub in half precision), version 4
float32: the type is always named here. For what tokenizers differ in, see `tokenizing.py`.
"""

from __future__ import annotations

import hashlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scoring_kit.errors import OrganiserError
from scoring_kit.models.deberta import attend_in_rows, speed_up_relative_attention
from scoring_kit.models.device import Placement

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

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
        """Return what two runs of the same model share: the commit, or for a folder a digest of what it holds.

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
        """Return what identifies this model, for keys of cached results.

        A hub snapshot is named by its commit. A folder can change under its name, so there the time of each file's
        change counts beside the version (reading gigabytes would cost more than a cache saves).
        """
        if self.revision is not None:
            return f"{self.name}@{self.revision}"
        digest = hashlib.sha256(self.version().encode())
        for file in sorted(self.folder.iterdir()):
            digest.update(f"{file.name}\0{file.stat().st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
        return f"folder:{digest.hexdigest()}"


def locate(option: str, name: str, revision: str | None) -> ModelFiles:
    """Find a model on this machine, without touching the network; raises OrganiserError where it is not whole there.

    Args:
        option: the option that names the model, for messages (`bertscore.model`).
        name: a hub name (`organisation/model`) or a folder.
        revision: branch, tag or commit of a hub model; None takes what the local cache calls `main`.
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


def load_config(files: ModelFiles) -> PretrainedConfig:
    """Read a model's configuration.

    Raises OrganiserError: it cannot be read, or names a kind of model that this version of transformers does not know.
    """
    from transformers import AutoConfig

    with reading(files):
        return AutoConfig.from_pretrained(str(files.folder), local_files_only=True)


def load_encoder(files: ModelFiles, layers: int, place: Placement) -> PreTrainedModel:
    """Load the first `layers` layers of an encoder; its last hidden state is then that of layer `layers`.

    Raises OrganiserError: the files hold no such encoder, or not as many layers.
    """
    from transformers import AutoModel

    config = load_config(files)
    if config.is_encoder_decoder:
        raise OrganiserError(f"The model {files.name} has a decoder; BERTScore is computed here with encoders alone.")
    if not 1 <= layers <= config.num_hidden_layers:
        raise OrganiserError(
            f"options.bertscore.num_layers: {layers} is not between 1 and {config.num_hidden_layers}, "
            f"the number of layers of {files.name}."
        )
    config.num_hidden_layers = layers  # the layers above are never read, which saves their memory
    return _load(AutoModel, files, config, place)


def load_classifier(files: ModelFiles, place: Placement) -> PreTrainedModel:
    """Load a sequence classifier; raises OrganiserError where the files hold none."""
    from transformers import AutoModelForSequenceClassification

    return _load(AutoModelForSequenceClassification, files, load_config(files), place)


def longest_input(model: PreTrainedModel) -> int | None:
    """Return how many tokens the model can take at all: its table of absolute positions, or None where it has none."""
    table = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    if table is None:
        return None
    reserved = 0 if table.padding_idx is None else table.padding_idx + 1  # RoBERTa counts from behind the padding id
    return int(table.num_embeddings) - reserved


def _load(kind: Any, files: ModelFiles, config: PretrainedConfig, place: Placement) -> PreTrainedModel:
    from transformers.utils import logging

    logging.set_verbosity_error()  # of unused weights, which the layers left out always are
    logging.disable_progress_bar()
    started = time.monotonic()
    with reading(files):
        # Of a pytorch_model.bin, which is a pickle, only tensors are taken: it cannot run code.
        model = kind.from_pretrained(
            str(files.folder), config=config, dtype=place.dtype, local_files_only=True, weights_only=True
        )
    model.eval().to(device=place.device, dtype=place.dtype)  # DeBERTa makes some of its weights float32 regardless
    attend_in_rows(model)
    speed_up_relative_attention(model)
    say_if_long(f"Loaded {files.label}", started)
    return model


FIRST_AFTER = 1.0  # seconds: quicker steps print nothing
EVERY = 5.0
PAUSE = 0.25  # of the time so far, so that a long step prints little more than a short one: long logs get lost


@contextmanager
def progress(
    step: str, total: int, unit: str, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[int], None]]:
    """Report a step that may take long.

    `with progress("Embedding", 900, "texts") as advance:` and then `advance(1)` after each of the 900.
    """
    started = clock()
    last_line = started + FIRST_AFTER - EVERY
    done = 0

    def advance(units: int) -> None:
        nonlocal done, last_line
        done += units
        now = clock()
        if now - last_line >= max(EVERY, PAUSE * (now - started)) and done < total:
            last_line = now
            remaining = (now - started) * (total - done) / done if done else 0.0
            _say(f"{step}: {done} of {total} {unit}, about {remaining:.0f} s left")

    yield advance
    seconds = clock() - started
    if seconds >= FIRST_AFTER:
        _say(f"{step}: {done} of {total} {unit} in {seconds:.1f} s")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def say_if_long(what: str, started: float) -> None:
    """Report a step that began at `started` (`time.monotonic()`), once it is over, if it took longer than a second."""
    seconds = time.monotonic() - started
    if seconds >= FIRST_AFTER:
        _say(f"{what} in {seconds:.1f} s")
