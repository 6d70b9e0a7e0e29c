"""What the verbs for the live platform share: the server and the token, and a bar for files on their way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gen_bundle.cli.messages import is_terminal
from gen_bundle.live.credentials import PUBLIC_SITE

if TYPE_CHECKING:
    from gen_bundle.live.connection import Connection

Command = TypeVar("Command", bound=Callable[..., Any])

server_option = click.option("--server", default=PUBLIC_SITE, show_default=True, help="The Codabench site.")


def live_options(command: Command) -> Command:
    """Add `--server` and `--token-file`; a token itself is never an option, since other users could see it."""
    token_file = click.option(
        "--token-file", type=click.Path(path_type=Path), help="A file with the token, instead of CODABENCH_TOKEN."
    )
    return server_option(token_file(command))


@contextmanager
def connected(server: str, token_file: Path | None) -> Iterator[Connection]:
    """A connection to the server with the user's token.

    Raises:
        UserError: the address is wrong, or there is no token.
    """
    from gen_bundle.live.connection import Connection
    from gen_bundle.live.credentials import find_token, server_address

    address = server_address(server)
    with Connection(address, find_token(address, token_file)) as connection:
        yield connection


@contextmanager
def transfer_bar(text: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on a terminal; the value hears of bytes done and bytes in all (0: unknown)."""
    if not is_terminal():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(text, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total or None)
