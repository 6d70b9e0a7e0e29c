"""MUC scores of coreferential chains.

Source: Vilain, Burger, Aberdeen, Connolly, Hirschman (1995), "A Model-Theoretic Coreference Scoring Scheme", MUC-6.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from scoring_kit.metrics.summed import quotient, ratio
from scoring_kit.results import Bar, BarChart, Metric, TaskResult, scored_items, share
from scoring_kit.units import Additive, Array, Statistic, Units

Chains = Sequence[Sequence[Hashable]]
M = TypeVar("M", bound=Hashable)
Formulas = Mapping[str, Callable[[Array], Array]]
"""Metric → its formula, as of `Additive`."""


class LinkScores(NamedTuple):
    """Links of a response that the key has, and of the key that the response has, each with its total.

    Attributes:
        recalled: links of the key that the response has (task 4: their weights).
        key_links: links of the key: size - 1, over all chains.
        precise: links of the response that the key has (task 4: their weights).
        response_links: links of the response.
    """

    recalled: float
    key_links: int
    precise: float
    response_links: int

    @property
    def recall(self) -> float:
        """0 without links in the key."""
        return share(self.recalled, self.key_links)

    @property
    def precision(self) -> float:
        """0 without links in the response."""
        return share(self.precise, self.response_links)

    @property
    def f1(self) -> float:
        """Harmonic mean of recall and precision; 0 where both are 0."""
        return share(2 * self.recall * self.precision, self.recall + self.precision)

    @property
    def items(self) -> int:
        """How many scored items are behind them."""
        return scored_items(self.key_links, self.response_links)


def muc(key: Chains, response: Chains) -> LinkScores:
    """Return the MUC scores of one text; no mention occurs twice on a side."""
    key_chain, response_chain = chain_numbers(key), chain_numbers(response)
    both = key_chain.keys() & response_chain.keys()
    parts = {(key_chain[mention], response_chain[mention]) for mention in both}
    common = len(both) - len(parts)  # a part of n mentions that both sides have in one chain has n - 1 links
    return LinkScores(common, links(key), common, links(response))


def links(chains: Chains) -> int:
    """Links that hold the chains together: size - 1 each."""
    return sum(len(chain) - 1 for chain in chains)


def chain_numbers(chains: Iterable[Iterable[M]]) -> dict[M, int]:
    """Mention → the number of its chain."""
    return {mention: number for number, chain in enumerate(chains) for mention in chain}


def muc_metrics(task: str) -> tuple[str, ...]:
    """Return the metrics of a task that a column may show."""
    return (f"{task}_f1", f"{task}_recall", f"{task}_precision", "response_links", "common_links")


def muc_result(task: str, texts: Mapping[str, LinkScores]) -> TaskResult:
    """F1, recall and precision over the links of all texts together (tasks 2 and 4), and F1 by text."""
    overall = LinkScores(*(sum(one) for one in zip(*texts.values(), strict=True)))
    metrics = {
        f"{task}_f1": Metric(overall.f1, overall.key_links + overall.response_links, overall.items),
        f"{task}_recall": Metric(overall.recall, overall.key_links, overall.items),
        f"{task}_precision": Metric(overall.precision, overall.response_links, overall.items),
        "response_links": Metric(overall.response_links, overall.key_links, overall.items),
        "common_links": Metric(overall.recalled, overall.key_links, overall.items),
    }
    bars = [Bar(text, scores.f1, scores.items) for text, scores in texts.items()]
    counted = "links of the key or of the answer, whichever are fewer"
    figure = BarChart("F1 by text", bars, "higher", counted, top=1.0, of="text")
    return TaskResult(metrics, figures=[figure], units=lambda: _units(task, texts))


def _units(task: str, texts: Mapping[str, LinkScores]) -> Units:
    formulas: Formulas = {
        f"{task}_f1": _f1,
        f"{task}_recall": _recall,
        f"{task}_precision": _precision,
        "response_links": total(3),
        "common_links": total(0),
    }
    return document_units(texts, formulas)


def document_units(texts: Mapping[str, Sequence[float]], formulas: Formulas) -> Units:
    """Return the per-unit results of metrics that are all made of what each text adds: text → its terms."""
    statistics: dict[str, Statistic] = {}
    for name, formula in formulas.items():
        statistics[name] = Additive.of(texts.values(), formula)
    return Units("document", list(texts), statistics)


def total(place: int) -> Callable[[Array], Array]:
    """Return the formula of what is the term at a place, as it is."""

    def formula(sums: Array) -> Array:
        return sums[..., place]

    return formula


# The formulas of `LinkScores` summed over texts.


def _f1(sums: Array) -> Array:
    recall, precision = _recall(sums), _precision(sums)
    return quotient(2 * recall * precision, recall + precision)


def _recall(sums: Array) -> Array:
    return ratio(sums[..., :2])


def _precision(sums: Array) -> Array:
    return ratio(sums[..., 2:])
