"""BLEU, chrF and TER over the corpus: sacrebleu's own counts of each key's text, and its formulas over their sums."""

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from declared.metrics import Options, Sample
from declared.metrics.keys import Keys
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

ORDERS = 4
"""N-grams of BLEU."""
BETA = 2
"""Of chrF: how much more the recall weighs."""


def bleu(sample: Sample, options: Options, keys: Keys) -> Additive:
    """BLEU, from 0 to 100."""
    from sacrebleu.metrics.bleu import BLEU

    return _of_segments(BLEU(lowercase=options["lowercase"], tokenize=options["tokenize"]), _bleu, sample, keys)


def chrf(sample: Sample, options: Options, keys: Keys) -> Additive:
    """ChrF, from 0 to 100; chrF++ with `word_order` 2."""
    from sacrebleu.metrics.chrf import CHRF

    return _of_segments(CHRF(lowercase=options["lowercase"], word_order=options["word_order"]), _chrf, sample, keys)


def ter(sample: Sample, options: Options, keys: Keys) -> Additive:
    """TER: 100 is as many edits as gold words."""
    from sacrebleu.metrics.ter import TER

    return _of_segments(TER(case_sensitive=not options["lowercase"]), _ter, sample, keys)


def _of_segments(metric: "Metric", formula: Callable[[Array], Array], sample: Sample, keys: Keys) -> Additive:
    counts = metric._extract_corpus_statistics(list(sample.predicted), _streams(sample.gold))
    return keys.additive(formula, *np.array(counts, dtype=np.float64).T)


def _streams(gold: Sequence[str | Sequence[str]]) -> Any:
    """References as sacrebleu takes them: a list of first references, one of second ones, and so on."""
    references = [[text] if isinstance(text, str) else list(text) for text in gold]
    return list(map(list, zip_longest(*references)))


def _bleu(sums: Array) -> Array:
    """`BLEU.compute_bleu` of sacrebleu with its smoothing `exp`, of (length, gold length, matches, n-grams)."""
    length, gold_length = sums[..., 0], sums[..., 1]
    matches, there = sums[..., 2 : 2 + ORDERS], sums[..., 2 + ORDERS :]
    unmatched = (matches == 0) & (there > 0)
    smoothed = summed.quotient(0.5 ** np.cumsum(unmatched, axis=-1), there)
    precisions = np.where(unmatched, smoothed, summed.quotient(matches, there))
    with np.errstate(divide="ignore"):
        logs = np.log(precisions).mean(axis=-1)
    penalty = np.minimum(0.0, 1 - summed.quotient(gold_length, length))
    return np.where((length > 0) & matches.any(axis=-1), 100 * np.exp(logs + penalty), 0.0)


def _chrf(sums: Array) -> Array:
    """`CHRF._compute_f_score` of sacrebleu, of (n-grams, gold n-grams, matches) for each order."""
    there, gold, matches = (sums[..., i::3] for i in range(3))
    both = (there > 0) & (gold > 0)
    precision, recall = (
        np.nan_to_num(summed.mean_where(summed.quotient(matches, whole), both)) for whole in (there, gold)
    )
    return 100 * summed.quotient((1 + BETA**2) * precision * recall, BETA**2 * precision + recall)


def _ter(sums: Array) -> Array:
    """`TER._compute_score_from_stats` of sacrebleu, of (edits, gold length)."""
    edits, length = sums[..., 0], sums[..., 1]
    return 100 * np.where(length > 0, summed.quotient(edits, length), (edits > 0).astype(np.float64))
