"""Markdown as Codabench's pages show it: raw HTML stays, `$…$` and `$$…$$` become formulas (here MathML).

Source: Codabench 1.25, src/static/js/ours/latex_markdown_html.js: code fences are taken out first, then
formulas are looked for in the raw text, inline code and HTML included, and only then Markdown is read.
"""

import re
from functools import cache
from html import escape, unescape
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_FENCED = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)
_FORMULA = re.compile(r"\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$\n]+?)\$", re.DOTALL)
_KEPT = re.compile("\x02(\\d+)\x03")
_MATH_ATTRIBUTES = {
    "accent", "accentunder", "columnalign", "columnlines", "columnspacing", "depth", "display", "displaystyle", "fence",
    "form", "frame", "height", "linethickness", "lspace", "mathsize", "mathvariant", "maxsize", "minsize",
    "movablelimits", "notation", "rowlines", "rowspacing", "rspace", "scriptlevel", "separator", "stretchy",
    "symmetric", "voffset", "width", "xmlns",
}  # fmt: skip
# In displayed formulas these carry their bounds below and above.
_LIMIT_OPERATORS = {"∑", "∏", "⋃", "⋂", "max", "min", "sup", "inf", "lim", "argmax", "argmin"}
_WITH_LIMITS = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}


def page_html(text: str) -> str:
    """Return the HTML of a page, as untrusted as its text.

    A formula that cannot be read stays as it was written.
    """
    kept: list[str] = []

    def keep(html: str) -> str:
        kept.append(html)
        return f"\x02{len(kept) - 1}\x03"

    text = text.replace("\x02", "").replace("\x03", "")
    text = _FENCED.sub(lambda match: keep(f"<pre><code>{escape(match[2])}</code></pre>"), text)
    text = _FORMULA.sub(lambda match: keep(_formula(match)), text)
    return _KEPT.sub(lambda match: kept[int(match[1])], _markdown().render(text))


@cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def _formula(match: re.Match[str]) -> str:
    try:
        return mathml(match["block"] or match["inline"], block=bool(match["block"]))
    except Exception:
        return f"<code>{escape(match.group())}</code>"


def mathml(latex: str, *, block: bool) -> str:
    """Return a formula as MathML.

    The converter leaves texts as entities and would write them out without escaping, and knows links; so the tree is
    serialised here, with attributes that only say how it looks.
    """
    from latex2mathml.converter import convert_to_element

    display = "block" if block else "inline"
    root = convert_to_element(latex.strip(), display=display)
    for node in root.iter():
        node.text = unescape(node.text) if node.text else node.text
        for name in set(node.attrib) - _MATH_ATTRIBUTES:
            del node.attrib[name]
    for node in root.iter() if block else ():
        if node.tag in _WITH_LIMITS and (node[0].text or "").strip() in _LIMIT_OPERATORS:
            node.tag = _WITH_LIMITS[node.tag]
    return ElementTree.tostring(root, encoding="unicode")
