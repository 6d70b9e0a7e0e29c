"""What is wrong with a YAML text, in words for people who do not know YAML, with the line that is at fault.

The parser names the place where it could not go on, which often is a line below the fault, in terms of its own grammar.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

KEY = r"[\w.-]+"
NO_BLANK_AFTER_COLON = re.compile(rf"\s*(?:- +)?(?P<key>{KEY}):(?P<value>[^\s:/].*)")
NO_BLANK_AFTER_DASH = re.compile(rf"\s*-(?P<rest>[^\W\d]{KEY}:(?: .*)?)")
KEY_AND_VALUE = re.compile(rf"\s*(?:- +)*{KEY}:(?: |$)")
CLOSING = {"[": "]", "{": "}"}
WORD = re.compile(r"[*&][^,\[\]{}]*")
QUOTES = 'Expected: the text in quotes, such as "{}"'
SHOWN = 60


@dataclass(frozen=True)
class YamlFault:
    """Line and column, counted from 1, and what is wrong there and what is expected, in sentences."""

    line: int
    column: int
    text: str


def fault_of(error: yaml.MarkedYAMLError, text: str) -> YamlFault | None:
    """The fault behind a parser's error in `text`; None where the parser does not say where it was."""
    problem = error.problem_mark or error.context_mark
    if problem is None:
        return None
    return next(_guesses(error, _Lines(text), problem), None) or YamlFault(
        problem.line + 1, problem.column + 1, " ".join(str(part) for part in (error.context, error.problem) if part)
    )


