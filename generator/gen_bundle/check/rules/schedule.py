"""Starts and ends of phases: what is stored, in which order, and whether a phase is ever open."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import time
from functools import wraps
from itertools import pairwise

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import UNPACKER, Check, Problem, Topic
from gen_bundle.codabench.competition import Phase
from gen_bundle.codabench.dates import Instant
from gen_bundle.codabench.stages import Stage
from gen_bundle.codabench.yaml_document import Path

DATES = Topic("Dates", f"{UNPACKER}/utils.py (get_datetime)", reads="both", stage=Stage.PHASES)
ORDER = Topic("Dates", f"{UNPACKER}/base_unpacker.py (order of phases)", reads="both", stage=Stage.PHASE_ORDER)
ISSUE_1399 = f"{DATES.source}; github.com/codalab/codabench issue 1399"
NUMBERS = re.compile(r"\s*(\d{1,2})[-/.](\d{1,2})[-/.]\d{4}\b")
IN_WORDS = "%d %B %Y, %H:%M:%S"
QUOTED_UTC = '"2031-01-31 23:59:59"'


@dataclass(frozen=True)
class GivenDate:
    """A start or end of a phase as competition.yaml gives it."""

    phase: Phase
    which: str
    at: Path
    date: Instant
    order: tuple[int, int]

    def __str__(self) -> str:
        return f"the {self.which} of phase {self.phase.name}"


def _given_dates(bundle: Bundle) -> Iterator[GivenDate]:
    for number, phase in enumerate(bundle.competition.phases):
        yield GivenDate(phase, "start", phase.start_at, phase.start, (number, 0))
        if phase.end_at != phase.start_at:  # the old format takes an end from the next phase's start
            yield GivenDate(phase, "end", phase.end_at, phase.end, (number, 1))


def _dates_with(fault: Callable[[GivenDate], str | None]) -> Check:
    """The check for a fault that each given date may have."""

    @wraps(fault)
    def check(bundle: Bundle) -> Iterator[Problem]:
        for given in _given_dates(bundle):
            what = fault(given)
            if what:
                yield Problem(what, given.at, order=given.order)

    return check


DATES.refused(
    "date-unreadable",
    "a date that cannot be read",
    "The upload ends with `Unknown string format: …`, `Parser must be a string …` or the like. "
    f"→ Write UTC in quotes: {QUOTED_UTC}.",
)(_dates_with(lambda given: f"{given}: {given.date.fault}" if given.date.fault else None))


@ORDER.refused("phase-without-start", "a phase without start")
def _phase_without_start(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `'<' not supported between instances of 'NoneType' and 'datetime.datetime'`.
    → Give `start` as UTC in quotes: "2031-01-31 00:00:00".
    """
    for number, phase in enumerate(bundle.competition.phases):
        missing_old_key = bundle.format != "v2" and "start_date" not in bundle.value(phase.at)
        if phase.start.moment is None and not phase.start.fault and not missing_old_key:
            yield Problem(f"phase {phase.name} has no start", phase.start_at, order=(number, 1))


