from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

pytest.importorskip("nltk")

from scoring_kit.errors import OrganiserError
from scoring_kit.metrics.sentences import DATA, punkt_digest, split_sentences
from tests.punkt import PUNKT
from tests.punkt import punkt as punkt

pytestmark = pytest.mark.models


@pytest.mark.usefixtures("punkt")
@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n\t ", []),
        ("...", ["..."]),
        ("One sentence", ["One sentence"]),
        ("  One.  Two!\nThree? ", ["One.", "Two!", "Three?"]),
        ("Dr. Smith came. She left.", ["Dr. Smith came.", "She left."]),
        ("I live in the U.S. and like it.", ["I live in the U.S. and like it."]),
        ("No space here.Now", ["No space here.Now"]),
        ("It helped. 😀 Again.", ["It helped.", "😀 Again."]),
        ("a line\nanother line", ["a line\nanother line"]),
    ],
)
def test_sentences_are_those_of_punkt(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@pytest.mark.usefixtures("punkt")
def test_a_long_summary_is_split() -> None:
    sentences = split_sentences(" ".join(f"This is sentence number {n}." for n in range(3000)))
    assert len(sentences) == 3000
    assert sentences[-1] == "This is sentence number 2999."


@pytest.mark.usefixtures("punkt")
@pytest.mark.parametrize("text", ["a" * 200_000, "." * 20_000, "\ud800. \x00. b", "مرحبا. \u200b\u200f"])
def test_odd_texts_are_split_or_left_whole(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


def test_missing_data_are_the_organisers_to_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk.data
    import nltk.tokenize

    monkeypatch.setattr(nltk.data, "path", [os.devnull])
    nltk.tokenize._get_punkt_tokenizer.cache_clear()
    with pytest.raises(OrganiserError, match="NLTK_DATA"):
        split_sentences("One. Two.")


def test_the_digest_tells_other_data_and_not_another_place(
    punkt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nltk.data

    known = punkt_digest()
    shutil.copytree(punkt / PUNKT, tmp_path / DATA, copy_function=shutil.copyfile)
    (tmp_path / DATA).chmod(0o755)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    assert punkt_digest() == known
    with (tmp_path / DATA / "abbrev_types.txt").open("a", encoding="utf-8") as file:
        file.write("zzz\n")
    assert punkt_digest() != known
