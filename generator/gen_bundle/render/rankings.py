"""A ranking as text, CSV, JSON, Markdown and LaTeX."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gen_bundle.render.tables import markdown_table


@dataclass(frozen=True)
class Table:
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
    """

    result: Mapping[str, Any]
    tables: Sequence[Table]
    notes: Sequence[str]


LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def as_text(ranking: Ranking) -> str:
    """Tables for a terminal, numbers to the right."""
    return "\n".join(map(_text_table, ranking.tables))


def as_csv(ranking: Ranking) -> str:
    """One row for each team with everything there is about it; lists are joined by blanks."""
    teams: Sequence[Mapping[str, Any]] = ranking.result["teams"]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(teams[0]), lineterminator="\n")
    writer.writeheader()
    for team in teams:
        writer.writerow({key: " ".join(value) if isinstance(value, list) else value for key, value in team.items()})
    return out.getvalue()


def as_json(ranking: Ranking) -> str:
    """The result as a JSON object."""
    return json.dumps(ranking.result, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_markdown(ranking: Ranking) -> str:
    """A section with a table for each ranking, fit for a results page."""
    return "\n".join(f"## {t.title}\n\n{markdown_table(t.header, t.rows)}\n" for t in ranking.tables)


def as_latex(ranking: Ranking) -> str:
    """A table environment for each ranking; needs no package."""
    return "\n".join(map(_latex_table, ranking.tables))


FORMATS: Mapping[str, Callable[[Ranking], str]] = {
    "text": as_text,
    "csv": as_csv,
    "json": as_json,
    "markdown": as_markdown,
    "latex": as_latex,
}


def _text_table(table: Table) -> str:
    lines = [table.header, *table.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.header))]
    right = [_is_number_column(table, i) for i in range(len(table.header))]
    printed = [
        "  ".join(cell.rjust(width) if to_right else cell.ljust(width) for cell, width, to_right in cells).rstrip()
        for cells in (zip(line, widths, right, strict=True) for line in lines)
    ]
    return "\n".join([table.title, "=" * len(table.title), *printed]) + "\n"


def _is_number_column(table: Table, i: int) -> bool:
    return all(row[i] == "" or row[i].rstrip("=").replace(".", "").lstrip("-").isdigit() for row in table.rows)


def _latex_table(table: Table) -> str:
    columns = "".join("r" if _is_number_column(table, i) else "l" for i in range(len(table.header)))
    rows = [" & ".join(map(_latex, cells)) + r" \\" for cells in table.rows]
    header = " & ".join(map(_latex, table.header)) + r" \\"
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\hline",
            header,
            r"\hline",
            *rows,
            r"\hline",
            r"\end{tabular}",
            rf"\caption{{{_latex(table.title)}}}",
            r"\end{table}",
            "",
        ]
    )


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)
