"""Options that several verbs have."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gen_bundle.cli.messages import is_terminal, say
from gen_bundle.codabench.versions import NEWEST, PlatformVersion

if TYPE_CHECKING:
    from gen_bundle.twin.engines import Engine

Option = Callable[[Callable[..., Any]], Callable[..., Any]]

platform_version: Option = click.option(
    "--platform-version",
    "version",
    type=click.Choice([version.value for version in PlatformVersion]),
    default=NEWEST.value,
    show_default=True,
    callback=lambda _context, _option, value: PlatformVersion(value),
    help="The Codabench version to follow.",
)


def ask_about_strangers(bundle: Path, engine: Engine, *, trust: bool) -> None:
    """As `refuse_strangers`; on a terminal the user may say yes."""
    from gen_bundle.twin.strangers import StrangersError, refuse_strangers

    try:
        refuse_strangers(bundle, engine, trust=trust)
    except StrangersError as error:
        if not (sys.stdin.isatty() and is_terminal()):
            raise
        say(error.messages[0], "yellow")
        if not click.confirm("Run them here all the same?", err=True):
            raise SystemExit(2) from None


trust_option: Option = click.option(
    "--trust", is_flag=True, help="Run code of others on this machine without isolation (docs/trust.md)."
)

engine_option: Option = click.option(
    "--engine", type=click.Choice(["docker", "process"]), help="Default: docker when an engine answers, else process."
)

python_option: Option = click.option(
    "--python",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="The interpreter with the scorer's packages, for --engine process; default: the one that runs gen-bundle.",
)
