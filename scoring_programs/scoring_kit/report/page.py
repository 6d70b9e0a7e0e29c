"""The results page: one self-contained HTML file without script, for everybody's eyes.

Anyone may open anyone's page, so it shows scores, figures over enough items and class labels; never gold, never what
the submission says.
"""

import re
from collections.abc import Mapping, Sequence
from html import escape

from scoring_kit.program import Column, Program
from scoring_kit.report.figures import figure_html, label_html, number
from scoring_kit.report.style import STYLE
from scoring_kit.report.withholding import open_metrics
from scoring_kit.results import TaskResult

MAX_BYTES = 250_000
MAX_WARNINGS = 50
MAX_WARNING = 300
MAX_FURTHER = 100
# A value quoted from a submission, as `scoring_kit.errors.shown` writes it.
QUOTED = re.compile('"[^"]*"')
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def results_page(
    program: Program,
    scores: Mapping[str, float],
    results: Mapping[str, TaskResult],
    warnings: Sequence[str],
    signature: str,
) -> str:
    """The page as HTML, the same for the same arguments, below 300 kB.

    Args:
        program: what was scored: title, tasks, columns, and how many items a figure must stand on.
        scores: the board's scores by column key.
        results: the outcome of every task that the submission entered.
        warnings: remarks on the submission; values quoted from it are left out of the page.
        signature: one line that says what the numbers depend on.
    """
    title = escape(f"Results – {program.title}")
    remarks = _warnings(warnings)
    left = MAX_BYTES - len(remarks.encode("utf-8", "replace"))
    sections = ""
    for task in program.tasks:
        section = _task(program, task, scores, results.get(task), left)
        left -= len(section.encode("utf-8", "replace"))
        sections += section
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}"><meta name="referrer" content="no-referrer">
<title>{title}</title><style>{STYLE}</style></head>
<body><main>
<header><p class="eyebrow">Results</p><h1>{escape(program.title)}</h1></header>
{_headlines(program, scores, results)}{remarks}{sections}<section><h2>Signature</h2>
<p class="soft">Two scores are comparable when their signatures match.</p>
<p><code>{escape(signature)}</code></p></section>
</main></body></html>
"""


def _headlines(program: Program, scores: Mapping[str, float], results: Mapping[str, TaskResult]) -> str:
    """Each task's first score; the first of all decides the rank."""
    cards = ""
    for task in program.tasks:
        column = next((c for c in program.columns if c.task == task and c.key in scores), None)
        if column is None:
            continue
        kinds = ["primary"] if column == program.columns[0] else []
        if task not in results:
            kinds.append("absent")
        state = "" if task in results else "not entered · "
        cards += (
            f'<li class="{" ".join(kinds)}"><span class="soft">{escape(column.title)}</span>'
            f"<strong>{_score(column, scores)}</strong>"
            f'<span class="soft">{_direction(column)}<br>{state}worst {column.worst:g}</span></li>\n'
        )
    return f'<ul class="cards">{cards}</ul>\n' if cards else ""


def _score(column: Column, scores: Mapping[str, float]) -> str:
    return number(scores[column.key], max(column.precision, 0))


def _direction(column: Column) -> str:
    return "↑ higher is better" if column.sort == "desc" else "↓ lower is better"


def _warnings(warnings: Sequence[str]) -> str:
    if not warnings:
        return ""
    shown = [_without_quotes(text) for text in warnings[:MAX_WARNINGS]]
    items = "".join(f"<li>{escape(text)}</li>\n" for text in shown)
    if len(warnings) > MAX_WARNINGS:
        items += f"<li>… and {len(warnings) - MAX_WARNINGS} more</li>\n"
    note = "Values of the submission are left out here; its log quotes them."
    left_out = f'<p class="soft">{note}</p>' if shown != list(warnings) else ""
    return f'<section class="note"><h2>Warnings</h2><ul>{items}</ul>{left_out}</section>\n'


def _without_quotes(text: str) -> str:
    cut = QUOTED.sub('"…"', text)
    return cut if len(cut) <= MAX_WARNING else cut[: MAX_WARNING - 1] + "…"


def _task(program: Program, task: str, scores: Mapping[str, float], result: TaskResult | None, left: int) -> str:
    """One task's section, of at most about `left` bytes: figures beyond that are left out and counted."""
    columns = [column for column in program.columns if column.task == task and column.key in scores]
    rows = "".join(
        f'<tr><th scope="row"><span>{escape(column.title)}</span><span class="soft">{escape(column.meaning)} '
        f'<span class="better">{_direction(column)}</span></span></th><td class="number">{_score(column, scores)}</td>'
        f'<td class="number soft">{column.worst:g}</td></tr>\n'
        for column in columns
    )
    body = (
        f"<h2>{escape(program.task_names[task])}</h2>\n"
        + ("" if result else '<p class="soft">Not entered: the worst values stand in for scores.</p>\n')
        + '<table class="scores"><thead><tr><th scope="col">Metric</th><th scope="col" class="number">Score</th>'
        f'<th scope="col" class="number">Worst</th></tr></thead>\n<tbody>{rows}</tbody></table>\n'
    )
    if result:
        body += _further(result, {column.key for column in columns}, program.details_min_items)
        left -= len(body.encode("utf-8", "replace"))
        for drawn, figure in enumerate(result.figures):
            html = figure_html(figure, program.details_min_items)
            left -= len(html.encode("utf-8", "replace"))
            if left < 0:
                body += (
                    f'<p class="soft">{len(result.figures) - drawn} more figures would make this page too long.</p>\n'
                )
                break
            body += html
    return f"<section>{body}</section>\n"


def _further(result: TaskResult, board: set[str], min_items: int) -> str:
    """The metrics that are no columns, folded away."""
    shown = open_metrics(result.metrics, board, min_items)
    metrics = [(name, metric) for name, metric in result.metrics.items() if name in shown and metric.value is not None]
    if not metrics:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{label_html(name)}</th><td class="number">{number(metric.value, 4)}</td>'
        f'<td class="number soft">{metric.rows}</td></tr>\n'
        for name, metric in metrics[:MAX_FURTHER]
    )
    more = len(metrics) - MAX_FURTHER
    note = f'<p class="soft">… and {more} more in details.json.</p>' if more > 0 else ""
    return (
        f"<details><summary>Further metrics ({len(metrics)})</summary><table><thead><tr>"
        '<th scope="col">Name</th><th scope="col" class="number">Value</th><th scope="col" class="number">Over</th>'
        f"</tr></thead>\n<tbody>{rows}</tbody></table>{note}</details>\n"
    )
