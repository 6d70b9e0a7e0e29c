"""Output of the verbs: messages and tables for people, coloured and moving only on a terminal; JSON for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.plain_text import in_lines, one_line

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod
    from rich.table import Table

LOG_CHARACTERS = 200  # width of what is not read on a terminal


def say(text: str, style: str = "") -> None:
    """Print a line for people, coloured on terminals that can; nothing in it steers the terminal."""
    colour = None if colour_wanted() else False  # None: where it is a terminal
    click.secho(in_lines(text), err=True, fg=style or None, color=colour)


def say_each(texts: Iterable[object], style: str = "", *, before: str = "") -> None:
    """Print a line for each text, with the same beginning."""
    for text in texts:
        say(f"{before}{text}", style)


def print_json(value: Any) -> None:
    """Print a result as JSON, for programs; paths as text."""
    click.echo(json.dumps(value, indent=1, ensure_ascii=False, default=os.fspath))


def colour_wanted() -> bool:
    """Return whether colour is right on a terminal: NO_COLOR is not set (no-color.org), and the terminal has any."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def say_error(error: UserError) -> None:
    """Print the messages and the advice of an error."""
    say_each(error.messages, "red", before="error: ")
    if error.more:
        say(f"… and {error.more} more.")
    if len(error.messages) > 1:
        say(f"{len(error.messages) + error.more} errors.")
    if error.advice:
        say(error.advice)


@contextmanager
def spinner(text: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal that work goes on; the value, called with a text, changes what is shown."""
    if not is_terminal():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    # As a Text: brackets in a file's name are not markup.
    with Console(stderr=True).status(text) as status:
        yield lambda step: status.update(Text(one_line(step)))


@contextmanager
def progress_bar(text: str, *columns: str) -> Iterator[tuple[Callable[[str], None], Callable[[str, int, int], None]]]:
    """On a terminal a bar, and lines above it; else the lines alone.

    The values print a line, and show a step with how much of it is done, and how much there is in all (0: unknown).

    Args:
        text: the first step.
        columns: what is shown after the bar, as classes of `rich.progress`.
    """
    if not is_terminal():
        yield say, lambda *_: None
        return
    from rich import progress
    from rich.console import Console
    from rich.text import Text

    shown = [progress.TextColumn("{task.description}", markup=False), progress.BarColumn()]
    shown += [getattr(progress, name)() for name in columns]
    with progress.Progress(*shown, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(text, total=None)
        yield (
            lambda line: bar.console.print(Text(one_line(line))),
            lambda step, done, total: bar.update(task, description=step, completed=done, total=total or None),
        )


def is_terminal() -> bool:
    """Return whether people read stderr as it is written."""
    return sys.stderr.isatty()


def can_answer() -> bool:
    """Return whether somebody can answer a question: stdin is a terminal."""
    return sys.stdin.isatty()


def console(*, err: bool = True) -> Console:
    """Return what tables are printed on: as wide as the terminal, or as a log may be."""
    from rich.console import Console

    on_terminal = is_terminal() if err else sys.stdout.isatty()
    return Console(stderr=err) if on_terminal else Console(stderr=err, width=LOG_CHARACTERS)


def table(title: str, heads: Sequence[str], lines: Iterable[Sequence[str]], *, names: int) -> Table:
    """Return a table whose first columns hold `names`; the others hold figures, which are aligned to the right."""
    from rich.markup import escape
    from rich.table import Table

    made = Table(title=escape(one_line(title)) or None, title_justify="left")
    for place, head in enumerate(heads):
        side: JustifyMethod = "left" if place < names else "right"
        made.add_column(escape(one_line(head)), overflow="fold", justify=side)
    for line in lines:
        made.add_row(*(escape(one_line(cell)) for cell in line))
    return made
