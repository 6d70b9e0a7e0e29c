"""Differences as people and programs read them."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from gen_bundle.difference.changes import PARTS, Difference, Effect

MAX_DETAIL = 12
MAX_VALUE = 200


def as_text(differences: Sequence[Difference]) -> str:
    """The differences by part, the weightiest part first, and what their effects mean; "The same." without any.

    What is the same in several tasks, phases or kits is one line.
    """
    if not differences:
        return "The same.\n"
    causes = _causes(differences)
    parts = sorted(
        {part: None for part, *_ in causes}, key=lambda part: -max(_weight(c) for c in causes if c[0] == part)
    )
    lines: list[str] = []
    for part in parts:
        own = [cause for cause in causes if cause[0] == part]
        lines += [part, *(line for cause in sorted(own, key=_weight, reverse=True) for line in _lines(cause))]
    counts = Counter(one.effect for _, _, one, _ in causes)
    lines += ["", f"{len(causes)} difference{'s' if len(causes) > 1 else ''}:"]
    lines += [f"  {effect.key:5} {counts[effect]:4}  {effect.value}" for effect in Effect if counts[effect]]
    return "\n".join(lines) + "\n"


Cause = tuple[str, list[str], Difference, list[str]]
"""The part, the items that it concerns, the difference, and the starting kits that have it, too."""


def _causes(differences: Sequence[Difference]) -> list[Cause]:
    """Equal differences of several items as one, those of starting kits with the programs that they are copies of."""
    found: dict[object, Cause] = {}
    in_programs: dict[object, Cause] = {}
    for one in sorted(differences, key=lambda one: one.part == "starting kits"):
        what = (one.what, one.old, one.new, one.detail)
        program = in_programs.get(what)
        if one.part == "starting kits" and program is not None:
            program[3].append(one.item)
            continue
        cause = found.setdefault((one.part, one.effect, *what), (one.part, [], one, []))
        cause[1].append(one.item)
        if one.part == "programs":
            in_programs.setdefault(what, cause)
    return sorted(found.values(), key=lambda cause: PARTS.index(cause[0]))


def _weight(cause: Cause) -> int:
    return list(Effect).index(cause[2].effect)


def _lines(cause: Cause) -> Iterator[str]:
    _, items, one, kits = cause
    ends = {item.rpartition(": ")[2] if one.part == "programs" else "" for item in items}
    end = f": {ends.pop()}" if len(ends) == 1 and one.part == "programs" else ""
    named = ", ".join(item.removesuffix(end) for item in items) + end
    also = f" (also in the starting kit{'s' if len(kits) > 1 else ''} of {', '.join(kits)})" if kits else ""
    yield f"  {one.effect.key:5}  {f'{named}: ' if named else ''}{one.what}{_values(one)}{also}"
    yield from (f"         {line}" for line in one.detail[:MAX_DETAIL])
    if one.detail[MAX_DETAIL:]:
        yield f"         … and {len(one.detail) - MAX_DETAIL} more lines"


def _values(one: Difference) -> str:
    if one.old is None and one.new is None:
        return ""
    if one.old is None and str(one.new).startswith(("{", "[{")):
        return " added"
    if one.new is None and str(one.old).startswith(("{", "[{")):
        return " removed"
    old, new = ("nothing" if value is None else _short(value) for value in (one.old, one.new))
    return f": {old} → {new}"


def _short(value: str) -> str:
    line = " ".join(value.split())
    return line if len(line) <= MAX_VALUE else f"{line[:MAX_VALUE]}…"


def as_json(differences: Sequence[Difference]) -> str:
    """The differences as programs read them."""
    value = {"same": not differences, "differences": [one.as_dict() for one in differences]}
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
