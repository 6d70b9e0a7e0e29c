"""The figures of a report, drawn from what it says."""

from unittest.mock import Mock

import pytest

from gen_bundle.after.report.figures import _pairs


@pytest.mark.parametrize(
    ("sort", "difference", "better"), [("desc", 1, 0), ("asc", -1, 0), ("desc", -1, 1), ("asc", 1, 1)]
)
def test_the_row_of_a_pair_is_the_better_team(sort: str, difference: float, better: int) -> None:
    axes = Mock()
    pair = {"a": "ann", "b": "ben", "difference": difference / 10, "p_holm": 0.01}
    _pairs(axes, ["ann", "ben"], {"sort": sort, "pairs": [pair]})
    (column, row, _), _ = axes.plot.call_args
    assert (column, row) == (1 - better, better)
