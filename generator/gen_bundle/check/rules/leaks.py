"""Reference data where participants can read them: whole files, columns, labels tied to ids, and gold texts."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.leaks.search import found_leaks
from gen_bundle.check.leaks.secrets import is_described, secret_gold, uses_of_reference
from gen_bundle.check.leaks.visible import BYTES, Seen, foreign_files, visible_files
from gen_bundle.check.registry import HOUSE, Problem, Topic
from gen_bundle.codabench.versions import SOURCE
from gen_bundle.ground.zips.arrays import holds_array
from gen_bundle.ground.zips.tree import sha256_of

LEAKS = Topic("Leaks", f"{SOURCE}, which files participants can download", reads="both")
OURS_IN_KITS = re.compile("/template/|/examples/invalid/")
CONTENT = "/content"
"""How what is in a compressed file is called below the file itself."""
KEEPS = re.compile(
    r"(?i)(.*/)?(\.git|\.hg|\.svn|\.ipynb_checkpoints|maildir)(?=/)|.*(~|\.(bak|orig|swp|mbox|eml|pst))$"
)
REPAIR = (
    "Remove the reference data from everything that participants get; keep them in `reference_data` alone. A column "
    "that participants may have is named in `reference: {public: [COLUMN]}`."
)


def _leaks(bundle: Bundle, *, shown: bool, hidden: bool) -> Iterator[Problem]:
    """The leaks that are beyond doubt, or the others; `hidden` are those in a program that nobody can download yet."""
    # a program of our own that holds gold is a mistake in any case
    available = bundle.competition.programs_available or is_described(bundle)
    for leak in found_leaks(bundle):
        is_hidden = leak.seen.channel == "program" and not available
        if (leak.shown, is_hidden) == (shown, hidden):
            line = f", from line {leak.line}" if leak.line else ""
            doubt = "" if leak.shown else " (suspected)"
            guess = " (a guess: nobody says what is secret in this bundle)" if leak.guessed else ""
            yield Problem(f"{leak.seen.channel} {leak.seen.name} {leak.what}{line}{doubt}{guess}", leak.seen.at)


@LEAKS.trap("reference data where participants can read them", f"Participants see the gold labels. → {REPAIR}")
def _leak(bundle: Bundle) -> Iterator[Problem]:
    return _leaks(bundle, shown=True, hidden=False)


@LEAKS.suspected("what may give gold away to participants, or be right for another reason")
def _leak_suspected(bundle: Bundle) -> Iterator[Problem]:
    """Where it comes from the gold, participants can work the labels out.
    → Look at the column or text that is named. If participants may have it, nothing needs to be done.
    """
    return _leaks(bundle, shown=False, hidden=False)


@LEAKS.note(
    "reference data in a program that participants cannot download yet",
    f"As soon as `make_programs_available` is switched on, participants see the gold labels. → {REPAIR}",
)
def _leak_behind_a_switch(bundle: Bundle) -> Iterator[Problem]:
    return _leaks(bundle, shown=True, hidden=True)


@LEAKS.trap("a secret that the scoring program names and the reference data do not have", source=HOUSE)
def _secret_not_there(bundle: Bundle) -> Iterator[Problem]:
    """The secret that is meant is not searched for in what participants get.
    → Correct the name in the `secrets` of organiser.py, or take it out there.
    """
    for gold in secret_gold(bundle):
        for what, found in gold.named.items():
            if not found:
                yield Problem(f"named as secret, and not in the reference data: {what}")


@LEAKS.note("the same folder is reference data and input of participants' programs")
def _reference_is_input(bundle: Bundle) -> Iterator[Problem]:
    """Participants' programs read all of it. → Right where a score is the quality of a solution, as in optimisation;
    if there are answers in it, give the input a folder of its own.
    """
    for use in uses_of_reference(bundle, "input_data"):
        yield Problem(f"{use.path!r} is input data and reference data", use.at)


@LEAKS.trap("the same folder is reference data and something that participants get")
def _reference_is_shown(bundle: Bundle) -> Iterator[Problem]:
    """Participants read all of it, or, of a solution, what is published of it. → Give each a folder of its own."""
    for use in uses_of_reference(bundle, "solution", "public_data", "starting_kit"):
        yield Problem(f"{use.path!r} is reference data and {use.role.replace('_', ' ')}", use.at)


@LEAKS.note("a file for participants that the check could not look into", source=HOUSE)
def _not_looked_into(bundle: Bundle) -> Iterator[Problem]:
    """It may contain gold. → Make sure yourself that it contains none; pack an archive as a zip without a password."""
    alike: dict[tuple[str, str, str], list[Seen]] = defaultdict(list)
    are_compared = any(gold.arrays for gold in secret_gold(bundle))
    seen_files = foreign_files(bundle)
    own: set[str] = set()
    if is_described(bundle):  # builds write the template and examples of wrong answers from what was looked at
        for seen in seen_files:
            if seen.channel == "starting kit" and OURS_IN_KITS.search(seen.name):
                own.add(sha256_of(seen.node))
    for seen in seen_files:
        if not seen.closed or seen.channel in ("program", "logo") or sha256_of(seen.node) in own:
            continue
        if seen.closed == BYTES and are_compared and holds_array(seen.node.read(400)):
            continue  # its numbers were looked at; what it holds stands in its first bytes
        kind = PurePosixPath(seen.name.removesuffix(CONTENT)).suffix
        alike[seen.closed, seen.place, kind].append(seen)
    for (closed, *_), files in alike.items():
        more = f", and {len(files) - 1} more like it" if len(files) > 1 else ""
        yield Problem(f"{files[0].channel} {files[0].name.removesuffix(CONTENT)} is {closed}{more}", files[0].at)


@LEAKS.note("files for participants that keep what was deleted since", source=HOUSE)
def _versions_kept(bundle: Bundle) -> Iterator[Problem]:
    """Folders of version control and of notebooks' checkpoints, backups and mail may hold gold. → Take them out."""
    alike: dict[str, list[Seen]] = defaultdict(list)
    for seen in visible_files(bundle):
        if kept := KEEPS.match(seen.name):
            alike[kept[0]].append(seen)
    for place, files in alike.items():
        yield Problem(f"{files[0].channel} {place}: {len(files)} files", files[0].at)
