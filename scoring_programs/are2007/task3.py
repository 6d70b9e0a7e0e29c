"""Task 3: find the pronouns and resolve them to a span that overlaps an element of their chain."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from are2007.answers import AnswerKey
from are2007.mentions import Mention
from are2007.overlap import ChainElements, overlap
from are2007.reference import AreReference
from are2007.resolution import credit_by_pronoun
from are2007.submission import AreSubmission
from scoring_kit.metrics.summed import count, f1, precision, recall
from scoring_kit.results import Bar, BarChart, Metric, TaskResult, scored_items
from scoring_kit.units import Additive, Units

METRICS = ("task3_f1", "task3_recall", "task3_precision", "attempted", "pronouns_found")


class Counted(NamedTuple):
    """The total score of a text's pronouns, how many were attempted, and how many the gold has."""

    score: float
    attempted: int
    gold: int


def score(reference: AreReference, submission: AreSubmission, options: Mapping[str, Any]) -> TaskResult:
    """Precision over the attempted pronouns, recall over those of the gold, all texts together."""
    keys, answers = reference.keys["task3"], submission.pairs["task3"]
    texts = {
        text: Counted(text_score(key, answers[text]), len(answers[text]), len(key.pronouns))
        for text, key in keys.items()
    }
    total = math.fsum(own.score for own in texts.values())
    attempted, gold = sum(own.attempted for own in texts.values()), sum(own.gold for own in texts.values())
    found = {text: len(answers[text].keys() & set(key.pronouns)) for text, key in keys.items()}
    items = scored_items(gold, attempted)
    bars = [Bar(text, _f1(*own), scored_items(own.gold, own.attempted)) for text, own in texts.items()]
    return TaskResult(
        metrics={
            "task3_f1": Metric(_f1(total, attempted, gold), gold + attempted, items),
            "task3_recall": Metric(total / gold if gold else 0.0, gold, items),
            "task3_precision": Metric(total / attempted if attempted else 0.0, attempted, items),
            "attempted": Metric(attempted, gold, items),
            "pronouns_found": Metric(sum(found.values()), gold, items),
        },
        figures=(
            BarChart("F1 by text", bars, "higher", "pronouns of the gold or answered, whichever are fewer", top=1.0),
        ),
        units=lambda: _units(texts, found),
    )


def _units(texts: Mapping[str, Counted], found: Mapping[str, int]) -> Units:
    formulas = {"task3_f1": f1, "task3_recall": recall, "task3_precision": precision}
    statistics = {name: Additive.of(texts.values(), formula) for name, formula in formulas.items()}
    statistics["attempted"] = Additive.of(([own.attempted] for own in texts.values()), count)
    statistics["pronouns_found"] = Additive.of(([number] for number in found.values()), count)
    return Units("document", list(texts), statistics)


def text_score(key: AnswerKey, answers: Mapping[Mention, Mention]) -> float:
    """The sum, over the pronouns of the gold that were found, of overlap times credit.

    The overlap is that of the answered antecedent with the element of the chain that it overlaps best.
    """
    gold = set(key.pronouns)
    chain_of: dict[Mention, ChainElements] = {}
    for chain in key.chains:
        chain_of.update(dict.fromkeys(gold.intersection(chain), ChainElements(chain, gold)))
    links: dict[Mention, Mention] = {}
    overlaps: dict[Mention, float] = {}
    for pronoun, antecedent in answers.items():
        element = chain_of[pronoun].best(antecedent, other_than=pronoun) if pronoun in gold else None
        if element is not None:
            links[pronoun] = element
            overlaps[pronoun] = overlap(antecedent, element)
    credit = credit_by_pronoun(links, gold)
    return math.fsum(overlaps[pronoun] * credit[pronoun] for pronoun in links)


def _f1(total: float, attempted: int, gold: int) -> float:
    """Harmonic mean of total / gold and total / attempted; 0 where there is neither."""
    return 2 * total / (gold + attempted) if gold + attempted else 0.0
