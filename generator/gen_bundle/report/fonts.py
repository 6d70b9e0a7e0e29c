"""Fonts that have the letters of teams' names: the default one of figures knows but a part of all scripts."""

from collections.abc import Iterable
from functools import cache
from typing import Any

DEFAULT = "DejaVu Sans"
COMMON = ("Noto Sans CJK SC", "Noto Serif CJK SC", "WenQuanYi Micro Hei", "IPAexGothic", "Noto Sans", "FreeSans")
"""Looked at first where several fonts have a letter."""


def fonts_for(text: str) -> dict[str, str | None]:
    """Every letter beyond ASCII → the installed font that has it, the default one if it does; None without any."""
    return {letter: _font(letter) for letter in dict.fromkeys(text) if ord(letter) > 127 and letter.isprintable()}


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
    from matplotlib.font_manager import fontManager

    order = {name: place for place, name in enumerate((DEFAULT, *COMMON))}
    regular = {
        (one.name, one.fname) for one in fontManager.ttflist if one.style == "normal" and one.weight in (400, "normal")
    }
    return sorted(regular, key=lambda one: (order.get(one[0], len(order)), one))


@cache
def _letters(path: str) -> Any:
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(path).get_charmap())
