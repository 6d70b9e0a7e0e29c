"""Reference data where participants can read them: whole files, columns, labels tied to ids, and gold texts."""

from __future__ import annotations

from collections.abc import Iterator

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.leaks.planting import unnoticed
from gen_bundle.check.leaks.search import found_leaks
from gen_bundle.check.leaks.visible import visible_files
from gen_bundle.check.registry import HOUSE, Effect, Problem, rule
from gen_bundle.check.report import UNSEEN
from gen_bundle.codabench.versions import SOURCE

SEEN = f"{SOURCE}, which files participants can download"
REPAIR = "Take the reference data out of everything that participants get; keep them in `reference_data` alone."


def _problems(bundle: Bundle, *, secret_programs: bool) -> Iterator[Problem]:
    for leak in found_leaks(bundle):
        # a program that is known to hold what its maker calls secret is a mistake in any case
        hidden = leak.seen.channel == "program" and not bundle.competition.programs_available and bundle.secrets is None
        if hidden == secret_programs:
            yield Problem(f"{leak.seen.channel} {leak.seen.name} {leak.what}", leak.seen.at)


@rule(
    "leak",
    Effect.TRAP,
    title="reference data where participants can read them",
    consequence="Participants see the gold labels.",
    repair=REPAIR,
    source=SEEN,
    reads="both",
)
def _leak(bundle: Bundle) -> Iterator[Problem]:
    return _problems(bundle, secret_programs=False)


@rule(
    "leak-behind-a-switch",
    Effect.NOTE,
    title="reference data in a program that participants cannot download yet",
    consequence="As soon as `make_programs_available` is switched on, participants see the gold labels.",
    repair=REPAIR,
    source=SEEN,
    reads="both",
)
def _leak_behind_a_switch(bundle: Bundle) -> Iterator[Problem]:
    return _problems(bundle, secret_programs=True)


@rule(
    UNSEEN,
    Effect.TRAP,
    title="gold that the search for leaks would not find, as its scoring package names it",
    consequence="If it got into what participants can read, nobody would notice.",
    repair="Let `secrets()` of the scoring package name it: labels as pairs of an item's id and its label as they "
    "stand in the data; texts one by one; files by name. Files that participants may have go under `published`.",
    source=HOUSE,
    reads="both",
)
def _gold_would_not_be_found(bundle: Bundle) -> Iterator[Problem]:
    # only who builds a bundle names secrets, and can name them better
    if bundle.secrets is not None:
        yield from (Problem(f"planted in the public data, {what} would not be found") for what in unnoticed(bundle))


@rule(
    "not-looked-into",
    Effect.NOTE,
    title="a file for participants that could not be looked into",
    consequence="Nobody knows whether gold is in it.",
    repair="Pack it as a zip without a password, or make sure yourself that no gold is in it.",
    source=HOUSE,
    reads="both",
)
def _not_looked_into(bundle: Bundle) -> Iterator[Problem]:
    for seen in visible_files(bundle):
        if seen.closed and seen.channel != "program":
            yield Problem(f"{seen.channel} {seen.name} is {seen.closed}", seen.at)
