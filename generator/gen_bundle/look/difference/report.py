"""Everything in which two bundles differ, and how people and programs read it."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import RuleEffect
from gen_bundle.check.run import findings_of
from gen_bundle.look.difference.changes import (
    PARTS,
    Difference,
    Effect,
    competition_changes,
    leaderboard_changes,
    phase_changes,
    task_changes,
    text_changes,
)
from gen_bundle.look.difference.files import file_changes
from scoring_kit.base.texts import counted

ASPECTS = (competition_changes, text_changes, phase_changes, task_changes, leaderboard_changes, file_changes)
EFFECTS = list(Effect)
MAX_DETAIL = 12
MAX_VALUE = 200
ACCEPTED = "accepted"


def differences(old: Bundle, new: Bundle) -> list[Difference]:
    """Return everything in which two bundles differ, in the order of `PARTS`."""
    found: list[Difference] = []
    for aspect in ASPECTS:
        found += aspect(old, new)
    return sorted(found, key=lambda one: PARTS.index(one.part))


def verdicts(old: Bundle, new: Bundle) -> list[Difference]:
    """Return the difference between two bundles of which Codabench refuses one."""
    before, after = _verdict(old), _verdict(new)
    if ACCEPTED not in (before, after) or before == after:
        return []
    return [Difference("competition", "", "what Codabench makes of it", Effect.EDIT, before, after)]


def _verdict(bundle: Bundle) -> str:
    found = findings_of(bundle, RuleEffect.REFUSED)
    return f"refused: {found[0].what}" if found else ACCEPTED


@dataclass
class DifferenceCause:
    """A difference that several items share.

    Attributes:
        items: those that it concerns.
        kits: the starting kits that have it, too.
    """

    difference: Difference
    items: list[str] = field(default_factory=list)
    kits: list[str] = field(default_factory=list)

    @property
    def weight(self) -> int:
        return EFFECTS.index(self.difference.effect)


def as_text(found: Sequence[Difference]) -> str:
    """Return the differences by part, the weightiest part first, and what their effects mean; "The same." without any.

    What is the same in several tasks, phases or kits is one line.
    """
    if not found:
        return "The same.\n"
    by_part: dict[str, list[DifferenceCause]] = {}
    causes = _causes(found)
    for cause in sorted(causes, key=lambda cause: -cause.weight):
        by_part.setdefault(cause.difference.part, []).append(cause)
    lines: list[str] = []
    for part, of_part in by_part.items():
        lines.append(part)
        for cause in of_part:
            detail = cause.difference.detail
            lines.append(f"  {cause.difference.effect.key:5}  {_headline(cause)}")
            for line in detail[:MAX_DETAIL]:
                lines.append(f"         {line}")
            if detail[MAX_DETAIL:]:
                lines.append(f"         … and {len(detail) - MAX_DETAIL} more lines")
    counts = Counter(cause.difference.effect for cause in causes)
    lines += ["", f"{counted(len(causes), 'difference')}:"]
    for effect in Effect:
        if counts[effect]:
            lines.append(f"  {effect.key:5} {counts[effect]:4}  {effect.value}")
    return "\n".join(lines) + "\n"


def as_lines(found: Sequence[Difference]) -> list[str]:
    """Return the differences, a line each with its part; one that several tasks, phases or kits share is one line."""
    return [f"{cause.difference.part}: {_headline(cause)}" for cause in _causes(found)]


def _causes(found: Sequence[Difference]) -> list[DifferenceCause]:
    """Equal differences of several items as one, those of starting kits with the programs that they are copies of."""
    causes: dict[object, DifferenceCause] = {}
    in_programs: dict[object, DifferenceCause] = {}
    for one in sorted(found, key=lambda one: one.part == "starting kits"):
        what = (one.what, one.old, one.new, one.detail)
        if one.part == "starting kits" and what in in_programs:
            in_programs[what].kits.append(one.item)
            continue
        cause = causes.setdefault((one.part, one.effect, *what), DifferenceCause(one))
        cause.items.append(one.item)
        if one.part == "programs":
            in_programs.setdefault(what, cause)
    return sorted(causes.values(), key=lambda cause: PARTS.index(cause.difference.part))


def _headline(cause: DifferenceCause) -> str:
    """Which items differ in what, with the value on each side."""
    one, end = cause.difference, ""
    if one.part == "programs":
        ends = {item.rpartition(": ")[2] for item in cause.items}
        if len(ends) == 1:
            end = f": {ends.pop()}"
    named = ", ".join(item.removesuffix(end) for item in cause.items) + end
    line = f"{one.what}{_values(one)}"
    if named:
        line = f"{named}: {line}"
    if cause.kits:
        kits = "kit" + "s" * (len(cause.kits) > 1)
        line += f" (also in the starting {kits} of {', '.join(cause.kits)})"
    return line


def _values(one: Difference) -> str:
    if one.old is None and one.new is None:
        return ""
    if one.old is None and str(one.new).startswith(("{", "[{")):
        return " added"
    if one.new is None and str(one.old).startswith(("{", "[{")):
        return " removed"
    return f": {_short(one.old)} → {_short(one.new)}"


def _short(value: str | None) -> str:
    if value is None:
        return "nothing"
    line = " ".join(value.split())
    if len(line) > MAX_VALUE:
        return f"{line[:MAX_VALUE]}…"
    return line


def as_json(found: Sequence[Difference]) -> str:
    """Return the differences as programs read them."""
    value = {"same": not found, "differences": [one.as_dict() for one in found]}
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
