"""BERTScore of texts, by the kit's own engine, averaged over keys, each with its best reference."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from declared.metrics import Options, Sample
from declared.metrics.keys import Keys
from scoring_kit.units import Additive

if TYPE_CHECKING:
    from scoring_kit.metrics.bertscore import BertScorer


def bertscore(sample: Sample, options: Options, keys: Keys) -> Additive:
    """The mean of the keys' BERTScore (F1, precision or recall), rescaled with the baseline where that is asked for."""
    scorer = bert_scorer(options)
    references = [[gold] if isinstance(gold, str) else gold for gold in sample.gold]
    scorer.encode_all(sample.predicted, [text for texts in references for text in texts])
    values = []
    for text, texts in zip(sample.predicted, references, strict=True):
        scores = scorer.rescale(scorer.score([text], texts))
        values.append(float(getattr(scores, options["part"]).max()))
    return keys.mean(values)


def engine_settings(options: Options) -> dict[str, object]:
    """What the values depend on: model, revision, layer, baseline and precision, as the engine found them."""
    return {**bert_scorer(options).signature(), "rescale": options["rescale"]}


def bert_scorer(options: Options) -> "BertScorer":
    """The engine with a metric's options, made once in a process."""
    from scoring_kit.metrics.bertscore import BertScoreOptions, load_bert_scorer

    given: dict[str, Any] = {one.name: options.get(one.name) for one in fields(BertScoreOptions)}
    return load_bert_scorer(BertScoreOptions(**{name: value for name, value in given.items() if value is not None}))
