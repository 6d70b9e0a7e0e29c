"""Tasks and solutions (example submissions, which participants can download), and their programs and data as paths."""

import re
from collections.abc import Hashable, Iterator

from gen_bundle.check.bundle import Bundle, page_files
from gen_bundle.check.registry import UNPACKER, WORKER, ZIPFILE, Problem, Topic
from gen_bundle.check.rules.shared import PATH_NOT_TEXT, UNKNOWN_KEY, known_key, list_faults, unknown_keys
from gen_bundle.codabench.competition import DataUse
from gen_bundle.codabench.settings import MISSING, Stage, is_uuid, shown
from gen_bundle.ground.yaml_document import Path
from gen_bundle.ground.zips.tree import Node, OnServer, Unpacked

TASKS = Topic("Tasks", f"{UNPACKER}/v2.py (tasks)", stage=Stage.TASKS)


@TASKS.refused("`tasks` is missing or not a list of tasks")
def _tasks_no_list(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `No tasks listed in this competition` or a bare type error.
    → Give `tasks` as a list of mappings with index, name and scoring_program.
    """
    return list_faults(bundle.yaml, ("tasks",), accepted=lambda value: value in ("", {}))


@TASKS.refused("a task without a usable index")
def _task_without_index(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `ERROR: No index for task: …`. → Number the tasks from 0."""
    for task in bundle.entries("tasks"):
        if "index" not in task.value:
            yield Problem(f"tasks[{task.position}] has no index", task.at, order=(task.position, 0))
        elif not isinstance(task.get("index"), Hashable):
            what = f"the index of tasks[{task.position}] is {shown(task.get('index'))}"
            yield Problem(what, (*task.at, "index"), order=(task.position, 0))


@TASKS.refused("two tasks have the same index")
def _task_index_twice(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `ERROR: Duplicate task indexes. Index: …`. → Give every task an index of its own."""
    seen: set[Hashable] = set()
    for task in bundle.entries("tasks"):
        index = task.get("index")
        if "index" in task.value and isinstance(index, Hashable):
            if index in seen:
                yield Problem(f"the index {index!r} is used twice", (*task.at, "index"), order=(task.position, 1))
            seen.add(index)


@TASKS.refused("a task without a scoring program")
def _task_without_scoring_program(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `ERROR: Task "…" does not have a scoring program`. → Add `scoring_program`, with a path."""
    for task in bundle.entries("tasks"):
        if "key" not in task.value and "scoring_program" not in task.value:
            what = f"task {shown(task.get('name') or task.get('index'))} has no scoring_program"
            yield Problem(what, task.at, order=(task.position, 4))


@TASKS.refused(
    "a task refers to another task by key",
    "The upload ends with `Task with key … does not exist`, or with an error that the key is not a UUID. "
    f"→ Delete `key` and give the task's own files. {known_key('task')}",
    stage=Stage.SAVE_TASKS,
)
def _task_key_unknown(bundle: Bundle) -> Iterator[Problem]:
    return unknown_keys(bundle, "tasks", "refers to a task by the key")


@TASKS.trap("a task that no phase runs")
def _task_unused(bundle: Bundle) -> Iterator[Problem]:
    """It is created and takes up storage, but participants cannot submit to it. In a competition exported by the
    server, a task that several phases share occurs once for each of them.
    → List its index under a phase's tasks, or delete it.
    """
    used = {task.at for task in bundle.competition.used_tasks}
    for task in bundle.competition.tasks:
        if task.at not in used:
            yield Problem(f"no phase runs the task {task.name}", task.at)


@TASKS.note("two tasks with the same name")
def _task_names_equal(bundle: Bundle) -> Iterator[Problem]:
    """Participants cannot tell them apart. → Give each task a name of its own."""
    seen: set[str] = set()
    for task in bundle.competition.tasks:
        if task.name in seen:
            yield Problem(f"two tasks are called {task.name}", task.at)
        seen.add(task.name)


@TASKS.trap(
    "an ingestion program that runs only during scoring", source=f"{WORKER} (containers of a scoring job)", reads="both"
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


@SOLUTIONS.refused("`solutions` is not a list of solutions")
def _solutions_no_list(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with a bare type error. → Give a list of mappings with index, tasks and path, or nothing."""
    return list_faults(bundle.yaml, ("solutions",), accepted=lambda value: value is MISSING or not value)


@SOLUTIONS.refused("a solution without index, tasks or path")
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


@SOLUTIONS.refused("a solution refers to a task that does not exist")
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
    "a solution refers to another one by key",
    "The upload ends with `Could not find solution with key: …`: keys mean nothing to another server. Exported "
    "competitions have such keys. "
    f"→ Replace `key` with `path`. {known_key('solution')}",
    stage=Stage.SAVE_SOLUTIONS,
)
def _solution_key_unknown(bundle: Bundle) -> Iterator[Problem]:
    return unknown_keys(bundle, "solutions", "has the key")


@SOLUTIONS.trap("a solution that belongs to no task, or only to tasks that no phase runs")
def _solution_of_no_task(bundle: Bundle) -> Iterator[Problem]:
    """It is stored, but not shown anywhere. → List the indexes of its tasks under `tasks`."""
    used, known = [task.index for task in bundle.competition.used_tasks], bundle.competition.task_indexes
    for solution in bundle.entries("solutions"):
        tasks = solution.get("tasks")
        named = list(tasks) if isinstance(tasks, (list, dict, str, set)) else [None]
        if all(index in known and index not in used for index in named):
            what = "tasks that no phase runs" if named else "no task"
            yield Problem(f"solutions[{solution.position}] belongs to {what}", solution.at)


DATA = Topic(
    "Programs and data as files", f"{UNPACKER}/base_unpacker.py (data files)", reads="both", stage=Stage.SAVE_TASKS
)
PLACEHOLDER = re.compile(r"(?i)(?:readme|licen[cs]e|placeholder)(?:\.\w+)?\Z|\.(?:git\w*|keep|DS_Store)\Z")
PROGRAMS = ("scoring_program", "ingestion_program")
OF_PHASES = ("public_data", "starting_kit")
STAGES = {"solution": Stage.SAVE_SOLUTIONS, "public_data": Stage.SAVE_PHASES, "starting_kit": Stage.SAVE_PHASES}


def where(use: DataUse) -> str:
    """A use as people call it: reference data 'ref'."""
    return f"{use.role.replace('_', ' ')} {shown(use.path)}"


def _running(bundle: Bundle) -> set[Path]:
    """Where the files are named that submissions of some phase meet: programs and data of tasks that are run."""
    return {use.at for task in bundle.competition.used_tasks for use in task.files.values()}


@DATA.refused(
    "the path of a program or of data is not a text",
    f"{PATH_NOT_TEXT} → Leave the key out if there is nothing; quote a path that looks like a number.",
    stage=Stage.TASKS,
)
def _data_path_no_text(bundle: Bundle) -> Iterator[Problem]:
    for use in bundle.competition.uses():
        if not isinstance(use.path, str):
            stage = Stage.TASKS
            if use.role in OF_PHASES or bundle.format != "v2":
                stage = Stage.PHASES
            elif use.role == "solution":
                stage = Stage.SOLUTIONS
            order = (use.order[0], 5, *use.order[1:])
            yield Problem(f"{where(use)} is not a path", use.at, stage=stage, order=order)


def _leading_nowhere(bundle: Bundle, *, uuids: bool) -> Iterator[DataUse]:
    """The uses whose path is of nothing in the bundle: UUIDs, which are keys of the server, or the rest."""
    for use in bundle.competition.uses():
        if isinstance(use.path, str) and bundle.find(use.path) is None and is_uuid(use.path) is uuids:
            yield use


def _not_there(use: DataUse, what: str) -> Problem:
    # in SAVE_PHASES each phase first looks up its tasks (place 0) and the leaderboard (1), then its two files
    order = (use.order[0], use.order[1] + 2) if use.role in OF_PHASES else (*use.order, 0)
    return Problem(f"{where(use)} {what}", use.at, stage=STAGES.get(use.role, Stage.SAVE_TASKS), order=order)


@DATA.refused("a program or data file does not exist")
def _data_not_found(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Cannot find dataset: "…"`.
    → Correct the path: it is relative to the root of the zip, case matters, / separates, and nothing is fetched from
    the web.
    """
    for use in _leading_nowhere(bundle, uuids=False):
        yield _not_there(use, f"is not in the bundle{bundle.hint(use.path)}")


@DATA.note("a zip that is still a folder")
def _data_to_be_packed(bundle: Bundle) -> Iterator[Problem]:
    """The folder is looked at in place of its zip. A zip of the whole that lacks it ends with `Cannot find dataset`.
    → Pack the bundle as competition.yaml means it: gen-bundle check FOLDER --pack bundle.zip.
    """
    for use in bundle.competition.uses():
        if isinstance(use.path, str) and bundle.to_be_packed(use.path):
            folder = use.path.removesuffix(".zip")
            yield Problem(f"{where(use)} is not packed yet: the folder {folder!r} is there", use.at)


@DATA.refused(
    "a program or data refers to a dataset of the server by key",
    'The upload ends with `Cannot find … with key: "…"` if there is no such dataset. '
    f"→ Put the file into the bundle. {known_key('dataset')}",
)
def _data_key_unknown(bundle: Bundle) -> Iterator[Problem]:
    for use in _leading_nowhere(bundle, uuids=True):
        if use.path not in bundle.known_keys:
            yield _not_there(use, f"is the key of a dataset, {UNKNOWN_KEY}")


@DATA.trap("an empty path, which means the whole bundle")
def _data_whole_bundle(bundle: Bundle) -> Iterator[Problem]:
    """The whole bundle is packed, reference data included; as public data, starting kit or solution participants can
    download it.
    → Leave the key out, or give the path of a separate folder.
    """
    for use in bundle.competition.uses():
        if bundle.find(use.path) is bundle.tree:
            yield Problem(f"{where(use)} packs the whole bundle", use.at)


@DATA.broken("the path of a program or data leads out of the bundle")
def _data_of_the_server(bundle: Bundle) -> Iterator[Problem]:
    """The path is followed on the server, and some other file is used. → Give a path inside the bundle."""
    for use in bundle.competition.uses():
        if isinstance(bundle.find(use.path), OnServer):
            yield Problem(f"{where(use)} lies outside the bundle", use.at)


def _unpacked(bundle: Bundle) -> Iterator[tuple[DataUse, Unpacked, bool]]:
    """The programs and data that are there, unpacked, and whether submissions meet them."""
    running = _running(bundle)
    for use in bundle.competition.uses():
        unpacked = bundle.unpacked(use)
        if unpacked is not None:
            yield use, unpacked, use.at in running


@DATA.broken("a program or data that is neither a zip nor a folder", source=WORKER)
def _data_no_zip(bundle: Bundle) -> Iterator[Problem]:
    """It is uploaded as it is, but the worker cannot unpack it: every submission fails after minutes with `Bad or empty
    zip file`.
    → Give a folder, or a zip that can be opened.
    """
    for use, unpacked, running in _unpacked(bundle):
        if running and unpacked.fault:
            what = "is not a zip" if unpacked.form == "no zip" else "is a zip that cannot be unpacked"
            yield Problem(f"{where(use)} {what}: {unpacked.fault}", use.at)


@DATA.trap("a solution, starting kit or public data in a broken zip, or a solution that is not a zip", source=WORKER)
def _download_no_zip(bundle: Bundle) -> Iterator[Problem]:
    """Participants download something that they cannot open or submit. → Give a folder, or a zip that can be opened."""
    for use, unpacked, running in _unpacked(bundle):
        needs_zip = use.role == "solution" or str(use.path).lower().endswith(".zip")
        if not running and unpacked.fault and needs_zip:
            yield Problem(f"{where(use)} cannot be opened: {unpacked.fault}", use.at)


@DATA.broken("reference data without any file but a README or .gitkeep", source=WORKER)
def _reference_data_empty(bundle: Bundle) -> Iterator[Problem]:
    """The scoring program finds no answers in /app/input/ref, and every run fails. → Put the reference files there."""
    for use, unpacked, running in _unpacked(bundle):
        if not running or use.role != "reference_data" or unpacked.fault or unpacked.form not in ("folder", "zip"):
            continue
        if all(PLACEHOLDER.match(name.rpartition("/")[2]) for name in unpacked.names):
            but = f" but {', '.join(unpacked.names)}" if unpacked.names else ""
            yield Problem(f"{where(use)} contains no file{but}", use.at)


@DATA.trap("input data, public data, a starting kit or a solution without any file")
def _data_empty(bundle: Bundle) -> Iterator[Problem]:
    """Participants get an empty zip. → Put the files there, or leave the key out."""
    for use, unpacked, _ in _unpacked(bundle):
        is_empty = unpacked.form in ("folder", "zip") and not unpacked.fault and not unpacked.names
        if is_empty and use.role not in (*PROGRAMS, "reference_data"):
            yield Problem(f"{where(use)} contains no file", use.at)


@DATA.trap("a symbolic link among the programs, data or pages", source=ZIPFILE)
def _link_used(bundle: Bundle) -> Iterator[Problem]:
    """It is unpacked as a small text file with the link's target. → Pack the file itself (zip without -y)."""
    for page in page_files(bundle):
        if isinstance(page.found, Node) and page.found.is_link:
            yield Problem(f"the page {page.path} is a symbolic link", page.at)
    for use in bundle.competition.uses():
        unpacked = bundle.unpacked(use)
        for name, node in unpacked.tree.files() if unpacked else ():
            if node.is_link:
                yield Problem(f"{where(use)} contains the symbolic link {name!r}", use.at)
                break


def _overwritten(bundle: Bundle, *, used: bool) -> Iterator[Problem]:
    """Find files that are read after packing wrote a zip there: files of tasks that are run, or the rest."""
    running = _running(bundle)
    for use, earlier, target, replaced in _read_after_packing(bundle):
        if (replaced and use.at in running) is used:
            yield Problem(f"{where(use)} is read after {where(earlier)} was zipped into {target!r}", use.at)


OVERWRITES = "A folder `x/data` is zipped into `data.zip`, one folder up."


@DATA.broken(
    "packing a folder overwrites a program or data that a task uses",
    f"{OVERWRITES} A file of that name that is read later is no longer the original. "
    "→ Do not give a folder and a zip the same name; include ready-made zips.",
    source=f"{UNPACKER}/utils.py (zip_if_directory)",
)
def _packed_over(bundle: Bundle) -> Iterator[Problem]:
    return _overwritten(bundle, used=True)


@DATA.trap(
    "packing a folder writes a zip into another folder, or over a download",
    f"{OVERWRITES} A folder that is packed later contains that zip as well. "
    "→ Do not pack a folder and its parent; include ready-made zips.",
    source=f"{UNPACKER}/utils.py (zip_if_directory)",
)
def _packed_into(bundle: Bundle) -> Iterator[Problem]:
    return _overwritten(bundle, used=False)


def _read_after_packing(bundle: Bundle) -> Iterator[tuple[DataUse, DataUse, str, bool]]:
    """Uses read after packing wrote a zip there: which, packed by whom, into what, and whether it replaces the file."""
    written: dict[str, DataUse] = {}
    for use in bundle.competition.uses():
        found = bundle.find(use.path)
        if not isinstance(found, Node) or found is bundle.tree:
            continue
        plain = _plain(use.path)
        for target, earlier in written.items():
            if target == plain and _contents(bundle, use) != _contents(bundle, earlier):
                yield use, earlier, target, True
            elif found.is_folder and target.startswith(f"{plain}/"):
                yield use, earlier, target, False
        if found.is_folder and (packed := _zip_of(use.path)):
            written.setdefault(packed, use)


def _contents(bundle: Bundle, use: DataUse) -> list[tuple[str, int]]:
    unpacked = bundle.unpacked(use)
    return [(name, node.size) for name, node in unpacked.tree.files()] if unpacked else []


def _zip_of(path: str) -> str | None:
    """The file, relative to the bundle, into which the upload zips a folder; None when it lies outside the bundle."""
    above = f"bundle/{path}".rpartition("/")[0].rpartition("/")[0]
    name = path.strip("/").rpartition("/")[2]
    if not above.startswith("bundle") or not name:
        return None
    return _plain(f"{above}/{name}.zip".partition("/")[2])


def _plain(path: str) -> str:
    return "/".join(part for part in path.split("/") if part not in ("", "."))
