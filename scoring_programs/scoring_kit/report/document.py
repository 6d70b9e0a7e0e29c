"""The frame of a page: one self-contained HTML file without script."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path

STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
"""System fonts, one column, light and dark, from 360 pixels up."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
MAX_FACT = 120


def document(kind: str, title: str, facts: Mapping[str, str], body: str) -> str:
    """A page as HTML.

    Args:
        kind: what the page is, such as `Results`.
        title: the competition's.
        facts: what is shown below the title, name → text; empty texts are left out.
        body: HTML.
    """
    shown = "".join(
        f"<li>{escape(name)}: <b>{escape(text if len(text) <= MAX_FACT else text[: MAX_FACT - 1] + '…')}</b></li>"
        for name, text in facts.items()
        if text
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}"><meta name="referrer" content="no-referrer">
<title>{escape(f"{kind} – {title}" if title else kind)}</title><style>
{STYLE}</style></head>
<body><main>
<header><p class="eyebrow">{escape(kind)}</p><h1>{escape(title)}</h1><ul class="facts">{shown}</ul></header>
{body}
</main></body></html>
"""


def moment(time: datetime) -> str:
    """A moment for readers, to the minute."""
    time = time.astimezone(UTC)
    return f"{time.day} {time:%B %Y, %H:%M} UTC"


def failure_page(title: str, lines: Sequence[str], scored: datetime) -> str:
    """The page as HTML.

    Args:
        title: the competition's; empty where it is not known.
        lines: the message, without a word of gold.
        scored: when the run ended.
    """
    first, *rest = lines
    problems = "".join(f"<p>{escape(line)}</p>\n" for line in rest)
    body = f'<section class="note"><h2>{escape(first)}</h2>\n{problems}</section>'
    return document("Not scored", title or "Scoring", {"Run": moment(scored)}, body)
