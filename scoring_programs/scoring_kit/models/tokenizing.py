"""Texts to token ids, the same under transformers 4.57 and 5.

Only the loading goes through transformers; encoding is done by the compiled tokenizer underneath, which is one library
for both versions. What would differ between them, and is settled here (the rest in `loading.py`):

* The "length" 1e30 of a tokenizer that declares no longest text means: no limit. (Version 4 can cut at that number
  with its Python tokenizers; the compiled ones, all that version 5 has, fail on it.)
* bert-score puts a space before the first word for RoBERTa and GPT-2 by an argument that compiled tokenizers ignore
  silently; `TextTokenizer.leading_space` means that the text itself must get it.
* bert-score builds an empty text by a function that version 5 lacks. Encoding "" gives the same two special tokens.
* Version 5 builds some tokenizers anew, from the vocabulary alone: DeBERTa-v2 loses its normaliser, DeBERTa separates
  a pair by two tokens instead of one, and a mask token typed in a text no longer swallows the space before it.
  So a `tokenizer.json` is used as it is, and the two families that are on the hub without one are repaired.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from scoring_kit.errors import OrganiserError
from scoring_kit.models.loading import ModelFiles, reading

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerBase

NO_LIMIT = 10**9  # tokenizers that declare no limit give 1e30
CHUNK = 2048  # texts encoded at once: bounds what the compiled tokenizer's results take
SPACE_BEFORE_FIRST_WORD = ("RobertaTokenizer", "GPT2Tokenizer")  # the classes that bert-score asks for
# The tokenizers that are on the hub without a tokenizer.json and are the same under version 5, repaired where needed.
VOCABULARY_FILES = {
    "BertTokenizer": ("vocab.txt",),
    "DebertaTokenizer": ("vocab.json", "merges.txt"),
    "GPT2Tokenizer": ("vocab.json", "merges.txt"),
    "RobertaTokenizer": ("vocab.json", "merges.txt"),
}
MASK_TAKES_SPACE_BEFORE = ("RobertaTokenizer", "DebertaTokenizer")


@dataclass(frozen=True)
class TextTokenizer:
    """A compiled tokenizer and what a model needs to know of it.

    Texts are encoded without special tokens, each distinct one once, and put together here: a sentence occurs in many
    pairs, and the compiled tokenizer's own way to cut a pair takes time that grows with the product of its lengths.

    Attributes:
        backend: the compiled tokenizer, without padding or truncation.
        single: the special tokens before and after a text.
        pair: those before, between and after two texts.
        cls_id: id of the token before a text.
        sep_id: id of the token after it.
        pad_id: id that fills up a batch.
        longest: how many tokens, special ones included, the tokenizer declares at most; None where it declares none.
        leading_space: whether bert-score puts a space before the first word for this kind of tokenizer.
    """

    backend: Tokenizer
    single: tuple[list[int], list[int]]
    pair: tuple[list[int], list[int], list[int]]
    cls_id: int
    sep_id: int
    pad_id: int
    longest: int | None
    leading_space: bool

    def encode(self, texts: Sequence[str], longest: int | None = None) -> list[array[int]]:
        """Token ids of each text with the special tokens, cut at the end to `longest` tokens in all.

        They are compact arrays: a run has many texts, and Python's lists of numbers take nine times the room.
        """
        content = self._content(texts)
        before, after = self.single
        room = None if longest is None else max(longest - self.specials, 0)
        return [array("i", [*before, *content[text][:room], *after]) for text in texts]

    def encode_pairs(self, pairs: Sequence[tuple[str, str]], longest: int) -> list[array[int]]:
        """Token ids of each pair with the special tokens, cut to `longest` tokens in all, the longer text first.

        An empty second text counts as none, as in a call of transformers' tokenizers.
        """
        content = self._content(chain.from_iterable(pairs))
        before, between, after = self.pair
        room = max(longest - len(before) - len(between) - len(after), 0)
        ids = []
        for first, second in pairs:
            if second:
                one, two = content[first], content[second]
                most_one, most_two = longest_first(len(one), len(two), room)
                ids.append(array("i", [*before, *one[:most_one], *between, *two[:most_two], *after]))
            else:
                ids += self.encode([first], longest)
        return ids

    def _content(self, texts: Iterable[str]) -> dict[str, array[int]]:
        """The ids of each distinct text, without special tokens."""
        distinct = list(dict.fromkeys(texts))
        content: dict[str, array[int]] = {}
        for start in range(0, len(distinct), CHUNK):
            some = distinct[start : start + CHUNK]
            encodings = self.backend.encode_batch_fast([encodable(text) for text in some], add_special_tokens=False)
            for text, encoding in zip(some, encodings, strict=True):
                content[text] = array("i", encoding.ids)
        return content

    def fingerprint(self) -> str:
        """Return a digest of all that decides which ids a text gets."""
        return hashlib.sha256(f"{self.longest} {self.leading_space} {self.backend.to_str()}".encode()).hexdigest()

    @property
    def specials(self) -> int:
        """How many special tokens a single text gets."""
        before, after = self.single
        return len(before) + len(after)


def longest_first(one: int, two: int, room: int) -> tuple[int, int]:
    """Return how many tokens of two texts are left when the longer is cut first, and `room` is for so many together.

    The strategy "longest_first" of tokenizers.
    """
    if one + two <= room:
        return one, two
    shorter = min(one, two)
    if 2 * shorter <= room:
        return (one, room - one) if one <= two else (room - two, two)
    half = room // 2
    return (half, room - half) if one <= two else (room - half, half)


def encodable(text: str) -> str:
    """Return the text with each lone surrogate, as half of an escape in JSON leaves it, replaced by U+FFFD.

    A lone surrogate has no UTF-8 form, so no compiled tokenizer takes it.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def load_tokenizer(files: ModelFiles) -> TextTokenizer:
    """Load the tokenizer of a model that is present on this machine.

    Raises OrganiserError where it holds none that can be read, or none that gives the same ids in both versions.
    """
    import tokenizers
    from transformers import AutoTokenizer

    with reading(files):
        loaded = AutoTokenizer.from_pretrained(str(files.folder), local_files_only=True)
    if not loaded.is_fast:
        raise OrganiserError(f"The model {files.name} has only a Python tokenizer; one with a compiled form is needed.")
    family = type(loaded).__name__.removesuffix("Fast")
    stored = files.folder / "tokenizer.json"
    if stored.is_file() and _rebuilds_tokenizers():
        backend = tokenizers.Tokenizer.from_file(str(stored))
    else:
        backend = loaded.backend_tokenizer
        if _rebuilds_tokenizers():
            _repair(files, family, backend, loaded)
    backend.no_padding()
    backend.no_truncation()
    special = {"cls_token": loaded.cls_token_id, "sep_token": loaded.sep_token_id, "pad_token": loaded.pad_token_id}
    absent = [name for name, id_ in special.items() if id_ is None]
    if absent:
        raise OrganiserError(f"The tokenizer of the model {files.name} declares no {', no '.join(absent)}.")
    longest = loaded.model_max_length if loaded.model_max_length < NO_LIMIT else None
    return TextTokenizer(
        backend=backend,
        single=_surroundings(backend, "a"),
        pair=_surroundings(backend, "a", "b"),
        cls_id=special["cls_token"],
        sep_id=special["sep_token"],
        pad_id=special["pad_token"],
        longest=longest,
        leading_space=family in SPACE_BEFORE_FIRST_WORD,
    )


