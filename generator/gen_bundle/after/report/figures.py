"""The report's figures as SVG and PDF, drawn by matplotlib; and fonts that have the letters of teams' names.

The default font of figures knows but a part of all scripts.
"""

import contextlib
import importlib
import io
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gen_bundle.after.report.content import ALPHA, NAME, FinalReport, units_word
from gen_bundle.ground.plain_text import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, PAPER, LINE, ACCENT = "#000000", "#ffffff", "#8a939c", "#3d7cc2"
DEFAULT = "DejaVu Sans"
COMMON = ("Noto Sans CJK SC", "Noto Serif CJK SC", "WenQuanYi Micro Hei", "IPAexGothic", "Noto Sans", "FreeSans")
"""Looked at first where several fonts have a letter."""
NAME_LENGTH = 28
ROW = 0.28
"""Inches for each team."""
DATES = {"svg": "Date", "pdf": "CreationDate"}
"""Where a file would say when it was drawn, which is left out: the same report is the same bytes."""


@dataclass(frozen=True)
class DrawnFigure:
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


def figures(report: FinalReport) -> Mapping[str, Mapping[str, DrawnFigure]]:
    """Task → kind (`scores`, `ranks`, `pairs`) → figure, as far as there is anything to draw."""
    return {task: dict(_of_task(task, one)) for task, one in report.tasks.items()}


def _of_task(task: str, one: Mapping[str, Any]) -> Iterator[tuple[str, DrawnFigure]]:
    scored = [team for team in one["teams"] if team["score"] is not None]
    names = list(map(NAME, scored))
    letters = "".join([one["title"], *names])
    if scored:
        caption = f"{one['name']}: {one['title']} of every team"
        if any(team["low"] is not None for team in scored):
            caption += " with their 95 % intervals"
        draw = partial(_scores, one=one, teams=scored)
        yield "scores", _drawn(f"{task}-scores", f"{caption}.", len(scored), letters, draw)
    ranked = [team for team in scored if team["team"] in one["shares"]]
    if ranked:
        caption = (
            f"{one['name']}: how often each team has each rank in {one['resamples']:,} resamples of the "
            f"{units_word(one['unit'])}. The area of a dot is the share; the bar is the rank interval."
        )
        draw = partial(_ranks, ranked=ranked, shares=one["shares"])
        yield "ranks", _drawn(f"{task}-ranks", caption, len(ranked), letters, draw)
    if one["pairs"]:
        caption = f"{one['name']}: significant differences (p after Holm below 0.05). Filled: the row's team is better "
        caption += "than the column's."
        yield "pairs", _drawn(f"{task}-pairs", caption, len(names) + 7, letters, partial(_pairs, names=names, one=one))


def _scores(axes: "Axes", one: Mapping[str, Any], teams: Sequence[Mapping[str, Any]]) -> None:
    for row, team in enumerate(teams):
        if team["low"] is not None:
            axes.plot([team["low"], team["high"]], [row, row], color=ACCENT, linewidth=2, solid_capstyle="butt")
        filled = ACCENT if team["rank"] is not None else "none"
        axes.plot(team["score"], row, "o", markersize=6, color=ACCENT, markerfacecolor=filled)
    _name_rows(axes, list(map(NAME, teams)))
    axes.set_xlabel(one["title"], parse_math=False)
    axes.grid(axis="x", color=LINE, alpha=0.4, linewidth=0.6)


