"""Python literals in a submission, read as the organisers' evaluation program reads them on its Python 3.9.

`ast.literal_eval` of Python 3.9 kills the process for a text that makes a deep syntax tree, as `a.a.a. …` does. So a
text is looked over first: what cannot be a literal is not passed on, and what is left has a shallow tree.
"""

import ast
import re
import warnings
from typing import Any

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
