"""The page of a run that failed: the platform loses its log more often than not, but shows this page."""

from collections.abc import Sequence
from datetime import datetime
from html import escape

from scoring_kit.report.document import document, moment


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
