"""Token ids are one and the same under transformers 4.57 and 5; where version 5 alone would differ is marked so."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("transformers")

import transformers

from scoring_kit.errors import OrganiserError
from scoring_kit.models.loading import locate
from scoring_kit.models.tokenizing import TextTokenizer, encodable, load_tokenizer
from tests import tiny_models

pytestmark = pytest.mark.models

TRANSFORMERS_5 = transformers.__version__.startswith("5.")


def tokenizer(folder: str) -> TextTokenizer:
    return load_tokenizer(locate("bertscore.model", folder, None))


@pytest.mark.parametrize(
    ("model", "text", "ids"),
    [
        (
            tiny_models.DEBERTA_ENCODER,
            "I feel tired today.",
            [1, 45, 264, 73, 283, 281, 77, 86, 266, 293, 72, 285, 18, 2],
        ),
        (tiny_models.DEBERTA_ENCODER, "", [1, 2]),
        (tiny_models.DEBERTA_ENCODER, "a [SEP] b [MASK] c", [1, 69, 225, 2, 225, 70, 4, 280, 2]),  # 5 keeps the space
        (tiny_models.ROBERTA_ENCODER, "", [0, 2]),
        (tiny_models.ROBERTA_ENCODER, "x <mask> d", [0, 92, 4, 282, 2]),  # likewise
        (tiny_models.ROBERTA_ENCODER, "😀 x\x00y", [0, 177, 258, 251, 227, 225, 92, 193, 93, 2]),
        (tiny_models.BERT_ENCODER, "I FEEL tired [SEP]", [2, 14, 195, 193, 3, 3]),
        (tiny_models.BERT_ENCODER, "\u200b", [2, 3]),
        (tiny_models.DEBERTA_V2_NLI, " a  \uff42", [1, 5, 11, 5, 25, 2]),  # 5 leaves a full-width letter
    ],
)
def test_ids_are_those_of_version_4(model: str, text: str, ids: list[int]) -> None:
    assert list(tokenizer(model).encode([text])[0]) == ids


@pytest.mark.parametrize(
    ("model", "ids"),
    [
        (tiny_models.DEBERTA_ENCODER, [1, 69, 2, 70, 2]),  # version 5 alone puts two separators between
        (tiny_models.ROBERTA_NLI, [0, 69, 2, 2, 70, 2]),
        (tiny_models.BERT_ENCODER, [2, 6, 3, 7, 3]),
        (tiny_models.DEBERTA_V2_NLI, [1, 5, 11, 2, 5, 25, 2]),
    ],
)
def test_pairs_are_laid_out_as_in_version_4(model: str, ids: list[int]) -> None:
    assert list(tokenizer(model).encode_pairs([("a", "b")], longest=512)[0]) == ids


@pytest.mark.parametrize(
    ("model", "longest", "space"),
    [
        (tiny_models.DEBERTA_ENCODER, None, False),
        (tiny_models.ROBERTA_ENCODER, 128, True),
        (tiny_models.BERT_ENCODER, 64, False),
        (tiny_models.DEBERTA_V2_NLI, 48, False),
        (tiny_models.ROBERTA_NLI, None, True),
    ],
)
def test_what_the_files_declare_is_known(model: str, longest: int | None, space: bool) -> None:
    loaded = tokenizer(model)
    assert (loaded.longest, loaded.leading_space, loaded.specials) == (longest, space, 2)


def test_texts_are_cut_at_the_end_and_pairs_at_the_longer_text() -> None:
    loaded = tokenizer(tiny_models.BERT_ENCODER)
    whole = list(loaded.encode(["I feel a day"])[0])
    assert [list(ids) for ids in loaded.encode(["I feel a day", "I"], longest=4)] == [[*whole[:3], 3], [2, 14, 3]]
    (cut,) = loaded.encode_pairs([("I feel a day I feel a day", "a day")], longest=8)
    assert list(cut) == [*whole[:4], 3, *whole[3:5], 3][: len(cut)] == list(cut)
    assert list(loaded.encode(["I feel a day"])[0]) == whole, "an earlier limit must not last"


@pytest.mark.parametrize("model", [tiny_models.BERT_ENCODER, tiny_models.ROBERTA_NLI], ids=lambda path: Path(path).name)
def test_a_pair_is_cut_as_the_compiled_tokenizer_cuts_it(model: str) -> None:
    loaded = tokenizer(model)
    for first, second, longest in itertools.product(range(9), range(1, 9), range(6, 18)):
        texts = ("a" * first, "b" * second)
        loaded.backend.enable_truncation(longest, strategy="longest_first")
        cut = loaded.backend.encode(*texts).ids
        loaded.backend.no_truncation()
        assert list(loaded.encode_pairs([texts], longest)[0]) == cut


@given(st.text(st.characters()))
def test_only_lone_surrogates_are_replaced(text: str) -> None:
    cleaned = encodable(text)
    cleaned.encode("utf-8")
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert cleaned == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udc00", "\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("\ud83d\ud83d\ude00", "\ufffd😀"),
        ("", ""),
    ],
)
def test_half_characters_become_the_replacement_character(text: str, cleaned: str) -> None:
    assert encodable(text) == cleaned


def test_a_model_without_a_tokenizer_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "without"
    shutil.copytree(tiny_models.BERT_ENCODER, folder)
    (folder / "vocab.txt").unlink()
    with pytest.raises(OrganiserError, match="without"):
        tokenizer(str(folder))


@pytest.mark.skipif(not TRANSFORMERS_5, reason="only version 5 builds tokenizers anew")
def test_a_tokenizer_that_version_5_reads_otherwise_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "albert"
    shutil.copytree(tiny_models.DEBERTA_V2_NLI, folder)
    tokenizer_with_file = tokenizer(str(folder))
    assert list(tokenizer_with_file.encode(["a"])[0]) == [1, 5, 11, 2]
    (folder / "tokenizer.json").unlink()
    with pytest.raises(OrganiserError, match="albert"):
        tokenizer(str(folder))


def test_another_limit_or_vocabulary_has_another_fingerprint(tmp_path: Path) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(tiny_models.BERT_ENCODER, folder)
    same = tokenizer(str(folder)).fingerprint()
    config = (folder / "tokenizer_config.json").read_text(encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(config.replace("64", "63"), encoding="utf-8")
    shorter = tokenizer(str(folder)).fingerprint()
    vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8")
    (folder / "vocab.txt").write_text(vocabulary + "more\n", encoding="utf-8")
    larger = tokenizer(str(folder)).fingerprint()
    assert tokenizer(tiny_models.BERT_ENCODER).fingerprint() == same
    assert len({same, shorter, larger}) == 3
