"""Markdown as Codabench's pages show it: raw HTML stays, `$…$` and `$$…$$` become formulas (here MathML)."""

import re
from html import escape

_FENCED = re.compile(r"^(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^(?P=fence)[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_FORMULA = re.compile(r"\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$\n]+?)\$", re.DOTALL)


def page_html(text: str) -> str:
    """The HTML of a page.

    Codabench looks for formulas in the raw Markdown, before anything else, and protects only fenced blocks; so do we.
    A formula that cannot be read stands there as it was written.
    """
    from markdown_it import MarkdownIt

    formulas: list[str] = []

    def keep(match: re.Match[str]) -> str:
        formulas.append(_mathml(match))
        return f"\x02{len(formulas) - 1}\x03"

    parts: list[str] = []
    position = 0
    for fenced in _FENCED.finditer(text):
        parts += [_FORMULA.sub(keep, text[position : fenced.start()]), fenced.group()]
        position = fenced.end()
    parts.append(_FORMULA.sub(keep, text[position:]))
    html: str = MarkdownIt("commonmark", {"html": True}).enable("table").render("".join(parts))
    return re.sub(r"\x02(\d+)\x03", lambda match: formulas[int(match[1])], html)


def _mathml(match: re.Match[str]) -> str:
    from latex2mathml.converter import convert

    latex = match["block"] or match["inline"]
    try:
        mathml: str = convert(latex.strip(), display="block" if match["block"] else "inline")
    except Exception:
        return f"<code>{escape(match.group())}</code>"
    return mathml
