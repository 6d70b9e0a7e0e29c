"""MUC scores of coreferential chains.

Source: Vilain, Burger, Aberdeen, Connolly, Hirschman (1995), "A Model-Theoretic Coreference Scoring Scheme", MUC-6.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

Chains = Sequence[Sequence[Hashable]]


@dataclass(frozen=True)
class LinkScores:
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

    def __add__(self, other: "LinkScores") -> "LinkScores":
        return LinkScores(
            self.recalled + other.recalled,
            self.key_links + other.key_links,
            self.precise + other.precise,
            self.response_links + other.response_links,
        )

    @property
    def recall(self) -> float:
        """0 without links in the key."""
        return self.recalled / self.key_links if self.key_links else 0.0

    @property
    def precision(self) -> float:
        """0 without links in the response."""
        return self.precise / self.response_links if self.response_links else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of recall and precision; 0 where both are 0."""
        total = self.recall + self.precision
        return 2 * self.recall * self.precision / total if total else 0.0


NO_LINKS = LinkScores(0, 0, 0, 0)


def muc(key: Chains, response: Chains) -> LinkScores:
    """The MUC scores of one text; no mention occurs twice on a side."""
    return LinkScores(
        recalled=_common_links(key, response),
        key_links=links(key),
        precise=_common_links(response, key),
        response_links=links(response),
    )


def links(chains: Chains) -> int:
    """Links that hold the chains together: size - 1 each."""
    return sum(len(chain) - 1 for chain in chains)


def _common_links(chains: Chains, others: Chains) -> int:
    """Sum of size - parts over `chains`: `others` cut a chain into parts, a mention they lack is a part of its own."""
    chain_of = {mention: index for index, chain in enumerate(others) for mention in chain}
    common = 0
    for chain in chains:
        cuts = [chain_of.get(mention) for mention in chain]
        parts = len(set(cuts) - {None}) + cuts.count(None)
        common += len(chain) - parts
    return common
