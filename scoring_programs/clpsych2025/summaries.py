"""Submitted summaries against gold summaries and evidence by natural language inference, as tasks B and C need it.

The probabilities of one comparison form a table with a row for each premise and a column for each submitted sentence.
Formulas of profile `published`: CLPsych 2025 "Evaluation and Submission Instructions", table rows B and C.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import TYPE_CHECKING, Any, Protocol

from clpsych2025.averages import Average, metrics_of, timeline_units
from clpsych2025.engines import summary_settings
from clpsych2025.reference import ClpsychReference, Summary
from scoring_kit.results import Figure, TaskResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scoring_kit.metrics.nli import NliModel

Pair = tuple[str, str]
LIBRARIES = ("nltk", "torch", "transformers")
"""Libraries that the scores of a submission with a summary may depend on."""


class PairClassifier(Protocol):
    """Asked of an NLI engine, see `scoring_kit.metrics.nli.NliModel`."""

    def probabilities(self, pairs: Sequence[Pair]) -> "NDArray[np.float64]":
        """Of each (premise, hypothesis): entailment, neutral, contradiction; shape (pairs, 3)."""


@dataclass(frozen=True)
class SentencePairs:
    """Premises (gold sentences or evidence) to be compared with the sentences of a submitted summary."""

    premises: Sequence[str]
    hypotheses: Sequence[str]

    @property
    def pairs(self) -> list[Pair]:
        """Every (premise, hypothesis), row by row."""
        return list(product(self.premises, self.hypotheses))


@dataclass(frozen=True)
class PairTable:
    """A comparison's probabilities, arrays of shape (premises, hypotheses) without an empty side."""

    entailment: "NDArray[np.float64]"
    contradiction: "NDArray[np.float64]"

    def consistency(self) -> float:
        """Return the mean over all pairs of 1 - P(contradiction)."""
        return 1.0 - float(self.contradiction.mean())

    def mean_of_max_contradiction(self) -> float:
        """Return the mean over submitted sentences of the largest contradiction (profile `published`)."""
        return float(self.contradiction.max(axis=0).mean())

    def mean_of_max_entailment(self) -> float:
        """Return the mean over submitted sentences of the largest entailment (profile `published`)."""
        return float(self.entailment.max(axis=0).mean())

    def max_contradiction(self) -> float:
        """Return the largest contradiction of all pairs (profile `as-run`)."""
        return float(self.contradiction.max())

    def max_entailment(self) -> float:
        """Return the largest entailment of all pairs (profile `as-run`)."""
        return float(self.entailment.max())


def tables_of(comparisons: Sequence[SentencePairs], model: PairClassifier | None) -> list[PairTable | None]:
    """Return the tables of all comparisons, their pairs classified in one call; None where one side is empty."""
    if model is None:
        return [None] * len(comparisons)
    together = model.probabilities(list(chain.from_iterable(one.pairs for one in comparisons)))
    tables: list[PairTable | None] = []
    start = 0
    for comparison in comparisons:
        shape = len(comparison.premises), len(comparison.hypotheses)
        rows = together[start : start + shape[0] * shape[1]]
        start += len(rows)
        table = None
        if len(rows):
            table = PairTable(rows[:, 0].reshape(shape), rows[:, 2].reshape(shape))
        tables.append(table)
    return tables


def measured(table: PairTable | None, measure: Callable[[PairTable], float], unanswered: float) -> float:
    """Return a figure of a table; `unanswered` where nothing was submitted to fill one."""
    return measure(table) if table else unanswered


def against_gold(gold: Summary, submitted: str) -> SentencePairs:
    """Return the sentences of a submitted summary against the gold's; none where it is blank: then nothing is split."""
    if not submitted.strip():
        return SentencePairs((), ())
    from scoring_kit.metrics.sentences import split_sentences

    premises = split_sentences(gold.text) if gold.sentences is None else gold.sentences
    return SentencePairs(premises, split_sentences(submitted))


def summary_result(
    reference: ClpsychReference,
    options: Mapping[str, Any],
    model: "NliModel | None",
    averages: Mapping[str, Average],
    figures: Sequence[Figure] = (),
) -> TaskResult:
    """Return the outcome of a task, with what its scores depend on."""
    libraries = LIBRARIES if model else ()
    return TaskResult(
        metrics=metrics_of(averages),
        settings=summary_settings(options, model),
        libraries=libraries,
        figures=figures,
        units=lambda: timeline_units(list(reference.timelines), averages),
    )
