"""Options that several verbs have, and what they lead to: the platform's version, an engine, a live server."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gen_bundle.cli.messages import is_terminal, progress_bar, say
from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.ground.errors import UserError
from gen_bundle.live.credentials import PUBLIC_SITE

if TYPE_CHECKING:
    from gen_bundle.dry_run.engines import Engine
    from gen_bundle.live.connection import Connection

Option = Callable[[Callable[..., Any]], Callable[..., Any]]
PATH = click.Path(path_type=Path)
THERE = click.Path(path_type=Path, exists=True)
FOLDER = click.Path(path_type=Path, file_okay=False)


class Verb(click.Command):
    """A verb whose rare options stand below the others in its help.

    Args:
        advanced: the names of those options' parameters.
    """

    def __init__(self, *given: Any, advanced: Sequence[str] = (), **named: Any) -> None:
        super().__init__(*given, **named)
        self.advanced = frozenset(advanced)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under two headings."""
        usual: list[tuple[str, str]] = []
        rare: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                (rare if parameter.name in self.advanced else usual).append(record)
        for heading, records in (("Options", usual), ("Advanced options", rare)):
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def declared_ids(kind: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Complete the ids of `phases` or `tasks` that the project among the arguments declares."""

    def complete(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
        from gen_bundle.build.package.resolve import find_competition
        from gen_bundle.declaration.source import items_of, mapping_of, read_source

        # Where an option without its value follows, click leaves what was typed before it in `args`.
        typed = context.params.get("source") or context.params.get("competition") or next(iter(context.args), "")
        try:
            folder = find_competition(str(typed))
        except UserError:
            return []
        declared = items_of(read_source(folder / "bundle.yaml").data.get(kind))
        ids = [str(mapping_of(one).get("id", "")) for one in declared]
        return [name for name in ids if name.startswith(begun)]

    return complete


def platform_version_option(help_: str, **more: Any) -> Option:
    """`--platform-version`; the help says what follows it."""
    return click.option(
        "--platform-version",
        "version",
        type=click.Choice([version.value for version in PlatformVersion]),
        callback=lambda _context, _option, value: value and PlatformVersion(value),
        help=help_,
        **more,
    )


platform_version = platform_version_option("The Codabench version to follow.", default=NEWEST.value)
trust_option: Option = click.option(
    "--trust", is_flag=True, help="Run code of others on this machine without isolation (docs/trust.md)."
)
engine_option: Option = click.option(
    "--engine", type=click.Choice(["docker", "process"]), help="Default: docker when an engine answers, else process."
)
python_option: Option = click.option(
    "--python",
    metavar="PATH",
    type=PATH,
    help="The interpreter with the scorer's packages, for --engine process; default: the one that runs gen-bundle.",
)
overrides_option: Option = click.option(
    "--set", "overrides", metavar="K=V", multiple=True, help="Override a value of bundle.yaml; repeatable."
)
competition_id: Option = click.argument("competition", metavar="ID", type=int)
live_phase: Option = click.option(
    "--phase", metavar="NAME", help="Only this phase: its id in the bundle or on the site, its name or index."
)
server_option: Option = click.option("--server", default=PUBLIC_SITE, help="The Codabench site.")


def json_option(help_: str) -> Option:
    """`--json`; the help says what is printed."""
    return click.option("--json", "as_json", is_flag=True, help=help_)


def live_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--server` and `--token-file`, and call the command with the `connection` that they lead to.

    It says its steps to the user. A token itself is never an option, since other users could see it.
    """

    @server_option
    @click.option("--token-file", type=PATH, help="A file with the token, instead of CODABENCH_TOKEN.")
    @wraps(command)
    def connected(server: str, token_file: Path | None, **asked: Any) -> None:
        from gen_bundle.live.connection import Connection
        from gen_bundle.live.credentials import find_token, server_address

        address = server_address(server)
        with Connection(address, find_token(address, token_file), say=say) as connection:
            command(connection=connection, **asked)

    return connected


def ask_about_strangers(bundle: Path, engine: Engine, *, trust: bool) -> None:
    """As `refuse_strangers`; on a terminal the user may say yes."""
    from gen_bundle.dry_run.engines.choose import StrangersError, refuse_strangers

    try:
        refuse_strangers(bundle, engine, trust=trust)
    except StrangersError as error:
        if not (sys.stdin.isatty() and is_terminal()):
            raise
        say(error.messages[0], "yellow")
        if not click.confirm("Run them here all the same?", err=True):
            raise SystemExit(2) from None


@contextmanager
def transfer_bar(connection: Connection, text: str) -> Iterator[None]:
    """Show on a terminal what the connection transfers meanwhile."""
    with progress_bar(text, "DownloadColumn", "TransferSpeedColumn") as (_, show):
        connection.tick = lambda done, total: show(text, done, total)
        yield
    connection.tick = lambda *_: None
