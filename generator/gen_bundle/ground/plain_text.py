"""Texts as they are shown: those of strangers (team names, file names, messages) made harmless."""

import re
import unicodedata
from collections.abc import Sequence


def one_line(text: str) -> str:
    """Return the text in one line: what is not printable (line ends, what steers a terminal) escaped as in Python."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or unicodedata.category(c) == "Zs" else _escaped(c) for c in text)


def in_lines(text: str) -> str:
    """Return the text with its own line ends and tabs, everything else as in `one_line`."""
    return re.sub(r"[^\n\t]+", lambda piece: one_line(piece[0]), text)


def place_in(file: str, line: int | None, column: int | None) -> str:
    """Return file:line:column, as far as they are known."""
    at_line = file if line is None else f"{file}:{line}"
    return at_line if column is None else f"{at_line}:{column}"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def listed(names: Sequence[str], most: int) -> str:
    """Return the first of some names, in words, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def units_word(unit: str | None) -> str:
    """Return the units' name in the plural."""
    if unit and unit.endswith("y") and unit[-2:-1] not in "aeiou":
        return f"{unit[:-1]}ies"
    return f"{unit or 'unit'}s"
