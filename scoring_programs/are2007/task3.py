"""Task 3: find the pronouns and resolve them to a span that overlaps an element of their chain."""

import math
from collections.abc import Mapping
from typing import Any

from are2007.answers import Key
from are2007.disclosure import scored_items
from are2007.mentions import Mention
from are2007.overlap import ChainElements, overlap
from are2007.reference import Reference
from are2007.resolution import credit_by_pronoun
from are2007.submission import Submission
from scoring_kit.results import Bar, BarChart, Metric, TaskResult

METRICS = ("task3_f1", "task3_recall", "task3_precision", "attempted", "pronouns_found")


def score(reference: Reference, submission: Submission, options: Mapping[str, Any]) -> TaskResult:
    """Precision over the attempted pronouns, recall over those of the gold, all texts together."""
    keys, answers = reference.keys["task3"], submission.pairs["task3"]
    scores = {text: text_score(key, answers[text]) for text, key in keys.items()}
    total = math.fsum(scores.values())
    gold = sum(len(key.pronouns) for key in keys.values())
    attempted = sum(map(len, answers.values()))
    found = sum(len(answers[text].keys() & set(key.pronouns)) for text, key in keys.items())
    items = scored_items(gold, attempted)
    bars = [
        Bar(
            text,
            _f1(scores[text], len(key.pronouns), len(answers[text])),
            scored_items(len(key.pronouns), len(answers[text])),
        )
        for text, key in keys.items()
    ]
    return TaskResult(
        metrics={
            "task3_f1": Metric(_f1(total, gold, attempted), gold + attempted, items),
            "task3_recall": Metric(total / gold if gold else 0.0, gold, items),
            "task3_precision": Metric(total / attempted if attempted else 0.0, attempted, items),
            "attempted": Metric(attempted, gold, items),
            "pronouns_found": Metric(found, gold, items),
        },
        figures=(
            BarChart("F1 by text", bars, "higher", "pronouns of the gold or answered, whichever are fewer", top=1.0),
        ),
    )


def text_score(key: Key, answers: Mapping[Mention, Mention]) -> float:
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


def _f1(total: float, gold: int, attempted: int) -> float:
    """Harmonic mean of total / gold and total / attempted; 0 where there is neither."""
    return 2 * total / (gold + attempted) if gold + attempted else 0.0