def _ranks(axes: "Axes", ranked: Sequence[Mapping[str, Any]], shares: Mapping[str, Sequence[float]]) -> None:
    for row, team in enumerate(ranked):
        axes.plot([team["rank_low"], team["rank_high"]], [row, row], color=ACCENT, alpha=0.3, linewidth=4, zorder=1)
        own = shares[team["team"]]
        places = [place for place, share in enumerate(own, start=1) if share]
        areas = [260 * share for share in own if share]
        axes.scatter(places, [row] * len(places), s=areas, color=ACCENT, zorder=2)
    _name_rows(axes, list(map(NAME, ranked)))
    most = max(map(len, shares.values()))
    axes.set_xlim(0.4, most + 0.6)
    axes.set_xticks(range(1, most + 1, 1 + most // 20))
    axes.set_xlabel("Rank")
    axes.grid(axis="x", color=LINE, alpha=0.4, linewidth=0.6)


def _pairs(axes: "Axes", names: Sequence[str], one: Mapping[str, Any]) -> None:
    size = min(9, 300 / len(names))
    for pair in one["pairs"]:
        better, worse = pair["a"], pair["b"]
        if (pair["difference"] > 0) != (one["sort"] == "desc"):
            better, worse = worse, better
        colour, filled = LINE, "none"
        if pair["p_holm"] < ALPHA:
            colour = filled = ACCENT
        axes.plot(names.index(worse), names.index(better), "s", markersize=size, color=colour, markerfacecolor=filled)
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
    if len(text) > NAME_LENGTH:
        return f"{text[: NAME_LENGTH - 1]}…"
    return text


def _drawn(name: str, caption: str, rows: int, letters: str, draw: "Callable[[Axes], None]") -> DrawnFigure:
    """The figure that `draw` makes, with room for so many rows and fonts for the letters."""
    matplotlib = _library()
    from matplotlib.figure import Figure as Drawing

    own = dict.fromkeys(fonts_for(letters).values())
    fonts = [font for font in own if font not in (None, DEFAULT)]
    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "font.size": 9,
        "pdf.fonttype": 3 if fonts else 42,
        "font.family": [DEFAULT, *fonts],
    }
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(style)
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        drawing = Drawing(figsize=(6.4, 1.2 + ROW * rows), layout="constrained")
        axes = drawing.subplots()
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set_color(LINE)
        axes.tick_params(color=LINE)
        draw(axes)
        files = {}
        for form, date in DATES.items():
            out = io.BytesIO()
            drawing.savefig(out, format=form, metadata={date: None})
            files[form] = out.getvalue()
    # as an element of a page: without preamble and background, in the colour of the text around it
    text = files["svg"].decode()
    element = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    element = element.replace(f"fill: {PAPER}", "fill: none").replace(INK, "currentColor")
    inline = element.replace("<svg ", f'<svg role="img" aria-label="{escape(caption)}" ', 1)
    return DrawnFigure(name, caption, files["svg"], files["pdf"], inline)


def _library() -> Any:
    """Import matplotlib, which reads a file `matplotlibrc` of the folder that it is imported in."""
    with contextlib.chdir(Path(__file__).parent):
        return importlib.import_module("matplotlib")


def fonts_for(text: str) -> dict[str, str | None]:
    """Every letter beyond ASCII → the installed font that has it, the default one if it does; None without any."""
    fonts = {}
    for letter in dict.fromkeys(text):
        if ord(letter) > 127 and letter.isprintable():
            fonts[letter] = _font(letter)
    return fonts


def missing_note(names: Iterable[str]) -> str | None:
    """That no installed font has some letters of these names; None where all have one."""
    letters = [letter for letter, font in fonts_for("".join(names)).items() if font is None]
    if not letters:
        return None
    shown = "".join(letters[:20]) + ("…" if letters[20:] else "")
    return (
        f"No installed font has the letters {shown}: the figures have boxes in their place, and report.tex their code "
        "points. Install a font that has them, such as fonts-noto-cjk, and make the report again."
    )


@cache
def _font(letter: str) -> str | None:
    for name, path in _installed():
        if ord(letter) in _letters(path):
            return name
    return None


@cache
def _installed() -> list[tuple[str, str]]:
    """(name, file) of every font: the default one first, then common ones, then by name."""
    _library()
    from matplotlib.font_manager import fontManager

    order = {name: place for place, name in enumerate((DEFAULT, *COMMON))}
    regular = set()
    for one in fontManager.ttflist:
        if one.style == "normal" and one.weight in (400, "normal"):
            regular.add((one.name, one.fname))
    return sorted(regular, key=lambda one: (order.get(one[0], len(order)), one))


@cache
def _letters(path: str) -> Any:
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(path).get_charmap())
