"""What the verbs for the live platform share: the server and the token, and a bar for files on their way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gen_bundle.cli.messages import progress_bar, say
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
    with Connection(address, find_token(address, token_file), say=say) as connection:
        yield connection


@contextmanager
def transfer_bar(text: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on a terminal; call the value with bytes done and bytes in all (0: unknown)."""
    with progress_bar(text, "DownloadColumn", "TransferSpeedColumn") as (_, show):
        yield lambda done, total: show(text, done, total)
