"""Attention some rows at a time gives what transformers' own gives on the same batch."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from scoring_kit.models import deberta
from scoring_kit.models.deberta import attend_in_rows
from tests import tiny_models

pytestmark = pytest.mark.models


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
@pytest.mark.parametrize("shape", [(1, 2), (1, 9), (4, 17), (3, 40), (2, 130), (1, 300)])
@pytest.mark.parametrize(
    "changed",
    [{}, {"pos_att_type": ["c2p"]}, {"pos_att_type": ["p2c"]}, {"pos_att_type": []}, {"max_relative_positions": 8}],
    ids=str,
)
@pytest.mark.parametrize("cells", [1, 500, 10**7])
def test_hidden_states_are_transformers_own(
    changed: dict[str, Any], shape: tuple[int, int], cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import AutoConfig, DebertaModel

    monkeypatch.setitem(deberta.CELLS, "cpu", cells)
    torch.manual_seed(7)
    config = AutoConfig.from_pretrained(tiny_models.DEBERTA_ENCODER, **changed)
    own, ours = DebertaModel(config).eval(), DebertaModel(config).eval()
    ours.load_state_dict(own.state_dict())
    attend_in_rows(ours)
    ids = torch.randint(5, 300, shape, generator=torch.Generator().manual_seed(shape[1]))
    mask = torch.ones(shape, dtype=torch.long)
    mask[-1, (shape[1] + 1) // 2 :] = 0
    with torch.inference_mode():
        expected, got = (model(ids, attention_mask=mask).last_hidden_state[mask.bool()] for model in (own, ours))
        unmasked = own(ids).last_hidden_state, ours(ids).last_hidden_state
    torch.testing.assert_close(got, expected, atol=2e-6, rtol=0)
    torch.testing.assert_close(*unmasked, atol=2e-6, rtol=0)
