"""Tie groups."""

import pytest

from scoring_kit.resampling.significance import tie_groups


@pytest.mark.parametrize(
    ("p", "groups"),
    [
        ({"AB": 0.5, "AC": 0.01, "BC": 0.5}, {"A": 1, "B": 1, "C": 2}),
        ({"AB": 0.01, "AC": 0.01, "BC": 0.01}, {"A": 1, "B": 2, "C": 3}),
        ({"AB": 0.9, "AC": 0.9, "BC": 0.01}, {"A": 1, "B": 1, "C": 1}),
        # B differs steadily from A, C does not.
        ({"AB": 0.01, "AC": 0.06, "BC": 0.9}, {"A": 1, "B": 2, "C": 1}),
        ({"AB": 0.05, "AC": 0.04999, "BC": 1.0}, {"A": 1, "B": 1, "C": 2}),
    ],
)
def test_who_does_not_differ_from_the_best_of_a_group(p: dict[str, float], groups: dict[str, int]) -> None:
    pairs = {(pair[0], pair[1]): value for pair, value in p.items()}
    assert tie_groups("ABC", pairs) == groups
    assert tie_groups("ABC", {(b, a): value for (a, b), value in pairs.items()}) == groups
