"""Attacks on the summaries of CLPsych (B and C): which of some texts is the gold summary of each post or timeline.

Free text cannot be read from a few numbers, but a guess can be confirmed. The model is public, so the attacker computes
what each text would score as gold against what is submitted; the texts are the gold summaries of all posts, or of all
timelines, in no order. One file asks about some places, and leaves the others empty.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clpsych2025.summaries import SentencePairs, tables_of
from research.disclosure.found import Found
from research.disclosure.oracle import Oracle, Setting
from scoring_kit.metrics.nli import NliModel, NliOptions
from scoring_kit.metrics.sentences import split_sentences
from tests import tiny_models

NOISE = 1e-7
"""How far two runs of the model may differ in a probability, whose batches do."""
MOST = 300_000
"""Combinations of texts that are tried."""
HYPOTHESES = 12
"""Sentences that are tried as what to submit."""

Place = tuple[str, str | None]
"""A timeline and a post, or no post: the timeline itself."""
Array = NDArray[np.float64]


def guesses(work: Path, setting: Setting, task: str, columns: Sequence[str]) -> Found:
    """Places whose gold summary is known, of all that have one, by one or both columns: consistency, contradiction."""
    oracle = Oracle(work, "clpsych2025", task, setting, "lead-sentence", tiny_models.OPTIONS)
    base = json.loads(next(iter(oracle.baseline.values())))
    gold = _gold(oracle, task)
    texts, places = sorted(set(gold.values())), iter(gold)
    question = _best_question(_shown(texts, len(columns)), setting.error, len(gold))
    found: dict[Place, str] = {}
    while oracle.left and (asked := dict(zip(islice(places, len(question)), question, strict=False))):
        _empty(base)
        for place, (hypothesis, _) in asked.items():
            _put(base, place, hypothesis)
        scores = oracle.submit({"Team_1.json": json.dumps(base)}).scores
        sums = _all_sums([values for _, values in asked.values()])
        # a place without a summary has a consistency of 0 and a contradiction of 1
        rest = (0.0, 1 - len(asked) / len(gold))
        fits = np.ones(sums.shape[1:], dtype=bool)
        for column, of_texts, other in zip(columns, sums / len(gold), rest, strict=False):
            fits &= np.abs(of_texts + other - scores[column]) <= _tolerance(len(asked), len(gold), setting.error)
        for axis, place in enumerate(asked):
            possible = np.flatnonzero(fits.any(axis=tuple(other for other in range(len(asked)) if other != axis)))
            if len(possible) == 1:
                found[place] = texts[possible[0]]
    return Found(len(found), len(gold), all(gold[place] == text for place, text in found.items()))


posts = partial(guesses, task="b", columns=("b_mean_consistency", "b_max_contradiction"))
timelines = partial(guesses, task="c", columns=("c_mean_consistency", "c_max_contradiction"))


def _shown(texts: Sequence[str], columns: int) -> Mapping[str, Array]:
    """Sentence to submit → what each text adds to the columns as gold where it is submitted, shape [columns, texts]."""
    model = NliModel(NliOptions(tiny_models.DEBERTA_V2_NLI))
    sentences = sorted({sentence for text in texts for sentence in split_sentences(text)})
    chosen = np.random.default_rng(0).choice(sentences, HYPOTHESES, replace=False).tolist()
    shown = {}
    for hypothesis in chosen:
        tables = tables_of([SentencePairs(split_sentences(text), [hypothesis]) for text in texts], model)
        there = [table for table in tables if table is not None]
        measures = [[t.consistency(), t.mean_of_max_contradiction()] for t in there]
        shown[hypothesis] = np.array(measures).T[:columns]
    return shown


def _best_question(shown: Mapping[str, Array], error: float, places: int) -> list[tuple[str, Array]]:
    """A sentence for each place that is asked about at once, as many as can be told apart, and what it would show."""

    def told_apart(asked: Sequence[tuple[str, Array]]) -> float:
        """The share of all combinations of texts whose columns no other combination has."""
        sums = _all_sums([values for _, values in asked])
        sums = sums.reshape(len(sums), -1) / places
        steps = np.floor(sums / (2 * _tolerance(len(asked), places, error)))
        _, counts = np.unique(steps, axis=1, return_counts=True)
        return float((counts == 1).sum() / sums.shape[1])

    ordered = sorted(shown.items(), key=lambda one: -told_apart([one]))
    texts = next(iter(shown.values())).shape[1]
    most = min(places, int(math.log(MOST, texts)))
    return ordered[: max(range(1, most + 1), key=lambda number: number * told_apart(ordered[:number]))]


def _tolerance(asked: int, places: int, error: float) -> float:
    """How far a column may be from what the attacker computes: by its digits, and by the noise of the model."""
    return error + NOISE * asked / places


def _all_sums(values: Sequence[Array]) -> Array:
    """The columns for every combination of texts, one for each place: shape [columns, texts, texts, …]."""
    columns = len(values[0])
    total = np.zeros([columns] + [1] * len(values))
    for axis, of_texts in enumerate(values):
        total = total + of_texts.reshape([columns, *(-1 if other == axis else 1 for other in range(len(values)))])
    return total


def _empty(base: Any) -> None:
    for content in base.values():
        content["timeline_level"]["summary"] = ""
        for answer in content["post_level"].values():
            answer["summary"] = ""


def _put(base: Any, place: Place, text: str) -> None:
    timeline, post = place
    holder = base[timeline]["timeline_level"] if post is None else base[timeline]["post_level"][post]
    holder["summary"] = text


def _gold(oracle: Oracle, task: str) -> dict[Place, str]:
    gold = json.loads((oracle.reference / "gold.json").read_text(encoding="utf-8"))
    if task == "c":
        return {(name, None): content["timeline_level"]["summary"] for name, content in gold.items()}
    return {
        (name, post): one["summary"]
        for name, content in gold.items()
        for post, one in content["post_level"].items()
        if one["summary"]
    }
