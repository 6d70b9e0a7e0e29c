"""Whose fault it is: the participant's (SubmissionError), the organiser's (OrganiserError); anything else is ours."""

from __future__ import annotations

from typing import List

SHOWN = 50


class SubmissionError(Exception):
    """The submission cannot be scored. Every message is one problem, safe to show to the participant."""

    def __init__(self, messages: List[str], found: int) -> None:
        super().__init__("\n".join(messages))
        self.messages = messages
        self.found = found

    def report(self) -> str:
        """All of it as the participant reads it, in the scoring log and from the validator at home."""
        lines = [f"The submission cannot be scored: {_count(self.found, 'problem')} found.", *self.messages]
        if self.found > len(self.messages):
            lines.append(f"… and {self.found - len(self.messages)} more.")
        return "\n".join(lines)


class OrganiserError(Exception):
    """Reference data, a model or an option is wrong: only the organisers can mend it.

    Participants read this message in their log, so it names files, ids and fields, never what the gold says.
    """

    def __init__(self, *messages: str) -> None:
        super().__init__("\n".join(messages))
        self.messages = list(messages)


class Problems:
    """Collects everything that is wrong with a submission, so that one reading finds it all.

    Only the first `SHOWN` errors are kept as text (a hostile file could hold millions); the rest are counted.
    """

    def __init__(self) -> None:
        self.errors: List[str] = []
        self.found = 0
        self.warnings: List[str] = []
        self.warned = 0

    def error(self, where: str, what: str, expected: str) -> None:
        """Record a problem: `where` is `file:line` or a field, `what` is wrong, and what was `expected`."""
        self.found += 1
        if len(self.errors) < SHOWN:
            self.errors.append(printable(f"{where}: {_sentence(what)} {_expectation(expected)}"))

    def warn(self, where: str, what: str) -> None:
        """Record something that will be ignored or read otherwise than the participant may think."""
        self.warned += 1
        if len(self.warnings) < SHOWN:
            self.warnings.append(printable(f"{where}: {_sentence(what)}"))

    def take(self, other: Problems, prefix: str) -> None:
        """Record the errors of a part of the whole, with `prefix` before each."""
        self.errors += [prefix + error for error in other.errors[: SHOWN - len(self.errors)]]
        self.found += other.found

    def warning_lines(self) -> List[str]:
        """The warnings as the participant reads them."""
        lines = [f"warning: {text}" for text in self.warnings]
        if self.warned > len(self.warnings):
            lines.append(f"… and {_count(self.warned - len(self.warnings), 'more warning')}.")
        return lines

    def organiser_error(self) -> OrganiserError:
        """The problems as the organisers' own: what is wrong with reference data or options, the rest counted."""
        more = self.found - len(self.errors)
        return OrganiserError(*self.errors, *([f"… and {more} more."] if more else []))

    def stop_if_any(self) -> None:
        """Raise SubmissionError when a problem was recorded."""
        if self.found:
            raise SubmissionError(list(self.errors), self.found)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."


def _expectation(text: str) -> str:
    """`one of a, b` → `Expected: one of a, b.`; a text that is a sentence of its own stays one."""
    is_sentence = text[:1].isupper() or "expect" in text
    return _sentence(text[:1].upper() + text[1:] if is_sentence else f"Expected: {text}")


def printable(text: str) -> str:
    """A text in one line: what is not printable, as a file's name may hold it, escaped as in Python."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(value: object, limit: int = 60) -> str:
    """A participant's value as it stands in a message: printable, cut to `limit`, the only thing between `"` there."""
    text = value if isinstance(value, str) else repr(value)
    quoted = printable(text[: limit + 1]).replace('"', "'")
    return f'"{quoted[:limit]}…"' if len(text) > limit else f'"{quoted}"'
