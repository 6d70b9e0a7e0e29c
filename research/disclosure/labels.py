"""Attacks on one gold label an item, through macro F1 and the confusion matrix: CLARITY task 1, PROCESS task 1."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from research.disclosure.oracle import Oracle, Seen
from research.disclosure.window import Figures, Golds, Query, Window

FEWEST = 5
"""Fewer items of a label are put together with others in a matrix (`details_min_items`)."""


@dataclass
class LabelAttack:
    """Two submissions count the gold of the labels; the others ask about as many items as can be decided.

    An item outside of a question gets an answer that is not a label, so that it counts for none; or, where only labels
    are accepted, the last label: of those items it is known how many have each label, since the totals are.

    Attributes:
        oracle: the phase.
        labels: of the task.
        items: how many there are.
        files: writes a submission with an answer for each item.
        column: key of macro F1.
        rest: the answer for an item outside of a question: no label, or the last label.
        figure: what the attacker looks at beside the column where `full` shows it: the confusion matrix, the F1 of each
            label, or nothing.
        alone: whether macro F1 is not looked at after the totals, which follow from the figure as well.
    """

    oracle: Oracle
    labels: Sequence[str]
    items: int
    files: Callable[[Sequence[str]], Mapping[str, str]]
    column: str
    rest: str
    figure: Literal["matrix", "f1", "none"] = "matrix"
    alone: bool = False

    def run(self) -> dict[int, str]:
        """Item → its gold label, of those that are known for certain."""
        self._totals = np.array(self._count_totals())
        window = Window(self.items, len(self.labels), self.oracle.setting.memory)
        while self.oracle.left and window.active:
            question = window.question(self._predicted, self._draw)
            answers = [self.rest] * self.items
            for item, code in zip(window.active, question, strict=True):
                answers[item] = self.labels[code] if code >= 0 else self.rest
            seen = self.oracle.submit(self.files(answers))
            cells, error = self._cells(seen, question)
            shown, errors = [seen.scores[self.column], *cells], [self.oracle.setting.error, *[error] * len(cells)]
            looked_at = slice(int(self.alone), None)
            window.learn(question, shown[looked_at], errors[looked_at], self._predicted, self.oracle.left)
        return {item: self.labels[code] for item, code in window.known.items()}

    def _count_totals(self) -> list[int]:
        """How many items of each label the gold has: F1 of a label that all items get is 2 n / (n + items)."""
        totals = []
        for label in self.labels[:-1]:
            shown = self.oracle.submit(self.files([label] * self.items)).scores[self.column]
            f1 = [2 * n / (n + self.items) / len(self.labels) for n in range(self.items + 1)]
            totals.append(min(range(self.items + 1), key=lambda n: abs(f1[n] - shown)))
        return [*totals, self.items - sum(totals)]

    def _draw(self, random: np.random.Generator, size: int) -> Query:
        if (
            self._sees_matrix or self._sees_f1
        ) and random.random() < 0.5:  # labels with enough items each, or any: the better question is taken
            groups = max(1, min(self._asked_labels, size // FEWEST))
            return random.permutation(np.arange(size) % groups)
        least = -1 if self.rest in self.labels else 0
        return random.integers(least, self._asked_labels, size)

    @property
    def _asked_labels(self) -> int:
        """How many labels a question hands out: all, but for the one that the rest gets."""
        return len(self.labels) - (self.rest in self.labels)

    @property
    def _sees_matrix(self) -> bool:
        return self.figure == "matrix" and self.oracle.setting.details == "full"

    @property
    def _sees_f1(self) -> bool:
        return self.figure == "f1" and self.oracle.setting.details == "full"

    def _predicted(self, golds: Golds) -> Callable[[Query], Figures]:
        has_label = [(golds == g).astype(np.float32) for g in self._codes]
        return lambda question: self._shown(has_label, question)

    def _shown(self, has_label: Sequence[NDArray[np.float32]], question: Query) -> Figures:
        """Macro F1, then, where there is a matrix, its cells: for each predicted label the counts of the gold's.

        Args:
            has_label: for each label, which items have it in each gold, shape [golds, items of the window].
            question: what is asked.
        """
        predicted = np.array([question == p for p in self._codes], dtype=np.float32)
        of_golds = np.stack([items @ predicted.T for items in has_label])
        cells = np.moveaxis(of_golds, -1, 0)
        asked = self._asked(question)
        if self.rest in self.labels:
            cells[-1] = self._totals[:, None] - cells[:-1].sum(axis=0)
        right = cells[self._codes, self._codes].T
        of_labels: Figures = 2 * right / (self._totals + asked)
        f1: NDArray[np.float64] = of_labels.mean(axis=1)
        columns = [] if self.alone else [f1]
        if self._sees_f1:
            withheld = ((asked > 0) & (asked < FEWEST)).any()  # one label of few items withholds the F1 of all
            if withheld:
                of_labels = np.full_like(of_labels, math.nan)
            columns.append(of_labels)
        if self._sees_matrix:
            columns.append(cells[asked >= FEWEST].reshape(-1, len(f1)).T)
        return np.column_stack(columns)

    def _asked(self, question: Query) -> NDArray[np.int64]:
        """How many items get each label."""
        asked = np.array([(question == p).sum() for p in self._codes])
        if self.rest in self.labels:
            asked[-1] = self.items - asked[:-1].sum()
        return asked

    def _cells(self, seen: Seen, question: Query) -> tuple[list[float], float]:
        """What the figure shows, NaN where it does not, and how far that may be from the exact value."""
        if self._sees_f1:
            (name,) = {name.rpartition(": ")[0] for name in seen.details if name.endswith(f": {self.labels[0]}")}
            shown = [seen.details[f"{name}: {label}"] for label in self.labels]
            return [math.nan if value is None else value for value in shown], self.oracle.setting.error
        return (self._matrix(seen, question), 0.5) if self._sees_matrix else ([], 0.0)

    def _matrix(self, seen: Seen, question: Query) -> list[float]:
        rows = seen.figure("gold against predicted labels")
        header = rows["Gold"]
        numbers = self._asked(question)
        asked = [self.labels[code] for code in self._codes if numbers[code] >= FEWEST]
        return [
            float(rows[gold][header.index(predicted)]) if predicted in header and gold in rows else float("nan")
            for predicted in asked
            for gold in self.labels
        ]

    @property
    def _codes(self) -> range:
        return range(len(self.labels))
