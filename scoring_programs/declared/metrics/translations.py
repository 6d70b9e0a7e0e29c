"""BLEU, chrF and TER over the corpus, by sacrebleu, on its scale (100 at best for the first two)."""

from collections.abc import Mapping, Sequence
from typing import Any

from declared.metrics import Sample


def bleu(sample: Sample, options: Mapping[str, Any]) -> float:
    """BLEU."""
    from sacrebleu.metrics.bleu import BLEU

    return _corpus_score(BLEU(lowercase=options["lowercase"], tokenize=options["tokenize"]), sample)


def chrf(sample: Sample, options: Mapping[str, Any]) -> float:
    """ChrF, or chrF++ with `word_order` 2."""
    from sacrebleu.metrics.chrf import CHRF

    return _corpus_score(CHRF(lowercase=options["lowercase"], word_order=options["word_order"]), sample)


def ter(sample: Sample, options: Mapping[str, Any]) -> float:
    """TER."""
    from sacrebleu.metrics.ter import TER

    return _corpus_score(TER(case_sensitive=not options["lowercase"]), sample)


def _corpus_score(metric: Any, sample: Sample) -> float:
    return float(metric.corpus_score(list(sample.predicted), _streams(sample.gold)).score)


def _streams(gold: Sequence[str | Sequence[str]]) -> list[list[str | None]]:
    """References as sacrebleu takes them: a list of first references, one of second ones, and so on."""
    references = [[text] if isinstance(text, str) else list(text) for text in gold]
    most = max(map(len, references))
    return [[texts[i] if i < len(texts) else None for texts in references] for i in range(most)]
