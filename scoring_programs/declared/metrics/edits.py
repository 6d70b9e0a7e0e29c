"""Error rates over the corpus, by jiwer: edits over the number of words or characters of the gold."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from declared.metrics import Sample


def wer(sample: Sample, options: Mapping[str, Any]) -> float:
    """Word error rate."""
    import jiwer

    return float(alignment(jiwer.process_words, sample, options).wer)


def cer(sample: Sample, options: Mapping[str, Any]) -> float:
    """Character error rate."""
    import jiwer

    return float(alignment(jiwer.process_characters, sample, options).cer)


def alignment(process: Callable[[list[str], list[str]], Any], sample: Sample, options: Mapping[str, Any]) -> Any:
    """What one of jiwer's functions finds for all keys together."""

    def prepared(texts: Sequence[str]) -> list[str]:
        return [text.lower() for text in texts] if options["lowercase"] else list(texts)

    return process(prepared(sample.gold), prepared(sample.predicted))
