"""`--platform-version`, for the verbs that say what the platform does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from gen_bundle.codabench.versions import NEWEST, PlatformVersion

platform_version: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--platform-version",
    type=click.Choice([version.value for version in PlatformVersion]),
    default=NEWEST.value,
    show_default=True,
    callback=lambda _context, _option, value: PlatformVersion(value),
    help="The Codabench version to follow.",
)
