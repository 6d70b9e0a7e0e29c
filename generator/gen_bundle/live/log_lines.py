"""A log of the live site held against the one of the dry run."""

from __future__ import annotations

import re

from gen_bundle.difference.signatures import SIGNATURE

_NUMBER = re.compile(r"(?<![A-Za-z_])\d+(?:[.,:]\d+)*")


def unlike(here: str, there: str) -> tuple[str, str] | None:
    """The first line of the site's log that the dry run did not print, after the dry run's line at that place; or None.

    Lines may be missing on the site, but must come in the same order. Numbers are compared only in a signature:
    elsewhere they may be times, and scores are compared by themselves. The worker loses the beginnings of logs, and
    sometimes cuts inside a line, so the first line there may be the end of one here, and the last line the beginning.
    """
    ours, theirs = _lines(here), _lines(there)
    place = 0
    for number, line in enumerate(theirs):
        found = next(
            (
                at
                for at, own in enumerate(ours[place:], place)
                if own == line
                or (number == 0 and own.endswith(line))
                or (number == len(theirs) - 1 and own.startswith(line))
            ),
            None,
        )
        if found is None:
            return (ours[place] if place < len(ours) else ""), line
        place = found + 1
    return None


def _lines(text: str) -> list[str]:
    """The lines that have any text; a letter that was cut in the middle is left out."""
    stripped = (line.strip().strip("\ufffd") for line in text.splitlines())
    return [_without_numbers(line) for line in stripped if line]


def _without_numbers(line: str) -> str:
    return line if SIGNATURE.search(line) else _NUMBER.sub("…", line)
