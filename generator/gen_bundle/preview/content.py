"""Pages from strangers, made safe: the HTML of their Markdown without anything that acts, loads or overlays."""

import itertools
import re
from dataclasses import dataclass
from html import escape, unescape

from gen_bundle.render.markdown import page_html

MAX_CHARACTERS = 500_000


def _words(text: str) -> set[str]:
    return set(text.split())


_TEXT_TAGS = _words(
    "a abbr b blockquote br caption center cite code col colgroup dd del details dfn div dl dt em font figcaption "
    "figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp small span strike strong sub "
    "summary sup table tbody td tfoot th thead tr tt u ul var"
)
_MATH_TAGS = _words(
    "math maction menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow "
    "ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none semantics"
)
_MATH_LOOKS = _words(
    "accent accentunder columnalign columnspacing depth displaystyle fence form height linethickness lspace mathsize "
    "mathvariant maxsize minsize movablelimits notation rowspacing rspace scriptlevel separator stretchy width"
)
_ATTRIBUTES: dict[str, set[str]] = {
    "*": {"align", "dir", "lang", "style", "title", "valign"},
    "a": {"href"},
    "col": {"span"},
    "colgroup": {"span"},
    "details": {"open"},
    "img": {"alt", "src"},
    "math": {"display", "xmlns"},
    "ol": {"start", "type"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    **dict.fromkeys(_MATH_TAGS - {"math"}, _MATH_LOOKS),
}
_STYLES = _words(
    "background-color border border-bottom border-collapse border-left border-radius border-right border-top color "
    "font-size font-style font-weight line-height list-style-type padding text-align text-decoration text-transform "
    "vertical-align white-space width"
)
_GONE = {"embed", "form", "iframe", "link", "object", "script", "style", "video", "audio"}
_DATA_IMAGE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*")
_LINK = re.compile(r"(https?:|mailto:)", re.IGNORECASE)
_IMAGE = re.compile(r"<img\b([^>]*)>")
_HEADING = re.compile(r"(</?h)([1-6])(?=[\s>])")
_SCROLLED = re.compile(r'<table\b.*?</table>|<pre\b.*?</pre>|<math\b[^>]*display="block".*?</math>', re.DOTALL)
_FORMULA_HEADING = re.compile(r"<th>(<math\b(?:(?!</th>).)*</math>)</th>", re.DOTALL)
_KINDS = {"<table": "Table", "<pre": "Code", "<math": "Formula"}


@dataclass(frozen=True)
class Content:
    """A page's text, ready to be put inside ours.

    Attributes:
        html: safe HTML.
        coloured: it sets colours of its own, chosen for the platform's white pages.
        notes: what of it is not shown here, for the organiser.
    """

    html: str
    coloured: bool = False
    notes: tuple[str, ...] = ()


def safe_content(text: str, title: str, first_heading: int = 3) -> Content:
    """Render Markdown as the platform does, and take away what could reach beyond it.

    Args:
        text: Markdown with raw HTML, not to be trusted.
        title: the page's title, which names what is scrolled for screen readers.
        first_heading: the level that a first-level heading gets, 6 at most for the deepest.
    """
    import nh3

    notes = []
    if len(text) > MAX_CHARACTERS:
        notes.append(f"Only the first {MAX_CHARACTERS:,} of {len(text):,} characters are shown here.")
    html = page_html(text[:MAX_CHARACTERS])
    cleaned = nh3.clean(
        html,
        tags=_TEXT_TAGS | _MATH_TAGS,
        clean_content_tags={"script", "style"},
        attributes=_ATTRIBUTES,
        attribute_filter=_kept_attribute,
        filter_style_properties=_STYLES,
        url_schemes={"http", "https", "mailto", "data"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        strip_comments=True,
    )
    gone = sorted(tag for tag in _GONE if re.search(rf"<{tag}\b", html, re.IGNORECASE))
    if gone:
        notes.append(f"Left out of this preview: {', '.join(f'<{tag}>' for tag in gone)}.")
    coloured = re.search(r'style="[^"]*color', cleaned) is not None
    cleaned = _IMAGE.sub(_image, cleaned)
    cleaned = _HEADING.sub(lambda match: f"{match[1]}{min(int(match[2]) + first_heading - 1, 6)}", cleaned)
    cleaned = cleaned.replace("<th></th>", "<td></td>")
    cleaned = _FORMULA_HEADING.sub(_named, cleaned)
    numbers = itertools.count(1)
    cleaned = _SCROLLED.sub(lambda match: _scrolled(match[0], f"{next(numbers)} in {title}"), cleaned)
    return Content(cleaned, coloured, tuple(notes))


def _kept_attribute(tag: str, name: str, value: str) -> str | None:
    if name == "href":
        return value if _LINK.match(value.strip()) else None
    if name == "src" and value.startswith("data:"):
        return value if _DATA_IMAGE.fullmatch(value) else None
    return value


def _image(match: re.Match[str]) -> str:
    """An image inside the text stays; one on the web is not fetched, its address is shown."""
    attributes = dict(re.findall(r'(\w+)="([^"]*)"', match[1]))
    source = attributes.get("src", "")
    if source.startswith("data:"):
        return f'<img alt="{attributes.get("alt", "")}" src="{source}">'
    if _LINK.match(unescape(source)):
        where = f"{source}, not fetched here"
    else:
        where = "an address that does not work on the platform"
    alt = attributes.get("alt") or "Image"
    return f'<span class="image">{alt} <small>({where})</small></span>'


def _named(match: re.Match[str]) -> str:
    """A heading of a formula alone is read by its letters, since much software reads no MathML."""
    letters = escape(unescape(re.sub(r"<[^>]*>", "", match[1])))
    formula = match[1].replace("<math", '<math aria-hidden="true"', 1)
    return f'<th><span class="hidden">{letters}</span>{formula}</th>'


def _scrolled(html: str, place: str) -> str:
    """What may be wider than the page scrolls by itself, with the keyboard, too."""
    if html.count("<table") > 1:  # one in another: the pattern ends at the inner one's end
        return html
    kind = next(kind for start, kind in _KINDS.items() if html.startswith(start))
    label = escape(f"{kind} {place}", quote=True)
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">{html}</div>'
