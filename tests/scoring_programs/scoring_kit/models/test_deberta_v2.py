"""The quicker attention gives, bit by bit, what transformers' own gives on the same batch."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from scoring_kit.models.deberta import speed_up_relative_attention
from tests import tiny_models

pytestmark = pytest.mark.models

SHAPES = [(1, 2), (1, 9), (4, 17), (3, 40), (2, 130), (1, 300)]


def pair(**changed: Any) -> tuple[Any, Any]:
    """Two DeBERTa-v2 classifiers with the same weights, the second with our attention."""
    from transformers import AutoConfig, DebertaV2ForSequenceClassification

    torch.manual_seed(7)
    config = AutoConfig.from_pretrained(tiny_models.DEBERTA_V2_NLI, **changed)
    own = DebertaV2ForSequenceClassification(config).eval()
    ours = DebertaV2ForSequenceClassification(config).eval()
    ours.load_state_dict(own.state_dict())
    return own, ours


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"share_att_key": False},
        {"pos_att_type": ["c2p"]},
        {"pos_att_type": ["p2c"]},
        {"pos_att_type": []},
        {"position_buckets": -1},
        {"norm_rel_ebd": "none"},
    ],
    ids=str,
)
def test_logits_are_the_same_to_the_last_bit(changed: dict[str, Any], shape: tuple[int, int]) -> None:
    own, ours = pair(**changed)
    speed_up_relative_attention(ours)
    ids = torch.randint(5, 100, shape, generator=torch.Generator().manual_seed(shape[1]))
    mask = torch.ones(shape, dtype=torch.long)
    mask[-1, (shape[1] + 1) // 2 :] = 0
    with torch.inference_mode():
        assert torch.equal(own(ids, attention_mask=mask).logits, ours(ids, attention_mask=mask).logits)


def test_a_model_without_relative_attention_is_left_alone() -> None:
    _, ours = pair(relative_attention=False, position_biased_input=True)
    before = ours.deberta.encoder.layer[0].attention.self.disentangled_attention_bias
    speed_up_relative_attention(ours)
    assert ours.deberta.encoder.layer[0].attention.self.disentangled_attention_bias == before
