"""The figures of a report, drawn from what it says."""

from types import SimpleNamespace
from typing import Any

import pytest

from gen_bundle.after.report.figures import figures


def pairs(sort: str, difference: float) -> bytes:
    """The figure of one significant pair of two teams."""
    teams = [{"team": name, "score": 0.5, "low": None, "high": None, "rank": 1} for name in ("ann", "ben")]
    pair = {"a": "ann", "b": "ben", "difference": difference, "p_holm": 0.01}
    one = {"name": "T", "title": "Score", "sort": sort, "teams": teams, "units": 0, "shares": {}, "pairs": [pair]}
    report: Any = SimpleNamespace(tasks={"t": one})
    return figures(report)["t"]["pairs"].svg


@pytest.mark.slow
def test_the_row_of_a_pair_is_the_better_team() -> None:
    assert pairs("desc", 0.1) == pairs("asc", -0.1)
    assert pairs("desc", -0.1) == pairs("asc", 0.1)
    assert pairs("desc", 0.1) != pairs("asc", 0.1)
