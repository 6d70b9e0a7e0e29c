"""The results page: one self-contained HTML file without script, for everybody's eyes.

Anyone may open it, so it shows what the phase's `details` allow; never gold, never the content of the submission.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

from scoring_kit.program import Program, ScoreColumn
from scoring_kit.report.document import document, moment
from scoring_kit.report.figures import DECIMALS, figure_html, label_html, number
from scoring_kit.report.withholding import Shown
from scoring_kit.results import Metric, TaskResult

MAX_BYTES = 250_000
MAX_WARNINGS = 50
MAX_WARNING = 300
MAX_FURTHER = 100
MAX_BASELINES = 5
# A value quoted from a submission, as `scoring_kit.errors.shown` writes it; a message may have been cut within it.
QUOTED = re.compile('"[^"]*("|$)')


@dataclass(frozen=True)
class RunFacts:
    """What a page shows of a run besides its results.

    Attributes:
        signature: one line with all that the numbers depend on.
        scored: when.
        submission: its name, empty where it has none.
        warnings: remarks on the submission; values quoted from it are left out of the page.
    """

    signature: str
    scored: datetime
    submission: str = ""
    warnings: Sequence[str] = ()


def results_page(
    program: Program,
    scores: Mapping[str, float],
    results: Mapping[str, TaskResult],
    shown: Mapping[str, Shown],
    run: RunFacts,
) -> str:
    """The page as HTML, the same for the same arguments, below 300 kB.

    Args:
        program: what was scored: title, phase, tasks, columns, baselines, and what participants may see.
        scores: the written scores by column key.
        results: the outcome of every task that the submission entered.
        shown: which metrics of these tasks may be shown, as `shown_names` says.
        run: signature, time, the submission's name and warnings.
    """
    phase = program.phase.name if program.phase else ""
    facts = {"Phase": phase, "Submission": run.submission, "Scored": moment(run.scored)}
    remarks = _warnings(run.warnings, has_log=not program.scores_hidden)
    if not program.shows_scores:
        body = "<p>The submission was scored. The scores of this phase are not shown here.</p>\n" + remarks
        return document("Results", program.title, facts, body)
    board = program.with_computed(scores)
    left = MAX_BYTES - len(remarks.encode("utf-8", "replace"))
    sections = ""
    for task in program.tasks:
        section = _task(program, task, board, results.get(task), shown.get(task), left)
        left -= len(section.encode("utf-8", "replace"))
        sections += section
    signature = (
        '<section><h2>Signature</h2>\n<p class="soft">Two scores are comparable when their signatures match.</p>\n'
        f"<p><code>{escape(run.signature)}</code></p></section>"
    )
    body = f"{_primary(program, board, results)}{remarks}{sections}{signature}"
    return document("Results", program.title, facts, body)


def _primary(program: Program, board: Mapping[str, float], results: Mapping[str, TaskResult]) -> str:
    """The score that decides the rank."""
    column = program.columns[0]
    if column.key not in board:
        return ""
    entered = column.computation is not None or column.task in results
    remark = "Decides the rank." if entered else f"Not entered: the worst value, {_worst(column)}, is shown."
    return (
        f'<section class="primary{"" if entered else " absent"}"><h2>{escape(column.title)}</h2>'
        f"<strong>{_score(column, board)}</strong>\n"
        f'<p class="soft">{escape(column.meaning)} <span class="better">{_direction(column)}</span>. {remark}</p>\n'
        f"{_distances(program, column, board) if entered else ''}</section>\n"
    )


def _distances(program: Program, column: ScoreColumn, board: Mapping[str, float]) -> str:
    """How far the score is from those of the baselines, both as the board rounds them."""
    own = round(board[column.key], column.precision)
    texts = []
    for name, scores in list(program.baselines.items())[:MAX_BASELINES]:
        if column.key not in scores:
            continue
        by = own - round(program.rounded(scores[column.key]), column.precision)
        better = by > 0 if column.sort == "desc" else by < 0
        size = number(abs(by), column.decimals)
        texts.append(f"{size} {'better' if better else 'worse'} than {name}" if by else f"the same as {name}")
    if not texts:
        return ""
    text = "; ".join(texts)
    return f'<p class="soft">{escape(text[0].upper() + text[1:])}.</p>'


def _score(column: ScoreColumn, board: Mapping[str, float]) -> str:
    return number(round(board[column.key], column.precision), column.decimals)


def _worst(column: ScoreColumn) -> str:
    return "" if column.worst is None else f"{column.worst:g}"


def _direction(column: ScoreColumn) -> str:
    return "↑ higher is better" if column.sort == "desc" else "↓ lower is better"


def _warnings(warnings: Sequence[str], *, has_log: bool) -> str:
    if not warnings:
        return ""
    shown = [_without_quotes(text) for text in warnings[:MAX_WARNINGS]]
    items = "".join(f"<li>{escape(text)}</li>\n" for text in shown)
    if len(warnings) > MAX_WARNINGS:
        items += f"<li>… and {len(warnings) - MAX_WARNINGS} more</li>\n"
    note = "Values of the submission are left out here" + ("; its log quotes them." if has_log else ".")
    left_out = f'<p class="soft">{note}</p>' if shown != list(warnings) else ""
    return f'<section class="note"><h2>Warnings</h2><ul>{items}</ul>{left_out}</section>\n'


def _without_quotes(text: str) -> str:
    cut = QUOTED.sub('"…"', text)
    return cut if len(cut) <= MAX_WARNING else cut[: MAX_WARNING - 1] + "…"


def _task(
    program: Program,
    task: str,
    board: Mapping[str, float],
    result: TaskResult | None,
    shown: Shown | None,
    left: int,
) -> str:
    """One task's section, of at most about `left` bytes: figures beyond that are left out and counted."""
    body = _columns(program, task, board, result)
    if result and shown:
        body += _further(program, result, shown)
        left -= len(body.encode("utf-8", "replace"))
        body += _figures(program, result, left)
    return f"<section><h2>{escape(program.task_names[task])}</h2>\n{body}</section>\n" if body else ""


