"""Writes the report's folder, as a whole or not at all, and the report as one HTML file in it."""

import csv
import importlib.util
import io
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from gen_bundle.errors import UserError
from gen_bundle.plain_text import one_line
from gen_bundle.render.html_page import Functions, html_page, is_marked
from gen_bundle.render.rankings import csv_cell
from gen_bundle.report.content import (
    ALPHA,
    CITED,
    OPEN,
    REFERENCES,
    FinalReport,
    checklist,
    cited,
    failures,
    figure,
    interval,
    lateness,
    methods,
    missing_rule,
    percent,
    plural,
    probability,
    unit_words,
    units_word,
    versions,
    way_words,
)
from gen_bundle.report.figures import DrawnFigure, figures
from gen_bundle.report.latex import latex_document
from gen_bundle.resources import install_command

TEMPLATE = Path(__file__).resolve().parent / "templates" / "report.html.j2"
MOST_IN_A_MATRIX = 15
"""With more teams a cell of the matrix holds p alone."""
PACKAGES = ("matplotlib", "numpy")
PAGE = "report.html"
RANKING = ("task", "rank", "team", "score", "low", "high", "rank_low", "rank_high", "group")
PAIRWISE = ("task", "a", "b", "difference", "low", "high", "p", "p_holm")
MARK = b'<meta name="generator" content="gen-bundle report">'


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
    """Write the report beside its folder and move it there; an earlier one is replaced.

    Args:
        report: what it holds.
        units: the folder of the per-unit results, which is kept in it.
        folder: the report's.

    Raises:
        UserError: it cannot be written; an earlier report is still there.
    """
    drawn = figures(report)
    texts = {
        PAGE: report_page(report, drawn),
        "report.json": json.dumps(report.json, indent=1, ensure_ascii=False, allow_nan=False),
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
            for name, content in files.items():
                (unfinished / name).write_bytes(content)
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
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for task, one in report.tasks.items():
        for row in one[kind]:
            named = {"task": task, **row}
            writer.writerow([csv_cell(named[column]) for column in columns])
    return out.getvalue()


def report_page(report: FinalReport, drawn: Mapping[str, Mapping[str, DrawnFigure]]) -> str:
    """The page's HTML; the same for the same arguments."""
    paragraphs = methods(report)
    order = cited(paragraphs)
    filters: Functions = {
        "figure": figure,
        "probability": probability,
        "percent": percent,
        "line": one_line,
        "svg": _svg,
    }
    values = {
        "report": report,
        "tasks": report.tasks,
        "figures": drawn,
        "matrices": {task: _matrix(one) for task, one in report.tasks.items()},
        "methods": [CITED.sub(lambda found: f"[{1 + order.index(found[1])}]", text) for text in paragraphs],
        "missing_rule": missing_rule(report),
        "lateness": lateness(report),
        "failures": failures(report),
        "references": [REFERENCES[name] for name in order],
        "checklist": checklist(report),
        "open": OPEN,
        "versions": list(versions()),
        "alpha": ALPHA,
        "most_in_a_matrix": MOST_IN_A_MATRIX,
        "interval": interval,
        "plural": plural,
        "units_word": units_word,
        "unit_words": unit_words,
        "way_words": way_words,
    }
    return html_page(TEMPLATE, filters, values)


def _matrix(task: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Team → other team → their pair, as the table shows it: the row's team minus the column's."""
    matrix: dict[str, dict[str, Any]] = {}
    for pair in task["pairs"]:
        matrix.setdefault(pair["a"], {})[pair["b"]] = pair
        turned = {**pair, "difference": -pair["difference"]}
        if pair["low"] is not None:
            turned |= {"low": -pair["high"], "high": -pair["low"]}
        matrix.setdefault(pair["b"], {})[pair["a"]] = turned
    return matrix


def _svg(drawn: DrawnFigure) -> Markup:
    return Markup(drawn.inline)  # noqa: S704 drawn by matplotlib, which escapes the names of teams
