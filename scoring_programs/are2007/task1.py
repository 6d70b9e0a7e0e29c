"""Task 1: resolve the listed pronouns to an entity of their chain; success rate."""

from collections.abc import Mapping
from typing import Any

from are2007.answers import AnswerKey
from are2007.mentions import Mention
from are2007.reference import AreReference
from are2007.resolution import credit_by_pronoun
from are2007.submission import AreSubmission
from scoring_kit.metrics.summed import count, ratio
from scoring_kit.results import Bar, BarChart, Metric, TaskResult, scored_items
from scoring_kit.units import Additive, Units

METRICS = ("task1_success_rate", "answered", "scored_1", "scored_half")


def score(reference: AreReference, submission: AreSubmission, options: Mapping[str, Any]) -> TaskResult:
    """Success rate: the sum of the pronouns' scores over their number, all texts together."""
    keys, answers = reference.keys["task1"], submission.pairs["task1"]
    scores = {text: pronoun_scores(key, answers[text]) for text, key in keys.items()}
    every = [value for text_scores in scores.values() for value in text_scores]
    answered = sum(map(len, answers.values()))
    bars = [Bar(text, _rate(own), scored_items(len(own), len(answers[text]))) for text, own in scores.items()]
    items = scored_items(len(every), answered)
    return TaskResult(
        metrics={
            "task1_success_rate": Metric(_rate(every), len(every), items),
            "answered": Metric(answered, len(every), of_submission=True),
            "scored_1": Metric(every.count(1.0), len(every), items),
            "scored_half": Metric(every.count(0.5), len(every), items),
        },
        figures=(
            BarChart(
                "Success rate by text", bars, "higher", "pronouns to resolve or answered, whichever are fewer", top=1.0
            ),
        ),
        units=lambda: _units(scores),
    )


def pronoun_scores(key: AnswerKey, answers: Mapping[Mention, Mention]) -> list[float]:
    """The score of every pronoun to resolve: 0 without an antecedent or with one outside its chain, else 1 or 0.5."""
    chain_of = {mention: index for index, chain in enumerate(key.chains) for mention in chain}
    links = {
        pronoun: answers[pronoun]
        for pronoun in key.pronouns
        if pronoun in answers and answers[pronoun] != pronoun and chain_of.get(answers[pronoun]) == chain_of[pronoun]
    }
    credit = credit_by_pronoun(links, set(key.pronouns))
    return [credit.get(pronoun, 0.0) for pronoun in key.pronouns]


def _units(scores: Mapping[str, list[float]]) -> Units:
    statistics = {
        "task1_success_rate": Additive.of(((sum(own), len(own)) for own in scores.values()), ratio),
        "scored_1": Additive.of(([own.count(1.0)] for own in scores.values()), count),
        "scored_half": Additive.of(([own.count(0.5)] for own in scores.values()), count),
    }
    return Units("document", list(scores), statistics)


def _rate(scores: list[float]) -> float:
    return sum(scores) / len(scores) if scores else 0.0
