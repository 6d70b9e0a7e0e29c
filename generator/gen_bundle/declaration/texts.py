"""YAML values as texts."""

from typing import Any


def text_of(value: Any) -> str | None:
    """A YAML scalar as labels compare: 1 as "1", true as "true"; None for what is not a scalar."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else None
