"""Which metric gives the values of a column: the first that does so for all of a number of submissions."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gen_bundle.importing.declare.outcomes import Outcome, are_equal
from gen_bundle.importing.declare.proposals import ScoringProposal

FORMS: Mapping[str, Callable[[float], float]] = {
    "{}": lambda value: value,
    "100 * {}": lambda value: 100 * value,
    "1 - {}": lambda value: 1 - value,
    "100 * (1 - {})": lambda value: 100 * (1 - value),
    "0 - {}": lambda value: -value,
}
"""What scorers write in place of a metric's own value, as an expression."""
MOST_DECIMALS = 8
SAME = 1e-6
FEWEST = 3
"""So many submissions must have values, not all the same, before a metric is taken for a column's."""


@dataclass(frozen=True)
class ChosenMetric:
    """What gives a column its values: a metric, or an expression of it.

    Attributes:
        decimals: to which the original rounds them; None: not at all.
    """

    metric: Mapping[str, Any]
    form: str = "{}"
    decimals: int | None = None


def searched_key(number: int) -> str:
    """The column of a proposal's metric while it is searched."""
    return f"m{number}"


def search_columns(proposal: ScoringProposal, left_out: frozenset[str]) -> list[dict[str, Any]]:
    """A column for each metric of a proposal, but for those that the gold refuses."""
    found = []
    for number, metric in enumerate(proposal.metrics):
        key = searched_key(number)
        if key not in left_out:
            found.append({"key": key, "title": key, "metric": dict(metric)})
    return found


def refused_columns(messages: Sequence[str]) -> frozenset[str]:
    """The columns that a build's messages are about."""
    return frozenset(re.findall(r"\bm[0-9]+\b", "\n".join(messages)))


def choose(
    column: str, proposal: ScoringProposal, originals: Sequence[Outcome], declared: Sequence[Outcome]
) -> ChosenMetric | None:
    """The first metric whose values are the column's; None where none's are."""
    by_place = _values(column, originals)
    scored, wanted = list(by_place), list(by_place.values())
    if len(scored) < FEWEST or max(wanted) - min(wanted) < SAME:
        return None
    for form, applied in FORMS.items():
        for number, metric in enumerate(proposal.metrics):
            values = [declared[place].value(searched_key(number)) for place in scored]
            if None in values:
                continue
            got = [applied(value or 0.0) for value in values]
            if all(map(are_equal, wanted, got)):
                return ChosenMetric(metric, form)
            if _are_rounded(wanted, got):
                return ChosenMetric(metric, form, _decimals(wanted))
    return None


def _values(column: str, outcomes: Sequence[Outcome]) -> dict[int, float]:
    """A column's values, by the place of the submission that has one."""
    values = [one.value(column) for one in outcomes]
    return {place: value for place, value in enumerate(values) if value is not None}


def _are_rounded(wanted: Sequence[float], got: Sequence[float]) -> bool:
    """Whether values are others, rounded."""
    decimals = _decimals(wanted)
    return decimals is not None and all(map(are_equal, wanted, [round(value, decimals) for value in got]))


def _decimals(values: Sequence[float]) -> int | None:
    """The most decimals of values that are rounded; None where they are not."""
    most = max(len(f"{value:.12f}".rstrip("0").partition(".")[2]) for value in values if math.isfinite(value))
    return most if most <= MOST_DECIMALS else None
