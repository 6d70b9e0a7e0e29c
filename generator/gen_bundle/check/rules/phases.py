"""Phases: their order, their tasks, and their limits."""

from collections.abc import Hashable, Iterator
from itertools import pairwise

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import MODELS, SERIALIZERS, UNPACKER, WORKER, Problem, Topic
from gen_bundle.check.rules.shared import NOT_SORTABLE, list_faults, sorting_error
from gen_bundle.codabench.competition import DEFAULT_LIMIT_S
from gen_bundle.codabench.fields import MISSING, as_integer, shown
from gen_bundle.codabench.reading import sorted_phases
from gen_bundle.codabench.stages import Stage

PHASES = Topic("Phases", f"{UNPACKER}/v2.py (phases)", stage=Stage.PHASES)
LIMITS = Topic("Phases", MODELS, reads="both")


@PHASES.refused("phases-no-list", "`phases` is missing, empty or not a list of phases")
def _phases_no_list(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Unable to find any phases for this competition` or a bare error such as `list index out of
    range`.
    → Give `phases` as a list of mappings with name, start and tasks.
    """
    return list_faults(bundle.yaml, ("phases",), needs_item=True, order=(-2,))


@PHASES.refused(
    "phase-indexes-mixed",
    "phase indexes that cannot be sorted",
    f"{NOT_SORTABLE} → Number the phases 0, 1, 2 …, or leave all indexes out.",
)
def _phase_indexes_mixed(bundle: Bundle) -> Iterator[Problem]:
    phases = bundle.entries("phases")
    error = sorting_error(phase.value.get("index", 0) for phase in phases)
    if error:
        odd = next((phase for phase in phases if not isinstance(phase.value.get("index", 0), int)), phases[0])
        yield Problem(f"the phases' indexes cannot be compared: {error}", (*odd.at, "index"), order=(-1,))


@PHASES.refused("phase-without-tasks", "a phase without `tasks`")
def _phase_without_tasks(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Phases must contain at least one task to be valid`. → List the indexes of its tasks."""
    for number, phase in enumerate(sorted_phases(bundle.entries("phases"))):
        if "tasks" not in phase.value:
            yield Problem(f"phase {shown(phase.get('name'))} has no tasks", phase.at, order=(number, 2))


@PHASES.refused("phase-of-unknown-task", "a phase refers to a task that does not exist", stage=Stage.SAVE_PHASES)
def _phase_of_unknown_task(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Unpacking the bundle failed. A required key or referenced index (1) was not found in the
    YAML. …` (1.25: the bare index, such as `1`).
    → List the indexes of existing tasks, with the same type: 0 and '0' differ.
    """
    known = bundle.competition.task_indexes
    names = ", ".join(repr(one) for one in sorted(set(known), key=str)) or "none"
    for number, phase in enumerate(sorted_phases(bundle.entries("phases"))):
        tasks, name, at = phase.value.get("tasks", MISSING), shown(phase.get("name")), (*phase.at, "tasks")
        if isinstance(tasks, (list, dict, str, set)):
            for index in tasks:
                if index not in known:
                    what = f"phase {name} refers to the task {shown(index)}; there are {names}"
                    yield Problem(what, at, order=(number, 0))
        elif tasks is not MISSING:
            yield Problem(f"tasks of phase {name} is {shown(tasks)}, and must be a list", at, order=(number, 0))


@PHASES.broken("phase-tasks-empty", "a phase with an empty list of tasks")
def _phase_tasks_empty(bundle: Bundle) -> Iterator[Problem]:
    """Submissions to it stay in Submitting forever. → List the indexes of the phase's tasks."""
    for phase in bundle.entries("phases"):
        if phase.get("tasks") in ([], "", {}, set()):
            yield Problem(f"phase {shown(phase.get('name'))} has no task", (*phase.at, "tasks"))


@PHASES.note("phase-tasks-repeated", "a phase lists a task twice")
def _phase_tasks_repeated(bundle: Bundle) -> Iterator[Problem]:
    """The task is run once. → List it once."""
    for phase in bundle.entries("phases"):
        tasks = phase.get("tasks")
        listed = [index for index in tasks if isinstance(index, Hashable)] if isinstance(tasks, list) else []
        if len(set(listed)) < len(listed):
            yield Problem(f"phase {shown(phase.get('name'))} lists a task twice", (*phase.at, "tasks"))


@PHASES.trap("phase-task-order", "a phase lists its tasks in another order than the competition")
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
    "migration-to-first-phase",
    "submissions are to be migrated to the first phase",
    source=SERIALIZERS,
    reads="both",
    stage=Stage.SAVE_COMPETITION,
)
def _migration_to_first_phase(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `phases: You cannot auto migrate …`. → Set the key on a later phase only."""
    key = "auto_migrate_to_this_phase" if bundle.format == "v2" else "auto_migration"
    for phase in bundle.competition.phases[:1]:
        if phase.auto_migrate:
            yield Problem(f"{key} is set on the first phase", (*phase.at, key), order=(4, 10_000))


@PHASES.note(
    "migration-between-tasks",
    "submissions are migrated to a phase with other tasks",
    source="github.com/codalab/codabench issues 2193 and 2239",
)
def _migration_between_tasks(bundle: Bundle) -> Iterator[Problem]:
    """In some versions of the server a migrated submission runs with the task of the earlier phase.
    → Try it before the phase starts, or ask participants to submit again.
    """
    for earlier, phase in pairwise(bundle.competition.phases):
        if phase.auto_migrate and [task.at for task in earlier.tasks] != [task.at for task in phase.tasks]:
            yield Problem(f"submissions migrate to phase {phase.name}, which has other tasks", phase.at)


@LIMITS.trap(
    "time-limit-over-the-queue",
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


@LIMITS.trap("zero-means-no-limit", "a limit of zero")
def _zero_means_no_limit(bundle: Bundle) -> Iterator[Problem]:
    """0 submissions means no limit, 0 seconds the default of 600. → Give a larger number, or leave the key out."""
    for phase in bundle.competition.phases:
        for key in ("max_submissions", "max_submissions_per_day", "execution_time_limit"):
            if as_integer(bundle.value((*phase.at, key))) == 0:
                yield Problem(f"{key} of phase {phase.name} is 0", (*phase.at, key))


@PHASES.note("day-limit-above-total", "more submissions a day than in the whole phase", reads="both")
def _day_limit_above_total(bundle: Bundle) -> Iterator[Problem]:
    """The limit for the phase is reached on the first day. → Raise max_submissions, or lower the daily limit."""
    for phase in bundle.competition.phases:
        if phase.in_all and phase.a_day and phase.a_day > phase.in_all:
            yield Problem(f"phase {phase.name} allows {phase.a_day} a day and {phase.in_all} in all", phase.at)
