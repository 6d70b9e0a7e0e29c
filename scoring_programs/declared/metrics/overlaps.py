"""Overlaps of texts, averaged over keys, each with its best reference: ROUGE by rouge-score, token F1 as in SQuAD."""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

from declared.metrics import Options, Sample
from declared.metrics.keys import Keys
from scoring_kit.units import Additive

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


def rouge(sample: Sample, options: Options, keys: Keys) -> Additive:
    """The mean of the keys' ROUGE F-measures."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer([options["type"]], use_stemmer=options["stem"])

    def best(gold: str | Sequence[str], text: str) -> float:
        return max(float(scorer.score(one, text)[options["type"]].fmeasure) for one in _references(gold))

    return keys.mean(list(map(best, sample.gold, sample.predicted)))


def token_f1(sample: Sample, options: Options, keys: Keys) -> Additive:
    """The mean of the keys' F1 of tokens.

    Blanks separate tokens; `squad` first drops case, punctuation and English articles, `case: ignore` case alone.
    Source: the evaluation of SQuAD 2.0, where a text without tokens equals only another one.
    """
    prepared = text_form(options)

    def best(gold: str | Sequence[str], text: str) -> float:
        tokens = prepared(text).split()
        return max(_token_f1(prepared(reference).split(), tokens) for reference in _references(gold))

    return keys.mean(list(map(best, sample.gold, sample.predicted)))


def text_form(options: Options) -> Callable[[str], str]:
    """What makes of a text what is compared: as the options `normalise` and `case` say."""
    if options["normalise"] == "squad":
        return lambda text: " ".join(squad_tokens(text))
    return str.casefold if options["case"] == "ignore" else str


def squad_tokens(text: str) -> list[str]:
    """The tokens of a text without case, punctuation and English articles."""
    return ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split()


def _token_f1(gold: Sequence[str], predicted: Sequence[str]) -> float:
    if not gold or not predicted:
        return float(gold == predicted)
    shared = sum((Counter(gold) & Counter(predicted)).values())
    return 2 * shared / (len(gold) + len(predicted))


def _references(gold: str | Sequence[str]) -> Sequence[str]:
    return [gold] if isinstance(gold, str) else gold
