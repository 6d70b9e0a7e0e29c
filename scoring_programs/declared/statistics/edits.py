"""Error rates: edits and gold words, or characters, added up."""

from functools import partial

import numpy as np

from declared.metrics import Options, Sample
from declared.metrics.edits import alignment
from declared.statistics import Keys
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array


def _rate(process: str, sample: Sample, options: Options, keys: Keys) -> Additive:
    aligned = alignment(process, sample, options)
    edits = [
        sum(
            max(chunk.ref_end_idx - chunk.ref_start_idx, chunk.hyp_end_idx - chunk.hyp_start_idx)
            for chunk in chunks
            if chunk.type != "equal"
        )
        for chunks in aligned.alignments
    ]
    return keys.additive(_errors, edits, list(map(len, aligned.references)))


wer = partial(_rate, "process_words")
cer = partial(_rate, "process_characters")


def _errors(sums: Array) -> Array:
    """As jiwer: without a gold word, the number of inserted ones."""
    edits, words = sums[..., 0], sums[..., 1]
    return np.where(words > 0, summed.quotient(edits, words), edits)
