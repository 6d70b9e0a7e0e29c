"""Texts as they are shown: those of strangers (team names, file names, messages) made harmless."""

import unicodedata


def one_line(text: str) -> str:
    """The text in one line: what is not printable (line ends, what steers a terminal) escaped as in Python."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or unicodedata.category(c) == "Zs" else _escaped(c) for c in text)


def in_lines(text: str) -> str:
    """The text with its own line ends and tabs, everything else as in `one_line`."""
    return "\n".join("\t".join(map(one_line, line.split("\t"))) for line in text.split("\n"))


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
