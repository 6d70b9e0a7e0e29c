"""Task 1: resolve the listed pronouns to an entity of their chain; success rate."""

from collections.abc import Collection, Hashable, Mapping
from typing import Any, TypeVar

from are2007.answers import AnswerKey, Mention
from are2007.muc import Formulas, chain_numbers, document_units, total
from are2007.reference import AreReference
from are2007.submission import AreSubmission
from scoring_kit.metrics.summed import ratio
from scoring_kit.results import Bar, BarChart, Metric, TaskResult, scored_items, share
from scoring_kit.units import Units

M = TypeVar("M", bound=Hashable)
METRICS = ("task1_success_rate", "answered", "scored_1", "scored_half")


def score(reference: AreReference, submission: AreSubmission, options: Mapping[str, Any]) -> TaskResult:
    """Success rate: the sum of the pronouns' scores over their number, all texts together."""
    answers = submission.pairs["task1"]
    scores: dict[str, list[float]] = {}
    every: list[float] = []
    answered, bars = 0, []
    for text, key in reference.keys["task1"].items():
        own = scores[text] = pronoun_scores(key, answers[text])
        every += own
        answered += len(answers[text])
        bars.append(Bar(text, _rate(own), scored_items(len(own), len(answers[text]))))
    items = scored_items(len(every), answered)
    counted = "pronouns to resolve or answered, whichever are fewer"
    return TaskResult(
        metrics={
            "task1_success_rate": Metric(_rate(every), len(every), items),
            "answered": Metric(answered, len(every), of_submission=True),
            "scored_1": Metric(every.count(1.0), len(every), items),
            "scored_half": Metric(every.count(0.5), len(every), items),
        },
        figures=[BarChart("Success rate by text", bars, "higher", counted, top=1.0, of="text")],
        units=lambda: _units(scores),
    )


def pronoun_scores(key: AnswerKey, answers: Mapping[Mention, Mention]) -> list[float]:
    """Return the score of every pronoun to resolve: 0 without an antecedent in its chain, else 1 or 0.5."""
    chain_of = chain_numbers(key.chains)
    links: dict[Mention, Mention] = {}
    for pronoun in key.pronouns:
        antecedent = answers.get(pronoun, pronoun)
        if antecedent != pronoun and chain_of.get(antecedent) == chain_of[pronoun]:
            links[pronoun] = antecedent
    credit = credit_by_pronoun(links, set(key.pronouns))
    return [credit.get(pronoun, 0.0) for pronoun in key.pronouns]


def _units(scores: Mapping[str, list[float]]) -> Units:
    terms = {}
    for text, own in scores.items():
        terms[text] = (sum(own), len(own), own.count(1.0), own.count(0.5))
    formulas: Formulas = {"task1_success_rate": ratio, "scored_1": total(2), "scored_half": total(3)}
    return document_units(terms, formulas)


def _rate(scores: list[float]) -> float:
    return share(sum(scores), len(scores))


def credit_by_pronoun(links: Mapping[M, M], pronouns: Collection[M]) -> dict[M, float]:
    """The credit of every resolved pronoun: 1 where the system's own links lead to a non-pronominal element, else 0.5.

    Source: ARE, "Evaluation metrics": 1 for an antecedent that is no pronoun; a pronoun is as good if it leads to one.
    A link leads nowhere when it is absent, wrong (then it is not in `links`) or part of a circle. Every link is
    followed once, so that a chain of n pronouns takes n steps.

    Args:
        links: pronoun → the element of its gold chain to which the system resolved it.
        pronouns: all pronouns of the gold.
    """
    arrives = {pronoun: element not in pronouns for pronoun, element in links.items() if element not in links}
    for pronoun in links.keys() - arrives.keys():
        path = []
        element = pronoun
        while element in links and element not in arrives:
            arrives[element] = False  # until the end of the path is known; met again on the path, it is a circle
            path.append(element)
            element = links[element]
        end = arrives.get(element, element not in pronouns)
        arrives.update(dict.fromkeys(path, end))
    return {pronoun: 1.0 if arrives[pronoun] else 0.5 for pronoun in links}
