"""Pages from strangers: rendered as the platform does, without anything that could reach beyond them."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen_bundle.build.render.markdown import mathml, page_html
from gen_bundle.look.preview.reading import safe_content

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "handler": "<img src=x onerror=alert(1)>",
    "address": '<a href="javascript:alert(1)">x</a>',
    "entity in an address": '<a href="&#106;avascript:alert(1)">x</a>',
    "data address": '<a href="data:text/html,<script>alert(1)</script>">x</a>',
    "frame": '<iframe src="https://example.org"></iframe>',
    "object": '<object data="https://example.org"></object><embed src="https://example.org">',
    "svg": "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "style": "<style>body { display: none }</style>",
    "overlay": '<div style="position:fixed;inset:0;z-index:9;background:url(https://example.org/x)">over</div>',
    "form": '<form action="https://example.org"><input name=a autofocus onfocus=alert(1)></form>',
    "meta": '<meta http-equiv="refresh" content="0;url=https://example.org"><base href="https://example.org">',
    "picture": "![x](https://example.org/x.png)",
    "svg picture": '<img src="data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+">',
    "closing our elements": "</div></section></main></body><h1>mine</h1>",
    "formula text": r"$\text{<img src=x onerror=alert(1)>}$",
    "formula link": r"$\href{javascript:alert(1)}{x}$",
    "formula in an attribute": '<a title="$\\text{" onmouseover="alert(1)}$">x</a>',
    "unclosed formula": r"$\frac{<script>alert(1)</script>$",
    "mutation": "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></math>",
    "placeholder": "\x020\x03 \x02999\x03 $x$",
    "tables in tables": "<table><tr><td><table><tr><td>x</td></tr></table></td></tr></table>",
    "identity": '<p id="main" class="skip" name="x">x</p>',
}
FORBIDDEN = {
    *("script", "style", "link", "meta", "base", "html", "body", "main", "section"),
    *("iframe", "object", "embed", "svg", "form", "input"),
}
ADDRESSES = {"href": r"(https?:|mailto:)", "src": r"data:image/(png|jpeg|gif|webp);"}


class _Acting(HTMLParser):
    """Collects what could act, load, overlay or take the place of our own elements."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in FORBIDDEN:
            self.found.append(tag)
        self.found += [f"{tag} {name}={value}" for name, value in attrs if not self.is_harmless(name, value or "")]

    @staticmethod
    def is_harmless(name: str, value: str) -> bool:
        if name in ADDRESSES:
            return re.match(ADDRESSES[name], value) is not None
        if name == "class":
            return value in ("scroll", "image", "hidden")
        if name == "style":
            return not re.search(r"position|url\(|z-index|display", value)
        return not re.match(r"on|id$|name$|action|formaction|srcset|xlink", name)


def acting(html: str) -> list[str]:
    """What of the HTML could act; empty for what is safe."""
    parser = _Acting()
    parser.feed(html)
    return parser.found


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_acts_loads_or_overlays(name: str) -> None:
    html = safe_content(HOSTILE[name], "Page").html
    assert acting(html) == []
    assert html.count("<div") == html.count("</div")


@pytest.mark.slow
@given(
    st.lists(st.sampled_from([*HOSTILE.values(), "`", "$", "$$", "<", '"', "```\n", "\n\n", "| a |\n|---|\n", "<b>"]))
)
def test_nothing_acts_in_any_mixture(parts: list[str]) -> None:
    html = safe_content("".join(parts), "Page").html
    assert acting(html) == []


def test_what_acts_is_seen() -> None:
    hostile = [HOSTILE[name] for name in ("script", "handler", "address", "frame", "overlay", "identity")]
    assert all(acting(html) for html in hostile)


def test_says_what_it_leaves_out() -> None:
    assert safe_content(HOSTILE["frame"] + HOSTILE["script"], "Page").notes == (
        "Left out of this preview: <iframe>, <script>.",
    )
    assert "https://example.org/x.png, not fetched here" in safe_content(HOSTILE["picture"], "Page").html
    assert "does not work on the platform" in safe_content("![x](images/x.png)", "Page").html


def test_a_heading_that_is_a_formula_has_a_name() -> None:
    assert (
        '<th><span class="hidden">xi</span><math aria-hidden="true"'
        in safe_content("| $x_i$ | b |\n|---|---|\n| 1 | 2 |\n", "Page").html
    )


def test_ordinary_html_stays() -> None:
    text = '<p align="center" style="color: red; text-align: center">See <sub>2</sub> <b>bold</b></p>'
    content = safe_content(text, "Page")
    assert "<sub>2</sub>" in content.html
    assert 'align="center"' in content.html
    assert "color:red" in content.html.replace(" ", "")
    assert content.coloured


def test_headings_go_below_the_title_of_the_page() -> None:
    html = safe_content("# A\n\n## B\n\n###### C\n", "Page").html
    assert re.findall(r"<(h\d)>", html) == ["h3", "h4", "h6"]


def test_wide_things_can_be_scrolled_with_the_keyboard() -> None:
    html = safe_content("| a |\n|---|\n| 1 |\n\n$$x$$\n", "Data").html
    assert html.count('<div class="scroll" role="region" tabindex="0"') == 2
    assert 'aria-label="Table 1 in Data"' in html
    assert 'aria-label="Formula 2 in Data"' in html


@pytest.mark.parametrize(
    ("text", "formulas", "kept"),
    [
        ("a $x$ b", 1, None),
        ("$500 and $200", 1, "200"),
        ("only $5", 0, "only $5"),
        ("$a\nb$", 0, "$a\nb$"),
        ("$$a\nb$$", 1, None),
        ("inline code `$x$` is not safe", 1, None),
        ("```\n$x$ and $$y$$\n```", 0, "$x$ and $$y$$"),
        ("```python\n$x$\n```\n$y$", 1, "$x$"),
        ("&#36;5 and &#36;6", 0, "$5 and $6"),
        ("<b title='$x$'>y</b>", 1, None),
    ],
)
def test_formulas_are_found_by_the_platforms_rule(text: str, formulas: int, kept: str | None) -> None:
    html = page_html(text)
    assert html.count("<math") == formulas
    assert kept is None or kept in html


def test_a_formula_that_cannot_be_read_stands_as_it_was_written() -> None:
    assert "<code>$\\frac{$</code>" in page_html(r"$\frac{$")


def test_formulas_are_well_formed_and_escaped() -> None:
    from xml.etree import ElementTree

    root = ElementTree.fromstring(mathml(r"a < b \text{ if } \sum_{i=1}^n x_i & y", block=True))
    assert root.attrib["display"] == "block"
    tags = [node.tag.rpartition("}")[2] for node in root.iter()]
    assert "munderover" in tags
    assert "msub" in tags
