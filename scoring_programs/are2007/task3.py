"""Task 3: find the pronouns and resolve them to a span that overlaps an element of their chain."""

import math
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from are2007.answers import AnswerKey, Mention, overlap
from are2007.muc import Formulas, chain_numbers, document_units, total
from are2007.reference import AreReference
from are2007.submission import AreSubmission
from are2007.task1 import credit_by_pronoun
from scoring_kit.metrics.summed import f1, precision, recall
from scoring_kit.results import Bar, BarChart, Metric, TaskResult, scored_items, share
from scoring_kit.units import Units

METRICS = ("task3_f1", "task3_recall", "task3_precision", "attempted", "pronouns_found")


class Counted(NamedTuple):
    """The total score of a text's pronouns, how many were attempted, and how many the gold has."""

    score: float
    attempted: int
    gold: int

    @property
    def f1(self) -> float:
        """Harmonic mean of score / gold and score / attempted; 0 where there is neither."""
        return share(2 * self.score, self.gold + self.attempted)

    @property
    def items(self) -> int:
        """How many scored items are behind them."""
        return scored_items(self.gold, self.attempted)


def score(reference: AreReference, submission: AreSubmission, options: Mapping[str, Any]) -> TaskResult:
    """Precision over the attempted pronouns, recall over those of the gold, all texts together."""
    terms: dict[str, tuple[float, ...]] = {}
    bars = []
    for text, key in reference.keys["task3"].items():
        answers = submission.pairs["task3"][text]
        own = Counted(text_score(key, answers), len(answers), len(key.pronouns))
        terms[text] = (*own, len(answers.keys() & key.pronouns))
        bars.append(Bar(text, own.f1, own.items))
    scores, attempted, gold, found = zip(*terms.values(), strict=True)
    together = Counted(math.fsum(scores), sum(attempted), sum(gold))
    counted = "pronouns of the gold or answered, whichever are fewer"
    return TaskResult(
        metrics={
            "task3_f1": Metric(together.f1, together.gold + together.attempted, together.items),
            "task3_recall": Metric(share(together.score, together.gold), together.gold, together.items),
            "task3_precision": Metric(share(together.score, together.attempted), together.attempted, together.items),
            "attempted": Metric(together.attempted, together.gold, together.items),
            "pronouns_found": Metric(sum(found), together.gold, together.items),
        },
        figures=[BarChart("F1 by text", bars, "higher", counted, top=1.0, of="text")],
        units=lambda: _units(terms),
    )


def _units(terms: Mapping[str, Sequence[float]]) -> Units:
    formulas: Formulas = {
        "task3_f1": f1,
        "task3_recall": recall,
        "task3_precision": precision,
        "attempted": total(1),
        "pronouns_found": total(3),
    }
    return document_units(terms, formulas)


def text_score(key: AnswerKey, answers: Mapping[Mention, Mention]) -> float:
    """Return the sum, over the pronouns of the gold that were found, of overlap times credit.

    The overlap is that of the answered antecedent with the element of the chain that it overlaps best.
    """
    gold = set(key.pronouns)
    chain_of = chain_numbers(key.chains)
    searched: dict[int, ChainElements] = {}
    links: dict[Mention, Mention] = {}
    overlaps: dict[Mention, float] = {}
    for pronoun in gold.intersection(answers):
        antecedent, number = answers[pronoun], chain_of[pronoun]
        element: Mention | None = antecedent
        if antecedent == pronoun or chain_of.get(antecedent) != number:
            if number not in searched:
                searched[number] = ChainElements(key.chains[number], gold)
            element = searched[number].best(antecedent, other_than=pronoun)
        if element is not None:
            links[pronoun] = element
            overlaps[pronoun] = overlap(antecedent, element)
    credit = credit_by_pronoun(links, gold)
    return math.fsum(overlaps[pronoun] * credit[pronoun] for pronoun in links)


class ChainElements:
    """The elements of one chain, to be searched by place.

    Args:
        elements: spans, each once.
        pronouns: which spans of the gold are pronouns.
    """

    def __init__(self, elements: Collection[Mention], pronouns: Collection[Mention]) -> None:
        self.spans = sorted(elements)
        self.longest = max((end - start for start, end in elements), default=0)
        self.pronouns = pronouns

    def best(self, span: Mention, other_than: Mention) -> Mention | None:
        """Return the element, other than one, that overlaps `span` most; None where none does.

        Of equal overlaps one that is not a pronoun comes first, then the first of the text.
        """
        start, end = span
        first, after = bisect_left(self.spans, (start - self.longest, 0)), bisect_left(self.spans, (end, 0))
        candidates = [e for e in self.spans[first:after] if e[1] > start and e != other_than]
        return min(candidates, key=lambda e: (-overlap(span, e), e in self.pronouns, e), default=None)
