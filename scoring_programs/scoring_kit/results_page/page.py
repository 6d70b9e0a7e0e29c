"""The results page: one self-contained HTML file without script, for everybody's eyes.

Anyone may open it, so it shows what the phase's `details` allow; never gold, never the content of the submission.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from scoring_kit.errors import cut, first_of
from scoring_kit.program import Program, ScoreColumn
from scoring_kit.results import Bar, BarChart, ConfusionMatrix, CountBars, Figure, Metric, TaskResult, share
from scoring_kit.results_page.withholding import OTHERS, Shown, names_of, open_bars, open_counts, open_matrix

STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
"""System fonts, one column, light and dark, from 360 pixels up."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
MAX_FACT = 120
NO_BOUND = 1e6
"""A worst value of this or more says nothing to readers."""


def document(kind: str, title: str, facts: Mapping[str, str], body: str) -> str:
    """Return a page as HTML.

    Args:
        kind: what the page is, such as `Results`.
        title: the competition's.
        facts: what is shown below the title, name → text; empty texts are left out.
        body: HTML.
    """
    shown = ""
    for name, text in facts.items():
        if text:
            shown += f"<li>{escape(name)}: <b>{escape(cut(text, MAX_FACT))}</b></li>"
    head = f"{kind} – {title}" if title else kind
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}"><meta name="referrer" content="no-referrer">
<title>{escape(head)}</title><style>
{STYLE}</style></head>
<body><main>
<header><p class="eyebrow">{escape(kind)}</p><h1>{escape(title)}</h1><ul class="facts">{shown}</ul></header>
{body}
</main></body></html>
"""


def moment(time: datetime) -> str:
    """Return a moment for readers, to the minute."""
    time = time.astimezone(UTC)
    return f"{time.day} {time:%B %Y, %H:%M} UTC"


def failure_page(title: str, lines: Sequence[str], scored: datetime) -> str:
    """Return the page as HTML, of a message without a word of gold; the title is empty where it is not known."""
    first, *rest = lines
    problems = "".join(f"<p>{escape(line)}</p>\n" for line in rest)
    body = f'<section class="note"><h2>{escape(first)}</h2>\n{problems}</section>'
    return document("Not scored", title or "Scoring", {"Run": moment(scored)}, body)


MAX_BYTES = 250_000
MAX_WARNINGS = 50
MAX_WARNING = 300
MAX_FURTHER = 100
MAX_BASELINES = 5
# A value quoted from a submission, as `scoring_kit.errors.shown` writes it; a message may have been cut within it.
QUOTED = re.compile('"[^"]*("|$)')


@dataclass(frozen=True)
class RunFacts:
    """The facts of a run that a page shows besides its results.

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
    """Return the page as HTML, the same for the same arguments, below 300 kB.

    `results` has every task that the submission entered, and `shown` which of its metrics may be shown.
    """
    phase = program.phase["name"] if program.phase else ""
    facts = {"Phase": phase, "Submission": run.submission, "Scored": moment(run.scored)}
    remarks = _warnings(run.warnings, has_log=not program.scores_hidden)
    if not program.shows_scores:
        body = "<p>The submission was scored. The scores of this phase are not shown here.</p>\n" + remarks
        return document("Results", program.title, facts, body)
    board = program.with_computed(scores)
    left = MAX_BYTES - len(remarks.encode("utf-8", "replace"))
    sections = ""
    for task in program.tasks:
        result = results.get(task)
        section = _columns(program, task, board, result)
        if result:
            section += _further(program, result, shown[task])
            section += _figures(program, result, left - len(section.encode("utf-8", "replace")))
        if section:
            section = f"<section><h2>{escape(program.task_names[task])}</h2>\n{section}</section>\n"
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
    kind, remark, distances = "primary", "Decides the rank.", _distances(program, column, board)
    if not entered:
        kind, remark, distances = "primary absent", f"Not entered: the worst value, {column.worst:g}, is shown.", ""
    return (
        f'<section class="{kind}"><h2>{escape(column.title)}</h2>'
        f"<strong>{_score(column, board)}</strong>\n"
        f'<p class="soft">{escape(column.meaning)} <span class="better">{_direction(column)}</span>. {remark}</p>\n'
        f"{distances}</section>\n"
    )


def _distances(program: Program, column: ScoreColumn, board: Mapping[str, float]) -> str:
    """How far the score is from those of the baselines, both as the board rounds them."""
    own = round(board[column.key], column.precision)
    texts = []
    for name, scores in list(program.baselines.items())[:MAX_BASELINES]:
        if column.key not in scores:
            continue
        by = own - round(program.rounded(scores[column.key]), column.precision)
        size = number(abs(by), column.decimals)
        if by == 0:
            texts.append(f"the same as {name}")
        elif (by > 0) == (column.sort == "desc"):
            texts.append(f"{size} better than {name}")
        else:
            texts.append(f"{size} worse than {name}")
    if not texts:
        return ""
    text = "; ".join(texts)
    return f'<p class="soft">{escape(text[0].upper() + text[1:])}.</p>'


