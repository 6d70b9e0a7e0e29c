"""Steps 2 and 3: select pairs, and measure them.

Source: BioNLP-ST 2016, SeeDev, "Evaluation service": Filtering, Measures. Slot error rate: Makhoul et al. (1999),
"Performance Measures for Information Extraction".
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from scoring_kit.results import scored_items
from seedev2016.pairing import WHOLE, Pair


@dataclass(frozen=True)
class Measures:
    """What was counted, and the measures of it.

    Attributes:
        gold: number of gold events.
        predicted: number of predicted events.
        pairs: number of pairs.
        matches: number of pairs with S_p = 1.
        similarity: M, the sum of S_p over the pairs.
    """

    gold: int
    predicted: int
    pairs: int
    matches: int
    similarity: float

    @property
    def items(self) -> int:
        return scored_items(self.gold, self.predicted)

    @property
    def recall(self) -> float:
        """M / gold; 0 without gold."""
        return self.similarity / self.gold if self.gold else 0.0

    @property
    def precision(self) -> float:
        """M / predicted; 0 without predictions."""
        return self.similarity / self.predicted if self.predicted else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of recall and precision, which is 2 M / (gold + predicted); 0 without any event."""
        events = self.gold + self.predicted
        return 2 * self.similarity / events if events else 0.0

    @property
    def substitutions(self) -> float:
        """S, the sum of 1 - S_p over the pairs."""
        return self.pairs - self.similarity

    @property
    def deletions(self) -> int:
        """D, gold events without a partner."""
        return self.gold - self.pairs

    @property
    def insertions(self) -> int:
        """I, predicted events without a partner."""
        return self.predicted - self.pairs

    @property
    def slot_error_rate(self) -> float | None:
        """(S + D + I) / gold, which may exceed 1; None without gold."""
        return (self.substitutions + self.deletions + self.insertions) / self.gold if self.gold else None

    @property
    def counts(self) -> dict[str, float]:
        """What was counted, by the names of the metrics."""
        return {
            "gold_events": self.gold,
            "predicted_events": self.predicted,
            "matches": self.matches,
            "partial_matches": self.pairs - self.matches,
            "similarity": self.similarity,
            "substitutions": self.substitutions,
            "deletions": self.deletions,
            "insertions": self.insertions,
        }


def by_type(pairs: Iterable[Pair]) -> dict[str, list[Pair]]:
    """The pairs of each event type, for the alternate scores; the types in alphabetical order."""
    of_type: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        of_type[pair.type].append(pair)
    return dict(sorted(of_type.items()))


def measure(pairs: Iterable[Pair]) -> Measures:
    """Count pairs, deletions and insertions."""
    gold = predicted = both = matches = units = 0
    for reference, prediction, similarity in pairs:
        gold += reference is not None
        predicted += prediction is not None
        both += similarity > 0
        matches += similarity == WHOLE
        units += similarity
    return Measures(gold, predicted, both, matches, units / WHOLE)
