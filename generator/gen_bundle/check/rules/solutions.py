"""Solutions: example submissions, which participants can download."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gen_bundle.check.registry import UNPACKER, Effect, Problem, rule
from gen_bundle.codabench.fields import shown
from gen_bundle.codabench.stages import Stage

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

SOLUTIONS = f"{UNPACKER}/v2.py (solutions)"


@rule(
    "solutions-no-list",
    Effect.REFUSED,
    Stage.SOLUTIONS,
    title="solutions is no list of solutions",
    consequence="The upload ends with a bare type error.",
    repair="Give `solutions` as a list of mappings with index, tasks and path, or leave it out.",
    source=SOLUTIONS,
)
def _solutions_no_list(bundle: Bundle) -> Iterator[Problem]:
    solutions = bundle.yaml.get("solutions")
    if solutions and not isinstance(solutions, list):
        yield Problem(f"solutions is {shown(solutions)}, and must be a list", ("solutions",))
    for number, solution in enumerate(solutions if isinstance(solutions, list) else ()):
        if not isinstance(solution, Mapping):
            what = f"solutions[{number}] is {shown(solution)}, and must be a mapping"
            yield Problem(what, ("solutions", number), order=(number,))


@rule(
    "solution-key-missing",
    Effect.REFUSED,
    Stage.SOLUTIONS,
    title="a solution without index, tasks or path",
    consequence="The upload ends with `ERROR: No index for solution: …`, `Could not find tasks for solution: …` or "
    '`Solution … missing "path"`.',
    repair="Give every solution an index, the indexes of its tasks, and the path of an example submission.",
    source=SOLUTIONS,
)
def _solution_key_missing(bundle: Bundle) -> Iterator[Problem]:
    for solution in bundle.entries("solutions"):
        for place, key in enumerate(("index", "tasks", "path")):
            if key not in solution.value and not (key == "path" and "key" in solution.value):
                what = f"solutions[{solution.position}] has no {key}"
                yield Problem(what, solution.at, order=(solution.position, 2 * place))


def _is_known(index: Any, known: set[Hashable]) -> bool:
    return isinstance(index, Hashable) and index in known


@rule(
    "solution-of-unknown-task",
    Effect.REFUSED,
    Stage.SOLUTIONS,
    title="a solution names a task that does not exist",
    consequence="The upload ends with `ERROR: Solution: … missing task index pointers`, or the bare error `'key'`.",
    repair="List the indexes of existing tasks, of the same type: 0 and '0' differ.",
    source=SOLUTIONS,
)
def _solution_of_unknown_task(bundle: Bundle) -> Iterator[Problem]:
    known = {task.index for task in bundle.competition.tasks if isinstance(task.index, Hashable)}
    for solution in bundle.entries("solutions"):
        if "tasks" not in solution.value:
            continue
        tasks = solution.value["tasks"]
        at, order = (*solution.at, "tasks"), (solution.position, 3)
        if not isinstance(tasks, (list, dict, str, set)):
            yield Problem(
                f"tasks of solutions[{solution.position}] is {shown(tasks)}, and must be a list", at, order=order
            )
            continue
        unknown = [index for index in tasks if not _is_known(index, known)]
        if unknown:
            what = f"solutions[{solution.position}] names the task {shown(unknown[0])}, which does not exist"
            yield Problem(what, at, order=order)


@rule(
    "solution-key-unknown",
    Effect.REFUSED,
    Stage.SAVE_SOLUTIONS,
    title="a solution refers to another one by key",
    consequence="The upload ends with `Could not find solution with key: …`: keys mean nothing to another server. "
    "Exported competitions have such keys.",
    repair="Replace `key` by `path`. If a solution with this key exists on your server, name it with --known-key.",
    source=SOLUTIONS,
)
def _solution_key_unknown(bundle: Bundle) -> Iterator[Problem]:
    for solution in bundle.entries("solutions"):
        key = solution.get("key")
        if "key" in solution.value and str(key) not in bundle.known_keys:
            what = f"solutions[{solution.position}] has the key {shown(key)}, which cannot be assumed to exist"
            yield Problem(what, (*solution.at, "key"), order=(solution.position, 0))


@rule(
    "solution-of-no-task",
    Effect.TRAP,
    title="a solution that belongs to no task, or to tasks that no phase runs",
    consequence="It is stored, and shown nowhere.",
    repair="List the indexes of its tasks under `tasks`.",
    source=SOLUTIONS,
)
def _solution_of_no_task(bundle: Bundle) -> Iterator[Problem]:
    used = {task.index for task in bundle.competition.used_tasks}
    known = {task.index for task in bundle.competition.tasks if isinstance(task.index, Hashable)}
    for solution in bundle.entries("solutions"):
        tasks = solution.get("tasks")
        named = list(tasks) if isinstance(tasks, (list, dict, str, set)) else [None]
        if all(_is_known(index, known) and index not in used for index in named):
            what = "tasks that no phase runs" if named else "no task"
            yield Problem(f"solutions[{solution.position}] belongs to {what}", solution.at)
