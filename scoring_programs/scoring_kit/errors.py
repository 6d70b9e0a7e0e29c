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
            self.errors.append(f"{where}: {_sentence(what)} {_sentence(expected)}")

    def warn(self, where: str, what: str) -> None:
        """Record something that will be ignored or read otherwise than the participant may think."""
        self.warned += 1
        if len(self.warnings) < SHOWN:
            self.warnings.append(f"{where}: {_sentence(what)}")

    def stop_if_any(self) -> None:
        """Raise SubmissionError when a problem was recorded."""
        if self.found:
            raise SubmissionError(list(self.errors), self.found)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."


def shown(value: object, limit: int = 60) -> str:
    """A participant's value as it stands in a message: printable, cut to `limit`, the only thing between `"` there."""
    text = value if isinstance(value, str) else repr(value)
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: limit + 1])
    printable = printable.replace('"', "'")
    return f'"{printable[:limit]}…"' if len(text) > limit else f'"{printable}"'
