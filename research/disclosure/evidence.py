"""An attack on the evidence of CLPsych A.1: which sentences of a timeline show an adaptive or a maladaptive self-state.

The model is public, so the attacker computes with it how well what is submitted covers each sentence of a timeline, and
takes gold spans to be sentences without their last mark. One file asks about one timeline: the columns are the means
over the gold spans of what was computed, and the weighted ones say how many tokens the gold spans have.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.disclosure.found import Found
from research.disclosure.oracle import Oracle, Setting
from scoring_kit.metrics.bertscore import BertScoreOptions, BertScorer
from tests import tiny_models

STATES = ("adaptive", "maladaptive")
MOST_SENTENCES = 20
"""Of a timeline that is asked about: all sets of them are tried."""
MOST_PAIRS = 4_000_000
PADDING = "zzzz"
"""A span that covers little, repeated so that more tokens are submitted than the gold has."""
NOISE = 1e-6
"""How far two runs of the model may differ, whose batches do."""
TRIED, LOOKED_AT = 12, 2_000

Masks = NDArray[np.int64]
"""Sets of sentences, a bit for each."""
Array = NDArray[np.float64]


def evidence(work: Path, setting: Setting, column: str | None = None) -> Found:
    """Sentences of posts, by all columns of A.1; by one of them alone whether each is evidence of its self-state."""
    oracle = Oracle(work, "clpsych2025", "a1", setting, "lexical-rule", tiny_models.OPTIONS)
    base = json.loads(next(iter(oracle.baseline.values())))
    sentences = {timeline: _sentences(timeline) for timeline in base}
    engine = BertScorer(
        BertScoreOptions(tiny_models.DEBERTA_ENCODER, num_layers=tiny_models.LAYER, baseline=tiny_models.BASELINE)
    )
    found: dict[tuple[str, str], str] = {}
    small = [timeline for timeline in base if len(sentences[timeline]) <= MOST_SENTENCES]
    small.sort(key=lambda timeline: -len(sentences[timeline]))
    for timeline in small[: oracle.left]:
        question = _best_question(engine, sentences[timeline], len(base), setting)
        answer_with(base, timeline, question.spans)
        seen = oracle.submit({"Team_1.json": json.dumps(base)})
        golds = question.possible(seen.scores, setting.error, column)
        for sentence, labels in zip(sentences[timeline], golds, strict=True):
            if len(labels) == 1:
                (found[timeline, sentence],) = labels
    gold = _gold(oracle)
    states = STATES if column is None else [column.rpartition("_")[2]]
    true = {key: label if label in states else "none" for key, label in gold.items()}
    of = sum(map(len, sentences.values()))
    return Found(len(found), of, all(true.get(key, "none") == label for key, label in found.items()))


def answer_with(base: Mapping[str, Any], timeline: str, spans: Mapping[str, Sequence[str]]) -> None:
    """Answer the first post of a timeline with these spans, by self-state, and all other posts with none."""
    for content in base.values():
        for answer in content["post_level"].values():
            answer |= {f"{state}_evidence": [] for state in STATES}
    first = next(iter(base[timeline]["post_level"].values()))
    first |= {f"{state}_evidence": spans[state] for state in STATES}


@dataclass(frozen=True)
class Question:
    """What is submitted for a timeline, and what the columns would be for each set of gold sentences.

    Attributes:
        spans: what is submitted, by self-state.
        covered: how well each sentence is covered by a state's spans, or by both states' ("").
        tokens: of each sentence.
        submitted: tokens of a state's spans, or both states' ("").
        timelines: over how many the columns are averaged.
    """

    spans: Mapping[str, Sequence[str]]
    covered: Mapping[str, Array]
    tokens: Array
    submitted: Mapping[str, int]
    timelines: int

    def columns(self, part: str, covered: Array, tokens: Array, number: Array) -> tuple[Array, Array]:
        """Recall and weighted recall, from sums over the gold sentences."""
        recall = covered / np.maximum(number, 1) / self.timelines
        return recall, recall * np.minimum(tokens / self.submitted[part], 1)

    def possible(self, scores: Mapping[str, float], error: float, column: str | None) -> list[set[str]]:
        """The labels that each sentence has in any gold which gives these scores; none where no gold does."""
        sentences = len(self.tokens)
        masks = {state: self._sets(state, scores, error, column) for state in STATES if column in (None, *_of(state))}
        if column is not None:
            ((state, own),) = masks.items()
            return [_named(own >> i & 1, ("none", state)) for i in range(sentences)]
        adaptive, maladaptive = self._pairs(masks, scores, error)
        labels = np.stack([(adaptive >> i & 1) + 2 * (maladaptive >> i & 1) for i in range(sentences)])
        return [_named(codes, ("none", *STATES)) for codes in labels]

    def _sets(self, state: str, scores: Mapping[str, float], error: float, column: str | None) -> Masks:
        """The sets of gold sentences of a state that give its columns."""
        masks = np.arange(1, 2 ** len(self.tokens))
        number, tokens, covered = (
            _sums(each) for each in (np.ones_like(self.tokens), self.tokens, self.covered[state])
        )
        for name, predicted in zip(_of(state), self.columns(state, covered, tokens, number), strict=True):
            if column in (None, name):
                fits = np.abs(predicted - scores[name]) <= error + NOISE / self.timelines
                masks = masks[fits[masks]]
        return masks

    def _pairs(self, masks: Mapping[str, Masks], scores: Mapping[str, float], error: float) -> tuple[Masks, Masks]:
        """The disjoint pairs of such sets that give the columns over both states; all of them, where they are many."""
        one, other = (masks[state] for state in STATES)
        if len(one) * len(other) > MOST_PAIRS:
            return np.array([0, -1]), np.array([-1, 0])  # nothing is certain
        both = [array.ravel() for array in np.meshgrid(one, other, indexing="ij")]
        disjoint = both[0] & both[1] == 0
        first, second = (array[disjoint] for array in both)
        sums = [_of_masks(each, first) + _of_masks(each, second) for each in (self.covered[""], self.tokens)]
        number = _of_masks(np.ones_like(self.tokens), first | second)
        fits = np.ones(len(first), dtype=bool)
        for name, predicted in zip(_of(""), self.columns("", sums[0], sums[1], number), strict=True):
            fits &= np.abs(predicted - scores[name]) <= error + NOISE / self.timelines
        return first[fits], second[fits]


def _named(codes: Masks, names: Sequence[str]) -> set[str]:
    return {names[code] for code in np.unique(codes)}


def _best_question(engine: BertScorer, sentences: Sequence[str], timelines: int, setting: Setting) -> Question:
    """Of some random choices of sentences the one whose columns differ between as many golds as possible."""
    random = np.random.default_rng(0)
    golds = random.integers(0, 3, size=(LOOKED_AT, len(sentences)))
    padding = [PADDING] * math.ceil(sum(engine.token_counts(sentences)) / sum(engine.token_counts([PADDING])))
    best, most = None, -1
    for _ in range(TRIED):
        chosen = random.permutation(len(sentences))
        size = 1 + random.integers(4)
        parts = chosen[:size], chosen[size : 2 * size]
        spans = {}
        for part, state in zip(parts, STATES, strict=True):
            spans[state] = [*(sentences[i] for i in part), *padding]
        question = _question(engine, spans, sentences, timelines)
        shown: list[Array] = []
        for code, state in enumerate(STATES, start=1):
            own = (golds == code).astype(float)
            shown += question.columns(state, own @ question.covered[state], own @ question.tokens, own.sum(axis=1))
        steps = np.floor(np.stack(shown) / max(setting.error, NOISE / timelines))
        different = len(np.unique(steps, axis=1).T)
        if different > most:
            best, most = question, different
    assert best is not None
    return best


def _question(
    engine: BertScorer, spans: Mapping[str, Sequence[str]], sentences: Sequence[str], timelines: int
) -> Question:
    together = {**spans, "": [span for state in STATES for span in spans[state]]}
    covered = {
        part: engine.rescale(engine.score(own, sentences)).recall.max(axis=0).astype(np.float64)
        for part, own in together.items()
    }
    submitted = {part: sum(engine.token_counts(own)) for part, own in together.items()}
    return Question(spans, covered, np.array(engine.token_counts(sentences), dtype=np.float64), submitted, timelines)


def _of(part: str) -> tuple[str, str]:
    """The columns of a self-state, or of both."""
    end = f"_{part}" if part else ""
    return f"a1_recall{end}", f"a1_weighted_recall{end}"


def _sums(values: Array) -> Array:
    """The sum over every set of values, by the set's bits."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


def _of_masks(values: Array, masks: Masks) -> Array:
    sums = np.zeros(len(masks))
    for i, value in enumerate(values):
        sums += value * (masks >> i & 1)
    return sums


def _timeline(name: str) -> Any:
    from gen_bundle.ground.resources import resource

    folder = resource("bundles") / "clpsych2025" / "data"
    return json.loads((folder / "public" / "test" / f"{name}.json").read_text(encoding="utf-8"))


def _sentences(timeline: str) -> list[str]:
    """The sentences of a timeline's posts, without their last mark; participants have the posts."""
    return [
        sentence.strip().rstrip(".!?")
        for post in _timeline(timeline)["posts"]
        for sentence in re.split(r"(?<=[.!?])\s+", post["post"])
    ]


def _gold(oracle: Oracle) -> dict[tuple[str, str], str]:
    """(timeline, span) → self-state."""
    gold = json.loads((oracle.reference / "gold.json").read_text(encoding="utf-8"))
    return {
        (timeline, span["text"]): state
        for timeline, content in gold.items()
        for state in STATES
        for span in content["timeline_level"][f"{state}_spans"]
    }
