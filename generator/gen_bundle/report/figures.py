"""The report's figures as SVG and PDF, drawn by matplotlib."""

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gen_bundle.plain_text import one_line
from gen_bundle.report.content import ALPHA, Report, units_word
from gen_bundle.report.fonts import DEFAULT, fonts_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

INK, PAPER, LINE, ACCENT = "#000000", "#ffffff", "#8a939c", "#3d7cc2"
NAME_LENGTH = 28
ROW = 0.28
"""Inches for each team."""


@dataclass(frozen=True)
class Figure:
    """A drawn figure.

    Attributes:
        name: of its files.
        caption: what it shows.
        svg: as a file.
        pdf: as a file.
        inline: as a part of an HTML page, in the colour of its text.
    """

    name: str
    caption: str
    svg: bytes
    pdf: bytes
    inline: str


def figures(report: Report) -> Mapping[str, Mapping[str, Figure]]:
    """Task → kind (`scores`, `ranks`, `pairs`) → figure, as far as there is anything to draw."""
    return {task: dict(_of_task(task, one)) for task, one in report.tasks.items()}


def _of_task(task: str, one: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    scored = [team for team in one["teams"] if team["score"] is not None]
    own = fonts_for("".join([one["title"], *(team["team"] for team in scored)])).values()
    fonts = [font for font in dict.fromkeys(own) if font not in (None, DEFAULT)]
    if scored:
        intervals = " with their 95 % intervals" if any(team["low"] is not None for team in scored) else ""
        caption = f"{one['name']}: {one['title']} of every team{intervals}."
        yield "scores", _drawn(f"{task}-scores", caption, len(scored), fonts, lambda axes: _scores(axes, one, scored))
    places = {team["team"]: one["shares"][team["team"]] for team in scored if team["team"] in one["shares"]}
    if places:
        caption = (
            f"{one['name']}: how often each team has each rank in {one['resamples']:,} resamples of the "
            f"{units_word(one['unit'])}. The area of a dot is the share; the bar is the rank interval."
        )
        yield "ranks", _drawn(f"{task}-ranks", caption, len(places), fonts, lambda axes: _ranks(axes, scored, places))
    if one["pairs"]:
        caption = f"{one['name']}: significant differences (p after Holm below 0.05). Filled: the row's team is better "
        caption += "than the column's."
        names = [team["team"] for team in scored]
        yield "pairs", _drawn(f"{task}-pairs", caption, len(names) + 7, fonts, lambda axes: _pairs(axes, names, one))


def _scores(axes: "Axes", one: Mapping[str, Any], teams: Sequence[Mapping[str, Any]]) -> None:
    for row, team in enumerate(teams):
        if team["low"] is not None:
            axes.plot([team["low"], team["high"]], [row, row], color=ACCENT, linewidth=2, solid_capstyle="butt")
        is_ranked = team["rank"] is not None
        axes.plot(team["score"], row, "o", markersize=6, color=ACCENT, markerfacecolor=ACCENT if is_ranked else "none")
    _name_rows(axes, [team["team"] for team in teams])
    axes.set_xlabel(one["title"], parse_math=False)
    axes.grid(axis="x", color=LINE, alpha=0.4, linewidth=0.6)


def _ranks(axes: "Axes", teams: Sequence[Mapping[str, Any]], places: Mapping[str, Sequence[float]]) -> None:
    ranked = [team for team in teams if team["team"] in places]
    for row, team in enumerate(ranked):
        axes.plot([team["rank_low"], team["rank_high"]], [row, row], color=ACCENT, alpha=0.3, linewidth=4, zorder=1)
        shares = places[team["team"]]
        axes.scatter(
            [place for place, share in enumerate(shares, start=1) if share],
            [row] * sum(map(bool, shares)),
            s=[260 * share for share in shares if share],
            color=ACCENT,
            zorder=2,
        )
    _name_rows(axes, [team["team"] for team in ranked])
    most = max(len(shares) for shares in places.values())
    axes.set_xlim(0.4, most + 0.6)
    axes.set_xticks(range(1, most + 1, 1 + most // 20))
    axes.set_xlabel("Rank")
    axes.grid(axis="x", color=LINE, alpha=0.4, linewidth=0.6)


def _pairs(axes: "Axes", names: Sequence[str], one: Mapping[str, Any]) -> None:
    place = {name: number for number, name in enumerate(names)}
    size = min(9, 300 / len(names))
    for pair in one["pairs"]:
        is_first_better = (pair["difference"] > 0) == (one["sort"] == "desc")
        better, worse = (pair["a"], pair["b"]) if is_first_better else (pair["b"], pair["a"])
        filled = pair["p_holm"] < ALPHA
        axes.plot(
            place[worse],
            place[better],
            "s",
            markersize=size,
            color=ACCENT if filled else LINE,
            markerfacecolor=ACCENT if filled else "none",
        )
    _name_rows(axes, names)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_xticks(
        range(len(names)), labels=map(_short, names), rotation=90, fontsize=min(9, size + 2), parse_math=False
    )


def _name_rows(axes: "Axes", names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), labels=map(_short, names), parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)


def _short(name: str) -> str:
    text = one_line(name)
    return text if len(text) <= NAME_LENGTH else f"{text[: NAME_LENGTH - 1]}…"


def _drawn(name: str, caption: str, rows: int, fonts: Sequence[str], draw: "Callable[[Axes], None]") -> Figure:
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Drawing

    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "font.size": 9,
        "pdf.fonttype": 3 if fonts else 42,
        "font.family": [DEFAULT, *fonts],
    }
    with rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        drawing = Drawing(figsize=(6.4, 1.2 + ROW * rows), layout="constrained")
        axes = drawing.subplots()
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set_color(LINE)
        axes.tick_params(color=LINE)
        draw(axes)
        svg, pdf = _saved(drawing, "svg"), _saved(drawing, "pdf")
    return Figure(name, caption, svg, pdf, _inline(svg.decode(), caption))


def _saved(drawing: "Drawing", form: str) -> bytes:
    out = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else {"CreationDate": None}
    drawing.savefig(out, format=form, metadata=metadata)
    return out.getvalue()


def _inline(svg: str, caption: str) -> str:
    """An SVG file as an element of a page: without preamble and background, in the colour of the text around it."""
    from html import escape

    element = svg[svg.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = element.replace(f"fill: {PAPER}", "fill: none").replace(INK, "currentColor")
    return element.replace("<svg ", f'<svg role="img" aria-label="{escape(caption)}" ', 1)
