"""Reference data where participants can read them: whole files, labels tied to ids, and gold texts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from gen_bundle.check.bundle import Bundle, once_a_bundle
from gen_bundle.check.leaks.gold import LONGEST, SHORTEST, Gold, column_digest, gold_of, sha256_of, table_columns
from gen_bundle.check.leaks.records import cells, fingerprint, records, rows, values, word_stream, words, xml_digest
from gen_bundle.check.leaks.ties import AGREEMENT, ENOUGH_TIES, Ties, ties_of
from gen_bundle.check.leaks.visible import Seen, visible_files
from gen_bundle.check.registry import HOUSE, Effect, Problem, rule
from gen_bundle.codabench.versions import SOURCE
from gen_bundle.zips.tree import Node

SEEN = f"{SOURCE}, which files participants can download"
REPAIR = "Take the reference data out of everything that participants get; keep them in `reference_data` alone."
# An example submission may be good; it is the gold itself only when it is right wherever it says anything.
COVERED_BY_ANSWER = 0.9
BLOCK = 65_536
INPUT_CHANNELS = ("public data", "input data")


@dataclass(frozen=True)
class Leak:
    """A visible file and what of the gold it holds."""

    seen: Seen
    what: str


@once_a_bundle
def found_leaks(bundle: Bundle) -> Iterator[Leak]:
    """All leaks."""
    seen_files = visible_files(bundle)
    gold = gold_of(bundle, [seen.node for seen in seen_files])
    if not (gold.raw or gold.labels or gold.shingles):
        return
    public = _public_shingles(bundle, gold, seen_files)
    # the same file often lies in several kits and programs, and is read once
    known: dict[tuple[str, str, bool, str], str | None] = {}
    for seen in seen_files:
        key = (sha256_of(bundle, seen.node), seen.channel, seen.is_answer, seen.name.rpartition(".")[2].lower())
        if key not in known:
            known[key] = _whole_file(bundle, gold, seen) or _tied_labels(gold, seen) or _gold_text(gold, seen, public)
        what = known[key]
        if what:
            yield Leak(seen, what)


def _whole_file(bundle: Bundle, gold: Gold, seen: Seen) -> str | None:
    name = gold.raw.get(sha256_of(bundle, seen.node))
    if name is not None:
        return f"is the reference file {name}"
    plain, different = fingerprint(seen.node)
    if different > 1 and plain in gold.plain:
        return f"has the same lines as the reference file {gold.plain[plain]}"
    # an example submission may well be right on a short text
    canonical = None if seen.is_answer else xml_digest(seen.node)
    name = gold.plain.get(canonical or "") or gold.raw.get(canonical or "")
    if name is not None:
        return f"is the reference file {name}, written anew"
    if gold.columns and seen.channel not in ("logo", "program"):
        try:
            for column in table_columns(seen.node):
                if column and column_digest(column) in gold.columns:
                    return f"has a column with the labels of {gold.columns[column_digest(column)]}"
        except csv.Error:
            return None
    return None


def _tied_labels(gold: Gold, seen: Seen) -> str | None:
    if not gold.labels:
        return None
    whole, columns = ties_of(gold, _records(seen), rows(seen.node) if seen.channel != "logo" else ())
    # one column of an example submission may well be right: the answer as a whole must be
    leaking = [ties for ties in (whole, *([] if seen.is_answer else columns)) if _is_leak(gold, seen, ties)]
    if not leaking:
        return None
    return f"ties {max(ties.tied for ties in leaking)} of {len(gold.labels)} ids to their labels"


def _is_leak(gold: Gold, seen: Seen, ties: Ties) -> bool:
    if seen.is_answer:
        return ties.perfect and ties.several and ties.tied >= COVERED_BY_ANSWER * len(gold.labels)
    if seen.channel == "starting kit":
        return ties.perfect and ties.several
    return (ties.several and ties.nearly_perfect) or (gold.named and ties.perfect and ties.pair)


def _records(seen: Seen) -> Iterator[list[str]]:
    if seen.channel == "logo":
        return iter([cells(text) for text in _logo_texts(seen.node)])
    return records(seen.node)


def _logo_texts(node: Node) -> list[str]:
    """The texts in a picture's metadata."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(node.read(64 * 1024 * 1024))) as picture:
            exif = picture.getexif()
            found = [*picture.info.values(), *exif.values()]
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return []
    texts = [one.decode("utf-8", "replace") if isinstance(one, bytes) else one for one in found]
    return [line for text in texts if isinstance(text, str) for line in text.splitlines()]