def _score(column: ScoreColumn, board: Mapping[str, float]) -> str:
    return number(round(board[column.key], column.precision), column.decimals)


def _bound(column: ScoreColumn) -> str:
    """The worst score in words; nothing where it is but a huge number."""
    if column.worst is None or abs(column.worst) >= NO_BOUND:
        return ""
    return f". No score is {'below' if column.sort == 'desc' else 'above'} {column.worst:g}."


def _direction(column: ScoreColumn) -> str:
    return "↑ higher is better" if column.sort == "desc" else "↓ lower is better"


def _warnings(warnings: Sequence[str], *, has_log: bool) -> str:
    if not warnings:
        return ""
    items, quotes = "", False
    for text in warnings[:MAX_WARNINGS]:
        shown = cut(QUOTED.sub('"…"', text), MAX_WARNING)
        quotes = quotes or shown != text
        items += f"<li>{escape(shown)}</li>\n"
    more = len(warnings) - MAX_WARNINGS
    if more > 0:
        items += f"<li>… and {more} more</li>\n"
    left_out = ""
    if quotes or more > 0:
        in_log = "; its log quotes them" if has_log else ""
        left_out = f'<p class="soft">Values of the submission are left out here{in_log}.</p>'
    return f'<section class="note"><h2>Warnings</h2><ul>{items}</ul>{left_out}</section>\n'


def _columns(program: Program, task: str, board: Mapping[str, float], result: TaskResult | None) -> str:
    """The task's columns of the board, but for the primary one, which the page shows at its head."""
    rows = ""
    for column in program.columns[1:]:
        if column.task != task or column.key not in board or column.hidden:
            continue
        distances = _distances(program, column, board) if result or column.computation else ""
        rows += (
            f'<tr><th scope="row"><span>{escape(column.title)}</span><span class="soft">{escape(column.meaning)} '
            f'<span class="better">{_direction(column)}</span>{_bound(column)}</span>{distances}</th>'
            f'<td class="number">{_score(column, board)}</td></tr>\n'
        )
    if not rows:
        return ""
    absent = "" if result else '<p class="soft">Not entered: the worst values are shown instead of scores.</p>\n'
    return absent + _table("scores", ("Metric", "Score"), rows)


def _table(kind: str, heads: Sequence[str], rows: str) -> str:
    """A table of what is in its first column, and figures."""
    first, *others = heads
    figures = "".join([f'<th scope="col" class="number">{other}</th>' for other in others])
    head = f'<tr><th scope="col">{first}</th>{figures}</tr>'
    return f'<table class="{kind}"><thead>{head}</thead>\n<tbody>{rows}</tbody></table>\n'


def _figures(program: Program, result: TaskResult, left: int) -> str:
    """The figures in at most about `left` bytes: those beyond that are left out and counted."""
    if program.details not in ("full", "all"):
        return ""
    min_items = 1 if program.details == "all" else program.details_min_items
    decimals = DECIMALS if program.score_decimals is None else program.score_decimals
    body = ""
    for drawn, figure in enumerate(result.figures):
        html = figure_html(_titled(program, figure), min_items, decimals)
        left -= len(html.encode("utf-8", "replace"))
        if left < 0:
            return body + (
                f'<p class="soft">{len(result.figures) - drawn} more figures would make this page too long.</p>\n'
            )
        body += html
    return body


def _titled(program: Program, figure: Figure) -> Figure:
    """The figure; one of a column's groups is called by its title, which may say already by what they are."""
    if isinstance(figure, BarChart):
        for column in program.columns:
            if column.key == figure.column:
                title = column.title if figure.title in column.title else f"{column.title} {figure.title}"
                return replace(figure, title=title)
    return figure


def _further(program: Program, result: TaskResult, shown: Shown) -> str:
    """The metrics that neither the board nor a figure shows, folded away."""
    values, rows = shown
    metrics = _beside_board_and_figures(program, result, values)
    if not metrics:
        return ""
    lines = ""
    for name, metric in metrics[:MAX_FURTHER]:
        over = metric.rows if name in rows else ""
        value = str(metric.value)  # of a count
        if metric.value is not None and not isinstance(metric.value, int):
            value = number(program.rounded(metric.value))
        lines += (
            f'<tr><th scope="row">{label_html(name)}</th><td class="number">{value}</td>'
            f'<td class="number soft">{over}</td></tr>\n'
        )
    found = len(metrics)
    note = ""
    if found > MAX_FURTHER:
        where = "" if program.scores_hidden else " in details.json"
        note = f'<p class="soft">… and {found - MAX_FURTHER} more{where}.</p>'
    return (
        f"<details><summary>Further metrics ({found})</summary>\n"
        '<p class="soft">Over: how many units a metric is averaged over or counted among.</p>\n'
        f"{_table('further', ('Name', 'Value', 'Over'), lines)}{note}</details>\n"
    )


