"""Figures as tables with inline SVG bars: one thing to read for eyes, keyboards and screen readers alike."""

import math
from collections.abc import Sequence
from dataclasses import replace
from html import escape

from scoring_kit.report.withholding import OTHERS, open_bars, open_counts, open_matrix
from scoring_kit.results import Bar, BarChart, ConfusionMatrix, CountBars, Figure

MAX_BARS = 40
DECIMALS = 2
"""Of a figure's values: what is needed to compare them, since every digit gives something of the gold away."""
MAX_LABEL = 80
MAX_NAMES = 5


def figure_html(figure: Figure, min_items: int, decimals: int) -> str:
    """The HTML of a figure, without what has fewer than `min_items` scored items, with at most so many decimals."""
    decimals = min(decimals, DECIMALS)
    if isinstance(figure, BarChart):
        body = _bar_chart(figure, min_items, decimals)
    elif isinstance(figure, ConfusionMatrix):
        body = _confusion_matrix(figure, min_items)
    else:
        body = _count_bars(figure, min_items, decimals)
    return f"<figure><figcaption>{escape(figure.title)}</figcaption>\n{body}</figure>\n"


def label_html(label: str) -> str:
    """A label, cut where it is very long, that may break after an underscore."""
    return escape(cut(label)).replace("_", "_<wbr>")


def cut(label: str) -> str:
    """A label of a length that can be read."""
    return label if len(label) <= MAX_LABEL else label[: MAX_LABEL - 1] + "…"


def number(value: float | None, decimals: int = 3) -> str:
    """A number as text; an en dash where there is none."""
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
    values = [bar.value for bar in bars if bar.value is not None and math.isfinite(bar.value)]
    top = max(values, default=1.0) if chart.top is None else chart.top
    rows = "".join(row if isinstance(row, str) else _bar_row(row, top) for row in _excerpt(bars, chart.better))
    notes = f"{chart.better.capitalize()} is better. The axis runs from 0 to {top:g}. Items: {chart.items}."
    return (
        f'{_note(notes + _left_out(chart.bars, shown, min_items))}<table class="bars"><thead><tr><th scope="col">Label'
        '</th><th scope="col" class="number">Value</th><th scope="col" class="number">Items</th></tr></thead>\n'
        f"<tbody>{rows}</tbody></table>\n"
    )


def _left_out(bars: Sequence[Bar], shown: Sequence[Bar], min_items: int) -> str:
    """Which bars are not shown, and why each of them is not."""
    drawn = set(shown)
    hidden = [bar for bar in bars if bar not in drawn]
    reasons = {
        "no items": [bar for bar in hidden if bar.items == 0],
        f"fewer than {min_items} items": [bar for bar in hidden if 0 < bar.items < min_items],
        "from which the others could be computed": [bar for bar in hidden if bar.items >= min_items],
    }
    texts = [f"{_names(found)} ({reason})" for reason, found in reasons.items() if found]
    return f" Not shown: {'; '.join(texts)}." if texts else ""


def _names(bars: Sequence[Bar]) -> str:
    names = ", ".join(cut(bar.label) for bar in bars[:MAX_NAMES])
    return names if len(bars) <= MAX_NAMES else f"{names} and {len(bars) - MAX_NAMES} more"


