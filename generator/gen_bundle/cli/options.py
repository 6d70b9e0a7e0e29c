"""Options that several verbs have."""

from collections.abc import Callable
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