def _beside_board_and_figures(program: Program, result: TaskResult, names: set[str]) -> list[tuple[str, Metric]]:
    """Those of the named metrics that have a value which is shown nowhere else."""
    on_board = names_of(result.metrics, program.keys)
    has_figures = program.details in ("full", "all")
    metrics = []
    for name, metric in result.metrics.items():
        is_drawn = metric.drawn and has_figures
        if name in names and metric.value is not None and not is_drawn and name not in on_board:
            metrics.append((name, metric))
    return metrics


MAX_BARS = 40
DECIMALS = 2
"""Of a figure's values: what is needed to compare them, since every digit gives something of the gold away."""
MAX_LABEL = 80
MAX_NAMES = 5


def figure_html(figure: Figure, min_items: int, decimals: int) -> str:
    """Return the HTML of a figure without what has fewer than `min_items` items, with at most so many decimals."""
    decimals = min(decimals, DECIMALS)
    if isinstance(figure, BarChart):
        body = _bar_chart(figure, min_items, decimals)
    elif isinstance(figure, ConfusionMatrix):
        body = _confusion_matrix(figure, min_items)
    else:
        body = _count_bars(figure, min_items, decimals)
    return f"<figure><figcaption>{escape(figure.title)}</figcaption>\n{body}</figure>\n"


def label_html(label: str) -> str:
    """Return a label, cut where it is very long, that may break after an underscore."""
    return escape(cut(label, MAX_LABEL)).replace("_", "_<wbr>")


def number(value: float | None, decimals: int = 3) -> str:
    """Return a number as text; an en dash where there is none."""
    return "–" if value is None or not math.isfinite(value) else f"{value:.{decimals}f}"


def _note(text: str) -> str:
    return f'<p class="soft">{escape(text)}</p>\n'


def _withheld(min_items: int) -> str:
    return _note(f"Not shown: every part of this figure has fewer than {min_items} scored items.")


def _bar_chart(chart: BarChart, min_items: int, decimals: int) -> str:
    shown = open_bars(chart.bars, min_items)
    if not shown:
        return _withheld(min_items)
    # rounded before anything is drawn: the length of a bar has digits, too
    bars = [bar if bar.value is None else replace(bar, value=round(bar.value, decimals)) for bar in shown]
    top = max(_finite(bars), default=1.0) if chart.top is None else chart.top
    rows = ""
    parts: list[tuple[str, Sequence[Bar]]] = [("", bars)]
    if len(bars) > MAX_BARS:
        parts = _ends(bars, chart.better)
    for title, some in parts:
        if title:
            rows += f'<tr><th scope="rowgroup" colspan="3">{title}:</th></tr>\n'
        for bar in some:
            shape = f'<rect class="bar" width="{_percent(bar.value, top)}%" height="8"/>'
            rows += (
                f"<tr>{_head(bar.label, shape)}"
                f'<td class="number">{number(bar.value, DECIMALS)}</td><td class="number soft">{bar.items}</td></tr>\n'
            )
    notes = f"{chart.better.capitalize()} is better. The axis runs from 0 to {top:g}."
    heads = (escape(_capital(chart.of)), "Value", escape(_capital(chart.items)))
    return _note(notes + _left_out(chart.bars, shown, min_items)) + _table("bars", heads, rows)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _finite(bars: Sequence[Bar]) -> list[float]:
    """The values of bars that have one."""
    return [bar.value for bar in bars if bar.value is not None and math.isfinite(bar.value)]


def _left_out(bars: Sequence[Bar], shown: Sequence[Bar], min_items: int) -> str:
    """Which bars are not shown, and why each of them is not."""
    drawn = set(shown)
    none, few, others = "no items", f"fewer than {min_items} items", "from which the others could be computed"
    hidden: dict[str, list[Bar]] = {none: [], few: [], others: []}
    for bar in bars:
        if bar in drawn:
            continue
        if bar.items == 0:
            hidden[none].append(bar)
        elif bar.items < min_items:
            hidden[few].append(bar)
        else:
            hidden[others].append(bar)
    texts = []
    for reason, found in hidden.items():
        if found:
            names = first_of(found, MAX_NAMES, lambda bar: cut(bar.label, MAX_LABEL))
            texts.append(f"{names} ({reason})")
    return f" Not shown: {'; '.join(texts)}." if texts else ""


