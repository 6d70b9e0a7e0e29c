from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring_kit.models.device import LONG, batches_by_length

pytestmark = pytest.mark.slow

LENGTHS = st.lists(st.integers(0, 2000), max_size=60)


@given(LENGTHS, st.sampled_from([1, 64, 1024, 16384]))
def test_every_sequence_is_in_one_batch_and_batches_keep_to_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(batches_by_length(lengths, budget))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(max(lengths[index] for index in batch), 1)
        assert len(batch) == 1 or len(batch) * longest * max(longest, LONG) <= budget * LONG


@given(LENGTHS)
def test_batches_go_from_long_to_short(lengths: list[int]) -> None:
    order = [lengths[index] for batch in batches_by_length(lengths, 512) for index in batch]
    assert order == sorted(lengths, reverse=True)


@given(LENGTHS, st.randoms(use_true_random=False))
def test_the_order_of_sequences_does_not_change_the_shapes_of_batches(lengths: list[int], rng: random.Random) -> None:
    shuffled = list(lengths)
    rng.shuffle(shuffled)
    assert _shapes(lengths) == _shapes(shuffled)


def _shapes(lengths: list[int]) -> list[list[int]]:
    return [[lengths[index] for index in batch] for batch in batches_by_length(lengths, 512)]


@pytest.mark.models
def test_padded_sequences_get_a_mask_and_equal_ones_none() -> None:
    pytest.importorskip("torch")
    from scoring_kit.models.device import padded

    alike = padded([[5, 6], [7, 8]], 0, "cpu")
    assert {name: tensor.tolist() for name, tensor in alike.items()} == {"input_ids": [[5, 6], [7, 8]]}
    unlike = padded([[5, 6], [7]], 1, "cpu")
    assert unlike["input_ids"].tolist() == [[5, 6], [7, 1]]
    assert unlike["attention_mask"].tolist() == [[1, 1], [1, 0]]
