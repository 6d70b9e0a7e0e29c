"""DeBERTa-v2 projects its table of relative positions in every layer of every forward pass, always to the same values.

In a batch of short texts that is most of the work. Here each layer's projections are computed once and kept. They are
the very tensors that the model would compute, so results are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel


def remember_position_projections(model: PreTrainedModel) -> None:
    """Make a DeBERTa-v2 model (of transformers 4.57 or 5) remember them; any other model is left as it is.

    The model must be in its final place and type, and must not be trained afterwards.
    """
    import torch

    encoder: Any = getattr(model.base_model, "encoder", None)
    if model.config.model_type != "deberta-v2" or not encoder.relative_attention:
        return
    with torch.inference_mode():
        table = encoder.get_rel_embedding()
    encoder.get_rel_embedding = lambda: table
    for layer in encoder.layer:
        attention = layer.attention.self
        for name in ("query_proj", "key_proj", "pos_key_proj", "pos_query_proj"):
            if hasattr(attention, name):
                projection = getattr(attention, name)
                projection.forward = _remembering(projection.forward, table)


def _remembering(forward: Callable[[torch.Tensor], torch.Tensor], table: torch.Tensor) -> Callable[..., torch.Tensor]:
    """The projection `forward`, which recognises the position table by its place in memory."""
    of_positions: torch.Tensor | None = None

    def remembering(states: torch.Tensor) -> torch.Tensor:
        nonlocal of_positions
        if states.data_ptr() != table.data_ptr():
            return forward(states)
        if of_positions is None:
            of_positions = forward(states)
        return of_positions

    return remembering
