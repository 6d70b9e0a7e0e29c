"""Cells that mean the same are compared alike, whatever program wrote them."""

import pytest

from gen_bundle.ground.tables.values import of_value, of_values, plain, plain_cells

SAME = [
    ("28", ["28.0", "+28", " 28 ", "28,00", "28.", "2.8e1"]),
    ("0.5", [".5", ",5", "+.50"]),
    ("-0.5", ["-.5", "-,5"]),
    ("positive", ["Positive", " POSITIVE "]),
    ('{"a":1,"b":[2]}', ['{"b": [2], "a": 1}']),
]


@pytest.mark.parametrize(("cell", "others"), SAME)
def test_cells_of_one_value_are_alike(cell: str, others: list[str]) -> None:
    assert {plain(one) for one in others} == {plain(cell)} == {cell}
    assert set(plain_cells(others)) == {cell}


@pytest.mark.parametrize(("one", "other"), [("28", "-28"), ("28", "280"), ("0", ""), ("2 8", "28"), ("1e3", "13")])
def test_others_are_not(one: str, other: str) -> None:
    assert plain(one) != plain(other)


def test_json_is_compared_as_cells() -> None:
    assert of_values([28, 28.0, "+28", [28]]) == ["28"] * 4
    assert (of_value(None), of_value([]), of_value({"b": 1, "a": [2]})) == ("", "[]", '{"a":[2],"b":1}')
