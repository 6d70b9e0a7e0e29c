"""BERTScore of texts, by the kit's own engine, averaged over keys, each with its best reference."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from declared.metrics import Sample

if TYPE_CHECKING:
    from scoring_kit.metrics.bertscore import BertScorer

ENGINE = ("model", "revision", "num_layers", "baseline", "rescale", "device", "precision", "batch_tokens", "cache")
"""Options of the engine, as `scoring_kit.metrics.bertscore.BertScoreOptions` names them."""


def bertscore(sample: Sample, options: Mapping[str, Any]) -> float:
    """BERTScore's F1, precision or recall, rescaled with the baseline where that is asked for."""
    values = bertscore_values(sample, options)
    return sum(values) / len(values)


def bertscore_values(sample: Sample, options: Mapping[str, Any]) -> list[float]:
    """BERTScore of each key."""
    scorer = bert_scorer(options)
    references = [[gold] if isinstance(gold, str) else gold for gold in sample.gold]
    scorer.encode_all(sample.predicted, [text for texts in references for text in texts])
    values = []
    for text, texts in zip(sample.predicted, references, strict=True):
        scores = scorer.rescale(scorer.score([text], texts))
        values.append(float(getattr(scores, options["part"]).max()))
    return values


def engine_settings(options: Mapping[str, Any]) -> dict[str, object]:
    """What the values depend on: model, revision, layer, baseline and precision, as the engine found them."""
    return {**bert_scorer(options).signature(), "rescale": options["rescale"]}


def bert_scorer(options: Mapping[str, Any]) -> "BertScorer":
    """The engine with a metric's options, made once in a process."""
    from scoring_kit.metrics.bertscore import BertScoreOptions, load_bert_scorer

    return load_bert_scorer(BertScoreOptions(**{key: options[key] for key in ENGINE if options.get(key) is not None}))
