"""Greedy matching of token vectors, the second half of BERTScore: all pairs of two lists of texts at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CELLS = 4_000_000  # cosines held at once, 16 MB; a single pair of texts may need more


@dataclass(frozen=True, eq=False)
class Embedding:
    """A text as token vectors.

    Attributes:
        vectors: gives an array of shape (tokens, width), float32, rows of length 1.
        weights: shape (tokens,), float32: each token's share in a mean, 0 for special tokens; all 0 if there are only
            special ones.
    """

    vectors: Callable[[], NDArray[np.float32]]
    weights: NDArray[np.float32]

    @property
    def tokens(self) -> int:
        """How many tokens there are, special ones included."""
        return len(self.weights)


@dataclass(frozen=True, eq=False)
class Scores:
    """Precision, recall and F of all pairs: arrays of shape (candidates, references), float64."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]


def match(candidates: Sequence[Embedding], references: Sequence[Embedding], library_batch: int | None = None) -> Scores:
    """Compare every candidate with every reference.

    Args:
        candidates: predicted texts.
        references: gold texts.
        library_batch: reproduce the padding of a bert-score call with all candidates and one reference, in batches of
            that many pairs (see `BertScorer.score`).

    Returns:
        Unrescaled scores; 0 where one of the two texts has no token that counts.
    """
    import numpy as np

    floors = _floors(candidates, library_batch)
    rows, row_of = _distinct([(id(candidate), floor) for candidate, floor in zip(candidates, floors, strict=True)])
    columns, column_of = _distinct([id(r) for r in references])
    distinct_candidates = [candidates[i] for i in rows]
    distinct_references = [references[i] for i in columns]
    distinct_floors = np.asarray([floors[i] for i in rows], dtype=np.float32)
    precision = np.zeros((len(rows), len(columns)))
    recall = np.zeros_like(precision)
    for c in _blocks(distinct_candidates, CELLS // max((r.tokens for r in distinct_references), default=1)):
        height = sum(candidate.tokens for candidate in distinct_candidates[c])
        for r in _blocks(distinct_references, CELLS // height):
            precision[c, r], recall[c, r] = _block(
                distinct_candidates[c], distinct_references[r], distinct_floors[c, None]
            )
    for i, candidate in enumerate(distinct_candidates):
        if not candidate.weights.any():
            precision[i], recall[i] = 0, 0
    for i, reference in enumerate(distinct_references):
        if not reference.weights.any():
            precision[:, i], recall[:, i] = 0, 0
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total != 0)
    of_all = np.ix_(row_of, column_of)
    return Scores(precision[of_all], recall[of_all], f1[of_all])


def _block(
    candidates: Sequence[Embedding], references: Sequence[Embedding], floors: NDArray[np.float32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Precision and recall of all pairs of a few texts: one matrix product, then best matches text by text."""
    import numpy as np

    cosines = np.concatenate([c.vectors() for c in candidates]) @ np.concatenate([r.vectors() for r in references]).T
    row_starts, column_starts = _starts(candidates), _starts(references)
    row_weights = np.concatenate([c.weights for c in candidates])[:, None]
    column_weights = np.concatenate([r.weights for r in references])[None, :]
    best_in_reference = np.maximum.reduceat(cosines, column_starts, axis=1)
    best_in_candidate = np.maximum(np.maximum.reduceat(cosines, row_starts, axis=0), floors)
    precision = np.add.reduceat(best_in_reference * row_weights, row_starts, axis=0, dtype=np.float64)
    recall = np.add.reduceat(best_in_candidate * column_weights, column_starts, axis=1, dtype=np.float64)
    return precision, recall


def _starts(texts: Sequence[Embedding]) -> Any:
    import numpy as np

    return np.cumsum([0, *(text.tokens for text in texts[:-1])])


def _floors(candidates: Sequence[Embedding], library_batch: int | None) -> list[float]:
    """The least that a best match in each candidate can be: 0 where the library would pad it."""
    if library_batch is None:
        return [-1.0] * len(candidates)
    floors: list[float] = []
    for start in range(0, len(candidates), library_batch):
        batch = candidates[start : start + library_batch]
        longest = max(candidate.tokens for candidate in batch)
        floors += [0.0 if candidate.tokens < longest else -1.0 for candidate in batch]
    return floors


def _distinct(keys: Sequence[object]) -> tuple[list[int], list[int]]:
    """Where each distinct key occurs first, and for each key the number of its distinct one."""
    number: dict[object, int] = {}
    first: list[int] = []
    for index, key in enumerate(keys):
        if key not in number:
            number[key] = len(first)
            first.append(index)
    return first, [number[key] for key in keys]


def _blocks(texts: Sequence[Embedding], most: int) -> Iterator[slice]:
    """Cut a list into runs of texts with at most `most` tokens together (or one text)."""
    start, tokens = 0, 0
    for index, text in enumerate(texts):
        if index > start and tokens + text.tokens > most:
            yield slice(start, index)
            start, tokens = index, 0
        tokens += text.tokens
    if start < len(texts):
        yield slice(start, len(texts))
