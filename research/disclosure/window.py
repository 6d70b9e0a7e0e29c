"""An attacker who keeps every gold that agrees with all that was shown, of as many items as fit.

A window moves over the items: as soon as shown figures leave few golds possible, more items join. What all golds that
are still possible agree on is known for certain.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

TRIED = 40
LOOKED_AT = 2_000

Query = NDArray[np.int64]
"""For each item of the window the label to predict, -1 for none."""
Golds = NDArray[np.int8]
"""Possible golds, shape [golds, items of the window], as label codes."""
Figures = NDArray[np.float64]
"""What would be shown for each possible gold, shape [golds, figures]."""
Predict = Callable[[Golds], Callable[[Query], Figures]]
"""What questions would show of some possible golds; what does not depend on the question is computed once."""


class Window:
    """The golds that are possible of some items.

    Args:
        items: how many items there are.
        labels: how many labels an item's gold can have.
        memory: how many possible golds are kept at most.
    """

    def __init__(self, items: int, labels: int, memory: int) -> None:
        self.known: dict[int, int] = {}
        self.active: list[int] = []
        self.golds: Golds = np.zeros((1, 0), dtype=np.int8)
        self._waiting = list(range(items))
        self._labels = labels
        self._memory = memory
        self._random = np.random.default_rng(0)
        self._expected = math.inf  # bits that a question reveals
        self._refill(1)

    def question(self, predict: Predict, draw: Callable[[np.random.Generator, int], Query]) -> Query:
        """The best of some random questions: what it shows differs between as many possible golds as possible."""
        chosen = self._random.choice(len(self.golds), size=min(LOOKED_AT, len(self.golds)), replace=False)
        sample = self.golds[chosen]
        questions = [draw(self._random, len(self.active)) for _ in range(TRIED)]
        predicted = predict(sample)
        revealed = [_entropy(predicted(question)) for question in questions]
        self._expected = max(revealed)
        return questions[revealed.index(self._expected)]

    def learn(
        self, question: Query, shown: Sequence[float], errors: Sequence[float], predict: Predict, left: int
    ) -> None:
        """Keep the golds for which `shown` would be shown, up to `errors`; figures that are not shown are NaN.

        Further items join as far as `left` questions like this one can decide them.
        """
        off = np.abs(predict(self.golds)(question) - np.array(shown)) > np.array(errors)
        self.golds = self.golds[~off.any(axis=1)]
        assert len(self.golds), "the true gold is among the possible ones"
        first = self.golds[0]
        certain = (self.golds == first).all(axis=0)
        self.known.update({item: int(first[i]) for i, item in enumerate(self.active) if certain[i]})
        self.active = [item for i, item in enumerate(self.active) if not certain[i]]
        self.golds = np.ascontiguousarray(self.golds[:, ~certain])
        self._refill(left)

    def _refill(self, left: int) -> None:
        most = min(self._memory, 2 ** min(left * self._expected, 60))
        while self._waiting and len(self.golds) * self._labels <= most:
            self.active.append(self._waiting.pop(0))
            codes = np.tile(np.arange(self._labels, dtype=np.int8), len(self.golds))
            self.golds = np.column_stack([np.repeat(self.golds, self._labels, axis=0), codes])


def _entropy(figures: Figures) -> float:
    rows = figures.round(9)
    rows[np.isnan(rows)] = -1.0
    _, counts = np.unique(_numbered(rows), return_counts=True)
    share = counts / counts.sum()
    return float(-(share * np.log2(share)).sum())


def _numbered(rows: NDArray[np.float64]) -> NDArray[np.int64] | NDArray[np.float64]:
    """A number for each row, the same for equal rows and in their order: numpy sorts numbers far quicker than rows."""
    if rows.shape[1] == 1:
        return rows.ravel()
    numbers, size = np.zeros(len(rows), dtype=np.int64), 1
    for column in rows.T:
        halves = 2 * (column - column.min())
        steps = halves.astype(np.int64)
        if (steps != halves).any():
            steps = np.unique(column, return_inverse=True)[1]
        number = int(steps.max()) + 1
        numbers, size = numbers * number + steps, size * number
    assert size < 2**63, "the numbers fit"
    return numbers
