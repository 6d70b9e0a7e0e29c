"""Writes the report's folder, as a whole or not at all: one HTML file, and a LaTeX document with tables and figures.

The document has the measures of ACL's two-column style, and compiles as it is with pdfLaTeX, LuaLaTeX and XeLaTeX.
Every table fits the width of the page, however many columns it has: widths are reckoned from the texts, cells are
wrapped, and what does not fit is a further table. pandas' `to_latex` and tabulate do neither, and longtable knows pages
of one column alone.
"""

import importlib.util
import json
import os
import re
import shutil
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from markupsafe import Markup

from gen_bundle.after.report import content
from gen_bundle.after.report.content import (
    CITED,
    FIXED,
    REFERENCES,
    TEMPLATES,
    FinalReport,
    figure,
    interval,
    probability,
)
from gen_bundle.after.report.figures import figures
from gen_bundle.build.render.drawing import DrawnFigure, fonts_for
from gen_bundle.build.render.html_page import Functions, html_page, is_marked
from gen_bundle.build.render.rankings import by_cell, csv_text, latex_text
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.plain_text import one_line, units_word
from gen_bundle.ground.resources import install_command

TEMPLATE = TEMPLATES / "report.html.j2"
MOST_IN_A_MATRIX = 15
"""With more teams a cell of the matrix holds p alone."""
PACKAGES = ("matplotlib", "numpy")
PAGE = "report.html"
RANKING = ("task", "rank", "team", "score", "low", "high", "rank_low", "rank_high", "group")
PAIRWISE = ("task", "a", "b", "difference", "low", "high", "p", "p_holm")
MARK = b'<meta name="generator" content="gen-bundle report">'
MOST_PAIRS = 45
"""More pairs than those of ten teams are in pairwise.csv alone."""
TEXT_WIDTH, COLUMN_WIDTH = 455.0, 219.0
"""Points, of the page and of one of its columns, in ACL's style."""
FONT_SIZE, SEPARATION = 9.0, 4.0
"""Points, of a table's text (footnotesize), and on each side of a cell."""
WIDEST_WORD, WIDEST_CELL = 90.0, 120.0
"""Points: longer words are broken anywhere, longer texts are wrapped."""
MOST_LINES = 44
"""Of a table; what is left is a further one."""
EMS = {**dict.fromkeys("mwMW%@&", 1.0), **dict.fromkeys("iljft.,:;'|!()[]", 0.4), " ": 0.34}
"""Widths of letters, rather too wide; see `_width`."""
SIZE_OF_FIGURES = r"width=\columnwidth,height=.85\textheight,keepaspectratio"
KNOWN = {*"−–—‘’“”…ŁłŃńŐőŘřŚśŠšŤťŮůŰűŹźŻżŽžĄąĆćČčĎďĘęĚěĞğİıŇňŞşŢţŸŒœ", *map(chr, range(0xC0, 0x100))} - {"×", "÷"}
"""Characters beyond ASCII that every LaTeX sets with the T1 encoding."""
NUMBERED = 4.2
"""Width of what may stand for a text in another script, `[name 12]`."""
SCRIPT = re.compile(r"(\\script(?:rl)?\{[^{}]*\}\{([^{}]*)\})\{\}")
"""A text in another script, without the number that may stand for it."""
PREAMBLE = (TEMPLATES / "preamble.tex").read_text(encoding="utf-8").rstrip()
HEAD = (r"\author{}", r"\date{}", r"\begin{document}", r"\maketitle", r"\sloppy", r"\section{Methods}")


def check_packages() -> None:
    """Raise UserError where a package that the report needs is not installed."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        are = "is" if len(missing) == 1 else "are"
        raise UserError(
            f"--report: {', '.join(missing)} {are} not installed. Expected the extra `report`: "
            f"{install_command('report')}."
        )


def check_folder(folder: Path) -> None:
    """Raise UserError where something else than an earlier report lies in the report's place."""
    try:
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            return
        page = folder / PAGE
        if page.is_file() and is_marked(page, MARK):
            return
    except OSError as error:
        raise UserError(f"--report {folder}: cannot be used ({error.strerror}). Choose another folder.") from error
    raise UserError(f"--report {folder}: exists and is not a report. Choose another folder, or remove it.")


