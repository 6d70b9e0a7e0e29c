"""Figures as SVG and PDF, drawn by matplotlib; and fonts that have the letters of names.

The default font of figures knows but a part of all scripts.
"""

import contextlib
import importlib
import io
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, PAPER, LINE, ACCENT = "#000000", "#ffffff", "#8a939c", "#3d7cc2"
DEFAULT = "DejaVu Sans"
COMMON = ("Noto Sans CJK SC", "Noto Serif CJK SC", "WenQuanYi Micro Hei", "IPAexGothic", "Noto Sans", "FreeSans")
"""Looked at first where several fonts have a letter."""
WIDTH = 4.4
"""Inches: letters of nine points are readable where that is a column of a paper, or the width of a phone."""
LAST_RESORT = ("Last Resort", "LastResort")
DATES = {"svg": "Date", "pdf": "CreationDate"}
"""Where a file would say when it was drawn, which is left out: the same figure is the same bytes."""


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


def drawn(name: str, caption: str, height: float, letters: str, draw: "Callable[[Axes], None]") -> DrawnFigure:
    """Return the figure that `draw` makes, so many inches high, with fonts for the letters."""
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
        drawing = Drawing(figsize=(WIDTH, height), layout="constrained")
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
        f"No installed font has the letters {shown}: the figures have boxes in their place, and report.tex numbers in "
        "place of the names. Install a font that has them, such as fonts-noto-cjk, and make the report again."
    )


@cache
def _font(letter: str) -> str | None:
    for name, path in _installed():
        if ord(letter) in _letters(path):
            return name
    return None


@cache
def _installed() -> list[tuple[str, str]]:
    """(name, file) of every font: the default one first, then common ones, then by name.

    Without fonts of last resort, such as matplotlib's own, which have a box for every letter.
    """
    _library()
    from matplotlib.font_manager import fontManager

    order = {name: place for place, name in enumerate((DEFAULT, *COMMON))}
    regular = set()
    for one in fontManager.ttflist:
        if one.style == "normal" and one.weight in (400, "normal") and not one.name.startswith(LAST_RESORT):
            regular.add((one.name, one.fname))
    return sorted(regular, key=lambda one: (order.get(one[0], len(order)), one))


@cache
def _letters(path: str) -> Any:
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(path).get_charmap())
