"""Options that several verbs have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gen_bundle.codabench.versions import NEWEST, PlatformVersion

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

engine_option: Option = click.option(
    "--engine", type=click.Choice(["docker", "process"]), help="Default: docker when an engine answers, else process."
)

python_option: Option = click.option(
    "--python",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="The interpreter with the scorer's packages, for --engine process; default: the one that runs gen-bundle.",
)

trust_option: Option = click.option(
    "--trust",
    is_flag=True,
    help="Run code of others with your rights, where this machine cannot keep it apart (docs/worker-twin.md).",
)
