"""Reference data where participants can read them: whole files, columns, labels tied to ids, and gold texts."""

from collections.abc import Iterator
from functools import partial

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.leaks.planting import unnoticed
from gen_bundle.check.leaks.search import found_leaks
from gen_bundle.check.leaks.visible import visible_files
from gen_bundle.check.registry import HOUSE, Problem, Topic
from gen_bundle.check.report import LEAK, UNSEEN
from gen_bundle.codabench.versions import SOURCE

LEAKS = Topic("Leaks", f"{SOURCE}, which files participants can download", reads="both")
REPAIR = "Remove the reference data from everything that participants get; keep them in `reference_data` alone."


def _leaks(bundle: Bundle, *, not_yet_visible: bool) -> Iterator[Problem]:
    for leak in found_leaks(bundle):
        # a program with what its maker calls secret is a mistake in any case
        hidden = leak.seen.channel == "program" and not bundle.competition.programs_available and bundle.secrets is None
        if hidden is not_yet_visible:
            yield Problem(f"{leak.seen.channel} {leak.seen.name} {leak.what}", leak.seen.at)


LEAKS.trap(LEAK, "reference data where participants can read them", f"Participants see the gold labels. → {REPAIR}")(
    partial(_leaks, not_yet_visible=False)
)

LEAKS.note(
    "leak-behind-a-switch",
    "reference data in a program that participants cannot download yet",
    f"As soon as `make_programs_available` is switched on, participants see the gold labels. → {REPAIR}",
)(partial(_leaks, not_yet_visible=True))


@LEAKS.trap(UNSEEN, "gold that the search for leaks would not find, as the scoring package describes it", source=HOUSE)
def _gold_would_not_be_found(bundle: Bundle) -> Iterator[Problem]:
    # only the build passes secrets, and only there can they be described better
    """If it got into what participants can read, the check would not notice.
    → Let `secrets()` of the scoring package name it: labels as pairs of an item's id and its label, as written in the
    data; texts one by one; files by name. Files that participants may have belong in `published`.
    """
    if bundle.secrets is not None:
        yield from (Problem(f"{what} would not be found") for what in unnoticed(bundle))


@LEAKS.note("not-looked-into", "a file for participants that the check could not look into", source=HOUSE)
def _not_looked_into(bundle: Bundle) -> Iterator[Problem]:
    """It may contain gold. → Pack it as a zip without a password, or make sure yourself that it contains no gold."""
    for seen in visible_files(bundle):
        if seen.closed and seen.channel != "program":
            yield Problem(f"{seen.channel} {seen.name} is {seen.closed}", seen.at)
