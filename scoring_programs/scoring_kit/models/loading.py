"""Loading weights so that transformers 4.57 and 5 give the same numbers.

Version 5 takes the numeric type in which weights were saved (many NLI models are stored on the hub in half precision),
version 4 float32: the type is always named here. For what tokenizers differ in, see `tokenizing.py`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from scoring_kit.errors import OrganiserError
from scoring_kit.models.deberta import attend_in_rows
from scoring_kit.models.deberta_v2 import speed_up_relative_attention
from scoring_kit.models.device import Placement
from scoring_kit.models.files import ModelFiles, reading
from scoring_kit.progress import say_if_long

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel


def load_config(files: ModelFiles) -> PretrainedConfig:
    """Read a model's configuration.

    Raises:
        OrganiserError: it cannot be read, or names a kind of model that this version of transformers does not know.
    """
    from transformers import AutoConfig

    with reading(files):
        return AutoConfig.from_pretrained(str(files.folder), local_files_only=True)


def load_encoder(files: ModelFiles, layers: int, place: Placement) -> PreTrainedModel:
    """Load the first `layers` layers of an encoder; its last hidden state is then that of layer `layers`.

    Raises:
        OrganiserError: the files hold no such encoder, or not as many layers.
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
    """Load a sequence classifier.

    Raises:
        OrganiserError: the files hold none.
    """
    from transformers import AutoModelForSequenceClassification

    return _load(AutoModelForSequenceClassification, files, load_config(files), place)


def longest_input(model: PreTrainedModel) -> int | None:
    """How many tokens the model can take at all: its table of absolute positions, or None where it has none."""
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
