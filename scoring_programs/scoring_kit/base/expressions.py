"""Scores of scores: `0.6 * f1 + 0.4 * (1 - brier)`, read into steps that a machine with a stack works off.

Numbers, keys of columns (`[f1-macro]` where a key is no identifier, or is a function's name), `+ - * / ( )` and the
functions below. Runs on Python 3.9 with the standard library alone; `declared.expressions` computes what is read here.
"""

import re
from dataclasses import dataclass
from typing import Dict, List, Sequence, Tuple, Union

FUNCTIONS = ("min", "max", "mean", "hmean", "gmean", "sqrt", "abs")
OF_ONE = ("sqrt", "abs")
"""Functions of a single number."""
DEEPEST = 50
TOKEN = re.compile(
    r"(?P<blank>\s+)|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*)|\[(?P<key>[^\[\]]+)\]|(?P<sign>[-+*/(),])"
)
Step = Tuple[str, Union[str, float], int]
"""`number` and its value, `column` and its key, or `call` and the name of what is computed; then, of how many values.

Signs are called by what they are between two values, `negative` is the minus of one.
"""


class ExpressionError(ValueError):
    """A text that is no expression.

    Attributes:
        place: the number of the character at fault, from 1.
    """

    def __init__(self, place: int, what: str) -> None:
        super().__init__(f"at character {place}: {what}")
        self.place = place


@dataclass(frozen=True)
class Expression:
    """An expression to compute.

    Attributes:
        text: as it was declared.
        steps: in the order in which they are done: each takes the last values there are and leaves its own.
        columns: the keys in it, with the number of the character where each first stands.
    """

    text: str
    steps: Sequence[Step]
    columns: Sequence[Tuple[str, int]]

    @property
    def keys(self) -> List[str]:
        """The keys of the columns that it is made of."""
        return [key for key, _ in self.columns]


def read_expression(text: str) -> Expression:
    """Read an expression; raises ExpressionError.

    >>> read_expression("0.6 * f1 + 0.4 * (1 - brier)").keys
    ['f1', 'brier']
    """
    reading = _Reading(text)
    reading.sum(0)
    kind, value, place = reading.next()
    if kind != "end":
        raise ExpressionError(place, f"{value!r} is too much. Expected an operator or the end.")
    columns: Dict[str, int] = {}
    for key, at in reading.columns:
        columns.setdefault(key, at)
    return Expression(text, tuple(reading.steps), tuple(columns.items()))


class _Reading:
    """The tokens of a text, taken one by one, and the steps so far."""

    def __init__(self, text: str) -> None:
        self.steps: List[Step] = []
        self.columns: List[Tuple[str, int]] = []
        self.tokens: List[Tuple[str, str, int]] = []
        at = 0
        while at < len(text):
            match = TOKEN.match(text, at)
            if match is None:
                raise ExpressionError(at + 1, f"{text[at]!r} is no part of an expression. {EXPECTED}")
            kind = str(match.lastgroup)
            if kind != "blank":
                self.tokens.append((kind, match.group(kind), at + 1))
            at = match.end()
        self.tokens.append(("end", "the end", len(text) + 1))
        self.tokens.reverse()

    def next(self) -> Tuple[str, str, int]:
        return self.tokens.pop()

    def takes(self, *signs: str) -> str:
        """Return the next token, taken, if it is one of these signs; else nothing."""
        kind, value, _ = self.tokens[-1]
        return self.tokens.pop()[1] if kind == "sign" and value in signs else ""

    def sum(self, depth: int) -> None:
        """Products, added and subtracted from left to right."""
        self.product(depth)
        while sign := self.takes("+", "-"):
            self.product(depth)
            self.steps.append(("call", sign, 2))

    def product(self, depth: int) -> None:
        """Values, multiplied and divided from left to right."""
        self.signed(depth)
        while sign := self.takes("*", "/"):
            self.signed(depth)
            self.steps.append(("call", sign, 2))

    def signed(self, depth: int) -> None:
        """A value, with signs before it."""
        negative = False
        while sign := self.takes("+", "-"):
            negative ^= sign == "-"
        self.value(depth)
        if negative:
            self.steps.append(("call", "negative", 1))

    def value(self, depth: int) -> None:
        """A number, a column, a function of values, or what is in brackets."""
        kind, text, place = self.next()
        if depth > DEEPEST:
            raise ExpressionError(place, f"is nested too deeply. Expected at most {DEEPEST} brackets in each other.")
        if kind == "number":
            self.steps.append(("number", float(text), 0))
        elif kind == "key" or (kind == "name" and not self.takes("(")):
            self.columns.append((text.strip(), place))
            self.steps.append(("column", text.strip(), 0))
        elif kind == "name":
            self.call(text, place, depth)
        elif text == "(":
            self.sum(depth + 1)
            self.closed()
        else:
            raise ExpressionError(place, f"found {text}. {EXPECTED}")

    def call(self, name: str, place: int, depth: int) -> None:
        """A function, whose bracket has been opened."""
        if name not in FUNCTIONS:
            raise ExpressionError(place, f"there is no function {name!r}. Expected one of {', '.join(FUNCTIONS)}.")
        self.sum(depth + 1)
        number = 1
        while self.takes(","):
            self.sum(depth + 1)
            number += 1
        self.closed()
        if name in OF_ONE and number > 1:
            raise ExpressionError(place, f"{name} is of one value (found {number}).")
        self.steps.append(("call", name, number))

    def closed(self) -> None:
        _, text, place = self.tokens[-1]
        if not self.takes(")"):
            raise ExpressionError(place, f"found {text}. Expected ) to close a bracket.")


EXPECTED = f"Expected a number, a column's key, ( or one of {', '.join(FUNCTIONS)}."
