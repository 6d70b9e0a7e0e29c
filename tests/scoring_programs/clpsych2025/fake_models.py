"""Engines that need no model: BERTScore by shared words, NLI by letters. Arbitrary, but the same for the same texts."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scoring_kit.metrics.bertscore import Scores

BASELINE = 0.2


class WordScorer:
    """R: the share of the reference's words that the candidate has; P likewise; tokens are words."""

    def __init__(self) -> None:
        self.encoded: list[str] = []
        self.batches: set[int | None] = set()

    def signature(self) -> dict[str, object]:
        return {"model": "words", "revision": "0"}

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def encode_all(self, texts: Sequence[str], lasting: Sequence[str] = ()) -> None:
        self.encoded += [*texts, *lasting]

    def score(self, candidates: Sequence[str], references: Sequence[str], library_batch: int | None = None) -> Scores:
        self.batches.add(library_batch)
        recall = np.array([[overlap(r, c) for r in references] for c in candidates], dtype=float)
        precision = np.array([[overlap(c, r) for r in references] for c in candidates], dtype=float)
        total = precision + recall
        f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
        return Scores(precision, recall, f1)

    def rescale(self, scores: Scores) -> Scores:
        parts = (scores.precision, scores.recall, scores.f1)
        return Scores(*((part - BASELINE) / (1 - BASELINE) for part in parts))


def overlap(one: str, other: str) -> float:
    """The share of one text's words that another has."""
    words = one.split()
    return sum(word in other.split() for word in words) / len(words) if words else 0.0


class LetterClassifier:
    """Probabilities from the letters that premise and hypothesis have."""

    def __init__(self) -> None:
        self.calls: list[list[tuple[str, str]]] = []

    def signature(self) -> dict[str, object]:
        return {"model": "letters", "revision": "0"}

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        self.calls.append(list(pairs))
        return np.array([letters(*pair) for pair in pairs], dtype=float).reshape(-1, 3)


def letters(premise: str, hypothesis: str) -> tuple[float, float, float]:
    """Entailment, neutral, contradiction; they differ with the order of the two."""
    both, first = len(set(premise) & set(hypothesis)), len(set(premise) - set(hypothesis))
    second, total = len(set(hypothesis) - set(premise)) + 0.5, both + first + len(set(hypothesis) - set(premise)) + 0.5
    return both / total, first / total, second / total
