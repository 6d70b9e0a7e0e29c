"""Solutions: example submissions, which participants can download."""

from collections.abc import Iterator

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import UNPACKER, Problem, Topic
from gen_bundle.check.rules.shared import known_key, list_faults, unknown_keys
from gen_bundle.codabench.fields import MISSING, shown
from gen_bundle.codabench.stages import Stage

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
