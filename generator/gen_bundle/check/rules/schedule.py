"""Starts and ends of phases: what is stored, in which order, and whether a phase is ever open."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import time
from itertools import pairwise
from typing import TYPE_CHECKING

from gen_bundle.check.registry import UNPACKER, Effect, Problem, rule
from gen_bundle.codabench.competition import Phase
from gen_bundle.codabench.dates import Instant
from gen_bundle.codabench.stages import Stage
from gen_bundle.codabench.yaml_document import Path

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

DATES = f"{UNPACKER}/utils.py (get_datetime)"
ORDERING = f"{UNPACKER}/base_unpacker.py (order of phases)"
ISSUE_1399 = f"{DATES}; github.com/codalab/codabench issue 1399"


def given_dates(bundle: Bundle) -> Iterator[tuple[int, Phase, Path, str, Instant]]:
    """Every start and end that competition.yaml gives itself."""
    for number, phase in enumerate(bundle.competition.phases):
        yield number, phase, phase.start_at, "start", phase.start
        if phase.end_at != phase.start_at:  # the old format takes an end from the next phase's start
            yield number, phase, phase.end_at, "end", phase.end


@rule(
    "date-unreadable",
    Effect.REFUSED,
    Stage.PHASES,
    title="a date that cannot be read",
    consequence="The upload ends with `Unknown string format: …`, `Parser must be a string …` or the like.",
    repair='Write UTC in quotes: "2031-01-31 23:59:59".',
    source=DATES,
    reads="both",
)
def _date_unreadable(bundle: Bundle) -> Iterator[Problem]:
    for number, phase, at, which, date in given_dates(bundle):
        if date.fault:
            yield Problem(f"the {which} of phase {phase.name}: {date.fault}", at, order=(number, int(which == "end")))


@rule(
    "phase-without-start",
    Effect.REFUSED,
    Stage.PHASE_ORDER,
    title="a phase without start",
    consequence="The upload ends with `'<' not supported between instances of 'NoneType' and 'datetime.datetime'`.",
    repair='Give `start` as UTC in quotes: "2031-01-31 00:00:00".',
    source=ORDERING,
    reads="both",
)
def _phase_without_start(bundle: Bundle) -> Iterator[Problem]:
    for number, phase in enumerate(bundle.competition.phases):
        missing_old_key = bundle.format != "v2" and "start_date" not in bundle.yaml["phases"][phase.at[1]]
        if phase.start.moment is None and not phase.start.fault and not missing_old_key:
            yield Problem(f"phase {phase.name} has no start", phase.start_at, order=(number, 1))


@rule(
    "phase-without-end",
    Effect.REFUSED,
    Stage.PHASE_ORDER,
    title="a phase without end, though another one follows",
    consequence="The upload ends with `Phase: … must have an end time because it has a phase after it.`",
    repair="Give every phase but the last an end.",
    source=ORDERING,
)
def _phase_without_end(bundle: Bundle) -> Iterator[Problem]:
    for number, phase in enumerate(bundle.competition.phases[:-1]):
        if phase.end.moment is None and not phase.end.fault:
            yield Problem(f"phase {phase.name} has no end", phase.end_at, order=(number + 1, 0))


@rule(
    "phases-overlap",
    Effect.REFUSED,
    Stage.PHASE_ORDER,
    title="a phase starts before or when the one before it ends",
    consequence="The upload ends with `Phases must be sequential. …` or `Phases dates conflict. …`. Unquoted times "
    "count as midnight, so that two changes on one day clash.",
    repair="Let each phase start at least a second after the end of the one before, with quoted UTC times; phases are "
    "ordered by `index`. Tracks that run at the same time are tasks of one phase.",
    source=ORDERING,
)
def _phases_overlap(bundle: Bundle) -> Iterator[Problem]:
    phases = bundle.competition.phases
    for number, (earlier, phase) in enumerate(pairwise(phases), start=1):
        end, start = earlier.end.moment, phase.start.moment
        if end is not None and start is not None and start <= end:
            what = (
                f"phase {phase.name} starts {start:%Y-%m-%d %H:%M:%S}, and {earlier.name} ends {end:%Y-%m-%d %H:%M:%S}"
            )
            yield Problem(what, phase.start_at, order=(number, 2))


@rule(
    "phase-never-open",
    Effect.BROKEN,
    title="a phase that ends before or when it starts",
    consequence="The phase is never open.",
    repair="Mend the dates. In the old format a phase ends one day before the next one starts.",
    source=ORDERING,
    reads="both",
)
def _phase_never_open(bundle: Bundle) -> Iterator[Problem]:
    for phase in bundle.competition.phases:
        start, end = phase.start.moment, phase.end.moment
        if start is not None and end is not None and end <= start:
            what = f"phase {phase.name} runs from {start:%Y-%m-%d %H:%M:%S} to {end:%Y-%m-%d %H:%M:%S}"
            yield Problem(what, phase.end_at)


@rule(
    "date-time-dropped",
    Effect.TRAP,
    title="an unquoted time, which is dropped",
    consequence="The phase starts or ends at midnight UTC.",
    repair='Put the date in quotes: "2031-01-31 23:59:59".',
    source=ISSUE_1399,
    reads="both",
)
def _date_time_dropped(bundle: Bundle) -> Iterator[Problem]:
    for _, phase, at, which, date in given_dates(bundle):
        if date.lost_time:
            yield Problem(f"the time {date.lost_time} of the {which} of phase {phase.name} is dropped", at)


@rule(
    "date-zone-dropped",
    Effect.TRAP,
    title="an offset or zone, which is dropped",
    consequence="The time is taken as UTC, without converting it.",
    repair="Convert to UTC yourself, and write no offset; AoE is UTC-12.",
    source=ISSUE_1399,
    reads="both",
)
def _date_zone_dropped(bundle: Bundle) -> Iterator[Problem]:
    for _, phase, at, which, date in given_dates(bundle):
        if date.lost_zone:
            yield Problem(f"the zone {date.lost_zone} of the {which} of phase {phase.name} is dropped", at)


@rule(
    "date-misread",
    Effect.TRAP,
    title="a date that is read in another way than people would",
    consequence="The month is taken first where it can be; of two dates in one text a mixture is read; what is left "
    "out is taken from the day of the upload.",
    repair='Write year, month and day in this order, in quotes: "2031-01-31 23:59:59".',
    source=f"{DATES}; python-dateutil's parser",
    reads="both",
)
def _date_misread(bundle: Bundle) -> Iterator[Problem]:
    for _, phase, at, which, date in given_dates(bundle):
        if date.moment is None or not (date.other_reading or date.incomplete or date.odd):
            continue
        why = "depends on the day of the upload" if date.incomplete else f"is read as {date.moment:%d %B %Y, %H:%M:%S}"
        yield Problem(f"the {which} of phase {phase.name} {why}", at)


@rule(
    "competition-over",
    Effect.TRAP,
    title="all phases lie in the past",
    consequence="Nobody can submit: the web page looks at the dates, and so does the API of newer servers.",
    repair="Move the dates, or leave out the end of the last phase.",
    source=ORDERING,
    reads="both",
)
def _competition_over(bundle: Bundle) -> Iterator[Problem]:
    ends = [phase.end.moment for phase in bundle.competition.phases]
    if ends and all(end is not None and end < bundle.now for end in ends):
        yield Problem(f"the last phase ended before {bundle.now:%Y-%m-%d}", bundle.competition.phases[-1].end_at)


@rule(
    "end-at-midnight",
    Effect.NOTE,
    title="an end without a time of day",
    consequence="The phase closes at 00:00 UTC as that day begins, and not as it ends.",
    repair='Write the time: "2031-01-31 23:59:59".',
    source=DATES,
    reads="both",
)
def _end_at_midnight(bundle: Bundle) -> Iterator[Problem]:
    for _, phase, at, which, date in given_dates(bundle):
        if which != "end" or date.moment is None or date.lost_time:
            continue
        opens_before = phase.start.moment is None or phase.start.moment < date.moment
        if date.moment.time() == time() and opens_before:
            yield Problem(f"phase {phase.name} closes as {date.moment:%Y-%m-%d} begins", at)
