"""Our attention gives what transformers' own gives on the same batch: that of DeBERTa-v2 bit by bit."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from scoring_kit.models import deberta
from scoring_kit.models.deberta import attend_in_rows, speed_up_relative_attention
from tests import tiny_models

pytestmark = [
    pytest.mark.models,
    pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning"),
]
of_shapes = pytest.mark.parametrize("shape", [(1, 2), (1, 9), (4, 17), (3, 40), (2, 130), (1, 300)])


def pair(model: str, kind: str, changed: dict[str, Any]) -> tuple[Any, Any]:
    """Two models of a class of transformers with the same weights; of the second the attention is to be ours."""
    import transformers

    torch.manual_seed(7)
    config = transformers.AutoConfig.from_pretrained(model, **changed)
    own, ours = (getattr(transformers, kind)(config).eval() for _ in range(2))
    ours.load_state_dict(own.state_dict())
    return own, ours


def pair_of_v2(**changed: Any) -> tuple[Any, Any]:
    return pair(tiny_models.DEBERTA_V2_NLI, "DebertaV2ForSequenceClassification", changed)


def batch(shape: tuple[int, int], vocabulary: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids, and a mask that hides half of the last text."""
    ids = torch.randint(5, vocabulary, shape, generator=torch.Generator().manual_seed(shape[1]))
    mask = torch.ones(shape, dtype=torch.long)
    mask[-1, (shape[1] + 1) // 2 :] = 0
    return ids, mask


@of_shapes
@pytest.mark.parametrize(
    "changed",
    [{}, {"pos_att_type": ["c2p"]}, {"pos_att_type": ["p2c"]}, {"pos_att_type": []}, {"max_relative_positions": 8}],
    ids=str,
)
@pytest.mark.parametrize("cells", [1, 500, 10**7])
def test_hidden_states_by_some_rows_at_a_time_are_transformers_own(
    changed: dict[str, Any], shape: tuple[int, int], cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(deberta.CELLS, "cpu", cells)
    own, ours = pair(tiny_models.DEBERTA_ENCODER, "DebertaModel", changed)
    attend_in_rows(ours)
    ids, mask = batch(shape, 300)
    with torch.inference_mode():
        expected, got = (model(ids, attention_mask=mask).last_hidden_state[mask.bool()] for model in (own, ours))
        unmasked = own(ids).last_hidden_state, ours(ids).last_hidden_state
    torch.testing.assert_close(got, expected, atol=2e-6, rtol=0)
    torch.testing.assert_close(*unmasked, atol=2e-6, rtol=0)


@of_shapes
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
def test_logits_of_v2_are_the_same_to_the_last_bit(changed: dict[str, Any], shape: tuple[int, int]) -> None:
    own, ours = pair_of_v2(**changed)
    speed_up_relative_attention(ours)
    ids, mask = batch(shape, 100)
    with torch.inference_mode():
        assert torch.equal(own(ids, attention_mask=mask).logits, ours(ids, attention_mask=mask).logits)


def test_a_model_without_relative_attention_is_left_alone() -> None:
    _, ours = pair_of_v2(relative_attention=False, position_biased_input=True)
    before = ours.deberta.encoder.layer[0].attention.self.disentangled_attention_bias
    speed_up_relative_attention(ours)
    assert ours.deberta.encoder.layer[0].attention.self.disentangled_attention_bias == before
