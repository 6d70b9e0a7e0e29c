"""A made-up set in the shape of CLPsych 2025: spans as evidence, sentences as summaries. Never twice the same words."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

WHO = ["I", "my sister", "the neighbour", "we", "a friend", "the doctor", "nobody", "everyone", "my old dog", "she"]
DOES = ["feel", "felt", "walked with", "called", "cannot reach", "heard", "cooked for", "is tired of", "hopes for"]
WHAT = ["a long day", "the garden", "some rest", "nothing", "my family", "the noise", "sleep", "the weather", "home"]
HOW = ["again", "today", "since winter", "and it helped", "but it was hard", "for hours", "without a word", "so far"]
CLASSES = ("adaptive", "maladaptive")


@dataclass(frozen=True)
class Post:
    """A post's gold summary and the submitted one, as sentences, and the submitted evidence."""

    gold: list[str]
    summary: list[str]
    evidence: list[str]


@dataclass(frozen=True)
class Timeline:
    """Gold and predicted spans of each class, posts, and the two timeline summaries."""

    gold: dict[str, list[str]]
    predicted: dict[str, list[str]]
    posts: list[Post]
    gold_summary: list[str]
    summary: list[str]

    def pairs(self) -> list[tuple[str, str]]:
        """Every (premise, hypothesis) that tasks B and C ask for."""
        wanted = [(g, s) for post in self.posts for g in post.gold for s in post.summary]
        wanted += [(e, s) for post in self.posts for e in post.evidence for s in post.summary]
        return wanted + [(g, s) for g in self.gold_summary for s in self.summary]


def timelines(count: int, seed: int = 2025) -> list[Timeline]:
    """So many timelines of five posts each."""
    rng = random.Random(seed)
    return [_timeline(rng, 5) for _ in range(count)]


def clpsych_test_set() -> list[Timeline]:
    """As many timelines and posts as the test set of CLPsych 2025: 10 and 94."""
    rng = random.Random(94)
    return [_timeline(rng, posts) for posts in (*[10] * 4, *[9] * 6)]


def long_texts(count: int, seed: int = 512) -> list[str]:
    """So many texts of a dozen sentences, a few hundred tokens each."""
    rng = random.Random(seed)
    return [" ".join(_sentences(rng, 12)) for _ in range(count)]


def _timeline(rng: random.Random, posts_there: int) -> Timeline:
    gold = {kind: _spans(rng, rng.randint(4, 8) * posts_there // 5) for kind in CLASSES}
    predicted = {kind: _predicted(rng, gold[kind]) for kind in CLASSES}
    for kind in CLASSES:
        predicted[kind] = predicted[kind] or [_span(rng)]
    spans = [span for kind in CLASSES for span in predicted[kind]]
    posts = [_post(rng, spans) for _ in range(posts_there)]
    gold_summary = _sentences(rng, rng.randint(3, 5))
    return Timeline(gold, predicted, posts, gold_summary, summary=_sentences(rng, rng.randint(2, 4)))


def _post(rng: random.Random, spans: Sequence[str]) -> Post:
    gold = _sentences(rng, rng.randint(1, 3))
    summary = _sentences(rng, rng.randint(1, 3))
    return Post(gold=gold, summary=summary, evidence=rng.sample(spans, min(len(spans), rng.randint(0, 4))))


def _spans(rng: random.Random, count: int) -> list[str]:
    return [_span(rng) for _ in range(count)]


def _predicted(rng: random.Random, gold: Sequence[str]) -> list[str]:
    return [_altered(rng, span) for span in gold for _ in range(rng.randint(0, 2))]


def _sentences(rng: random.Random, count: int) -> list[str]:
    return [sentence(rng) for _ in range(count)]


def _span(rng: random.Random) -> str:
    words = f"{rng.choice(DOES)} {rng.choice(WHAT)} {rng.choice(HOW)} {rng.choice(WHAT)} {rng.choice(HOW)}".split()
    return " ".join(words[: rng.choice((2, 3, 3, 4, 4, 5, 6, 12))])


def _altered(rng: random.Random, span: str) -> str:
    """The span as a system might return it: as it is, or with a few words left out or changed."""
    if rng.random() < 0.5:
        return span
    words = [rng.choice(WHAT) if rng.random() < 0.15 else word for word in span.split() if rng.random() < 0.9]
    return " ".join(words) or span


def sentence(rng: random.Random) -> str:
    parts = [
        f"{rng.choice(WHO)} {rng.choice(DOES)} {rng.choice(WHAT)} {rng.choice(HOW)}" for _ in range(rng.randint(1, 2))
    ]
    return ", and ".join(parts).capitalize() + "."
