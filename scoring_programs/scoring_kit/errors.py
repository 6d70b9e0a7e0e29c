"""Whose fault it is: the participant's (SubmissionError), the organiser's (OrganiserError); anything else is ours."""

import csv
import io
import re
import sys
import traceback
from pathlib import Path
from typing import Callable, Dict, List, Sequence, Tuple, TypeVar

from scoring_kit.base.texts import counted

SHOWN = 50
IDS_SHOWN = 5
LINES_SHOWN = 8
"""Of a problem that many lines have."""
NUMBERED = re.compile(r"(.*[:\[])([0-9]+)(\]?.*)", re.DOTALL)
"""Where a problem is: `file:line`, or `file[item]` and perhaps a name in it."""
FILES = "files"
"""In place of a file, of what is the same in several."""
SAME = re.compile(r" The same in ([0-9]+) more (?:line|file)s?: .+\.$")
MAX_LINE, MAX_LISTED = 1_000, 300
WARNINGS_SHOWN = 20
FRAMES_SHOWN = 20
LOG_BYTES = 6_000
"""The longest log that is safe: some workers lose the beginning of a longer log, or fail a run because of it."""

_Item = TypeVar("_Item")
Fault = Callable[[str, str, str, str], None]
"""`Problems.fault` or `Problems.gold_fault`, for formats that gold and submissions share, and which have one reader."""


class SubmissionError(Exception):
    """The submission cannot be scored. Every message is one problem, safe to show to the participant.

    `warnings` are what was ignored or read otherwise: often why something else is missing.
    """

    def __init__(self, messages: List[str], found: int, warnings: Sequence[str] = ()) -> None:
        super().__init__("\n".join(messages))
        self.messages = messages
        self.found = found
        self.warnings = warnings

    def report(self) -> str:
        """Return all of it as the participant reads it, in the scoring log and from the validator at home.

        The number of problems comes first and last, because a log may have lost its beginning.
        """
        shown_lines = fitting(self.messages)
        found, more = counted(self.found, "problem"), self.found - _problems_in(shown_lines)
        lines = [f"The submission cannot be scored: {found} found.", *shown_lines]
        if more > 0:
            lines.append(f"… and {more} more.")
        return "\n".join([*lines, f"{found} found, so nothing was scored."])


class OrganiserError(Exception):
    """Reference data, a model or an option is wrong: only the organisers can repair it.

    Participants read this message in their log, so it names files, ids and fields, never what the gold says.

    >>> OrganiserError("gold.csv:3: label is empty.", "gold.csv:7: id is empty.").messages
    ['gold.csv:3: label is empty.', 'gold.csv:7: id is empty.']
    """

    def __init__(self, *messages: str) -> None:
        super().__init__("\n".join(messages))
        self.messages = list(messages)


