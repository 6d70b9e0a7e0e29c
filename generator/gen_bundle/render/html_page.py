"""Templates of HTML pages of our own: every value is escaped, and a missing one is an error."""

from collections.abc import Callable, Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

Functions = Mapping[str, Callable[..., object]]


def page_template(file: Path, filters: Functions, functions: Functions | None = None) -> Template:
    """The template in `file`, with filters and functions by the names that it calls them by."""
    environment = Environment(
        loader=FileSystemLoader(file.parent),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= dict(filters)
    environment.globals |= dict(functions or {})
    return environment.get_template(file.name)
