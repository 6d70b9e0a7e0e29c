"""BLEU, chrF and TER over the corpus, by sacrebleu, on its scale (100 at best for the first two)."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from declared.metrics import Options, Sample

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric


def bleu_metric(options: Options) -> "Metric":
    """The library's BLEU with these options."""
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(lowercase=options["lowercase"], tokenize=options["tokenize"])


def chrf_metric(options: Options) -> "Metric":
    """The library's chrF with these options."""
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(lowercase=options["lowercase"], word_order=options["word_order"])


def ter_metric(options: Options) -> "Metric":
    """The library's TER with these options."""
    from sacrebleu.metrics.ter import TER

    return TER(case_sensitive=not options["lowercase"])


def segment_counts(metric: "Metric", sample: Sample) -> Any:
    """What the library counts in each key's text, an array [keys, counts] whose sums give the metric."""
    import numpy as np

    counts = metric._extract_corpus_statistics(list(sample.predicted), _streams(sample.gold))
    return np.array(counts, dtype=np.float64)


def _corpus_score(library: Callable[[Options], "Metric"], sample: Sample, options: Options) -> float:
    return float(library(options).corpus_score(list(sample.predicted), _streams(sample.gold)).score)


bleu = partial(_corpus_score, bleu_metric)
chrf = partial(_corpus_score, chrf_metric)  # chrF++ with `word_order` 2
ter = partial(_corpus_score, ter_metric)


def _streams(gold: Sequence[str | Sequence[str]]) -> Any:
    """References as sacrebleu takes them: a list of first references, one of second ones, and so on."""
    references = [[text] if isinstance(text, str) else list(text) for text in gold]
    most = max(map(len, references))
    return [[texts[i] if i < len(texts) else None for texts in references] for i in range(most)]