def _words(seen: Seen) -> Iterator[str]:
    if seen.channel == "logo":
        return iter(words(" ".join(_logo_texts(seen.node))))
    return word_stream(seen.node)


def _matches(gold: Gold, stream: Iterator[str]) -> set[int]:
    """The hashes of secret word sequences that occur in a stream of words."""
    found: set[int] = set()
    kept: list[str] = []
    while block := list(islice(stream, BLOCK)):
        # the last words of a block are looked at again, together with those that follow
        block = kept + block
        for place, word in enumerate(block):
            for size in gold.starts.get(word, ()):
                code = hash(tuple(block[place : place + size]))
                if code in gold.shingles[size]:
                    found.add(code)
        kept = block[-LONGEST:]
    return found


def _public_shingles(bundle: Bundle, gold: Gold, seen_files: list[Seen]) -> set[int]:
    """Secret word sequences that participants' input also holds, as part of longer texts: they are no secret."""
    if not gold.shingles:
        return set()
    found = _matches(gold, (word for text in (bundle.secrets.public if bundle.secrets else ()) for word in words(text)))
    for seen in seen_files:
        if seen.channel in INPUT_CHANNELS:
            found |= _matches(gold, word_stream(seen.node))
    return found


def _gold_text(gold: Gold, seen: Seen, public: set[int]) -> str | None:
    if not gold.shingles:
        return None
    if seen.channel in INPUT_CHANNELS:
        # where none of its words stand in a row, no value can be a gold text
        return _gold_value(gold, seen) if public else None
    found = _matches(gold, _words(seen)) - public
    if not found:
        return None
    if seen.is_answer:
        secret = [text for text in gold.texts if not _codes(text) & public]
        whole = sum(_codes(text) <= found for text in secret)
        if whole < max(ENOUGH_TIES, AGREEMENT * len(secret)):
            return None
    return "holds gold text"


def _codes(text: tuple[str, ...]) -> set[int]:
    size = min(len(text), LONGEST)
    return {hash(text[start : start + size]) for start in range(len(text) - size + 1)}


def _gold_value(gold: Gold, seen: Seen) -> str | None:
    """Input may hold a gold span inside its own text, but not as a value of its own."""
    texts = set(gold.texts)
    for value in values(seen.name, seen.node):
        if len(value) >= SHORTEST and tuple(value) in texts:
            return "holds gold text as a value of its own"
    return None


def _problems(bundle: Bundle, *, secret_programs: bool) -> Iterator[Problem]:
    for leak in found_leaks(bundle):
        # a program that is known to hold what its maker calls secret is a mistake in any case
        hidden = leak.seen.channel == "program" and not bundle.competition.programs_available and bundle.secrets is None
        if hidden == secret_programs:
            yield Problem(f"{leak.seen.channel} {leak.seen.name} {leak.what}", leak.seen.at)


@rule(
    "leak",
    Effect.TRAP,
    title="reference data where participants can read them",
    consequence="Participants see the gold labels.",
    repair=REPAIR,
    source=SEEN,
    reads="both",
)
def _leak(bundle: Bundle) -> Iterator[Problem]:
    return _problems(bundle, secret_programs=False)


@rule(
    "leak-behind-a-switch",
    Effect.NOTE,
    title="reference data in a program that participants cannot download yet",
    consequence="As soon as `make_programs_available` is switched on, participants see the gold labels.",
    repair=REPAIR,
    source=SEEN,
    reads="both",
)
def _leak_behind_a_switch(bundle: Bundle) -> Iterator[Problem]:
    return _problems(bundle, secret_programs=True)


@rule(
    "not-looked-into",
    Effect.NOTE,
    title="a file for participants that could not be looked into",
    consequence="Nobody knows whether gold is in it.",
    repair="Pack it as a zip without a password, or make sure yourself that no gold is in it.",
    source=HOUSE,
    reads="both",
)
def _not_looked_into(bundle: Bundle) -> Iterator[Problem]:
    for seen in visible_files(bundle):
        if seen.closed and seen.channel != "program":
            yield Problem(f"{seen.channel} {seen.name} is {seen.closed}", seen.at)
