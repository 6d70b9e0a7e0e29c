"""Sentence splitting with nltk's English Punkt model."""

from __future__ import annotations

from scoring_kit.errors import OrganiserError


def split_sentences(text: str) -> list[str]:
    """The sentences of an English text, stripped, without blank ones.

    The data lie where nltk looks for them, first of all in the folders named by NLTK_DATA.

    Raises:
        OrganiserError: the Punkt data are not installed.
    """
    from nltk.tokenize import sent_tokenize

    try:
        sentences = sent_tokenize(text)
    except LookupError as error:
        raise OrganiserError(
            "nltk's English sentence model (punkt_tab) is not installed where the scoring program runs. "
            "Use a docker image that holds it, or set NLTK_DATA to the folder that holds tokenizers/punkt_tab."
        ) from error
    return [stripped for sentence in sentences if (stripped := sentence.strip())]