def escape_what_cannot_be_printed() -> None:
    """Let messages hold any character, whatever the encoding of this process's output."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class Problems:
    """Collects everything that is wrong with a submission, so that one reading finds it all.

    The same problem in many lines is one text, with their numbers. Only the first `SHOWN` texts are kept (a hostile
    file could hold millions); the rest are counted.

    >>> problems = Problems()
    >>> problems.error("answers.csv:3", "score is empty", "a number")
    >>> problems.error("answers.csv:7", "score is empty", "a number")
    >>> problems.found, problems.errors
    (2, ['answers.csv:3: score is empty. Expected: a number. The same in 1 more line: 7.'])
    """

    tells_gold = False
    """Whether values of the gold may be told: only to its organisers, on their own machine (`organiser.serve`)."""

    def __init__(self) -> None:
        # Text, without its file or the number of its line → the first text, and the files, or the numbers of its lines.
        self._texts: Dict[Tuple[str, ...], Tuple[str, List[str]]] = {}
        self.found = 0
        self.ends_early = False
        self.warnings: List[str] = []
        self.warned = 0

    def error(self, where: str, what: str, expected: str) -> None:
        """Record a problem: `where` is `file:line` or a field, `what` is wrong, and what was `expected`."""
        numbered = NUMBERED.fullmatch(where)
        text = _problem(where, what, expected)
        if numbered is None:
            self._record((text,), text, "")
        else:
            self._record((numbered[1], numbered[3], what, expected), text, numbered[2])

    def error_in_file(self, name: str, what: str, expected: str) -> None:
        """Record a problem of one of many files, that others may have as well."""
        self._record((FILES, what, expected), _problem(name, what, expected), name)

    def cannot_be_read(self, where: str, fault: csv.Error, start: str) -> None:
        """Record that a table of cells cannot be read from `where` on, in a row with this `start`.

        What else it lacks is then not known, and no problem of its own.
        """
        self.ends_early = True
        if "unexpected end" in str(fault):
            self.error(start, "a quotation mark opens a cell here, and none closes it", "each quoted cell closed")
        else:
            expected = "cells quoted by RFC 4180: a quotation mark inside a quoted cell is doubled"
            self.error(where, f"cannot be read ({fault})", expected)

    def fault(self, where: str, rule: str, value: str, expected: str) -> None:
        """Record a fault of a submission: place, rule, the value that breaks it (or ""), and what is expected."""
        what = f"{rule} {shown(value)}" if value else rule.rstrip(":")
        self.error(where, what, expected)

    def gold_fault(self, where: str, rule: str, value: str, expected: str) -> None:
        """Record a fault of the reference data: place and rule alone, because participants read this in their log."""
        if self.tells_gold:
            self.fault(where, rule, value, expected)
        else:
            self.error(where, rule.rstrip(":"), "Look at this line of the reference data")

    def to_organisers(self, text: str) -> str:
        """Return a text where the organisers read it, and nothing where participants may."""
        return text if self.tells_gold else ""

    def unknown_ids(self, where: str, name: str, ids: Sequence[str], *, some_known: bool) -> None:
        """Record as one problem the ids of rows that the data do not have, as they are shown.

        `where` is the place of the first, `name` what an id is called, and `some_known` whether any row has one.
        """
        what = f"unknown {name} {ids[0]}"
        if len(ids) > 1:
            what = f"{len(ids)} rows have an unknown {name}: {first_of(ids, IDS_SHOWN, str)}"
        doubt = "" if some_known else "; no row has one, so this may be the file of another phase"
        self.error(where, what, f"ids of this phase's data alone{doubt}")

    def repeat_error(self, line: str) -> None:
        """Record a problem that is a whole message."""
        self._record((line, str(self.found)), line, "")

    def _record(self, key: Tuple[str, ...], text: str, line: str) -> None:
        _, lines = self._texts.get(key, ("", []))
        if lines and line in (lines[0], lines[-1]):  # of a file that several tables read
            return
        self.found += 1
        if lines:
            lines.append(line)
        elif len(self._texts) < SHOWN:
            self._texts[key] = (_line(text), [line])

    @property
    def errors(self) -> List[str]:
        """The problems as text, with the other files, or the numbers of the other lines, that have the same one."""
        texts = []
        for key, (text, (_, *others)) in self._texts.items():
            if others:
                listed = ", ".join(others[:LINES_SHOWN])
                if len(others) > LINES_SHOWN:
                    listed += ", …"
                unit = "more file" if key[0] == FILES else "more line"
                text += f" The same in {counted(len(others), unit)}: {cut(printable(listed), MAX_LISTED)}."
            texts.append(text)
        return texts

    def warn(self, where: str, what: str) -> None:
        """Record something that will be ignored or read otherwise than the participant may think."""
        self.repeat_warning(f"{where}: {_sentence(what)}")

    def repeat_warning(self, line: str) -> None:
        """Record a warning that another program of the kit recorded before, unless it is there already."""
        if _line(line) in self.warnings:
            return
        self.warned += 1
        if len(self.warnings) < SHOWN:
            self.warnings.append(_line(line))

    def warning_lines(self) -> List[str]:
        """Return the warnings as the participant reads them."""
        lines = fitting([f"warning: {warning}" for warning in self.warnings[:WARNINGS_SHOWN]], LOG_BYTES // 3)
        more = self.warned - len(lines)
        if more:
            lines.append(f"… and {counted(more, 'more warning')}.")
        return lines

    def organiser_error(self) -> OrganiserError:
        """Return the problems as the organisers' own, in reference data or options; the rest is counted."""
        messages = self.errors
        more = self.found - _problems_in(messages)
        if more:
            messages.append(f"… and {more} more.")
        return OrganiserError(*messages)

    def stop_organisers_if_any(self) -> None:
        """Raise OrganiserError when a problem was recorded."""
        if self.found:
            raise self.organiser_error()

    def stop_if_any(self) -> None:
        """Raise SubmissionError when a problem was recorded."""
        if self.found:
            raise SubmissionError(list(self.errors), self.found, self.warning_lines())


def frames_of(error: BaseException) -> List[str]:
    """Return where a bug happened, and its class: the message or the values could hold gold."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = []
    if len(frames) > FRAMES_SHOWN:
        lines.append(f"  … {len(frames) - FRAMES_SHOWN} earlier calls")
    for frame in frames[-FRAMES_SHOWN:]:
        lines.append(f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}")
    return [*lines, f"  {type(error).__name__}"]


def fitting(lines: Sequence[str], limit: int = LOG_BYTES) -> List[str]:
    """Return the first of these lines that take no more than `limit` bytes together."""
    kept: List[str] = []
    for line in lines:
        limit -= len(line.encode("utf-8", "backslashreplace")) + 1
        if limit < 0:
            break
        kept.append(line)
    return kept


def _problems_in(lines: Sequence[str]) -> int:
    """How many problems these lines name."""
    number = len(lines)
    for line in lines:
        if found := SAME.search(line):
            number += int(found[1])
    return number


def _line(text: str) -> str:
    """A message in one line that is not too long to be read."""
    return cut(printable(text), MAX_LINE)


def cut(text: str, most: int) -> str:
    """Return a text of a length that can be read, `most` characters.

    >>> cut("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def _problem(where: str, what: str, expected: str) -> str:
    wanted = f"Expected: {expected}"
    if expected[:1].isupper() or "expect" in expected:  # a sentence of its own
        wanted = expected[:1].upper() + expected[1:]
    return f"{where}: {_sentence(what)} {_sentence(wanted)}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."


def printable(text: str) -> str:
    r"""Return a text in one line: what is not printable, as a file's name may hold it, escaped as in Python.

    >>> print(printable("a\tb"))
    a\tb
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def first_of(items: Sequence[_Item], most: int, show: Callable[[_Item], str], separator: str = ", ") -> str:
    """Return the first items in words, and how many more there are: `a, b and 3 more`.

    >>> first_of(["a", "b", "c", "d"], 2, str)
    'a, b and 2 more'
    """
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return separator.join([show(item) for item in items[:most]]) + more


def shown(value: object, limit: int = 60) -> str:
    """Return a participant's value for a message: printable, cut to `limit`, the only text between `"` in it.

    >>> print(shown('the "best" answer'))
    "the 'best' answer"
    """
    text = value if isinstance(value, str) else repr(value)
    quoted = printable(text[: limit + 1]).replace('"', "'")
    return f'"{quoted[:limit]}…"' if len(text) > limit else f'"{quoted}"'
