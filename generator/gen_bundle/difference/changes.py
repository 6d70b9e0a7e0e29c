"""One difference between two bundles, and what it does on the platform."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Effect(Enum):
    """What becomes of a difference when the running competition is brought to the new bundle.

    Sources: Codabench's editor and board in 1.25; its page "Update programs or data"; issues #2128 and #2224.
    """

    SHOWN = "seen at once when it is saved in the competition's editor"
    EDIT = "an edit in the competition's editor; it holds for what is submitted afterwards"
    KEEP = "the task's file may be replaced at any time: no score changes, and nothing need be rerun"
    RERUN = "the task's file must be replaced and its submissions rerun; until then old scores stand beside new ones"
    FIXED = "cannot be changed for what is submitted already: submissions, and their reruns, keep their tasks"

    @property
    def key(self) -> str:
        return self.name.lower()


PARTS = (
    *("competition", "pages", "phases", "tasks", "leaderboard"),
    *("programs", "reference data", "input data", "public data", "starting kits", "solutions"),
)


@dataclass(frozen=True)
class Difference:
    """Something that is not the same in both bundles.

    Attributes:
        part: where it belongs, one of `PARTS`.
        item: which page, phase, task, column or file; empty for the competition as a whole.
        what: the setting, or what happened to the item as a whole: `added`, `removed`.
        old, new: as people read them; None where there is nothing. Reference data give counts alone.
        detail: further lines, such as the changed lines of a page.
    """

    part: str
    item: str
    what: str
    effect: Effect
    old: str | None = None
    new: str | None = None
    detail: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "part": self.part,
            "item": self.item,
            "what": self.what,
            "old": self.old,
            "new": self.new,
            "effect": self.effect.key,
            "detail": list(self.detail),
        }


Settings = Mapping[str, tuple[str | None, Effect]]
"""By name: the value as people read it, and what a change of it does."""


def changed_settings(part: str, item: str, old: Settings, new: Settings) -> Iterator[Difference]:
    """The settings of an item that is in both bundles."""
    for name in dict.fromkeys([*old, *new]):
        before, effect = old.get(name, (None, None))
        after, effect_now = new.get(name, (None, None))
        if before != after:
            yield Difference(part, item, name, effect_now or effect or Effect.EDIT, before, after)


def whole_item(part: str, item: str, is_new: bool, effect: Effect) -> Difference:
    """An item that came or went as a whole."""
    what = "added" if is_new else "removed"
    return Difference(part, item, what, effect)


@dataclass(frozen=True)
class Named:
    """An item of a bundle, with the names by which its counterpart in another bundle is recognised, surest first."""

    names: tuple[object, ...]
    value: Any

    def name(self, place: int) -> object:
        """Its name at a place among its names; None where there is none."""
        if place >= len(self.names) or self.names[place] == "":
            return None
        return self.names[place]


def paired(old: Sequence[Named], new: Sequence[Named]) -> Iterator[tuple[Any, Any]]:
    """Both sides of every item: by its first name, then by its second, and so on; (old, None) or (None, new) else."""
    partners: dict[int, Any] = {}
    free = list(new)
    most_names = max((len(one.names) for one in old), default=0)
    for rank in range(most_names):
        for place, one in enumerate(old):
            if place in partners or one.name(rank) is None:
                continue
            partner = next((other for other in free if other.name(rank) == one.name(rank)), None)
            if partner is not None:
                partners[place] = partner.value
                free.remove(partner)
    for place, one in enumerate(old):
        yield one.value, partners.get(place)
    for other in free:
        yield None, other.value