@ORDER.refused("phase-without-end", "a phase without end, though another one follows", reads="v2")
def _phase_without_end(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Phase: … must have an end time because it has a phase after it.`
    → Give every phase but the last an end.
    """
    for number, phase in enumerate(bundle.competition.phases[:-1]):
        if phase.end.moment is None and not phase.end.fault:
            yield Problem(f"phase {phase.name} has no end", phase.end_at, order=(number + 1, 0))


@ORDER.refused("phases-overlap", "a phase starts before the previous one ends, or at the same moment", reads="v2")
def _phases_overlap(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Phases must be sequential. …` or `Phases dates conflict. …`. Unquoted times count as
    midnight, so that two dates on one day clash.
    → Let each phase start at least a second after the end of the previous one, with quoted UTC times; phases are
    ordered by `index`. Tracks that run at the same time are tasks of one phase.
    """
    for number, (earlier, phase) in enumerate(pairwise(bundle.competition.phases), start=1):
        end, start = earlier.end.moment, phase.start.moment
        if end is not None and start is not None and start <= end:
            what = (
                f"phase {phase.name} starts {start:%Y-%m-%d %H:%M:%S}, but {earlier.name} ends {end:%Y-%m-%d %H:%M:%S}"
            )
            yield Problem(what, phase.start_at, order=(number, 2))


@ORDER.broken("phase-never-open", "a phase that ends before it starts, or at the same moment")
def _phase_never_open(bundle: Bundle) -> Iterator[Problem]:
    """The phase is never open. → Correct the dates. An old-format phase ends one day before the next one starts."""
    for phase in bundle.competition.phases:
        start, end = phase.start.moment, phase.end.moment
        if start is not None and end is not None and end <= start:
            what = f"phase {phase.name} runs from {start:%Y-%m-%d %H:%M:%S} to {end:%Y-%m-%d %H:%M:%S}"
            yield Problem(what, phase.end_at)


DATES.trap(
    "date-time-dropped",
    "an unquoted time, which is dropped",
    f"The phase starts or ends at midnight UTC. → Put the date in quotes: {QUOTED_UTC}.",
    source=ISSUE_1399,
)(_dates_with(lambda given: f"the time {given.date.lost_time} of {given} is dropped" if given.date.lost_time else None))

DATES.trap(
    "date-zone-dropped",
    "an offset or time zone, which is dropped",
    "The time is taken as UTC, without conversion. → Convert to UTC yourself, and write no offset; AoE is UTC-12.",
    source=ISSUE_1399,
)(_dates_with(lambda given: f"the zone {given.date.lost_zone} of {given} is dropped" if given.date.lost_zone else None))


@DATES.trap(
    "date-misread",
    "a date that is not read as people would read it",
    "The month is taken first if possible; two dates in one text are mixed; missing parts are taken from the day of "
    "the upload. "
    f"→ Write year, month and day in this order, in quotes: {QUOTED_UTC}.",
    source=f"{DATES.source}; python-dateutil's parser",
)
def _date_misread(bundle: Bundle) -> Iterator[Problem]:
    texts = [str(bundle.value(given.at)) for given in _given_dates(bundle)]
    month_first = _month_comes_first(texts)
    for given, text in zip(_given_dates(bundle), texts, strict=True):
        date = given.date
        meant = date.other_reading and not (month_first and NUMBERS.match(text))
        if date.moment is not None and (meant or date.incomplete or date.odd):
            how = "depends on the day of the upload" if date.incomplete else f"is read as {date.moment:{IN_WORDS}}"
            yield Problem(f"{given} {how}", given.at, order=given.order)


def _month_comes_first(texts: list[str]) -> bool:
    """Whether the file itself shows that its dates begin with the month, as the platform reads them: 12-31-2031."""
    numbers = [(int(found[1]), int(found[2])) for text in texts if (found := NUMBERS.match(text))]
    return any(second > 12 for _, second in numbers) and all(first <= 12 for first, _ in numbers)


@ORDER.trap("competition-over", "all phases are over")
def _competition_over(bundle: Bundle) -> Iterator[Problem]:
    """Participants cannot submit: the web page looks at the dates, and so does the API of newer servers.
    → Move the dates, or leave out the end of the last phase.
    """
    ends = [phase.end.moment for phase in bundle.competition.phases]
    if ends and all(end is not None and end < bundle.now for end in ends):
        yield Problem(f"the last phase ended before {bundle.now:%Y-%m-%d}", bundle.competition.phases[-1].end_at)


@DATES.note(
    "end-at-midnight",
    "an end without a time of day",
    f"The phase closes at 00:00 UTC, as that day begins and not as it ends. → Write the time: {QUOTED_UTC}.",
)
@_dates_with
def _end_at_midnight(given: GivenDate) -> str | None:
    end, start = given.date, given.phase.start.moment
    if given.which != "end" or end.moment is None or end.lost_time or end.moment.time() != time():
        return None
    opens_before = start is None or start < end.moment
    return f"phase {given.phase.name} closes as {end.moment:%Y-%m-%d} begins" if opens_before else None
