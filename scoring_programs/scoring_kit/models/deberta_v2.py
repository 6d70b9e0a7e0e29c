"""DeBERTa-v2's attention to relative positions, without the work that transformers repeats or throws away.

A token's attention to another has two terms besides the content: how its content meets the other's relative position
(c2p), and how the other's content meets its own (p2c); He et al., "DeBERTa", ICLR 2021, section 3.1. Of the table of
relative positions transformers projects all rows, in every layer of every forward pass, copies the result for each
text of the batch, and takes its product with every token. Here

* the projections are computed once per layer: they are constant, and the very tensors that would be computed again;
* products are taken only with the rows that a batch can need: texts of L tokens have distances below L.

In a batch of short texts that was most of the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


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
        """The run of rows needed, and for each pair of tokens its row within the run, forwards and backwards.

        Args:
            relative_pos: the bucket of each distance, shape (1, L, L).
            span: the table has 2·span rows; row span + b belongs to bucket b.
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

        return _PositionBias(
            heads=attention.num_attention_heads,
            span=span,
            keys=projected("key_proj") if "c2p" in attention.pos_att_type else None,
            queries=projected("query_proj") if "p2c" in attention.pos_att_type else None,
            distances=distances,
        )

    def __call__(
        self, query_layer: Tensor, key_layer: Tensor, relative_pos: Tensor, _table: Tensor, scale_factor: int
    ) -> Tensor | int:
        """What is added to the content's attention scores.

        Args:
            query_layer: shape (texts · heads, L, width of a head).
            key_layer: likewise.
            relative_pos: the bucket of each distance, shape (1, L, L).
            scale_factor: number of terms of the attention, by which all are scaled.

        Returns:
            Shape (texts · heads, L, L).
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
