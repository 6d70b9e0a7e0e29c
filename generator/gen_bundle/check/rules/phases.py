"""Phases: their order, their tasks, and their limits."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from gen_bundle.check.registry import MODELS, SERIALIZERS, UNPACKER, WORKER, Effect, Problem, rule
from gen_bundle.codabench.competition import DEFAULT_LIMIT_S, sorted_phases
from gen_bundle.codabench.fields import as_boolean, as_integer, shown
from gen_bundle.codabench.stages import Stage

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle
    from gen_bundle.codabench.document import Entry

PHASES = f"{UNPACKER}/v2.py (phases)"


def ordered(bundle: Bundle) -> list[Entry]:
    """The phases in the platform's order."""
    return sorted_phases(bundle.entries("phases"))


@rule(
    "phases-no-list",
    Effect.REFUSED,
    Stage.PHASES,
    title="phases is missing, empty or no list of phases",
    consequence="The upload ends with `Unable to find any phases for this competition` or a bare error such as "
    "`list index out of range`.",
    repair="Give `phases` as a list of mappings with name, start and tasks.",
    source=PHASES,
)
def _phases_no_list(bundle: Bundle) -> Iterator[Problem]:
    phases = bundle.yaml.get("phases")
    if not isinstance(phases, list) or not phases:
        what = "empty" if phases == [] else shown(phases) if "phases" in bundle.yaml else "missing"
        yield Problem(f"phases is {what}, and must be a list with at least one phase", ("phases",), order=(-2,))
    for number, phase in enumerate(phases if isinstance(phases, list) else ()):
        if not isinstance(phase, Mapping):
            what = f"phases[{number}] is {shown(phase)}, and must be a mapping"
            yield Problem(what, ("phases", number), order=(-2, number))


@rule(
    "phase-indexes-mixed",
    Effect.REFUSED,
    Stage.PHASES,
    title="phase indexes that cannot be sorted",
    consequence="The upload ends with `'<' not supported between instances of …`.",
    repair="Number the phases 0, 1, 2 …, or leave all indexes out.",
    source=PHASES,
)
def _phase_indexes_mixed(bundle: Bundle) -> Iterator[Problem]:
    phases = bundle.entries("phases")
    try:
        sorted(phases, key=lambda phase: phase.value.get("index", 0))
    except TypeError as error:
        odd = next((phase for phase in phases if not isinstance(phase.value.get("index", 0), int)), phases[0])
        yield Problem(f"the phases' indexes cannot be compared: {error}", (*odd.at, "index"), order=(-1,))


@rule(
    "phase-without-tasks",
    Effect.REFUSED,
    Stage.PHASES,
    title="a phase without `tasks`",
    consequence="The upload ends with `Phases must contain at least one task to be valid`.",
    repair="List the indexes of the phase's tasks.",
    source=PHASES,
)
def _phase_without_tasks(bundle: Bundle) -> Iterator[Problem]:
    for number, phase in enumerate(ordered(bundle)):
        if "tasks" not in phase.value:
            yield Problem(f"phase {shown(phase.get('name'))} has no tasks", phase.at, order=(number, 2))


@rule(
    "phase-of-unknown-task",
    Effect.REFUSED,
    Stage.SAVE_PHASES,
    title="a phase names a task that does not exist",
    consequence="The upload ends with the bare index as its whole message, such as `1`.",
    repair="List the indexes of existing tasks, of the same type: 0 and '0' differ.",
    source=PHASES,
)
def _phase_of_unknown_task(bundle: Bundle) -> Iterator[Problem]:
    known = {task.index for task in bundle.competition.tasks if isinstance(task.index, Hashable)}
    for number, phase in enumerate(ordered(bundle)):
        if "tasks" not in phase.value:
            continue
        tasks = phase.value["tasks"]
        if not isinstance(tasks, (list, dict, str, set)):
            what = f"tasks of phase {shown(phase.get('name'))} is {shown(tasks)}, and must be a list"
            yield Problem(what, (*phase.at, "tasks"), order=(number, 0))
            continue
        for index in tasks:
            if not isinstance(index, Hashable) or index not in known:
                names = ", ".join(repr(one) for one in sorted(known, key=str))
                what = f"phase {shown(phase.get('name'))} names the task {shown(index)}; there are {names or 'none'}"
                yield Problem(what, (*phase.at, "tasks"), order=(number, 0))


@rule(
    "phase-tasks-empty",
    Effect.BROKEN,
    title="a phase with an empty list of tasks",
    consequence="Submissions to it stay in Submitting for ever.",
    repair="List the indexes of the phase's tasks.",
    source=PHASES,
)
def _phase_tasks_empty(bundle: Bundle) -> Iterator[Problem]:
    for phase in bundle.entries("phases"):
        if "tasks" in phase.value and phase.value["tasks"] in ([], "", {}, set()):
            yield Problem(f"phase {shown(phase.get('name'))} has no task", (*phase.at, "tasks"))