def _excerpt(bars: Sequence[Bar], better: str) -> list[Bar | str]:
    """All bars in their order, or, of very many, the weakest and the strongest and a line about the rest."""
    if len(bars) <= MAX_BARS:
        return list(bars)

    def strength(bar: Bar) -> float:
        value = bar.value if bar.value is not None and math.isfinite(bar.value) else -math.inf
        return value if better == "higher" else -value

    ranked = sorted(bars, key=strength)
    middle = ranked[MAX_BARS // 2 : -MAX_BARS // 2]
    values = [bar.value for bar in middle if bar.value is not None and math.isfinite(bar.value)]
    line = f"{len(middle)} more in between"
    if values:
        mean = math.fsum(values) / len(values)
        line += f": {number(min(values), DECIMALS)} to {number(max(values), DECIMALS)}, mean {number(mean, DECIMALS)}"
    return [
        '<tr><th scope="rowgroup" colspan="3">The weakest:</th></tr>\n',
        *ranked[: MAX_BARS // 2],
        f'<tr><th scope="rowgroup" colspan="3">{line}. The strongest:</th></tr>\n',
        *ranked[-MAX_BARS // 2 :],
    ]


def _bar_row(bar: Bar, top: float) -> str:
    drawn = _svg(f'<rect class="bar" width="{_percent(bar.value, top)}%" height="8"/>')
    return (
        f"<tr>{_head(bar.label, drawn)}"
        f'<td class="number">{number(bar.value, DECIMALS)}</td><td class="number soft">{bar.items}</td></tr>\n'
    )


def _percent(value: float | None, top: float) -> str:
    """How much of the axis a value takes; what is beyond its ends is drawn to the end."""
    share = value / top if value is not None and math.isfinite(value) and top > 0 else 0.0
    return f"{100 * min(max(share, 0.0), 1.0):.1f}"


def _head(label: str, drawn: str) -> str:
    return f'<th scope="row"><div><span>{label_html(label)}</span>{drawn}</div></th>'


def _svg(shapes: str) -> str:
    return (
        f'<svg aria-hidden="true" width="100%" height="8"><rect class="track" width="100%" height="8"/>{shapes}</svg>'
    )


def _confusion_matrix(matrix: ConfusionMatrix, min_items: int) -> str:
    shown = open_matrix(matrix, min_items)
    if shown is None:
        return _withheld(min_items)
    heads = "".join(f'<th scope="col"><span>{label_html(label)}</span></th>' for label in shown.predicted_labels)
    rows = "".join(_matrix_row(shown, i) for i in range(len(shown.gold_labels)))
    notes = "Rows: gold. Columns: predicted. The stronger a cell's colour, the larger its share of the row."
    if OTHERS in (*shown.gold_labels, *shown.predicted_labels):
        notes += f" Labels with fewer than {min_items} items are put together."
    return (
        f'{_note(notes)}<div class="scroll" role="region" tabindex="0" aria-label="{escape(matrix.title)}">'
        f'<table class="matrix"><thead><tr><th scope="col">Gold</th>{heads}<th scope="col"><span>all</span></th></tr>'
        f"</thead>\n<tbody>{rows}</tbody></table></div>\n"
    )


def _matrix_row(matrix: ConfusionMatrix, i: int) -> str:
    counts, label = matrix.counts[i], matrix.gold_labels[i]
    total = sum(counts)
    cells = ""
    for predicted, count in zip(matrix.predicted_labels, counts, strict=True):
        right = ' class="right"' if predicted == label != OTHERS else ""
        share = count / total if total else 0.0
        cells += f'<td{right} style="--share:{share:.2f}">{count}</td>'
    return f'<tr><th scope="row">{label_html(label)}</th>{cells}<td class="soft">{total}</td></tr>\n'


def _count_bars(counts: CountBars, min_items: int, decimals: int) -> str:
    shown = open_counts(counts, min_items)
    if shown is None:
        return _withheld(min_items)
    longest = max(tp + fp + fn for _, tp, fp, fn in shown.rows)
    rows = "".join(_count_row(row, longest, decimals) for row in shown.rows)
    notes = "F1 = 2·TP / (2·TP + FP + FN)."
    if shown.rows[-1][0] == OTHERS:
        notes += f" Types with fewer than {min_items} predicted or gold items are put together."
    legend = "".join(
        f'<li><svg aria-hidden="true" width="12" height="12"><rect class="{kind}" width="12" height="12"/></svg> '
        f"{meaning} ({kind.upper()})</li>"
        for kind, meaning in (("tp", "true positives"), ("fp", "false positives"), ("fn", "false negatives"))
    )
    heads = "".join(f'<th scope="col" class="number">{name}</th>' for name in ("TP", "FP", "FN", "F1"))
    return (
        f'<ul class="legend">{legend}</ul>{_note(notes)}<table class="bars counts"><thead><tr>'
        f'<th scope="col">Type</th>{heads}</tr></thead>\n<tbody>{rows}</tbody></table>\n'
    )


def _count_row(row: tuple[str, float, float, float], longest: float, decimals: int) -> str:
    label, *counts = row
    tp, fp, fn = counts
    shapes, left = "", 0.0
    for kind, count in zip(("tp", "fp", "fn"), counts, strict=True):
        shapes += (
            f'<rect class="{kind}" x="{_percent(left, longest)}%" width="{_percent(count, longest)}%" height="8"/>'
        )
        left += count
    cells = "".join(f'<td class="number">{round(count, 2):g}</td>' for count in counts)
    return (
        f"<tr>{_head(label, _svg(shapes))}{cells}"
        f'<td class="number">{number(2 * tp / (2 * tp + fp + fn), decimals)}</td></tr>\n'
    )
