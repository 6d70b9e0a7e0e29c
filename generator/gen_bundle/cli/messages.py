"""Messages of the commands for people: on stderr, coloured and moving only on a terminal."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from gen_bundle.errors import UserError
from gen_bundle.plain_text import in_lines, one_line


def say(text: str, style: str = "") -> None:
    """Print a line for people, coloured on terminals that can; nothing in it steers the terminal."""
    click.secho(in_lines(text), err=True, fg=style or None, color=None if colour_wanted() else False)


def colour_wanted() -> bool:
    """Whether colour is right on a terminal: NO_COLOR is not set (no-color.org), and the terminal has any."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@contextmanager
def user_errors() -> Iterator[None]:
    """Turn a UserError into its messages on stderr and its exit status."""
    try:
        yield
    except UserError as error:
        for message in error.messages:
            say(f"error: {message}", "red")
        if error.more:
            say(f"… and {error.more} more.")
        if len(error.messages) > 1:
            say(f"{len(error.messages) + error.more} errors.")
        if error.advice:
            say(error.advice)
        raise SystemExit(error.status) from None


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
    """Whether people read stderr as it is written."""
    return sys.stderr.isatty()


def can_answer() -> bool:
    """Whether somebody can answer a question: stdin is a terminal."""
    return sys.stdin.isatty()