@rule(
    "phase-tasks-repeated",
    Effect.NOTE,
    title="a phase names a task twice",
    consequence="The task is run once.",
    repair="Name it once.",
    source=PHASES,
)
def _phase_tasks_repeated(bundle: Bundle) -> Iterator[Problem]:
    for phase in bundle.entries("phases"):
        tasks = phase.get("tasks")
        listed = [index for index in tasks if isinstance(index, Hashable)] if isinstance(tasks, list) else []
        if len(set(listed)) < len(listed):
            yield Problem(f"phase {shown(phase.get('name'))} names a task twice", (*phase.at, "tasks"))


@rule(
    "phase-task-order",
    Effect.TRAP,
    title="a phase lists its tasks in another order than the competition",
    consequence="The order of this list is not kept: tasks are run and shown in the order of the top-level `tasks`.",
    repair="Put the top-level `tasks` into the order in which they are to be shown.",
    source=PHASES,
)
def _phase_task_order(bundle: Bundle) -> Iterator[Problem]:
    declared = [task.at for task in bundle.competition.tasks]
    for phase in bundle.competition.phases:
        places = [declared.index(task.at) for task in phase.tasks]
        if places != sorted(places):
            listed = ", ".join(task.name for task in phase.tasks)
            yield Problem(f"phase {phase.name} lists {listed} in this order", (*phase.at, "tasks"))


@rule(
    "migration-to-first-phase",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="submissions are to be taken over into the first phase",
    consequence="The upload ends with `phases: You cannot auto migrate …`.",
    repair="Set auto_migrate_to_this_phase on a later phase only.",
    source=SERIALIZERS,
    reads="both",
)
def _migration_to_first_phase(bundle: Bundle) -> Iterator[Problem]:
    key = "auto_migrate_to_this_phase" if bundle.format == "v2" else "auto_migration"
    for phase in bundle.competition.phases[:1]:
        value = bundle.yaml["phases"][phase.at[1]].get(key)
        if as_boolean(value) is True:
            yield Problem(f"{key} is set on the first phase", (*phase.at, key), order=(4, 10_000))


@rule(
    "migration-between-tasks",
    Effect.NOTE,
    title="submissions taken over into a phase with other tasks",
    consequence="In some versions of the server a submission that is taken over runs with the task of the earlier "
    "phase.",
    repair="Try it before the phase starts, or ask participants to submit again.",
    source="github.com/codalab/codabench issues 2193 and 2239",
)
def _migration_between_tasks(bundle: Bundle) -> Iterator[Problem]:
    phases = bundle.competition.phases
    for earlier, phase in pairwise(phases):
        value = bundle.yaml["phases"][phase.at[1]].get("auto_migrate_to_this_phase")
        if as_boolean(value) and [task.at for task in earlier.tasks] != [task.at for task in phase.tasks]:
            yield Problem(f"phase {phase.name} takes over submissions to other tasks", phase.at)


@rule(
    "time-limit-over-the-queue",
    Effect.TRAP,
    title="a time limit above what the default queue allows",
    consequence=f"The default queue stops every run after {DEFAULT_LIMIT_S} seconds.",
    repair=f"Stay within {DEFAULT_LIMIT_S} seconds, or name a queue of your own.",
    source=WORKER,
    reads="both",
)
def _time_limit_over_the_queue(bundle: Bundle) -> Iterator[Problem]:
    if bundle.competition.queue:
        return
    for phase in bundle.competition.phases:
        if phase.limit_s > DEFAULT_LIMIT_S:
            what = f"phase {phase.name} allows {phase.limit_s} seconds, and the default queue {DEFAULT_LIMIT_S}"
            yield Problem(what, (*phase.at, "execution_time_limit"))


@rule(
    "zero-means-no-limit",
    Effect.TRAP,
    title="a limit of zero",
    consequence="0 submissions means without limit, and 0 seconds means the default of 600.",
    repair="Give a number above zero, or leave the key out.",
    source=MODELS,
    reads="both",
)
def _zero_means_no_limit(bundle: Bundle) -> Iterator[Problem]:
    for phase in bundle.competition.phases:
        value = bundle.yaml["phases"][phase.at[1]]
        for key in ("max_submissions", "max_submissions_per_day", "execution_time_limit"):
            if value.get(key) is not None and as_integer(value.get(key)) == 0:
                yield Problem(f"{key} of phase {phase.name} is 0", (*phase.at, key))


@rule(
    "day-limit-above-total",
    Effect.NOTE,
    title="more submissions a day than in the whole phase",
    consequence="The limit for the phase is reached on the first day.",
    repair="Make max_submissions at least as large as max_submissions_per_day.",
    source=PHASES,
    reads="both",
)
def _day_limit_above_total(bundle: Bundle) -> Iterator[Problem]:
    for phase in bundle.competition.phases:
        if phase.in_all and phase.a_day and phase.a_day > phase.in_all:
            yield Problem(f"phase {phase.name} allows {phase.a_day} a day and {phase.in_all} in all", phase.at)
