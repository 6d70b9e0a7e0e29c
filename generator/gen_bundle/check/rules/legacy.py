"""The old format (CodaLab 1.5) as Codabench reads it, its pages and phases; and bundles that the server exported."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import UNPACKER, Problem, Topic
from gen_bundle.check.rules.shared import NOT_SORTABLE, as_found, sorting_error
from gen_bundle.codabench.fields import MISSING, as_boolean, shown
from gen_bundle.codabench.reading import old_phases
from gen_bundle.codabench.stages import Stage
from gen_bundle.codabench.versions import SOURCE

EXPORTS = Topic("The server's own exports", f"{SOURCE}, src/apps/competitions/tasks.py (create_competition_dump)")
COMMENT = re.compile(r"^\s*#", re.MULTILINE)
OLD = Topic("The old format", f"{UNPACKER}/v1.py", reads="v1", stage=Stage.PHASES)


@EXPORTS.trap("server-export", "an export of the server")
def _server_export(bundle: Bundle) -> Iterator[Problem]:
    """It does not hold all of the competition: times of day, the primary column (0 again), public data, starting kits
    and `ingestion_only_during_scoring` are lost, and a task of several phases occurs several times.
    → Upload the original bundle if there is one (the server keeps it beside its exports), or add what is lost: quoted
    times, `primary_index`, `public_data`, `starting_kit`.
    """
    tasks, phases = bundle.entries("tasks"), bundle.entries("phases")
    # the server writes these keys into each task and each phase; people write comments, and name what it leaves out
    keys_of_server = all("is_public" in t.value for t in tasks) and all("solutions" in p.value for p in phases)
    kept = any({"public_data", "starting_kit"} & set(phase.value) for phase in phases)
    by_hand = kept or (bundle.document is not None and COMMENT.search(bundle.document.text))
    if tasks and phases and keys_of_server and not by_hand:
        yield Problem("the bundle is the server's own export", ("version",))


@OLD.refused("old-html", "old format: `html` is missing or not a mapping with terms", stage=Stage.PAGES)
def _old_html(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `HTML pages could not be found in the yaml file` or `A file containing the terms …`.
    → Give `html` as a mapping of page titles to files, one of them `terms`. A bundle of the new format needs `version:
    2` instead.
    """
    html = bundle.yaml.get("html", MISSING)
    if not isinstance(html, Mapping):
        yield Problem(f"html is {as_found(html)}, and must be a mapping", ("html",))
    elif "terms" not in html:
        yield Problem("html has no page called terms", ("html",))


def _all_phases(bundle: Bundle) -> list[tuple[Any, Mapping[Any, Any]]]:
    """The phases by their keys, in their order in competition.yaml."""
    return [(key, phase) for key, phase in bundle.mapping(("phases",)).items() if isinstance(phase, Mapping)]


@OLD.refused("old-phases", "old format: `phases` is missing, empty or not a mapping of phases")
def _old_phases_wrong(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `No phases could be found for this competition` or a bare error.
    → Give `phases` as a mapping from numbers to phases, at least one besides a parallel parent.
    """
    phases = bundle.yaml.get("phases", MISSING)
    if not isinstance(phases, Mapping) or not phases:
        what = f"phases is {as_found(phases)}, and must be a mapping with at least one phase"
        yield Problem(what, ("phases",), order=(-2,))
        return
    others = {key: phase for key, phase in phases.items() if not isinstance(phase, Mapping)}
    for key, phase in others.items():
        yield Problem(f"phase {key} is {shown(phase)}, and must be a mapping", ("phases", key), order=(-2,))
    if not old_phases(bundle) and not others:
        yield Problem("the only phase is a parallel parent, which is dropped", ("phases",), order=(10_000,))


@OLD.refused("old-phase-key-missing", "old format: a phase without phasenumber, label or start_date")
def _old_phase_key_missing(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with the bare name of the key, such as `'start_date'`. → Add the key."""
    for key, phase in _all_phases(bundle):
        if "phasenumber" not in phase:
            yield Problem(f"phase {key} has no phasenumber", ("phases", key), order=(-1,))
    for number, (at, phase) in enumerate(old_phases(bundle)):
        for place, name in enumerate(("start_date", "label")):
            if name not in phase:
                yield Problem(f"phase {at[1]} has no {name}", at, order=(number, place))


@OLD.refused(
    "old-phase-numbers-mixed",
    "old format: phase numbers that cannot be sorted",
    f"{NOT_SORTABLE} → Number the phases 1, 2, 3 ….",
)
def _old_phase_numbers_mixed(bundle: Bundle) -> Iterator[Problem]:
    error = sorting_error(phase["phasenumber"] for _, phase in _all_phases(bundle) if "phasenumber" in phase)
    if error:
        yield Problem(f"the phases' numbers cannot be compared: {error}", ("phases",), order=(-1,))


@OLD.trap("old-parent-dropped", "old format: parallel phases")
def _old_parent_dropped(bundle: Bundle) -> Iterator[Problem]:
    """The first phase, taken for the parent, is dropped, and the others follow one another.
    → Use the new format, with tasks of one phase or a competition for each track.
    """
    if len(old_phases(bundle)) < len(_all_phases(bundle)):
        yield Problem("the first phase is dropped, since phases are marked as parallel", ("phases",))


@OLD.trap("old-phases-lose-a-day", "old format: several phases")
def _old_phases_lose_a_day(bundle: Bundle) -> Iterator[Problem]:
    """Each phase ends one day before the next one starts. → Use the new format, in which phases have ends."""
    for phase in bundle.competition.phases[:-1]:
        if phase.end.moment is not None:
            yield Problem(f"phase {phase.name} ends {phase.end.moment:%Y-%m-%d}, one day before the next one", phase.at)


@OLD.broken("old-phase-without-scorer", "old format: a phase without a scoring program")
def _old_phase_without_scorer(bundle: Bundle) -> Iterator[Problem]:
    """It is accepted, but every submission fails. → Add `scoring_program`."""
    for phase in bundle.competition.phases:
        if "scoring_program" not in phase.tasks[0].files:
            yield Problem(f"phase {phase.name} has no scoring program", phase.at)


@OLD.trap("old-text-counts-as-true", "old format: a text or number where true or false is meant")
def _old_text_counts_as_true(bundle: Bundle) -> Iterator[Problem]:
    """Here any text counts as true, even `"false"` and `"no"`: registration needs approval, or phases count as
    parallel.
    → Write true or false, without quotes.
    """
    places = [("has_registration",), *(("phases", key, "is_parallel_parent") for key, _ in _all_phases(bundle))]
    for at in places:
        value = bundle.value(at)
        if value and as_boolean(value) is not True:
            yield Problem(f"{at[-1]} is {shown(value)}, which counts as true", at)


@OLD.note("old-format", "old format: CodaLab 1.5")
def _old_format(bundle: Bundle) -> Iterator[Problem]:
    """It is read as far as Codabench knows its keys; many are ignored. → Convert it with `gen-bundle convert`."""
    if "html" in bundle.yaml:
        yield Problem("the bundle is in the format of CodaLab 1.5", ("html",))
