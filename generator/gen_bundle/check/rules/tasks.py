"""Tasks: their indexes, their programs and data as paths, and the keys that refer to the server."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING

from gen_bundle.check.registry import UNPACKER, Effect, Problem, rule
from gen_bundle.codabench.fields import shown
from gen_bundle.codabench.stages import Stage
from gen_bundle.codabench.versions import SOURCE

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

TASKS = f"{UNPACKER}/v2.py (tasks)"


@rule(
    "tasks-no-list",
    Effect.REFUSED,
    Stage.TASKS,
    title="tasks is missing or no list of tasks",
    consequence="The upload ends with `No tasks listed in this competition` or a bare type error.",
    repair="Give `tasks` as a list of mappings with index, name and scoring_program.",
    source=TASKS,
)
def _tasks_no_list(bundle: Bundle) -> Iterator[Problem]:
    tasks = bundle.yaml.get("tasks")
    if not isinstance(tasks, list) and tasks not in ("", {}):
        yield Problem(
            f"tasks is {shown(tasks) if 'tasks' in bundle.yaml else 'missing'}, and must be a list", ("tasks",)
        )
    for number, task in enumerate(tasks if isinstance(tasks, list) else ()):
        if not isinstance(task, Mapping):
            yield Problem(
                f"tasks[{number}] is {shown(task)}, and must be a mapping", ("tasks", number), order=(number,)
            )


@rule(
    "task-without-index",
    Effect.REFUSED,
    Stage.TASKS,
    title="a task without a usable index",
    consequence="The upload ends with `ERROR: No index for task: …`.",
    repair="Number the tasks from 0.",
    source=TASKS,
)
def _task_without_index(bundle: Bundle) -> Iterator[Problem]:
    for task in bundle.entries("tasks"):
        if "index" not in task.value:
            yield Problem(f"tasks[{task.position}] has no index", task.at, order=(task.position, 0))
        elif not isinstance(task.get("index"), Hashable):
            what = f"the index of tasks[{task.position}] is {shown(task.get('index'))}"
            yield Problem(what, (*task.at, "index"), order=(task.position, 0))


@rule(
    "task-index-twice",
    Effect.REFUSED,
    Stage.TASKS,
    title="two tasks have the same index",
    consequence="The upload ends with `ERROR: Duplicate task indexes. Index: …`.",
    repair="Give every task an index of its own.",
    source=TASKS,
)
def _task_index_twice(bundle: Bundle) -> Iterator[Problem]:
    seen: set[Hashable] = set()
    for task in bundle.entries("tasks"):
        index = task.get("index")
        if "index" in task.value and isinstance(index, Hashable):
            if index in seen:
                yield Problem(f"the index {index!r} is used twice", (*task.at, "index"), order=(task.position, 1))
            seen.add(index)


@rule(
    "task-without-scoring-program",
    Effect.REFUSED,
    Stage.TASKS,
    title="a task without scoring program",
    consequence='The upload ends with `ERROR: Task "…" does not have a scoring program`.',
    repair="Add `scoring_program` with the path of a folder or zip.",
    source=TASKS,
)
def _task_without_scoring_program(bundle: Bundle) -> Iterator[Problem]:
    for task in bundle.entries("tasks"):
        if "key" not in task.value and "scoring_program" not in task.value:
            what = f"task {shown(task.get('name') or task.get('index'))} has no scoring_program"
            yield Problem(what, task.at, order=(task.position, 4))


@rule(
    "task-key-unknown",
    Effect.REFUSED,
    Stage.SAVE_TASKS,
    title="a task refers to another task by key",
    consequence="The upload ends with `Task with key … does not exist`, or with an error that the key is no UUID.",
    repair="Delete `key` and give the task's own files. If a task with this key exists on your server, "
    "name it with --known-key.",
    source=TASKS,
)
def _task_key_unknown(bundle: Bundle) -> Iterator[Problem]:
    for task in bundle.entries("tasks"):
        key = task.get("key")
        if "key" in task.value and str(key) not in bundle.known_keys:
            what = f"tasks[{task.position}] refers to a task by the key {shown(key)}, which cannot be assumed to exist"
            yield Problem(what, (*task.at, "key"), order=(task.position, 0))


@rule(
    "task-unused",
    Effect.TRAP,
    title="a task that no phase runs",
    consequence="It is created and takes up storage, and nobody can submit to it. A competition exported by the server "
    "has a task that several phases share once for each of them.",
    repair="List its index under a phase's tasks, or delete it.",
    source=TASKS,
)
def _task_unused(bundle: Bundle) -> Iterator[Problem]:
    used = {task.at for task in bundle.competition.used_tasks}
    for task in bundle.competition.tasks:
        if task.at not in used:
            yield Problem(f"no phase runs the task {task.name}", task.at)


@rule(
    "task-names-equal",
    Effect.NOTE,
    title="two tasks with the same name",
    consequence="Participants cannot tell them apart.",
    repair="Give each task a name of its own.",
    source=TASKS,
)
def _task_names_equal(bundle: Bundle) -> Iterator[Problem]:
    seen: set[str] = set()
    for task in bundle.competition.tasks:
        if task.name in seen:
            yield Problem(f"two tasks are called {task.name}", task.at)
        seen.add(task.name)


@rule(
    "ingestion-only-during-scoring",
    Effect.TRAP,
    title="an ingestion program that runs only during scoring",
    consequence="The two containers run one after the other, not at the same time: programs that wait for each other "
    "through /app/shared never meet.",
    repair="Run the ingestion program in the prediction step, or make sure that neither waits for the other.",
    source=f"{SOURCE}, compute_worker/compute_worker.py (containers of a scoring job)",
    reads="both",
)
def _ingestion_only_during_scoring(bundle: Bundle) -> Iterator[Problem]:
    for task in bundle.competition.tasks:
        if task.ingestion_only_during_scoring and "ingestion_program" in task.files:
            yield Problem(f"the ingestion program of {task.name} runs only during scoring", task.at)
