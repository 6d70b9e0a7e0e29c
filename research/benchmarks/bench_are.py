"""ARE: 1,000,000 mentions in chains, and one chain of 100,000."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import scipy.optimize

from are2007 import reference, submission, task1, task2, task3, task4
from are2007.answers import AnswerKey, Mention
from are2007.reference import AreReference
from are2007.submission import AreSubmission
from research.benchmarks.scaling import grow
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles

SIZES = [100_000, 300_000, 1_000_000]
CHAIN = [10_000, 30_000, 100_000]
MENTIONS_A_TEXT = 1_000
TOKENS = 4
"""From one mention to the next."""


def main() -> None:
    """Print what reading and scoring cost."""
    assert scipy.optimize, "imported beforehand, so that no measurement pays for it"
    grow("task 2, reading input, key and response", SIZES, _reading)
    for name, prepare in (("1", _task1), ("2", _task2), ("3", _task3), ("4", _task4)):
        grow(f"task {name}, scoring, chains of 5", SIZES, partial(prepare, size=5))
        grow(f"task {name}, scoring, one chain", CHAIN, partial(prepare, size=None))


def _reading(mentions: int) -> Callable[[], object]:
    folder = tempfile.TemporaryDirectory()
    root = Path(folder.name)
    for part in ("ref", "res"):
        (root / part / "task2").mkdir(parents=True)
    for number in range(mentions // MENTIONS_A_TEXT):
        ids = range(MENTIONS_A_TEXT)
        entities = "".join(f'<entity id="{i}">word</entity> ' for i in ids)
        chains = ""
        for start in ids[::5]:
            nodes = "".join(f'<node id="{i}" value="word"/>\n' for i in ids[start : start + 5])
            chains += f"<chain>\n{nodes}</chain>\n"
        (root / "ref" / "task2" / f"{number}-input.xml").write_text(f"<document><text>{entities}</text></document>")
        (root / "ref" / "task2" / f"{number}-key.xml").write_text(f"<document>{chains}</document>")
        (root / "res" / "task2" / f"{number}-output.xml").write_text(f"<document>{chains}</document>")

    def work() -> object:
        gold = reference.read(root / "ref", ["task2"], {})
        manifest = Manifest("are2007", ("task2",), ("task2",), "joint", {}, reference.manifest(gold, ["task2"]))
        problems = Problems()
        answers = submission.read(SubmissionFiles(root / "res", ["task2"], problems), manifest, problems)
        problems.stop_if_any()
        folder.cleanup()
        return gold, answers

    return work


def _chains(mentions: Sequence[Mention], size: int) -> list[list[Mention]]:
    return [list(mentions[start : start + size]) for start in range(0, len(mentions), size)]


def _gold(mentions: int, size: int | None) -> dict[str, AnswerKey]:
    """Texts of mentions of one or two tokens in chains of a size, or one text with one chain of all.

    All but the first mention of a chain are pronouns.
    """
    a_text = MENTIONS_A_TEXT if size else mentions
    spans = [(TOKENS * i, TOKENS * i + 1 + i % 2) for i in range(a_text)]
    chains = _chains(spans, size or mentions)
    pronouns = [mention for chain in chains for mention in chain[1:]]
    return {f"text {number}": AnswerKey(chains, pronouns) for number in range(mentions // a_text)}


def _pairs(key: AnswerKey, rng: random.Random) -> dict[Mention, Mention]:
    """Each pronoun to the element before it, seldom to a wrong one, sometimes with a token too many."""
    answers = {}
    for chain in key.chains:
        for before, pronoun in pairwise(chain):
            start, end = before if rng.random() < 0.95 else key.chains[0][0]
            answers[pronoun] = (start, end + (rng.random() < 0.3))
    return answers


def _task1(mentions: int, size: int | None) -> Callable[[], object]:
    keys, rng = _gold(mentions, size), random.Random(1)
    answers = {}
    for text, key in keys.items():
        known = {mention for chain in key.chains for mention in chain}
        answers[text] = {p: a if a in known else (a[0], a[1] - 1) for p, a in _pairs(key, rng).items()}
    gold, given = AreReference({}, {"task1": keys}), AreSubmission(frozenset(), {"task1": answers}, {})
    return lambda: task1.score(gold, given, {})


def _task3(mentions: int, size: int | None) -> Callable[[], object]:
    keys, rng = _gold(mentions, size), random.Random(3)
    given = AreSubmission(frozenset(), {"task3": {text: _pairs(key, rng) for text, key in keys.items()}}, {})
    return lambda: task3.score(AreReference({}, {"task3": keys}), given, {})


def _task2(mentions: int, size: int | None) -> Callable[[], object]:
    keys, rng = _gold(mentions, size), random.Random(2)
    answers, length = {}, size - 1 if size else mentions
    for text, key in keys.items():
        spans = [mention for chain in key.chains for mention in chain if rng.random() < 0.9]
        answers[text] = _chains(spans, length)
    given = AreSubmission(frozenset(), {}, {"task2": answers})
    return lambda: task2.score(AreReference({}, {"task2": keys}), given, {})


def _task4(mentions: int, size: int | None) -> Callable[[], object]:
    keys, rng = _gold(mentions, size), random.Random(4)
    answers, length = {}, size - 1 if size else mentions
    for text, key in keys.items():
        spans = [(start, end + (rng.random() < 0.3)) for chain in key.chains for start, end in chain]
        answers[text] = _chains(spans, length)
    given = AreSubmission(frozenset(), {}, {"task4": answers})
    return lambda: task4.score(AreReference({}, {"task4": keys}), given, {})


if __name__ == "__main__":
    main()
