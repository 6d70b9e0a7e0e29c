"""Greedy matching against loops that spell out the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring_kit.metrics import bertscore
from scoring_kit.metrics.bertscore import Embedding, match

WIDTH = 3


def embedding(rng: np.random.Generator, tokens: int, special: int) -> Embedding:
    """Random vectors of length 1, of which the first `special` tokens count in no mean."""
    vectors = rng.normal(size=(tokens, WIDTH)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    counts = np.arange(tokens) >= special
    return Embedding(lambda: vectors, (counts / max(counts.sum(), 1)).astype(np.float32))


def by_definition(candidate: Embedding, reference: Embedding, padded: bool) -> tuple[float, float, float]:
    if not candidate.weights.any() or not reference.weights.any():
        return 0.0, 0.0, 0.0
    cosines = candidate.vectors().astype(np.float64) @ reference.vectors().astype(np.float64).T
    precision = float(candidate.weights @ cosines.max(axis=1))
    best_for_reference = cosines.max(axis=0)
    recall = float(reference.weights @ (np.maximum(best_for_reference, 0) if padded else best_for_reference))
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return precision, recall, f1


TEXTS = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6)), min_size=1, max_size=7)


@pytest.mark.slow
@settings(max_examples=30)
@given(candidates=TEXTS, references=TEXTS, seed=st.integers(0, 99), cells=st.sampled_from([1, 40, 10**6]))
def test_all_pairs_are_as_defined_however_they_are_cut_into_blocks(
    candidates: list[tuple[int, int]], references: list[tuple[int, int]], seed: int, cells: int
) -> None:
    rng = np.random.default_rng(seed)
    predicted = [embedding(rng, *shape) for shape in candidates]
    gold = [embedding(rng, *shape) for shape in references]
    predicted.append(predicted[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bertscore, "CELLS", cells)
        scores = match(predicted, gold)
    expected = np.array([[by_definition(c, r, padded=False) for r in gold] for c in predicted])
    np.testing.assert_allclose(scores.precision, expected[..., 0], atol=1e-6)
    np.testing.assert_allclose(scores.recall, expected[..., 1], atol=1e-6)
    # F has a pole where P + R = 0; away from it the same tolerance holds.
    regular = np.abs(expected[..., 0] + expected[..., 1]) > 0.05
    np.testing.assert_allclose(scores.f1[regular], expected[..., 2][regular], atol=1e-4)


@pytest.mark.slow
@settings(max_examples=30)
@given(candidates=TEXTS, seed=st.integers(0, 99), batch=st.integers(1, 4))
def test_a_padded_candidate_offers_every_token_at_least_a_cosine_of_zero(
    candidates: list[tuple[int, int]], seed: int, batch: int
) -> None:
    rng = np.random.default_rng(seed)
    predicted = [embedding(rng, *shape) for shape in candidates]
    reference = embedding(rng, 4, 1)
    scores = match(predicted, [reference], library_batch=batch)
    for index, candidate in enumerate(predicted):
        start = index // batch * batch
        longest = max(other.tokens for other in predicted[start : start + batch])
        expected = by_definition(candidate, reference, padded=candidate.tokens < longest)
        assert scores.precision[index, 0] == pytest.approx(expected[0], abs=1e-6)
        assert scores.recall[index, 0] == pytest.approx(expected[1], abs=1e-6)


def test_padding_matters_where_all_cosines_are_negative() -> None:
    away = np.array([[-1, 0, 0]], dtype=np.float32)
    towards = np.array([[1, 0, 0]], dtype=np.float32)
    short = Embedding(lambda: away, np.ones(1, dtype=np.float32))
    long = Embedding(lambda: np.repeat(away, 2, axis=0), np.full(2, 0.5, dtype=np.float32))
    gold = Embedding(lambda: towards, np.ones(1, dtype=np.float32))
    assert match([short, long], [gold]).recall.tolist() == [[-1.0], [-1.0]]
    assert match([short, long], [gold], library_batch=64).recall.tolist() == [[0.0], [-1.0]]
    assert match([short, long], [gold], library_batch=1).recall.tolist() == [[-1.0], [-1.0]]


def test_nothing_to_compare_gives_empty_matrices() -> None:
    gold = embedding(np.random.default_rng(0), 3, 0)
    assert match([], [gold, gold]).f1.shape == (0, 2)
    assert match([gold], []).f1.shape == (1, 0)