class _Lines:
    """The lines of the text; none beyond its end."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")

    def __getitem__(self, number: int) -> str:
        return self.lines[number].rstrip() if number < len(self.lines) else ""

    def up_from(self, number: int, most: int = 3) -> Iterator[int]:
        """The numbers of a line and of those above it, empty ones and comments left out."""
        full = (n for n in range(min(number, len(self.lines) - 1), -1, -1) if self[n].strip()[:1] not in ("", "#"))
        return (n for n, _ in zip(full, range(most), strict=False))

    def indent(self, number: int) -> int:
        return len(self[number]) - len(self[number].lstrip())


def _guesses(error: yaml.MarkedYAMLError, lines: _Lines, mark: yaml.Mark) -> Iterator[YamlFault]:
    """What it may be, the likeliest first."""
    problem, context = str(error.problem or ""), str(error.context or "")
    yield from _in_characters(problem, lines, mark)
    yield from _in_brackets_and_quotes(problem, context, lines, error.context_mark or mark, mark)
    if "another document" in problem:
        yield _at(mark, "a second document begins here (---). Expected: one alone")
    if "unhashable key" in problem:
        yield _at(mark, "a key is a list or a mapping. Expected: a plain text")
    yield from _in_keys(problem, lines, mark)
    yield from _in_structure(problem, lines, mark)


def _in_characters(problem: str, lines: _Lines, mark: yaml.Mark) -> Iterator[YamlFault]:
    """What no text begins with, and tabs."""
    line = lines[mark.line]
    character = line[mark.column : mark.column + 1]
    no_token = "cannot start any token" in problem
    if (no_token and character != "\t") or ("node content" in problem and character):
        yield _at(mark, f"a text may not begin with {character}. {QUOTES.format(_cut(line[mark.column :]))}")
    if "\t" in line[: lines.indent(mark.line)]:
        yield YamlFault(mark.line + 1, 1, "the line is indented with a tab. Expected: spaces")
    if no_token:
        yield _at(mark, "there is a tab here. Expected: a space")


def _in_brackets_and_quotes(
    problem: str, context: str, lines: _Lines, opened: yaml.Mark, mark: yaml.Mark
) -> Iterator[YamlFault]:
    """What begins at `opened` and does not end well."""
    if "quoted scalar" in context and "end of stream" in problem:
        yield _at(opened, f"the quote that opens here is never closed: {_cut(lines[opened.line].strip())}")
    if "flow" in context:
        yield from _in_brackets(lines, opened, mark)
    if "quoted scalar" in context or "double-quoted" in context:
        yield _at(mark, "a backslash between double quotes means something else. Expected: single quotes")
    if "alias" in context or "anchor" in context or "undefined alias" in problem:
        start = mark if "undefined" in problem else opened
        if word := WORD.match(lines[start.line][start.column :]):
            yield _at(start, f"a text may not begin with {word[0][0]}. {QUOTES.format(_cut(word[0]))}")
    if "block scalar" in context:
        what = "text follows | or > in the same line. Expected: the text in the next line, indented, or in quotes"
        yield _at(opened, what)


def _in_brackets(lines: _Lines, opened: yaml.Mark, mark: yaml.Mark) -> Iterator[YamlFault]:
    bracket = lines[opened.line][opened.column : opened.column + 1]
    if bracket in CLOSING:
        yield _at(opened, f"the bracket {bracket} that opens here is not closed. Expected: {CLOSING[bracket]}")
    if not lines[mark.line][mark.column : mark.column + 1]:
        last = next(lines.up_from(mark.line), 0)
        what = "the text ends before a bracket is closed. Expected: ] for each [, and } for each {"
        yield _in_line(lines, last, what)


def _in_keys(problem: str, lines: _Lines, mark: yaml.Mark) -> Iterator[YamlFault]:
    """Keys and their values: spaces and colons."""
    for number in lines.up_from(mark.line):
        if found := NO_BLANK_AFTER_COLON.fullmatch(lines[number]):
            right = f"{found['key']}: {found['value']}"
            yield _in_line(lines, number, f'the space after the colon is missing. Expected: "{_cut(right)}"')
        if found := NO_BLANK_AFTER_DASH.fullmatch(lines[number]):
            yield _in_line(lines, number, f'the space after the dash is missing. Expected: "- {_cut(found["rest"])}"')
    line = lines[mark.line]
    if "mapping values" in problem and ": " in line[: mark.column]:
        value = line.partition(": ")[2]
        yield _at(mark, f'a text with ": " in it must be in quotes. {QUOTES.format(_cut(value))}')


def _in_structure(problem: str, lines: _Lines, mark: yaml.Mark) -> Iterator[YamlFault]:
    """Lines that do not belong where they are indented to, or do not end where they should."""
    above = next(lines.up_from(mark.line - 1), None)
    in_values = "mapping values" in problem
    if above is not None:
        if in_values and KEY_AND_VALUE.match(lines[above]):
            why = f"; line {above + 1} above it is complete"
            yield _in_line(lines, mark.line, _misplaced(lines, mark.line, why))
        if in_values or "':'" in problem:
            yield _in_line(lines, above, f"there is no colon after the key: {_cut(lines[above].strip())}")
    if "expected" in problem:
        if mark.column != lines.indent(mark.line):
            yield _at(
                mark,
                f"the text goes on after its closing quote: {_cut(lines[mark.line][mark.column :])}. Expected: one "
                "pair of quotes around the whole text, and '' for a ' within single quotes",
            )
        yield _in_line(lines, mark.line, _misplaced(lines, mark.line, ", which fits no line above"))


def _misplaced(lines: _Lines, number: int, why: str) -> str:
    spaces = "1 space" if lines.indent(number) == 1 else f"{lines.indent(number)} spaces"
    return (
        f"the line is indented by {spaces}{why}: {_cut(lines[number].strip())}. "
        "Expected: as far to the right as the lines that it belongs with"
    )


def _at(mark: yaml.Mark, text: str) -> YamlFault:
    return YamlFault(mark.line + 1, mark.column + 1, f"{text}.")


def _in_line(lines: _Lines, number: int, text: str) -> YamlFault:
    return YamlFault(number + 1, lines.indent(number) + 1, f"{text}.")


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
