"""Error rates over the corpus, by jiwer: edits over the number of words or characters of the gold."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from declared.metrics import Options, Sample
from declared.metrics.keys import Keys
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array


def _rate(process: str, sample: Sample, options: Options, keys: Keys) -> Additive:
    import jiwer

    def prepared(texts: Sequence[str]) -> list[str]:
        return [text.lower() for text in texts] if options["lowercase"] else list(texts)

    aligned = getattr(jiwer, process)(prepared(sample.gold), prepared(sample.predicted))
    edits = []
    for chunks in aligned.alignments:
        wrong = [chunk for chunk in chunks if chunk.type != "equal"]
        lengths = [
            max(chunk.ref_end_idx - chunk.ref_start_idx, chunk.hyp_end_idx - chunk.hyp_start_idx) for chunk in wrong
        ]
        edits.append(sum(lengths))
    return keys.additive(_errors, edits, list(map(len, aligned.references)))


wer = partial(_rate, "process_words")
cer = partial(_rate, "process_characters")


def _errors(sums: Array) -> Array:
    """As jiwer: without a gold word, the number of inserted ones."""
    edits, words = sums[..., 0], sums[..., 1]
    return np.where(words > 0, summed.quotient(edits, words), edits)
