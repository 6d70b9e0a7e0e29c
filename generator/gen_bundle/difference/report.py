"""Differences as people and programs read them."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from gen_bundle.difference.changes import Difference, Effect

MAX_DETAIL = 12
MAX_VALUE = 200


def as_text(differences: Sequence[Difference]) -> str:
    """The differences by part, and what each of their effects means; "The same." without any."""
    if not differences:
        return "The same.\n"
    lines = [line for part, own in groupby(differences, lambda one: one.part) for line in _part(part, list(own))]
    counts = Counter(one.effect for one in differences)
    lines += ["", f"{len(differences)} difference{'s' if len(differences) > 1 else ''}:"]
    lines += [f"  {effect.key:5} {counts[effect]:4}  {effect.value}" for effect in Effect if counts[effect]]
    return "\n".join(lines) + "\n"


def _part(part: str, differences: Sequence[Difference]) -> Iterator[str]:
    yield part
    for one in differences:
        item = f"{one.item}: " if one.item else ""
        yield f"  {one.effect.key:5}  {item}{one.what}{_values(one)}"
        yield from (f"         {line}" for line in one.detail[:MAX_DETAIL])
        if one.detail[MAX_DETAIL:]:
            yield f"         … and {len(one.detail) - MAX_DETAIL} more lines"


def _values(one: Difference) -> str:
    if one.old is None and one.new is None:
        return ""
    old, new = ("nothing" if value is None else _short(value) for value in (one.old, one.new))
    return f": {old} → {new}"


def _short(value: str) -> str:
    line = " ".join(value.split())
    return line if len(line) <= MAX_VALUE else f"{line[:MAX_VALUE]}…"


def as_json(differences: Sequence[Difference]) -> str:
    """The differences as programs read them."""
    value = {"same": not differences, "differences": [one.as_dict() for one in differences]}
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