def _surroundings(backend: Tokenizer, *texts: str) -> Any:
    """The special tokens that the tokenizer puts before, between and after texts."""
    rest = list(backend.encode(*texts).ids)
    found = []
    for text in texts:
        content = backend.encode(text, add_special_tokens=False).ids
        start = next(i for i in range(len(rest)) if rest[i : i + len(content)] == content)
        found.append(rest[:start])
        rest = rest[start + len(content) :]
    return (*found, rest)


def _rebuilds_tokenizers() -> bool:
    import transformers

    return int(transformers.__version__.split(".")[0]) >= 5


def _repair(files: ModelFiles, family: str, backend: Tokenizer, loaded: PreTrainedTokenizerBase) -> None:
    """Give a tokenizer that version 5 built from vocabulary files what version 4 gives it."""
    from tokenizers import AddedToken
    from tokenizers.processors import TemplateProcessing

    vocabulary = VOCABULARY_FILES.get(family)
    if vocabulary is None:
        raise OrganiserError(
            f"The model {files.name} has no tokenizer.json, and transformers 5 reads its {family} otherwise than "
            "version 4 did. Save the tokenizer with transformers 4.57 (save_pretrained writes a tokenizer.json), "
            "or score with that version."
        )
    missing = [name for name in vocabulary if not (files.folder / name).is_file()]
    if missing:  # version 5 then makes up a vocabulary of special tokens alone
        raise OrganiserError(f"The tokenizer of the model {files.name} is incomplete: it lacks {', '.join(missing)}.")
    if family == "DebertaTokenizer":
        cls_token, sep_token = str(loaded.cls_token), str(loaded.sep_token)
        backend.post_processor = TemplateProcessing(
            single=f"{cls_token} $A {sep_token}",
            pair=f"{cls_token} $A {sep_token} $B:1 {sep_token}:1",
            special_tokens=[(cls_token, loaded.cls_token_id), (sep_token, loaded.sep_token_id)],
        )
    if family in MASK_TAKES_SPACE_BEFORE:
        backend.add_special_tokens([AddedToken(str(loaded.mask_token), lstrip=True, normalized=True, special=True)])
