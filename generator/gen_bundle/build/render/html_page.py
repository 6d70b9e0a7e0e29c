"""HTML pages of our own, each one file: every value is escaped, and a missing one is an error."""

import base64
import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

Functions = Mapping[str, Callable[..., object]]
MARK_WITHIN = 2000
"""A page's first bytes, which hold its mark."""


def html_page(template: Path, filters: Functions, values: Mapping[str, object], script: str = "") -> str:
    """The page of a template, which also gets `style`, the text of the CSS file of its name, `policy` and `script`.

    Args:
        template: a file `NAME.html.j2`, with `NAME.css` beside it.
        filters: by the names that the template calls them by.
        values: what the template shows, and functions that it calls.
        script: the only one that runs on the page.
    """
    environment = _environment(template.parent)
    environment.filters |= dict(filters)
    style = template.with_name(template.name.replace(".html.j2", ".css")).read_text(encoding="utf-8")
    return environment.get_template(template.name).render(values, style=style, policy=_policy(script), script=script)


def is_marked(file: Path, mark: bytes) -> bool:
    """Return whether a page holds `mark` in its head: then it is one of ours, which may be replaced."""
    with file.open("rb") as page:
        return mark in page.read(MARK_WITHIN)


@cache
def _environment(folder: Path) -> Environment:
    """Kept, because compiling a template takes longer than all else about its page."""
    return Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _policy(script: str) -> str:
    """A content security policy under which nothing is loaded, and no script runs but this one."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    runs = f"script-src 'sha256-{digest}'; " if script else ""
    return f"default-src 'none'; {runs}style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
