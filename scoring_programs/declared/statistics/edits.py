"""Error rates: edits and gold words, or characters, added up."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from declared.metrics import Sample
from declared.metrics.edits import alignment
from declared.statistics import Keys
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array


def wer(sample: Sample, options: Mapping[str, Any], keys: Keys) -> Additive:
    """Word error rate."""
    import jiwer

    return _rate(alignment(jiwer.process_words, sample, options), keys)


def cer(sample: Sample, options: Mapping[str, Any], keys: Keys) -> Additive:
    """Character error rate."""
    import jiwer

    return _rate(alignment(jiwer.process_characters, sample, options), keys)


def _rate(aligned: Any, keys: Keys) -> Additive:
    edits = [
        sum(
            max(chunk.ref_end_idx - chunk.ref_start_idx, chunk.hyp_end_idx - chunk.hyp_start_idx)
            for chunk in chunks
            if chunk.type != "equal"
        )
        for chunks in aligned.alignments
    ]
    return keys.additive(_errors, edits, list(map(len, aligned.references)))


def _errors(sums: Array) -> Array:
    """As jiwer: without a gold word, the number of inserted ones."""
    edits, words = sums[..., 0], sums[..., 1]
    return np.where(words > 0, summed.quotient(edits, words), edits)
