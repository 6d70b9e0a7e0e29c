"""What a pronoun scores that was resolved to an element of its chain: 1 or 0.5 (tasks 1 and 3).

Source: ARE, "Evaluation metrics": 1 for an antecedent that is not a pronoun; a pronoun is as good if it leads to one.
"""

from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

M = TypeVar("M", bound=Hashable)


def credit_by_pronoun(links: Mapping[M, M], pronouns: Collection[M]) -> dict[M, float]:
    """The credit of every resolved pronoun: 1 where the system's own links lead to a non-pronominal element, else 0.5.

    A link leads nowhere when it is absent, wrong (then it is not in `links`) or part of a circle. Every link is
    followed once, so that a chain of n pronouns takes n steps.

    Args:
        links: pronoun → the element of its gold chain to which the system resolved it.
        pronouns: all pronouns of the gold.
    """
    arrives: dict[M, bool] = {}
    for pronoun in links:
        path = []
        element = pronoun
        while element in links and element not in arrives:
            arrives[element] = False  # until the end of the path is known; met again on the path, it is a circle
            path.append(element)
            element = links[element]
        end = arrives[element] if element in links else element not in pronouns
        arrives.update(dict.fromkeys(path, end))
    return {pronoun: 1.0 if arrives[pronoun] else 0.5 for pronoun in links}