def _ends(bars: Sequence[Bar], better: str) -> list[tuple[str, Sequence[Bar]]]:
    """The weakest and the strongest of very many bars, each with a title, which says something of the rest."""

    def strength(bar: Bar) -> float:
        (value,) = _finite([bar]) or [-math.inf]
        return value if better == "higher" else -value

    ranked = sorted(bars, key=strength)
    middle = ranked[MAX_BARS // 2 : -MAX_BARS // 2]
    line = f"{len(middle)} more in between"
    if values := _finite(middle):
        mean = math.fsum(values) / len(values)
        line += f": {number(min(values), DECIMALS)} to {number(max(values), DECIMALS)}, mean {number(mean, DECIMALS)}"
    return [("The weakest", ranked[: MAX_BARS // 2]), (f"{line}. The strongest", ranked[-MAX_BARS // 2 :])]


def _percent(value: float | None, top: float) -> str:
    """How much of the axis a value takes; what is beyond its ends is drawn to the end."""
    if value is None or not math.isfinite(value) or top <= 0:
        return "0.0"
    return f"{100 * min(max(value / top, 0.0), 1.0):.1f}"


def _head(label: str, shapes: str) -> str:
    """The head of a row: its label, with shapes drawn below it."""
    track = '<rect class="track" width="100%" height="8"/>'
    drawn = f'<svg aria-hidden="true" width="100%" height="8">{track}{shapes}</svg>'
    return f'<th scope="row"><div><span>{label_html(label)}</span>{drawn}</div></th>'


def _confusion_matrix(matrix: ConfusionMatrix, min_items: int) -> str:
    shown = open_matrix(matrix, min_items)
    if shown is None:
        return _withheld(min_items)
    heads = "".join(f'<th scope="col"><span>{label_html(label)}</span></th>' for label in shown.predicted_labels)
    rows = ""
    for label, counts in zip(shown.gold_labels, shown.counts, strict=True):
        total, cells = sum(counts), ""
        for predicted, count in zip(shown.predicted_labels, counts, strict=True):
            right = ' class="right"' if predicted == label != OTHERS else ""
            cells += f'<td{right} style="--share:{share(count, total):.2f}">{count}</td>'
        rows += f'<tr><th scope="row">{label_html(label)}</th>{cells}<td class="soft">{total}</td></tr>\n'
    notes = "Rows: gold. Columns: predicted. The stronger a cell's colour, the larger its share of the row."
    if OTHERS in (*shown.gold_labels, *shown.predicted_labels):
        notes += f" Labels with fewer than {min_items} items are put together."
    return (
        f'{_note(notes)}<div class="scroll" role="region" tabindex="0" aria-label="{escape(matrix.title)}">'
        f'<table class="matrix"><thead><tr><th scope="col">Gold</th>{heads}<th scope="col"><span>all</span></th></tr>'
        f"</thead>\n<tbody>{rows}</tbody></table></div>\n"
    )


def _count_bars(counts: CountBars, min_items: int, decimals: int) -> str:
    shown = open_counts(counts, min_items)
    if shown is None:
        return _withheld(min_items)
    longest = max(tp + fp + fn for _, tp, fp, fn in shown.rows)
    rows = ""
    for label, tp, fp, fn in shown.rows:
        shapes, cells, left = "", "", 0.0
        for kind, count in zip(("tp", "fp", "fn"), (tp, fp, fn), strict=True):
            start, width = _percent(left, longest), _percent(count, longest)
            shapes += f'<rect class="{kind}" x="{start}%" width="{width}%" height="8"/>'
            cells += f'<td class="number">{round(count, 2):g}</td>'
            left += count
        f1 = number(2 * tp / (2 * tp + fp + fn), decimals)
        rows += f'<tr>{_head(label, shapes)}{cells}<td class="number">{f1}</td></tr>\n'
    notes = "F1 = 2·TP / (2·TP + FP + FN)."
    if shown.rows[-1][0] == OTHERS:
        notes += f" Types with fewer than {min_items} predicted or gold items are put together."
    legend = "".join(
        f'<li><svg aria-hidden="true" width="12" height="12"><rect class="{kind}" width="12" height="12"/></svg> '
        f"{meaning} ({kind.upper()})</li>"
        for kind, meaning in (("tp", "true positives"), ("fp", "false positives"), ("fn", "false negatives"))
    )
    counted = _table("bars counts", (_capital(counts.of), "TP", "FP", "FN", "F1"), rows)
    return f'<ul class="legend">{legend}</ul>{_note(notes)}{counted}'
