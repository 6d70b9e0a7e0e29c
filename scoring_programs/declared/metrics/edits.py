"""Error rates over the corpus, by jiwer: edits over the number of words or characters of the gold."""

from collections.abc import Sequence
from typing import Any

from declared.metrics import Options, Sample


def wer(sample: Sample, options: Options) -> float:
    """Word error rate."""
    return float(alignment("process_words", sample, options).wer)


def cer(sample: Sample, options: Options) -> float:
    """Character error rate."""
    return float(alignment("process_characters", sample, options).cer)


def alignment(process: str, sample: Sample, options: Options) -> Any:
    """What one of jiwer's functions finds for all keys together."""
    import jiwer

    def prepared(texts: Sequence[str]) -> list[str]:
        return [text.lower() for text in texts] if options["lowercase"] else list(texts)

    return getattr(jiwer, process)(prepared(sample.gold), prepared(sample.predicted))
