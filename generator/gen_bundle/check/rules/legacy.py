"""The old format (CodaLab 1.5) as Codabench reads it: pages and phases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from gen_bundle.check.registry import UNPACKER, Effect, Problem, rule
from gen_bundle.codabench.fields import as_boolean, shown
from gen_bundle.codabench.old_competition import old_phases
from gen_bundle.codabench.stages import Stage
from gen_bundle.codabench.yaml_document import Path

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

V1 = f"{UNPACKER}/v1.py"


@rule(
    "old-html",
    Effect.REFUSED,
    Stage.PAGES,
    title="old format: html is missing or no mapping with terms",
    consequence="The upload ends with `HTML pages could not be found in the yaml file` or `A file containing the "
    "terms …`.",
    repair="Give `html` as a mapping of page titles to files, one of them `terms`. A bundle of the new format needs "
    "`version: 2` instead.",
    source=V1,
    reads="v1",
)
def _old_html(bundle: Bundle) -> Iterator[Problem]:
    html = bundle.yaml.get("html")
    if not isinstance(html, Mapping):
        yield Problem(
            f"html is {shown(html) if 'html' in bundle.yaml else 'missing'}, and must be a mapping", ("html",)
        )
    elif "terms" not in html:
        yield Problem("html has no page called terms", ("html",))


@rule(
    "old-phases",
    Effect.REFUSED,
    Stage.PHASES,
    title="old format: phases is missing, empty or no mapping of phases",
    consequence="The upload ends with `No phases could be found for this competition` or a bare error.",
    repair="Give `phases` as a mapping from numbers to phases, at least one besides a parallel parent.",
    source=V1,
    reads="v1",
)
def _old_phases_wrong(bundle: Bundle) -> Iterator[Problem]:
    phases = bundle.yaml.get("phases")
    if not isinstance(phases, Mapping) or not phases:
        what = "missing" if "phases" not in bundle.yaml else "empty" if phases == {} else shown(phases)
        yield Problem(f"phases is {what}, and must be a mapping with at least one phase", ("phases",), order=(-2,))
        return
    for key, phase in phases.items():
        if not isinstance(phase, Mapping):
            yield Problem(f"phase {key} is {shown(phase)}, and must be a mapping", ("phases", key), order=(-2,))
    if not old_phases(bundle) and all(isinstance(phase, Mapping) for phase in phases.values()):
        yield Problem("the only phase is a parallel parent, which is dropped", ("phases",), order=(10_000,))


@rule(
    "old-phase-key-missing",
    Effect.REFUSED,
    Stage.PHASES,
    title="old format: a phase without phasenumber, label or start_date",
    consequence="The upload ends with the bare name of the key, such as `'start_date'`.",
    repair="Add the key.",
    source=V1,
    reads="v1",
)
def _old_phase_key_missing(bundle: Bundle) -> Iterator[Problem]:
    phases = bundle.yaml.get("phases")
    for key, phase in phases.items() if isinstance(phases, Mapping) else ():
        if isinstance(phase, Mapping) and "phasenumber" not in phase:
            yield Problem(f"phase {key} has no phasenumber", ("phases", key), order=(-1,))
    for number, (at, phase) in enumerate(old_phases(bundle)):
        for place, name in enumerate(("start_date", "label")):
            if name not in phase:
                yield Problem(f"phase {at[1]} has no {name}", at, order=(number, place))


@rule(
    "old-phase-numbers-mixed",
    Effect.REFUSED,
    Stage.PHASES,
    title="old format: phase numbers that cannot be sorted",
    consequence="The upload ends with `'<' not supported between instances of …`.",
    repair="Number the phases 1, 2, 3 ….",
    source=V1,
    reads="v1",
)
def _old_phase_numbers_mixed(bundle: Bundle) -> Iterator[Problem]:
    phases = bundle.yaml.get("phases")
    values = [phase for phase in phases.values() if isinstance(phase, Mapping)] if isinstance(phases, Mapping) else []
    numbers = [phase["phasenumber"] for phase in values if "phasenumber" in phase]
    try:
        sorted(numbers)
    except TypeError as error:
        yield Problem(f"the phases' numbers cannot be compared: {error}", ("phases",), order=(-1,))


@rule(
    "old-parent-dropped",
    Effect.TRAP,
    title="old format: parallel phases",
    consequence="The first phase, taken for the parent, is dropped, and the others follow one another.",
    repair="Use the new format, with tasks of one phase or a competition for each track.",
    source=V1,
    reads="v1",
)
def _old_parent_dropped(bundle: Bundle) -> Iterator[Problem]:
    phases = bundle.yaml.get("phases")
    total = [phase for phase in phases.values() if isinstance(phase, Mapping)] if isinstance(phases, Mapping) else []
    if len(old_phases(bundle)) < len(total):
        yield Problem("the first phase is dropped, since phases are marked as parallel", ("phases",))


@rule(
    "old-phases-lose-a-day",
    Effect.TRAP,
    title="old format: several phases",
    consequence="Each phase ends one day before the next one starts: a day is lost.",
    repair="Use the new format, which has ends.",
    source=V1,
    reads="v1",
)
def _old_phases_lose_a_day(bundle: Bundle) -> Iterator[Problem]:
    for phase in bundle.competition.phases[:-1]:
        if phase.end.moment is not None:
            yield Problem(f"phase {phase.name} ends {phase.end.moment:%Y-%m-%d}, one day before the next one", phase.at)


@rule(
    "old-phase-without-scorer",
    Effect.BROKEN,
    title="old format: a phase without scoring program",
    consequence="It is accepted, and every submission fails.",
    repair="Add `scoring_program`.",
    source=V1,
    reads="v1",
)
def _old_phase_without_scorer(bundle: Bundle) -> Iterator[Problem]:
    for phase in bundle.competition.phases:
        if "scoring_program" not in phase.tasks[0].files:
            yield Problem(f"phase {phase.name} has no scoring program", phase.at)


@rule(
    "old-text-counts-as-true",
    Effect.TRAP,
    title="old format: a text or number where true or false is meant",
    consequence='Here any text counts as true, `"false"` and `"no"` as well: registration needs approval, or phases '
    "count as parallel.",
    repair="Write true or false, without quotes.",
    source=V1,
    reads="v1",
)
def _old_text_counts_as_true(bundle: Bundle) -> Iterator[Problem]:
    given: list[tuple[Path, object]] = [(("has_registration",), bundle.yaml.get("has_registration"))]
    phases = bundle.yaml.get("phases")
    for key, phase in phases.items() if isinstance(phases, Mapping) else ():
        if isinstance(phase, Mapping):
            given.append((("phases", key, "is_parallel_parent"), phase.get("is_parallel_parent")))
    for at, value in given:
        if value and as_boolean(value) is not True:
            yield Problem(f"{at[-1]} is {shown(value)}, which counts as true", at)


@rule(
    "old-format",
    Effect.NOTE,
    title="old format: CodaLab 1.5",
    consequence="It is read as far as it has a meaning here; much of it is ignored.",
    repair="Convert it with `gen-bundle convert`.",
    source=V1,
    reads="v1",
)
def _old_format(bundle: Bundle) -> Iterator[Problem]:
    if "html" in bundle.yaml:
        yield Problem("the bundle is in the format of CodaLab 1.5", ("html",))
