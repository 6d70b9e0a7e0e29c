"""Attacks on answers that are right, wrong or partly right, through their sum: SeeDev, ARE, CLARITY task 2.

The candidates are the answers of a good baseline; a question hands in some of them and nothing else.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from research.disclosure.oracle import Oracle, Seen
from research.disclosure.window import Figures, Golds, Query, Window

ASKED, LEFT_OUT = 1, -1
RIGHT_OR_WRONG = (0.0, 1.0)
FEWEST = 5


@dataclass
class AnswerAttack:
    """Each submission asks how many of some candidates are right; where figures show it by group, in each group.

    Attributes:
        oracle: the phase.
        groups: the group (event type, text) of each candidate.
        files: writes a submission with these candidates.
        right: from what is seen and the number of candidates asked, how many are right, and how exactly that is known.
        right_in_group: the same for a group; None where no figure shows it.
        credits: what an answer may earn, all of it summed in the figures.
        alone: whether nothing but the figures by group is looked at.
    """

    oracle: Oracle
    groups: Sequence[str]
    files: Callable[[Sequence[int]], Mapping[str, str]]
    right: Callable[[Seen, int], tuple[float, float]]
    right_in_group: Callable[[Seen, str, int], tuple[float, float]] | None = None
    credits: Sequence[float] = field(default=RIGHT_OR_WRONG)
    alone: bool = False

    def run(self) -> dict[int, float]:
        """Candidate → what it earns, of those of which this is known for certain."""
        self._window = window = Window(len(self.groups), len(self.credits), self.oracle.setting.memory)
        while self.oracle.left and window.active:
            question = window.question(self._predicted, self._draw)
            asked = [item for item, code in zip(window.active, question, strict=True) if code == ASKED]
            seen = self.oracle.submit(self.files(asked))
            figures = [] if self.alone else [self.right(seen, len(asked))]
            for group in self._shown_groups(question):
                count = sum(self.groups[item] == group for item in asked)
                assert self.right_in_group is not None
                figures.append(self.right_in_group(seen, group, count))
            shown, errors = [value for value, _ in figures], [max(error, 1e-6) for _, error in figures]
            window.learn(question, shown, errors, self._predicted, self.oracle.left)
        return {item: self.credits[code] for item, code in window.known.items()}

    def _draw(self, random: np.random.Generator, size: int) -> Query:
        chosen = random.random(size) < random.choice([0.3, 0.5, 0.7])
        question = np.where(chosen, ASKED, LEFT_OUT)
        question[random.integers(size)] = ASKED
        return question

    def _shown_groups(self, question: Query) -> list[str]:
        """The groups of which a figure is shown: those of enough candidates."""
        if self.right_in_group is None:
            return []
        asked = [self.groups[item] for item, code in zip(self._window.active, question, strict=True) if code == ASKED]
        return sorted(group for group in set(asked) if asked.count(group) >= FEWEST)

    def _predicted(self, golds: Golds) -> Callable[[Query], Figures]:
        own = np.array([self.groups[item] for item in self._window.active])
        earned: Figures = np.array(self.credits)[golds]

        def shown(question: Query) -> Figures:
            every = [] if self.alone else [question == ASKED]
            masks = [*every, *((question == ASKED) & (own == group) for group in self._shown_groups(question))]
            sums: Figures = earned @ np.array(masks, dtype=float).T if masks else np.zeros((len(golds), 1))
            return sums

        return shown
