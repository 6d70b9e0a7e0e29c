"""Python literals: what `ast.literal_eval` of Python 3.9 reads, and no more, without that version's crashes."""

import ast
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clpsych2025.submission import python_literal

VALUES: dict[str, tuple[str, Any]] = {
    "strings side by side": ("['a' \"b\" u'c', 'd']", ["abc", "d"]),
    "a string over three quotes": ("['''a\n'b'\\'''']", ["a\n'b''"]),
    "a quote in the other kind of quotes": ("[\"it's\", '\\'']", ["it's", "'"]),
    "brackets and commas in a string": ("['([{,:#']", ["([{,:#"]),
    "round brackets around it": ("((['a']))", ["a"]),
    "a comment and a line continued": ("# mine\n['a', \\\n 'b']  # end", ["a", "b"]),
    "Windows line ends": ("['a \\\r\nb',\r\n'c']", ["a b", "c"]),
    "numbers": ("[1_0, -.5, 0x1F, 1e-5, +1.5E+3]", [10, -0.5, 31, 1e-05, 1500.0]),
    "a complex number": ("[-1e-5+2.5e+3j, (-1)-(2j)]", [complex(-1e-05, 2500), complex(-1, -2)]),
    "the named constants": ("[None, True, False, ...]", [None, True, False, ...]),
    "others nested": ("[{'a': (1, {2}), 'b': set()}, b'x', rb'y']", [{"a": (1, {2}), "b": set()}, b"x", b"y"]),
    "a blank before it": (" ['a']", None),
    "a tab before it": ("\t['a']", None),
    "a blank line before it": (" \n['a']", ["a"]),
    "prose": ("['a'] is it", None),
    "a name": ("[a]", None),
    "an unclosed bracket": ("['a'", None),
    "a bracket closed twice": ("['a']]", None),
    "a sum": ("[1+1+1]", None),
    "two signs": ("[--1]", None),
    "a subscript": ("['a'][0]", None),
}


@pytest.mark.parametrize(("text", "value"), VALUES.values(), ids=VALUES)
def test_values(text: str, value: object) -> None:
    assert python_literal(text) == value


PIECES = [
    *"'\"[](){},:+-.#\\ \n\r\t\f",
    "'a'",
    "'''",
    "[1]",
    "2j",
    "1e-5",
    "None",
    "set()",
    "b''",
    "f''",
    "lambda:",
    "x",
]


@pytest.mark.slow
@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_nothing_that_python_reads_is_lost(text: str) -> None:
    for written in (text, f"[{text}]"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = ast.literal_eval(ast.parse(written, mode="eval"))
        except (ValueError, SyntaxError, TypeError):
            expected = None
        assert repr(python_literal(written)) == repr(expected)


DEEP = {
    "attributes": "a." * 300_000 + "a",
    "subscripts": "[1" + "[1]" * 200_000 + "]",
    "calls": "set" + "()" * 300_000,
    "a sum": "1+" * 300_000 + "1",
    "a sum in brackets": "[" + "(1)+" * 200_000 + "1]",
    "signs": "[" + "-" * 500_000 + "1]",
    "functions": "lambda:" * 100_000 + "1",
    "conditions": "[" + "1 if 1 else " * 80_000 + "1]",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_a_deep_text_is_not_given_to_the_parser(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.9 dies of its tree."""
    parsed: list[str] = []
    monkeypatch.setattr(ast, "parse", lambda source, mode: parsed.append(source))
    assert python_literal(text) is None
    assert parsed == []


@pytest.mark.slow
def test_long_and_nested_lists_are_read() -> None:
    assert len(python_literal("[" + "'a'," * 20_000 + "]")) == 20_000
    assert len(python_literal("[" + "'a' " * 20_000 + "]")[0]) == 20_000
    assert repr(python_literal("[" * 100 + "-1+2j" + "]" * 100)).count("[") == 100
    assert python_literal("[" * 20_000 + "]" * 20_000) is None
