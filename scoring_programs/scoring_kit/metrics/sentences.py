"""Sentence splitting with nltk's English Punkt model."""

import hashlib

from scoring_kit.errors import OrganiserError

DATA = "tokenizers/punkt_tab/english/"
DATA_FILES = ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt")


def split_sentences(text: str) -> list[str]:
    """Return the sentences of an English text, stripped, without blank ones.

    The data are where nltk looks for them, first of all in the folders named by NLTK_DATA; raises OrganiserError where
    they are not.
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


def punkt_digest() -> str:
    """Return what two runs with the same Punkt data share: SHA-256 over its files, the first 16 hexadecimal digits.

    The data are not part of nltk's package, so nltk's version does not identify them.
    """
    from nltk.data import find

    digest, folder = hashlib.sha256(), find(DATA)
    for name in DATA_FILES:
        with folder.join(name).open() as file:
            digest.update(f"{name}\0{hashlib.sha256(file.read()).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]
