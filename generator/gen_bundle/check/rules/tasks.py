"""Tasks: their indexes, their programs and data as paths, and the keys that refer to the server."""

from collections.abc import Hashable, Iterator

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import UNPACKER, WORKER, Problem, Topic
from gen_bundle.check.rules.shared import known_key, list_faults, unknown_keys
from gen_bundle.codabench.fields import shown
from gen_bundle.codabench.stages import Stage

TASKS = Topic("Tasks", f"{UNPACKER}/v2.py (tasks)", stage=Stage.TASKS)


@TASKS.refused("tasks-no-list", "`tasks` is missing or not a list of tasks")
def _tasks_no_list(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `No tasks listed in this competition` or a bare type error.
    → Give `tasks` as a list of mappings with index, name and scoring_program.
    """
    return list_faults(bundle.yaml, ("tasks",), accepted=lambda value: value in ("", {}))


@TASKS.refused("task-without-index", "a task without a usable index")
def _task_without_index(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `ERROR: No index for task: …`. → Number the tasks from 0."""
    for task in bundle.entries("tasks"):
        if "index" not in task.value:
            yield Problem(f"tasks[{task.position}] has no index", task.at, order=(task.position, 0))
        elif not isinstance(task.get("index"), Hashable):
            what = f"the index of tasks[{task.position}] is {shown(task.get('index'))}"
            yield Problem(what, (*task.at, "index"), order=(task.position, 0))


@TASKS.refused("task-index-twice", "two tasks have the same index")
def _task_index_twice(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `ERROR: Duplicate task indexes. Index: …`. → Give every task an index of its own."""
    seen: set[Hashable] = set()
    for task in bundle.entries("tasks"):
        index = task.get("index")
        if "index" in task.value and isinstance(index, Hashable):
            if index in seen:
                yield Problem(f"the index {index!r} is used twice", (*task.at, "index"), order=(task.position, 1))
            seen.add(index)


@TASKS.refused("task-without-scoring-program", "a task without a scoring program")
def _task_without_scoring_program(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `ERROR: Task "…" does not have a scoring program`. → Add `scoring_program`, with a path."""
    for task in bundle.entries("tasks"):
        if "key" not in task.value and "scoring_program" not in task.value:
            what = f"task {shown(task.get('name') or task.get('index'))} has no scoring_program"
            yield Problem(what, task.at, order=(task.position, 4))


@TASKS.refused(
    "task-key-unknown",
    "a task refers to another task by key",
    "The upload ends with `Task with key … does not exist`, or with an error that the key is not a UUID. "
    f"→ Delete `key` and give the task's own files. {known_key('task')}",
    stage=Stage.SAVE_TASKS,
)
def _task_key_unknown(bundle: Bundle) -> Iterator[Problem]:
    return unknown_keys(bundle, "tasks", "refers to a task by the key")


@TASKS.trap("task-unused", "a task that no phase runs")
def _task_unused(bundle: Bundle) -> Iterator[Problem]:
    """It is created and takes up storage, but participants cannot submit to it. In a competition exported by the
    server, a task that several phases share occurs once for each of them.
    → List its index under a phase's tasks, or delete it.
    """
    used = {task.at for task in bundle.competition.used_tasks}
    for task in bundle.competition.tasks:
        if task.at not in used:
            yield Problem(f"no phase runs the task {task.name}", task.at)


@TASKS.note("task-names-equal", "two tasks with the same name")
def _task_names_equal(bundle: Bundle) -> Iterator[Problem]:
    """Participants cannot tell them apart. → Give each task a name of its own."""
    seen: set[str] = set()
    for task in bundle.competition.tasks:
        if task.name in seen:
            yield Problem(f"two tasks are called {task.name}", task.at)
        seen.add(task.name)


@TASKS.trap(
    "ingestion-only-during-scoring",
    "an ingestion program that runs only during scoring",
    source=f"{WORKER} (containers of a scoring job)",
    reads="both",
)
def _ingestion_only_during_scoring(bundle: Bundle) -> Iterator[Problem]:
    """The two containers run one after the other, not at the same time: programs that wait for each other through
    /app/shared wait forever. Since 1.27 the ingestion program sees neither /app/shared nor /app/input.
    → Run the ingestion program in the prediction step, or make sure that neither waits for the other.
    """
    for task in bundle.competition.tasks:
        if task.ingestion_only_during_scoring and "ingestion_program" in task.files:
            yield Problem(f"the ingestion program of {task.name} runs only during scoring", task.at)
