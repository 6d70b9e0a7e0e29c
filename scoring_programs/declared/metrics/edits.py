"""Error rates over the corpus, by jiwer: edits over the number of words or characters of the gold."""

from collections.abc import Mapping, Sequence
from typing import Any

from declared.metrics import Sample


def wer(sample: Sample, options: Mapping[str, Any]) -> float:
    """Word error rate."""
    import jiwer

    return float(jiwer.wer(*_texts(sample, options)))


def cer(sample: Sample, options: Mapping[str, Any]) -> float:
    """Character error rate."""
    import jiwer

    return float(jiwer.cer(*_texts(sample, options)))


def _texts(sample: Sample, options: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    def prepared(texts: Sequence[str]) -> list[str]:
        return [text.lower() for text in texts] if options["lowercase"] else list(texts)

    return prepared(sample.gold), prepared(sample.predicted)
