"""Metrics by class, type or language, as far as a scorer gives them: `f1.Type` and `f1: Label` are a family."""

import re
from collections.abc import Mapping
from typing import Any

Values = Mapping[str, Mapping[str, "float | None"]]
"""Team → metric → value, of those that may be shown."""


def families(column: str, values: Values) -> list[dict[str, Any]]:
    """The families like a column (`f1` for `binary_f1`), or all where none is: a table of teams by groups each.

    Returns:
        For each family its `name`, the names of its `groups`, and `values`, team → one for each group; None where a
        team's value may not be shown.
    """
    found: dict[str, dict[str, None]] = {}
    for metrics in values.values():
        for name in metrics:
            family, separator, group = re.match(r"([^:.]*)([:.]?)\s*(.*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
            if separator and group:
                found.setdefault(family, {})[name] = None
    measure = column.rsplit("_", 1)[-1]
    like = {family: names for family, names in found.items() if family.rsplit("_", 1)[-1] == measure}
    return [
        {
            "name": family,
            "groups": [name[len(family) + 1 :].strip() for name in sorted(names)],
            "values": {team: [metrics.get(name) for name in sorted(names)] for team, metrics in values.items()},
        }
        for family, names in (like or found).items()
    ]
