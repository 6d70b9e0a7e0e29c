"""BERTScore of texts, by the kit's own engine, averaged over keys, each with its best reference."""

from dataclasses import fields
from itertools import chain
from typing import TYPE_CHECKING

from declared.metrics import Options, Sample
from declared.metrics.keys import Keys
from declared.metrics.texts import references
from scoring_kit.units import Additive

if TYPE_CHECKING:
    from scoring_kit.metrics.bertscore import BertScorer


def bertscore(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Return the mean of the keys' BERTScore (F1, precision or recall), rescaled where that is asked for."""
    scorer, gold = bert_scorer(options), references(sample.gold)
    scorer.encode_all(sample.predicted, chain.from_iterable(gold))
    values = []
    for text, texts in zip(sample.predicted, gold, strict=True):
        scores = scorer.rescale(scorer.score([text], texts))
        values.append(float(getattr(scores, options["part"]).max()))
    return keys.mean(values)


def engine_settings(options: Options) -> dict[str, object]:
    """Return what the values depend on: model, revision, layer, baseline and precision, as the engine found them."""
    return {**bert_scorer(options).signature(), "rescale": options["rescale"]}


def bert_scorer(options: Options) -> "BertScorer":
    """Return the engine with a metric's options, made once in a process."""
    from scoring_kit.metrics.bertscore import BertScoreOptions, load_bert_scorer

    given = {one.name: options[one.name] for one in fields(BertScoreOptions) if options.get(one.name) is not None}
    return load_bert_scorer(BertScoreOptions(**given))
