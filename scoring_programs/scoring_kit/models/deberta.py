"""DeBERTa's and DeBERTa-v2's attention without what is not needed: memory for long texts, and work for short ones.

DeBERTa's runs some rows at a time, so that a long text needs memory that grows with its length alone. BERTScore cuts no
text where the tokenizer declares no limit, and that of microsoft/deberta-xlarge-mnli declares none. For a span of 5,000
words transformers holds half a dozen matrices of all heads by 5,000 by 5,000 at once, more than most machines have. A
row of them (what one token attends to) depends on no other, so here only some exist at a time.

DeBERTa-v2's attention to relative positions is that of transformers without the work that is repeated or thrown away. A
token's attention to another has two terms besides the content: how its content meets the other's relative position
(c2p), and how the other's content meets its own (p2c); He et al., "DeBERTa", ICLR 2021, section 3.1. Of the table of
relative positions transformers projects all rows, in every layer of every forward pass, copies the result for each text
of the batch, and takes its product with every token. Here

* the projections are computed once per layer: they are constant, and the very tensors that would be computed again;
* products are taken only with the rows that a batch can need: texts of L tokens have distances below L.

In a batch of short texts that was most of the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
        # for each of some tokens and every token, the row of the position table for their distance
        tokens = torch.arange(length, device=values.device)
        context = torch.empty_like(values)
        step = max(1, CELLS[queries.device.type] // (queries.size(0) * queries.size(1) * length))
        for start in range(0, length, step):
            rows = slice(start, min(start + step, length))
            some = queries[:, :, rows]
            scores = some @ keys.transpose(-1, -2)
            position = (tokens[rows, None] - tokens[None, :] + reach).clamp(0, 2 * reach - 1)
            bias: Tensor | int = 0
            if c2p is not None:
                bias = bias + (some @ c2p).gather(-1, position.expand(scores.shape))
            if p2c is not None:
                bias = bias + p2c.gather(-1, position.T.expand(*scores.shape[:2], -1, -1)).transpose(-1, -2)
            scores = (scores + bias).masked_fill(~attention_mask, torch.finfo(scores.dtype).min)
            context[:, :, rows] = scores.softmax(dim=-1) @ values
        return context.permute(0, 2, 1, 3).flatten(2), None

    return forward


def speed_up_relative_attention(model: PreTrainedModel) -> None:
    """Give a DeBERTa-v2 model (of transformers 4.57 or 5) this attention; any other model is left as it is.

    The model must be in its final place and type, and must not be trained afterwards.
    """
    import torch

    encoder: Any = getattr(model.base_model, "encoder", None)
    if model.config.model_type != "deberta-v2" or not encoder.relative_attention:
        return
    distances = _Distances()
    with torch.inference_mode():
        table = encoder.get_rel_embedding()
        for layer in encoder.layer:
            attention = layer.attention.self
            attention.disentangled_attention_bias = _PositionBias.of(attention, table, distances)
    encoder.get_rel_embedding = lambda: table  # normalised once, not in every pass


class _Distances:
    """Which rows of the position table the tokens of a batch need; the same in all layers, so found once a batch."""

    def __init__(self) -> None:
        self._relative_pos: Tensor | None = None
        self._found: tuple[slice, Tensor, Tensor] | None = None

    def rows(self, relative_pos: Tensor, span: int) -> tuple[slice, Tensor, Tensor]:
        """Return the run of rows needed, and for each pair of tokens its row within the run, forwards and backwards.

        `relative_pos` is the bucket of each distance, shape (1, L, L); of 2·span rows, span + b belongs to bucket b.
        """
        if self._found is None or relative_pos is not self._relative_pos:
            forwards = (relative_pos[0].long() + span).clamp(0, 2 * span - 1)
            backwards = (span - relative_pos[0].long()).clamp(0, 2 * span - 1)
            first = min(int(forwards.min()), int(backwards.min()))
            last = max(int(forwards.max()), int(backwards.max()))
            self._relative_pos = relative_pos
            self._found = slice(first, last + 1), forwards - first, backwards - first
        return self._found


@dataclass(frozen=True)
class _PositionBias:
    """The two position terms of one layer; takes the place of `disentangled_attention_bias`.

    Attributes:
        heads: number of attention heads.
        span: half the number of rows of the position table.
        keys: the table projected as keys, shape (heads, 2·span, width of a head), or None without c2p.
        queries: likewise as queries, or None without p2c.
        distances: shared by all layers of the model.
    """

    heads: int
    span: int
    keys: Tensor | None
    queries: Tensor | None
    distances: _Distances

    @staticmethod
    def of(attention: Any, table: Tensor, distances: _Distances) -> _PositionBias:
        """Project the position table with one layer's weights."""
        span = attention.pos_ebd_size
        rows = table[: 2 * span].unsqueeze(0)
        prefix = "" if attention.share_att_key else "pos_"

        def projected(name: str) -> Tensor:
            return attention.transpose_for_scores(
                getattr(attention, prefix + name)(rows), attention.num_attention_heads
            )

        keys = projected("key_proj") if "c2p" in attention.pos_att_type else None
        queries = projected("query_proj") if "p2c" in attention.pos_att_type else None
        return _PositionBias(attention.num_attention_heads, span, keys, queries, distances)

    def __call__(
        self, query_layer: Tensor, key_layer: Tensor, relative_pos: Tensor, _table: Tensor, scale_factor: int
    ) -> Tensor | int:
        """Return what is added to the content's attention scores, shape (texts · heads, L, L).

        Query and key layers have the shape (texts · heads, L, width of a head), `relative_pos`, the bucket of each
        distance, (1, L, L); all is scaled by `scale_factor`, the number of terms of the attention.
        """
        rows, forwards, backwards = self.distances.rows(relative_pos, self.span)
        scale = (query_layer.size(-1) * scale_factor) ** 0.5
        bias: Tensor | int = 0
        if self.keys is not None:
            bias = bias + self._products(query_layer, self.keys[:, rows], forwards) / scale
        if self.queries is not None:
            bias = bias + self._products(key_layer, self.queries[:, rows], backwards).transpose(-1, -2) / scale
        return bias if isinstance(bias, int) else bias.transpose(0, 1).flatten(0, 1)

    def _products(self, content: Tensor, positions: Tensor, row_of: Tensor) -> Tensor:
        """Each token's product with the row for its distance to each other token: shape (heads, texts, L, L)."""
        length, width = content.shape[1:]
        by_head = content.view(-1, self.heads, length, width).transpose(0, 1)
        products = by_head.flatten(1, 2).bmm(positions.transpose(-1, -2)).unflatten(1, (-1, length))
        return products.gather(-1, row_of.expand(*products.shape[:2], -1, -1))