def _columns(program: Program, task: str, board: Mapping[str, float], result: TaskResult | None) -> str:
    """The task's columns of the board, but for the primary one, which the page shows at its head."""
    columns = [c for c in program.columns[1:] if c.task == task and c.key in board and not c.hidden]
    rows = "".join(
        f'<tr><th scope="row"><span>{escape(column.title)}</span><span class="soft">{escape(column.meaning)} '
        f'<span class="better">{_direction(column)}</span></span>'
        f"{_distances(program, column, board) if result or column.computation else ''}</th>"
        f'<td class="number">{_score(column, board)}</td><td class="number soft">{_worst(column)}</td></tr>\n'
        for column in columns
    )
    if not rows:
        return ""
    return (
        ("" if result else '<p class="soft">Not entered: the worst values are shown instead of scores.</p>\n')
        + '<table class="scores"><thead><tr><th scope="col">Metric</th><th scope="col" class="number">Score</th>'
        f'<th scope="col" class="number">Worst</th></tr></thead>\n<tbody>{rows}</tbody></table>\n'
    )


def _figures(program: Program, result: TaskResult, left: int) -> str:
    if program.details not in ("full", "all"):
        return ""
    min_items = 1 if program.details == "all" else program.details_min_items
    decimals = DECIMALS if program.score_decimals is None else program.score_decimals
    body = ""
    for drawn, figure in enumerate(result.figures):
        html = figure_html(figure, min_items, decimals)
        left -= len(html.encode("utf-8", "replace"))
        if left < 0:
            return body + (
                f'<p class="soft">{len(result.figures) - drawn} more figures would make this page too long.</p>\n'
            )
        body += html
    return body


def _further(program: Program, result: TaskResult, shown: Shown) -> str:
    """The metrics that neither the board nor a figure shows, folded away."""
    values, rows = shown
    on_board = {id(result.metrics[column.key]) for column in program.columns if column.key in result.metrics}
    drawn = program.details in ("full", "all")
    metrics = [
        (name, metric)
        for name, metric in result.metrics.items()
        if name in values and metric.value is not None and not (metric.drawn and drawn) and id(metric) not in on_board
    ]
    if not metrics:
        return ""
    lines = "".join(
        f'<tr><th scope="row">{label_html(name)}</th><td class="number">{_figure(program, metric)}</td>'
        f'<td class="number soft">{metric.rows if name in rows else ""}</td></tr>\n'
        for name, metric in metrics[:MAX_FURTHER]
    )
    more = len(metrics) - MAX_FURTHER
    where = "" if program.scores_hidden else " in details.json"
    note = f'<p class="soft">… and {more} more{where}.</p>' if more > 0 else ""
    return (
        f"<details><summary>Further metrics ({len(metrics)})</summary>\n"
        '<p class="soft">Over: how many units a metric is averaged over or counted among.</p>\n<table><thead><tr>'
        '<th scope="col">Name</th><th scope="col" class="number">Value</th><th scope="col" class="number">Over</th>'
        f"</tr></thead>\n<tbody>{lines}</tbody></table>{note}</details>\n"
    )


def _figure(program: Program, metric: Metric) -> str:
    if metric.value is None or isinstance(metric.value, int):
        return str(metric.value)
    return number(program.rounded(metric.value))
