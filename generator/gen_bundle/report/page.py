"""The report as one HTML file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from gen_bundle.plain_text import one_line
from gen_bundle.render.html_page import Functions, html_page
from gen_bundle.report.checklist import OPEN, checklist, versions
from gen_bundle.report.content import (
    ALPHA,
    Report,
    figure,
    interval,
    percent,
    plural,
    probability,
    units_word,
    way_words,
)
from gen_bundle.report.figures import Figure
from gen_bundle.report.methods import CITED, REFERENCES, cited, failures, lateness, methods, missing_rule, unit_words

TEMPLATE = Path(__file__).resolve().parent / "templates" / "report.html.j2"
MOST_IN_A_MATRIX = 15
"""With more teams a cell of the matrix holds p alone."""


def report_page(report: Report, figures: Mapping[str, Mapping[str, Figure]]) -> str:
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
        "figures": figures,
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
        turned = {
            **pair,
            "difference": -pair["difference"],
            "low": None if pair["high"] is None else -pair["high"],
            "high": None if pair["low"] is None else -pair["low"],
        }
        matrix.setdefault(pair["b"], {})[pair["a"]] = turned
    return matrix


def _svg(drawn: Figure) -> Markup:
    return Markup(drawn.inline)  # noqa: S704 drawn by matplotlib, which escapes the names of teams
