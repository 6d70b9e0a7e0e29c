"""A few layers of real width with random weights, in the shapes of the models that CLPsych 2025 used."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests import tiny_models

LAYERS = 2
TOKENIZER_FILES = ("vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json")


def make_wide_encoder(folder: Path, layers: int = LAYERS) -> Path:
    """microsoft/deberta-xlarge-mnli's layers: width 1024, 16 heads, 512 relative positions."""
    import torch
    from transformers import DebertaConfig, DebertaModel

    torch.manual_seed(1)
    config = DebertaConfig(
        **_width(layers),
        vocab_size=512,
        max_position_embeddings=512,
        max_relative_positions=-1,
        type_vocab_size=0,
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        position_biased_input=False,
        pad_token_id=0,
    )
    DebertaModel(config).save_pretrained(folder)
    return _with_tokenizer(folder, tiny_models.DEBERTA_ENCODER)


def make_wide_classifier(folder: Path, layers: int = LAYERS) -> Path:
    """DeBERTa-v3-large's layers: width 1024, 16 heads, 256 position buckets, shared attention key."""
    import torch
    from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

    torch.manual_seed(2)
    config = DebertaV2Config(
        **_width(layers),
        vocab_size=512,
        max_position_embeddings=512,
        max_relative_positions=-1,
        position_buckets=256,
        type_vocab_size=0,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        position_biased_input=False,
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        pad_token_id=0,
        id2label={0: "entailment", 1: "neutral", 2: "contradiction"},
    )
    DebertaV2ForSequenceClassification(config).save_pretrained(folder)
    return _with_tokenizer(folder, tiny_models.DEBERTA_V2_NLI)


def _width(layers: int) -> dict[str, int]:
    return {
        "hidden_size": 1024,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
        "num_hidden_layers": layers,
    }


def _with_tokenizer(folder: Path, source: str) -> Path:
    for name in TOKENIZER_FILES:
        if (Path(source) / name).is_file():
            shutil.copy(Path(source) / name, folder / name)
    return folder
