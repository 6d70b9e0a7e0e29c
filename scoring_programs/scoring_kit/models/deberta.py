"""DeBERTa's attention some rows at a time, so that a long text needs memory that grows with its length alone.

BERTScore cuts no text where the tokenizer declares no limit, and that of microsoft/deberta-xlarge-mnli declares none.
For a span of 5,000 words transformers holds half a dozen matrices of all heads by 5,000 by 5,000 at once, more than
most machines have. A row of them (what one token attends to) depends on no other, so here only some exist at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from transformers import PreTrainedModel

# Attention scores held at once (texts times heads times rows times columns): what fits into a CPU's caches is quickest
# there, a GPU wants few and large products.
CELLS = {"cpu": 4_000_000, "cuda": 64_000_000}


def attend_in_rows(model: PreTrainedModel) -> None:
    """Give a DeBERTa model (of transformers 4.57 or 5) this attention; any other model is left as it is.

    The model must not be trained afterwards: there is no dropout.
    """
    config = model.config
    if config.model_type != "deberta" or not config.relative_attention or getattr(config, "talking_head", False):
        return
    encoder: Any = model.base_model.encoder
    # What transformers hands to the layers as matrices of length by length is not needed in that form.
    encoder.get_attention_mask = lambda mask: mask[:, None, None, :].bool()
    encoder.get_rel_pos = lambda *_hidden_states: None
    for layer in encoder.layer:
        layer.attention.self.forward = _in_rows(layer.attention.self)


def _in_rows(attention: Any) -> Callable[..., tuple[Tensor, None]]:
    """The attention of one layer (He et al., "DeBERTa", ICLR 2021, section 3.1), with transformers' arguments."""

    def forward(
        hidden_states: Tensor, attention_mask: Tensor, *_unused: object, rel_embeddings: Tensor, **_not_used: object
    ) -> tuple[Tensor, None]:
        import torch

        projected = attention.transpose_for_scores(attention.in_proj(hidden_states))
        queries, keys, values = projected.chunk(3, dim=-1)  # each (texts, heads, length, width of a head)
        scale = (queries.size(-1) * (1 + len(attention.pos_att_type))) ** 0.5
        queries = (queries + attention.transpose_for_scores(attention.q_bias[None, None, :])) / scale
        values = values + attention.transpose_for_scores(attention.v_bias[None, None, :])
        length = hidden_states.size(1)
        reach = min(length, attention.max_relative_positions)
        middle = attention.max_relative_positions
        table = rel_embeddings[middle - reach : middle + reach].unsqueeze(0)
        c2p = p2c = None
        if "c2p" in attention.pos_att_type:
            c2p = attention.transpose_for_scores(attention.pos_proj(table)).transpose(-1, -2)
        if "p2c" in attention.pos_att_type:
            p2c = keys @ (attention.transpose_for_scores(attention.pos_q_proj(table)) / scale).transpose(-1, -2)
        context = torch.empty_like(values)
        for rows in _runs_of_rows(length, CELLS[queries.device.type] // (queries.size(0) * queries.size(1) * length)):
            some = queries[:, :, rows]
            scores = some @ keys.transpose(-1, -2)
            position = _positions(rows, length, reach, scores.device)
            bias: Tensor | int = 0
            if c2p is not None:
                bias = bias + (some @ c2p).gather(-1, position.expand(scores.shape))
            if p2c is not None:
                bias = bias + p2c.gather(-1, position.T.expand(*scores.shape[:2], -1, -1)).transpose(-1, -2)
            scores = (scores + bias).masked_fill(~attention_mask, torch.finfo(scores.dtype).min)
            context[:, :, rows] = scores.softmax(dim=-1) @ values
        return context.permute(0, 2, 1, 3).flatten(2), None

    return forward


def _runs_of_rows(length: int, most: int) -> Iterator[slice]:
    step = max(1, most)
    return (slice(start, min(start + step, length)) for start in range(0, length, step))


def _positions(rows: slice, length: int, reach: int, device: torch.device) -> Tensor:
    """For each of these tokens and every token the row of the position table for their distance."""
    import torch

    tokens = torch.arange(length, device=device)
    return (tokens[rows, None] - tokens[None, :] + reach).clamp(0, 2 * reach - 1)
