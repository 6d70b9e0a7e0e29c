"""The fields of a submission under profile `as-run`: as forgiving as the organisers' evaluation program was.

Where that program stops with an error, the submission is refused with a message.

Python literals are read as on that program's Python 3.9, whose `ast.literal_eval` kills the process for a text that
makes a deep syntax tree, as `a.a.a. …` does. So a text is looked over first: what cannot be a literal is not passed on,
and what is left has a shallow tree.
"""

import ast
import math
import re
import warnings
from typing import Any, Optional, Tuple

from clpsych2025.published_fields import spans_of, text_of
from scoring_kit.base.fields import type_name
from scoring_kit.errors import Problems, shown
from scoring_kit.json_reading import JsonObject

# All that a literal consists of. Its deepest operand is `-1+2j` (both parts may be in brackets), of four pieces; a
# string counts for nothing, because any number of adjacent strings make one.
PIECE = re.compile(
    r"""
    (?P<string> (?i:br?|rb?|u)? (?:
        '''(?:[^\\]|\\.)*?''' | \"\"\"(?:[^\\]|\\.)*?\"\"\" | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*" ) )
  | (?P<blank> [ \t\f\n]+ | \#[^\n]* | \\\n )
  | (?P<separator> [,:] )
  | (?P<close> [\])}] )
  | (?P<open> [\[({] )
  | (?P<operand> True | False | None | set | \.\.\. | [+-]
      | (?:\d\w*\.? | \.\d)\w* (?: (?<=[eE])[+-]\d\w* )? )
    """,
    re.VERBOSE | re.DOTALL,
)
MOST_PIECES = 4


def python_literal(text: str) -> Any:
    """The value of a Python literal; None where the text is not one.

    A text with leading blanks is not one, as up to Python 3.9; later versions of `ast.literal_eval` take them off.
    """
    if not _may_be_literal(text.replace("\r\n", "\n").replace("\r", "\n")):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backslash in the text does not concern readers of the log
            return ast.literal_eval(ast.parse(text, mode="eval"))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _may_be_literal(text: str) -> bool:
    """Whether a text consists of a literal's pieces, closes what it opens, and holds no chain of operands."""
    pieces, position = [0], 0  # pieces since the last separator, at each depth of brackets
    while position < len(text):
        piece = PIECE.match(text, position)
        if piece is None:
            return False
        position, kind = piece.end(), piece.lastgroup
        if kind == "separator":
            pieces[-1] = 0
        elif kind == "close":
            pieces.pop()
            if not pieces:
                return False
        elif kind in ("open", "operand"):
            pieces[-1] += 1
            if pieces[-1] > MOST_PIECES:
                return False
            if kind == "open":
                pieces.append(0)
    return len(pieces) == 1


# A literal takes some hundred bytes of memory a character; longer ones are refused rather than tried.
LONGEST_LITERAL = 1_000_000
# Beyond this the squared error leaves the range of a float.
LARGEST_SCORE = 1e150


class AsRunFields:
    """Reads single fields as the organisers' program reads them."""

    def repeated_keys(self, value: JsonObject, where: str, problems: Problems) -> None:
        """The last value of a repeated key holds, as in Python's json."""
        for key in value.duplicates:
            problems.warn(where, f"the key {shown(key)} occurs more than once; the last value is used")

    def timeline_summary(self, level: JsonObject, where: str, problems: Problems) -> str:
        """The timeline's summary: the key must be there, anything but a string counts as empty."""
        if "summary" not in level:
            problems.error(f"{where}, summary", "the field is missing", "the field, even if it is empty")
            return ""
        if not isinstance(level["summary"], str):
            problems.warn(f"{where}, summary", f"is {type_name(level['summary'])} and counts as empty")
            return ""
        return text_of(level["summary"], f"{where}, summary", problems)

    def post_summary(self, post: JsonObject, where: str, problems: Problems) -> str:
        """The post's summary: empty where the key is missing, otherwise a string."""
        return text_of(post.get("summary", ""), f"{where}, summary", problems)

    def evidence(self, post: JsonObject, key: str, where: str, problems: Problems) -> Tuple[str, ...]:
        """The spans of one self-state: a list, or a string that is a Python list; any other string counts as none."""
        place, value = f"{where}, {key}", post.get(key, [])
        if isinstance(value, str):
            if len(value) > LONGEST_LITERAL:
                problems.error(place, "is one string of more than a million characters", "a list of strings")
                return ()
            literal = python_literal(value)
            if not isinstance(literal, list):
                problems.warn(place, "is a string that does not hold a list; it counts as no evidence")
            value = literal if isinstance(literal, list) else []
        if not isinstance(value, list):
            problems.error(place, f"is {type_name(value)}", "a list of strings is expected, [] for none")
            return ()
        return spans_of(value, place, problems)

    def wellbeing(self, post: JsonObject, where: str, problems: Problems) -> Optional[float]:
        """The well-being score: any number, true as 1, a string of digits as its number; anything else abstains."""
        place, value = f"{where}, wellbeing_score", post.get("wellbeing_score")
        if isinstance(value, str):
            return _number_of(value.strip(), place, problems)
        if not isinstance(value, (int, float)):
            if value is not None:
                problems.warn(place, f"is {type_name(value)} and counts as null")
            return None
        if (isinstance(value, float) and not math.isfinite(value)) or abs(value) > LARGEST_SCORE:
            problems.error(place, f"{shown(value)} cannot be scored", "a finite number or null is expected")
            return None
        return float(value)


def _number_of(text: str, where: str, problems: Problems) -> Optional[float]:
    if not text.isnumeric():
        problems.warn(where, f"the string {shown(text)} is not a whole number and counts as null")
        return None
    try:
        number = float(text)
    except ValueError:  # numeric characters without a decimal value, such as ½
        number = math.inf
    if number > LARGEST_SCORE:
        problems.error(where, f"the string {shown(text)} cannot be scored", "a finite number or null is expected")
        return None
    return number
