"""Tables for people, on stderr."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gen_bundle.cli.messages import is_terminal
from gen_bundle.plain_text import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

LOG_CHARACTERS = 200  # width of what is not read on a terminal


def console() -> Console:
    """What tables are printed on: as wide as the terminal, or as a log may be."""
    from rich.console import Console

    return Console(stderr=True, width=None if is_terminal() else LOG_CHARACTERS)


def table(title: str, heads: Sequence[str], lines: Iterable[Sequence[str]], *, names: int) -> Table:
    """A table whose first columns hold `names`; the others hold figures, which are aligned to the right."""
    from rich.markup import escape
    from rich.table import Table

    made = Table(title=escape(one_line(title)), title_justify="left")
    for place, head in enumerate(heads):
        made.add_column(escape(one_line(head)), overflow="fold", justify="left" if place < names else "right")
    for line in lines:
        made.add_row(*(escape(one_line(cell)) for cell in line))
    return made
