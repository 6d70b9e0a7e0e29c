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
        if len(error.messages) > 1:
            say(f"{len(error.messages)} errors.")
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


def is_terminal() -> bool:
    """Whether people read stderr as it is written."""
    return sys.stderr.isatty()