def write_report(report: FinalReport, units: Path, folder: Path) -> None:
    """Write the report, with the folder `units` of per-unit results, beside its folder, and move it there.

    It replaces an earlier one. Raises UserError where it cannot be written; an earlier report is still there then.
    """
    drawn = figures(report)
    tasks = {}
    for task, known in report.tasks.items():
        tasks[task] = {key: known[key] for key in FIXED}
    about = {"version": next(content.versions()), "signature": report.statistics["signature"]}
    texts = {
        PAGE: report_page(report, drawn),
        "report.json": json.dumps({**about, "tasks": tasks}, indent=1, ensure_ascii=False, allow_nan=False),
        "ranking.csv": _csv(report, "teams", RANKING),
        "pairwise.csv": _csv(report, "pairs", PAIRWISE),
        "report.tex": latex_document(report, drawn),
    }
    files = {name: text.encode("utf-8", "replace") for name, text in texts.items()}
    for own in drawn.values():
        for one in own.values():
            files |= {f"figures/{one.name}.svg": one.svg, f"figures/{one.name}.pdf": one.pdf}
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
    try:
        try:
            (unfinished / "figures").mkdir(parents=True)
            for name, data in files.items():
                (unfinished / name).write_bytes(data)
            shutil.copytree(units, unfinished / "units")
            if folder.exists():
                folder.replace(old)
            unfinished.replace(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
            if old.exists() and not folder.exists():
                old.replace(folder)
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise UserError(
            f"{folder}: cannot be written ({error.strerror or error}). Expected: a writable folder with free space."
        ) from error


def _csv(report: FinalReport, kind: str, columns: Sequence[str]) -> str:
    """The teams or the pairs of every task, as in report.json, as a table that no spreadsheet takes for formulas."""
    rows: list[Sequence[Any]] = [columns]
    for task, one in report.tasks.items():
        for row in one[kind]:
            cells = {"task": task, **row}
            rows.append([cells[column] for column in columns])
    return csv_text(rows)


def report_page(report: FinalReport, drawn: Mapping[str, Mapping[str, DrawnFigure]]) -> str:
    """Return the page's HTML; the same for the same arguments."""
    paragraphs = content.methods(report)
    order = content.cited(paragraphs)
    filters: Functions = {
        "figure": figure,
        "probability": probability,
        "percent": content.percent,
        "summary": content.summary,
        "line": one_line,
        "svg": lambda one: Markup(one.inline),  # noqa: S704 drawn by matplotlib, which escapes the names of teams
    }
    values = {
        "report": report,
        "tasks": report.tasks,
        "figures": drawn,
        "matrices": {task: _matrix(one) for task, one in report.tasks.items()},
        "methods": [CITED.sub(lambda found: f"[{1 + order.index(found[1])}]", text) for text in paragraphs],
        "missing_rule": content.missing_rule(report),
        "lateness": content.lateness(report),
        "failures": content.failures(report),
        "references": [REFERENCES[name] for name in order],
        "checklist": content.checklist(report),
        "open": content.OPEN,
        "versions": list(content.versions()),
        "alpha": content.ALPHA,
        "most_in_a_matrix": MOST_IN_A_MATRIX,
        "interval": interval,
        "plural": content.plural,
        "units_word": units_word,
        "unit_words": content.unit_words,
        "way_words": content.way_words,
        "place": content.place,
    }
    return html_page(TEMPLATE, filters, values)


def _matrix(task: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Team → each team below it → their pair: the row's team minus the column's."""
    matrix: dict[str, dict[str, Any]] = {}
    for pair in task["pairs"]:
        matrix.setdefault(pair["a"], {})[pair["b"]] = pair
    return matrix


@dataclass(frozen=True)
class LatexTable:
    """A table to be set.

    Attributes:
        label: what references call it, after `tab:`.
        caption: its caption.
        header: of its columns.
        rows: of texts.
        fixed: how many columns, the first ones, every part of a split table has; these are words, the others numbers.
    """

    label: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    fixed: int = 1


def latex_document(report: FinalReport, drawn: Mapping[str, Mapping[str, DrawnFigure]]) -> str:
    """Return the whole document; needs array, booktabs, geometry, graphicx and iftex, and the figures beside it."""
    texts = [*content.methods(report), content.missing_rule(report)]
    lines = [PREAMBLE, rf"\title{{{_text(report.declaration.title)}: final report}}", *HEAD]
    for text in texts:
        lines += [CITED.sub(r"\\cite{\1}", _text(text)), ""]
    lines.append(r"\section{Results}")
    floats: list[str] = []
    for task in report.tasks.values():
        if told := content.summary(task):
            lines += [rf"\paragraph{{{_text(task['name'])}}} {_text(told)}", ""]
    for id_, task in report.tasks.items():
        of_tables, of_figures, named = [], [], []
        for table in _tables(id_, task):
            of_tables.append(rf"\ref{{tab:{table.label}}}")
            floats += _set(table)
        for one in drawn[id_].values():
            of_figures.append(rf"\ref{{fig:{one.name}}}")
            floats += [r"\begin{figure}[tp]", r"\centering"]
            floats.append(rf"\includegraphics[{SIZE_OF_FIGURES}]{{figures/{one.name}.pdf}}")
            floats += [rf"\caption{{{_text(one.caption)}}}", rf"\label{{fig:{one.name}}}", r"\end{figure}"]
        floats.append(r"\clearpage")
        if of_tables:
            named.append(f"Tables {', '.join(of_tables)}")
        if of_figures:
            named.append(f"Figures {', '.join(of_figures)}")
        lines.append("")
        if named:
            lines[-1] = f"{_text(task['name'])}: see {' and '.join(named)}.\n"
    for number, own in enumerate(report.own_rankings, start=1):
        floats += _set(LatexTable(f"ranking-{number}", own.title, own.header, own.rows, fixed=2))
    lines.append(r"\begin{thebibliography}{99}")
    for name in content.cited(texts):
        lines.append(rf"\bibitem{{{name}}} {_text(REFERENCES[name])}")
    lines.append(r"\end{thebibliography}")
    # after the text, so that no page between tables and figures is nearly empty
    return _numbered("\n".join([*lines, *floats, r"\end{document}", ""]))


def _numbered(document: str) -> str:
    """The document with a number for each text in another script, which stands for it where no font has it."""
    numbers: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        own = numbers.setdefault(found[2], 1 + len(numbers))
        return f"{found[1]}{{{own}}}"

    return SCRIPT.sub(number, document)


def _tables(id_: str, task: Mapping[str, Any]) -> list[LatexTable]:
    """The tables of a task: results, pairs, robustness and groups, as far as they have rows."""
    name, ways = task["name"], [content.way_words(way, task["unit"]) for way in task["rankings"]]
    header = ["Team", "Rank", task["title"], "95 % interval", "Rank interval", "Tie group"]
    caption = f"{name}: results{content.resting_on(task)}."
    if any(team["group"] is not None for team in task["teams"]):
        caption += " A tie group holds the teams that do not differ significantly from its best one."
    tables = [LatexTable(f"{id_}-results", caption, header, _results(task))]
    if 0 < len(task["pairs"]) <= MOST_PAIRS:
        caption = (
            f"{name}: difference in {task['title']} of the row's team from the column's, which is called by its number"
            f"{content.resting_on(task)}. * p after Holm below {content.ALPHA}."
        )
        tables.append(LatexTable(f"{id_}-pairs", caption, *_pairs(task), fixed=2))
    if ways:
        caption = f"{name}: ranks if the task had been ranked in another way."
        header = ["Team", "as published", *ways]
        tables.append(LatexTable(f"{id_}-robustness", caption, header, _other_ranks(task)))
    for number, family in enumerate(task["groups"], start=1):
        intervals = ", with 95 % intervals where there are any" if family["intervals"] else ""
        caption = f"{name}: {family['name']}{intervals}{content.resting_on(task)}."
        header = ["Team", *family["groups"]]
        tables.append(LatexTable(f"{id_}-groups-{number}", caption, header, _groups(family, task["decimals"])))
    return [table for table in tables if table.rows]


def _results(task: Mapping[str, Any]) -> list[list[str]]:
    rows = []
    for team in task["teams"]:
        score = figure(team["score"], task["decimals"])
        ends = interval(team["low"], team["high"], task["decimals"])
        ranks = interval(team["rank_low"], team["rank_high"], 0)
        rows.append([team["team"], content.place(task, team), score, ends, ranks, figure(team["group"], 0)])
    return rows


def _pairs(task: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """A header of numbers, and a triangle: each team's differences from those below it."""
    names = [team["team"] for team in task["teams"] if team["score"] is not None]
    matrix = _matrix(task)
    header, rows = ["", "Team"], []
    for number, name in enumerate(names[:-1], start=1):
        header.append(str(number + 1))
        row = [str(number), name]
        for other in names[1:]:
            pair = matrix.get(name, {}).get(other)
            cell = ""
            if pair is not None:
                cell = figure(pair["difference"], task["decimals"]) + "*" * (pair["p_holm"] < content.ALPHA)
            row.append(cell)
        rows.append(row)
    rows.append([str(len(names)), names[-1], *[""] * (len(names) - 1)])
    return header, rows


def _other_ranks(task: Mapping[str, Any]) -> list[list[str]]:
    rows = []
    for team in task["teams"]:
        if team["score"] is None:
            continue
        row = [team["team"], content.place(task, team)]
        for way in task["rankings"]:
            row.append(figure(way["teams"].get(team["team"], {}).get("rank"), 0))
        rows.append(row)
    return rows


def _groups(family: Mapping[str, Any], decimals: int) -> list[list[str]]:
    rows = []
    for team, values in family["values"].items():
        row = [team]
        for place, value in enumerate(values):
            cell = figure(value, decimals)
            if family["intervals"] and family["intervals"][team][place]:
                low, high = family["intervals"][team][place]
                cell = f"{cell} ({interval(low, high, decimals)})".strip()
            row.append(cell)
        rows.append(row)
    return rows


def _set(table: LatexTable) -> Iterator[str]:
    """The table as floats that fit, the first with the label: so many columns and rows in each as there is room for."""
    head, *rows = by_cell((table.header, *table.rows), one_line)
    widths = []
    for column in zip(head, *rows, strict=True):
        width = _column_width(column)
        if table.fixed > 1:
            width = min(width, WIDEST_WORD + 1)
        widths.append(width)
    parts = list(_split(widths, table.fixed))
    more, after = "", rf"\label{{tab:{table.label}}}"
    for columns in parts:
        kind = "table" if _room(widths, columns) <= COLUMN_WIDTH and len(parts) == 1 else "table*"
        layout = ""
        for place in columns:
            side = "raggedright" if place < table.fixed else "raggedleft"
            layout += rf">{{\{side}\arraybackslash}}p{{{widths[place]:.0f}pt}}"
        for chunk in _pages(rows, columns, widths):
            yield from (rf"\begin{{{kind}}}[tp]", r"\centering\footnotesize")
            yield rf"\setlength{{\tabcolsep}}{{{SEPARATION:g}pt}}"
            yield from (rf"\begin{{tabular}}{{{layout}}}", r"\toprule", _row(head, columns), r"\midrule")
            for row in chunk:
                yield _row(row, columns)
            yield from (r"\bottomrule", r"\end{tabular}")
            yield from (rf"\caption{{{_text(table.caption)}{more}}}{after}", rf"\end{{{kind}}}")
            more, after = " (continued)", ""


def _split(widths: Sequence[float], fixed: int) -> Iterator[list[int]]:
    """The columns of each part of a table, the fixed ones in all of them."""
    own = list(range(fixed))
    columns = list(own)
    for place in range(fixed, len(widths)):
        if _room(widths, [*columns, place]) > TEXT_WIDTH and len(columns) > fixed:
            yield columns
            columns = list(own)
        columns.append(place)
    yield columns


def _room(widths: Sequence[float], columns: Sequence[int]) -> float:
    return sum(widths[place] + 2 * SEPARATION for place in columns)


def _pages(
    rows: Sequence[Sequence[str]], columns: Sequence[int], widths: Sequence[float]
) -> Iterator[list[Sequence[str]]]:
    """The rows of each part of a table that is too long for a page."""
    page: list[Sequence[str]] = []
    lines = 0
    for row in rows:
        # wrapped lines are seldom full
        needed = max(1 + int(1.3 * _width(row[place]) / widths[place]) for place in columns)
        if lines + needed > MOST_LINES and page:
            yield page
            page, lines = [], 0
        page.append(row)
        lines += needed
    yield page


def _row(cells: Sequence[str], columns: Sequence[int]) -> str:
    return " & ".join(_text(cells[place]) for place in columns) + r" \\"


def _column_width(cells: Sequence[str]) -> float:
    """Points in which every word of a column stays whole, up to `WIDEST_WORD`, and short texts are one line."""
    width = 12.0
    for word in " ".join(cells).split():
        width = max(width, min(WIDEST_WORD, _width(word)))
    for cell in cells[1:]:
        width = max(width, min(WIDEST_CELL, _width(cell)))
    return width + 1.0


def _width(text: str) -> float:
    """Points of a text in a table, rather too many; a letter of another script is taken to be wide."""
    ems = 0.0
    for letter in text:
        if ord(letter) > 127 and letter not in KNOWN:
            ems += 1.2 if ems else NUMBERED
        elif letter in EMS:
            ems += EMS[letter]
        else:
            ems += 0.8 if letter.isupper() else 0.56
    return FONT_SIZE * ems


def _text(text: str) -> str:
    """A text in one line as LaTeX sets it; other scripts by their font, and words that are too wide broken anywhere."""
    parts: list[str] = []
    for right_to_left, words in groupby(one_line(text).split(" "), _right_to_left):
        if right_to_left:  # the first of several words is the rightmost one
            parts.append("".join(_scripts(" ".join(words))))
        else:
            for word in words:
                parts.append(_word(word))
    return " ".join(parts)


def _right_to_left(text: str) -> bool:
    return bool(text) and {"R", "AL"}.issuperset(map(unicodedata.bidirectional, text))


def _word(word: str) -> str:
    """A word: what LaTeX knows, broken anywhere where that is too wide, and runs of other scripts."""
    parts: list[str] = []
    for is_known, letters in groupby(word, lambda letter: letter.isascii() or letter in KNOWN):
        run = "".join(letters)
        if not is_known:
            parts += _scripts(run)
        elif max(map(_width, run.split("-"))) > WIDEST_WORD:  # after a hyphen a line may end anyway
            for letter in run:
                parts += (latex_text(letter), r"\allowbreak{}")
        else:
            parts.append(latex_text(run))
    return "".join(parts)


def _scripts(run: str) -> Iterator[str]:
    """Letters of other scripts, of which wide ones may end a line anywhere."""
    fonts = fonts_for(run)

    def kind(letter: str) -> tuple[object, ...]:
        letter = run[0] if letter == " " else letter
        return fonts.get(letter), _right_to_left(letter), unicodedata.east_asian_width(letter) in ("W", "F")

    for (font, right_to_left, is_wide), letters in groupby(run, kind):
        between = r"\allowbreak " if is_wide else ""
        text = between.join(letters)
        command = "scriptrl" if right_to_left else "script"
        yield rf"\{command}{{{font or 'Noto Sans'}}}{{{text}}}{{}}\allowbreak{{}}"
