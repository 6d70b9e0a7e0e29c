"""Tasks and solutions (example submissions, which participants can download): what each needs, and refers to."""

from collections.abc import Hashable, Iterator

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import UNPACKER, WORKER, Problem, Topic
from gen_bundle.check.rules.shared import known_key, list_faults, unknown_keys
from gen_bundle.codabench.fields import MISSING, Stage, shown

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


SOLUTIONS = Topic("Solutions", f"{UNPACKER}/v2.py (solutions)", stage=Stage.SOLUTIONS)


@SOLUTIONS.refused("solutions-no-list", "`solutions` is not a list of solutions")
def _solutions_no_list(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with a bare type error. → Give a list of mappings with index, tasks and path, or nothing."""
    return list_faults(bundle.yaml, ("solutions",), accepted=lambda value: value is MISSING or not value)


@SOLUTIONS.refused("solution-key-missing", "a solution without index, tasks or path")
def _solution_key_missing(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `ERROR: No index for solution: …`, `Could not find tasks for solution: …` or `Solution …
    missing "path"`.
    → Give every solution an index, the indexes of its tasks, and the path of an example submission.
    Example: `{index: 0, tasks: [0], path: sample.zip}`.
    """
    for solution in bundle.entries("solutions"):
        for place, key in enumerate(("index", "tasks", "path")):
            if key not in solution.value and not (key == "path" and "key" in solution.value):
                what = f"solutions[{solution.position}] has no {key}"
                yield Problem(what, solution.at, order=(solution.position, 2 * place))


@SOLUTIONS.refused("solution-of-unknown-task", "a solution refers to a task that does not exist")
def _solution_of_unknown_task(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `ERROR: Solution: … missing task index pointers`, or with `Unpacking the bundle failed. A
    required key or referenced index ('key') was not found in the YAML. …` (1.25: `'key'`).
    → List the indexes of existing tasks, with the same type: 0 and '0' differ.
    """
    known = bundle.competition.task_indexes
    for solution in bundle.entries("solutions"):
        tasks = solution.value.get("tasks", MISSING)
        at, order = (*solution.at, "tasks"), (solution.position, 3)
        if isinstance(tasks, (list, dict, str, set)):
            unknown = [index for index in tasks if index not in known]
            if unknown:
                what = f"solutions[{solution.position}] refers to the task {shown(unknown[0])}, which does not exist"
                yield Problem(what, at, order=order)
        elif tasks is not MISSING:
            what = f"tasks of solutions[{solution.position}] is {shown(tasks)}, and must be a list"
            yield Problem(what, at, order=order)


@SOLUTIONS.refused(
    "solution-key-unknown",
    "a solution refers to another one by key",
    "The upload ends with `Could not find solution with key: …`: keys mean nothing to another server. Exported "
    "competitions have such keys. "
    f"→ Replace `key` with `path`. {known_key('solution')}",
    stage=Stage.SAVE_SOLUTIONS,
)
def _solution_key_unknown(bundle: Bundle) -> Iterator[Problem]:
    return unknown_keys(bundle, "solutions", "has the key")


@SOLUTIONS.trap("solution-of-no-task", "a solution that belongs to no task, or only to tasks that no phase runs")
def _solution_of_no_task(bundle: Bundle) -> Iterator[Problem]:
    """It is stored, but not shown anywhere. → List the indexes of its tasks under `tasks`."""
    used, known = [task.index for task in bundle.competition.used_tasks], bundle.competition.task_indexes
    for solution in bundle.entries("solutions"):
        tasks = solution.get("tasks")
        named = list(tasks) if isinstance(tasks, (list, dict, str, set)) else [None]
        if all(index in known and index not in used for index in named):
            what = "tasks that no phase runs" if named else "no task"
            yield Problem(f"solutions[{solution.position}] belongs to {what}", solution.at)
