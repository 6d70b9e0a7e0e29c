"""A ranking as text, CSV, JSON, Markdown and LaTeX.

Teams choose their names themselves: in each form but JSON, which keeps them exactly, a name is harmless text in a line.
"""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gen_bundle.build.render.page_tables import markdown_table
from gen_bundle.ground.plain_text import one_line


@dataclass(frozen=True)
class RankingTable:
    """A table to be printed: its title, its columns' headings and its rows of texts."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Ranking:
    """The answer of a scoring package.

    Attributes:
        result: what a program may read: `teams`, a record for each team, and what else the package's rule decides.
        tables: what people read.
        notes: what the organisers should know, such as ties.
        summary: who won, in sentences, where a report says it.
    """

    result: Mapping[str, Any]
    tables: Sequence[RankingTable]
    notes: Sequence[str]
    summary: Sequence[str] = ()

    @property
    def unscored(self) -> Mapping[str, Sequence[str]]:
        """Teams whose submission could not be scored, with the reasons."""
        return {team["team"]: team["not_scored"] for team in self.result["teams"] if team.get("not_scored")}


LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "−": "$-$",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)
# What begins code, emphasis, links, images, HTML and entities; `_` within a word begins nothing.
MARKED = re.compile(r"[\\`*\[\]<>~]|&(?=#|\w+;)|(?<![^\W_])_|_(?![^\W_])")
# Spreadsheets take a cell that begins so for a formula; https://owasp.org/www-community/attacks/CSV_Injection
FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def as_text(ranking: Ranking) -> str:
    """Who won, and tables for a terminal, numbers to the right."""
    parts = [f"{one_line(text)}\n" for text in ranking.summary]
    for table in ranking.tables:
        parts.append(_text_table(table))
    return "\n".join(parts)


def as_csv(ranking: Ranking) -> str:
    """Return one row for each team with everything there is about it; lists are joined by blanks.

    A text that a spreadsheet would take for a formula gets an apostrophe before it.
    """
    teams: Sequence[Mapping[str, Any]] = ranking.result["teams"]
    return csv_text([teams[0], *(team.values() for team in teams)])


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Return a table of which no spreadsheet takes a cell for a formula: such a text gets an apostrophe before it."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(by_cell(rows, _csv_cell))
    return out.getvalue()


def _csv_cell(value: Any) -> Any:
    if isinstance(value, list):
        value = " ".join(value)
    if not isinstance(value, str):
        return value
    text = one_line(value)
    if text.lstrip().startswith(FORMULA) and not NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def as_json(ranking: Ranking) -> str:
    """Return the result as a JSON object; what would steer a terminal is written as escapes."""
    text = json.dumps(ranking.result, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def as_markdown(ranking: Ranking) -> str:
    """Return a section with a table for each ranking, fit for a results page."""
    sections = []
    for table in ranking.tables:
        written = markdown_table(table.header, [*by_cell(table.rows, _markdown)])
        sections.append(f"## {_markdown(table.title)}\n\n{written}\n")
    return "\n".join(sections)


def _markdown(text: str) -> str:
    """A text that Markdown shows as it is; the bars of a table are `markdown_table`'s."""
    return MARKED.sub(r"\\\g<0>", one_line(text))


def as_latex(ranking: Ranking) -> str:
    """Return a table environment for each ranking; needs no package."""
    return "\n".join(map(_latex_table, ranking.tables))


FORMATS: Mapping[str, Callable[[Ranking], str]] = {
    "text": as_text,
    "csv": as_csv,
    "json": as_json,
    "markdown": as_markdown,
    "latex": as_latex,
}


def by_cell(lines: Iterable[Iterable[Any]], written: Callable[[Any], Any]) -> Iterator[list[Any]]:
    """Yield the lines of a table with each cell as it is `written`."""
    for line in lines:
        yield [written(cell) for cell in line]


def _text_table(table: RankingTable) -> str:
    lines = [*by_cell((table.header, *table.rows), one_line)]
    printed = [""] * len(lines)
    for cells, side in zip(zip(*lines, strict=True), _sides(table), strict=True):
        width = max(map(_cells_of, cells))
        for at, cell in enumerate(cells):
            blanks = " " * (width - _cells_of(cell))
            if side == "r":
                printed[at] += f"{blanks}{cell}  "
            else:
                printed[at] += f"{cell}{blanks}  "
    return "\n".join([table.title, "=" * len(table.title), *map(str.rstrip, printed)]) + "\n"


def _cells_of(text: str) -> int:
    """Places that a text takes on a terminal: letters of East Asian scripts take two, combining marks none."""
    places = 0
    for letter in text:
        if unicodedata.east_asian_width(letter) in ("W", "F"):
            places += 1
        if unicodedata.combining(letter) == 0:
            places += 1
    return places


def _sides(table: RankingTable) -> list[str]:
    """Of each column `r` where it holds numbers alone, or else `l`."""
    sides = ["r"] * len(table.header)
    for row in table.rows:
        for at, cell in enumerate(row):
            if cell and not cell.rstrip("=").replace(".", "").lstrip("-").isdigit():
                sides[at] = "l"
    return sides


def _latex_table(table: RankingTable) -> str:
    lines = by_cell((table.header, *table.rows), latex_text)
    header, *rows = [" & ".join(cells) + r" \\" for cells in lines]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{''.join(_sides(table))}}}",
            r"\hline",
            header,
            r"\hline",
            *rows,
            r"\hline",
            r"\end{tabular}",
            rf"\caption{{{latex_text(table.title)}}}",
            r"\end{table}",
            "",
        ]
    )


def latex_text(text: str) -> str:
    """Return a text in one line that LaTeX sets as it is."""
    return one_line(text).translate(LATEX)
