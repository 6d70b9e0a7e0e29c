"""Phases: their tasks and limits; their starts and ends, what is stored of these, and whether they are ever open."""

import re
from collections.abc import Iterator
from datetime import time
from itertools import pairwise
from typing import NamedTuple

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import MODELS, SERIALIZERS, UNPACKER, WORKER, Problem, Topic
from gen_bundle.check.rules.shared import NOT_SORTABLE, list_faults, sorting_error
from gen_bundle.codabench.competition import DEFAULT_LIMIT_S, Phase
from gen_bundle.codabench.dates import Instant
from gen_bundle.codabench.reading import as_integer, sorted_phases
from gen_bundle.codabench.settings import MISSING, Stage, shown
from gen_bundle.ground.yaml_document import Path

PHASES = Topic("Phases", f"{UNPACKER}/v2.py (phases)", stage=Stage.PHASES)
LIMITS = Topic("Phases", MODELS, reads="both")


@PHASES.refused("`phases` is missing, empty or not a list of phases")
def _phases_no_list(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Unable to find any phases for this competition` or a bare error such as `list index out of
    range`.
    → Give `phases` as a list of mappings with name, start and tasks.
    """
    return list_faults(bundle.yaml, ("phases",), needs_item=True, order=(-2,))


@PHASES.refused(
    "phase indexes that cannot be sorted", f"{NOT_SORTABLE} → Number the phases 0, 1, 2 …, or leave all indexes out."
)
def _phase_indexes_mixed(bundle: Bundle) -> Iterator[Problem]:
    phases = bundle.entries("phases")
    error = sorting_error(phase.value.get("index", 0) for phase in phases)
    if error:
        odd = next((phase for phase in phases if not isinstance(phase.value.get("index", 0), int)), phases[0])
        yield Problem(f"the phases' indexes cannot be compared: {error}", (*odd.at, "index"), order=(-1,))


@PHASES.refused("a phase without `tasks`")
def _phase_without_tasks(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Phases must contain at least one task to be valid`. → List the indexes of its tasks."""
    for number, phase in enumerate(sorted_phases(bundle.entries("phases"))):
        if "tasks" not in phase.value:
            yield Problem(f"phase {shown(phase.get('name'))} has no tasks", phase.at, order=(number, 2))


@PHASES.refused("a phase refers to a task that does not exist", stage=Stage.SAVE_PHASES)
def _phase_of_unknown_task(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Unpacking the bundle failed. A required key or referenced index (1) was not found in the
    YAML. …` (1.25: the bare index, such as `1`).
    → List the indexes of existing tasks, with the same type: 0 and '0' differ.
    Example: with the task `index: 0`, not `tasks: ["0"]`, but `tasks: [0]`.
    """
    known = bundle.competition.task_indexes
    names = ", ".join([repr(one) for one in sorted(set(known), key=str)]) or "none"
    for number, phase in enumerate(sorted_phases(bundle.entries("phases"))):
        tasks, name, at = phase.value.get("tasks", MISSING), shown(phase.get("name")), (*phase.at, "tasks")
        if isinstance(tasks, (list, dict, str, set)):
            for index in tasks:
                if index not in known:
                    what = f"phase {name} refers to the task {shown(index)}; there are {names}"
                    yield Problem(what, at, order=(number, 0))
        elif tasks is not MISSING:
            yield Problem(f"tasks of phase {name} is {shown(tasks)}, and must be a list", at, order=(number, 0))


@PHASES.broken("a phase with an empty list of tasks")
def _phase_tasks_empty(bundle: Bundle) -> Iterator[Problem]:
    """Submissions to it stay in Submitting forever. → List the indexes of the phase's tasks."""
    for phase in bundle.entries("phases"):
        if phase.get("tasks") in ([], "", {}, set()):
            yield Problem(f"phase {shown(phase.get('name'))} has no task", (*phase.at, "tasks"))


@PHASES.trap("a phase lists its tasks in another order than the competition")
def _phase_task_order(bundle: Bundle) -> Iterator[Problem]:
    """The order of this list is not kept: tasks are run and shown in the order of the top-level `tasks`.
    → Put the top-level `tasks` into the order in which they are to be shown.
    """
    declared = [task.at for task in bundle.competition.tasks]
    for phase in bundle.competition.phases:
        places = [declared.index(task.at) for task in phase.tasks]
        if places != sorted(places):
            listed = ", ".join(task.name for task in phase.tasks)
            yield Problem(f"phase {phase.name} lists {listed} in this order", (*phase.at, "tasks"))


@PHASES.refused(
    "submissions are to be migrated to the first phase", source=SERIALIZERS, reads="both", stage=Stage.SAVE_COMPETITION
)
def _migration_to_first_phase(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `phases: You cannot auto migrate …`. → Set the key on a later phase only."""
    key = "auto_migrate_to_this_phase" if bundle.format == "v2" else "auto_migration"
    for phase in bundle.competition.phases[:1]:
        if phase.auto_migrate:
            yield Problem(f"{key} is set on the first phase", (*phase.at, key), order=(4, 10_000))


@PHASES.note(
    "submissions are migrated to a phase with other tasks", source="github.com/codalab/codabench issues 2193 and 2239"
)
def _migration_between_tasks(bundle: Bundle) -> Iterator[Problem]:
    """In some versions of the server a migrated submission runs with the task of the earlier phase.
    → Try it before the phase starts, or ask participants to submit again.
    """
    for earlier, phase in pairwise(bundle.competition.phases):
        if phase.auto_migrate and earlier.tasks != phase.tasks:
            yield Problem(f"submissions migrate to phase {phase.name}, which has other tasks", phase.at)


@LIMITS.trap(
    "a time limit above what the default queue allows",
    f"The default queue stops every run after {DEFAULT_LIMIT_S} seconds. "
    f"→ Stay within {DEFAULT_LIMIT_S} seconds, or give a queue of your own.",
    source=WORKER,
)
def _time_limit_over_the_queue(bundle: Bundle) -> Iterator[Problem]:
    for phase in bundle.competition.phases if not bundle.competition.queue else ():
        if phase.limit_s > DEFAULT_LIMIT_S:
            what = f"phase {phase.name} allows {phase.limit_s} seconds, but the default queue {DEFAULT_LIMIT_S}"
            yield Problem(what, (*phase.at, "execution_time_limit"))


@LIMITS.trap("a limit of zero")
def _zero_means_no_limit(bundle: Bundle) -> Iterator[Problem]:
    """0 submissions means no limit, 0 seconds the default of 600. → Give a larger number, or leave the key out."""
    for phase in bundle.competition.phases:
        for key in ("max_submissions", "max_submissions_per_day", "execution_time_limit"):
            if as_integer(bundle.value((*phase.at, key))) == 0:
                yield Problem(f"{key} of phase {phase.name} is 0", (*phase.at, key))


@PHASES.note("more submissions a day than in the whole phase", reads="both")
def _day_limit_above_total(bundle: Bundle) -> Iterator[Problem]:
    """The limit for the phase is reached on the first day. → Raise max_submissions, or lower the daily limit."""
    for phase in bundle.competition.phases:
        if phase.in_all and phase.a_day and phase.a_day > phase.in_all:
            yield Problem(f"phase {phase.name} allows {phase.a_day} a day and {phase.in_all} in all", phase.at)


DATES = Topic("Dates", f"{UNPACKER}/utils.py (get_datetime)", reads="both", stage=Stage.PHASES)
ORDER = Topic("Dates", f"{UNPACKER}/base_unpacker.py (order of phases)", reads="both", stage=Stage.PHASE_ORDER)
ISSUE_1399 = f"{DATES.source}; github.com/codalab/codabench issue 1399"
NUMBERS = re.compile(r"\s*(\d{1,2})[-/.](\d{1,2})[-/.]\d{4}\b")
IN_WORDS = "%d %B %Y, %H:%M:%S"
QUOTED_UTC = '"2031-01-31 23:59:59"'


class GivenDate(NamedTuple):
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


@DATES.refused(
    "a date that cannot be read",
    "The upload ends with `Unknown string format: …`, `Parser must be a string …` or the like. "
    f"→ Write UTC in quotes: {QUOTED_UTC}.",
)
def _date_unreadable(bundle: Bundle) -> Iterator[Problem]:
    for given in _given_dates(bundle):
        if given.date.fault:
            yield Problem(f"{given}: {given.date.fault}", given.at, order=given.order)


@ORDER.refused("a phase without start")
def _phase_without_start(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `'<' not supported between instances of 'NoneType' and 'datetime.datetime'`.
    → Give `start` as UTC in quotes: "2031-01-31 00:00:00".
    """
    for number, phase in enumerate(bundle.competition.phases):
        missing_old_key = bundle.format != "v2" and "start_date" not in bundle.value(phase.at)
        if phase.start.moment is None and not phase.start.fault and not missing_old_key:
            yield Problem(f"phase {phase.name} has no start", phase.start_at, order=(number, 1))


@ORDER.refused("a phase without end, though another one follows", reads="v2")
def _phase_without_end(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Phase: … must have an end time because it has a phase after it.`
    → Give every phase but the last an end.
    """
    for number, phase in enumerate(bundle.competition.phases[:-1]):
        if phase.end.moment is None and not phase.end.fault:
            yield Problem(f"phase {phase.name} has no end", phase.end_at, order=(number + 1, 0))


@ORDER.refused("a phase starts before the previous one ends, or at the same moment", reads="v2")
def _phases_overlap(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Phases must be sequential. …` or `Phases dates conflict. …`. Unquoted times count as
    midnight, so that two dates on one day clash.
    → Let each phase start at least a second after the end of the previous one, with quoted UTC times; phases are
    ordered by `index`. Tracks that run at the same time are tasks of one phase.
    Example: after `end: "2031-01-31 23:59:59"` comes `start: "2031-02-01 00:00:00"`.
    """
    for number, (earlier, phase) in enumerate(pairwise(bundle.competition.phases), start=1):
        end, start = earlier.end.moment, phase.start.moment
        if end is not None and start is not None and start <= end:
            what = (
                f"phase {phase.name} starts {start:%Y-%m-%d %H:%M:%S}, but {earlier.name} ends {end:%Y-%m-%d %H:%M:%S}"
            )
            yield Problem(what, phase.start_at, order=(number, 2))


@ORDER.broken("a phase that ends before it starts, or at the same moment")
def _phase_never_open(bundle: Bundle) -> Iterator[Problem]:
    """The phase is never open. → Correct the dates. An old-format phase ends one day before the next one starts."""
    for phase in bundle.competition.phases:
        start, end = phase.start.moment, phase.end.moment
        if start is not None and end is not None and end <= start:
            what = f"phase {phase.name} runs from {start:%Y-%m-%d %H:%M:%S} to {end:%Y-%m-%d %H:%M:%S}"
            yield Problem(what, phase.end_at)


@DATES.trap(
    "an unquoted time, which is dropped",
    f"The phase starts or ends at midnight UTC. → Put the date in quotes: {QUOTED_UTC}."
    ' Example: not `start: 2031-01-31 12:00:00`, but `start: "2031-01-31 12:00:00"`.',
    source=ISSUE_1399,
)
def _date_time_dropped(bundle: Bundle) -> Iterator[Problem]:
    for given in _given_dates(bundle):
        if given.date.lost_time:
            yield Problem(f"the time {given.date.lost_time} of {given} is dropped", given.at)


@DATES.trap(
    "an offset or time zone, which is dropped",
    "The time is taken as UTC, without conversion. → Convert to UTC yourself, and write no offset; AoE is UTC-12."
    ' Example: not `"2031-01-31T23:59:59-12:00"`, but `"2031-02-01 11:59:59"`.',
    source=ISSUE_1399,
)
def _date_zone_dropped(bundle: Bundle) -> Iterator[Problem]:
    for given in _given_dates(bundle):
        if given.date.lost_zone:
            yield Problem(f"the zone {given.date.lost_zone} of {given} is dropped", given.at)


@DATES.trap(
    "a date that is not read as people would read it",
    "The month is taken first if possible; two dates in one text are mixed; missing parts are taken from the day of "
    "the upload. "
    f"→ Write year, month and day in this order, in quotes: {QUOTED_UTC}."
    ' Example: not `"03/04/2031"`, which is the 4th of March, but `"2031-04-03 00:00:00"`.',
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
    shows = False
    for text in texts:
        if found := NUMBERS.match(text):
            if int(found[1]) > 12:
                return False
            shows = shows or int(found[2]) > 12
    return shows


@ORDER.trap("all phases are over")
def _competition_over(bundle: Bundle) -> Iterator[Problem]:
    """Participants cannot submit: the web page looks at the dates, and so does the API of newer servers.
    → Move the dates, or leave out the end of the last phase.
    """
    phases = bundle.competition.phases
    if phases and all(phase.end.moment is not None and phase.end.moment < bundle.now for phase in phases):
        yield Problem(f"the last phase ended before {bundle.now:%Y-%m-%d}", phases[-1].end_at)


@DATES.note(
    "an end without a time of day",
    f"The phase closes at 00:00 UTC, as that day begins and not as it ends. → Write the time: {QUOTED_UTC}."
    ' Example: not `end: "2031-01-31"`, but `end: "2031-01-31 23:59:59"`.',
)
def _end_at_midnight(bundle: Bundle) -> Iterator[Problem]:
    for given in _given_dates(bundle):
        end, start = given.date.moment, given.phase.start.moment
        if given.which != "end" or end is None or given.date.lost_time or end.time() != time():
            continue
        if start is None or start < end:
            yield Problem(f"phase {given.phase.name} closes as {end:%Y-%m-%d} begins", given.at)
