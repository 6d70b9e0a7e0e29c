"""Everything in which two bundles differ."""

from gen_bundle.check.bundle import Bundle
from gen_bundle.difference.changes import PARTS, Difference
from gen_bundle.difference.files import file_changes
from gen_bundle.difference.settings import competition_changes, leaderboard_changes, phase_changes, task_changes
from gen_bundle.difference.texts import text_changes

ASPECTS = (competition_changes, text_changes, phase_changes, task_changes, leaderboard_changes, file_changes)


def differences(old: Bundle, new: Bundle) -> list[Difference]:
    """Everything in which two bundles differ, in the order of `PARTS`."""
    found = [difference for aspect in ASPECTS for difference in aspect(old, new)]
    return sorted(found, key=lambda one: PARTS.index(one.part))
