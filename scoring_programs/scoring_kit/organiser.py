"""The organiser's verbs of a scoring package, served by one process (`organise.py`).

The press runs it as a program; it is never packed. Standard input holds a call in each line, a JSON object with the
name of the `verb` and its `request`. Standard output gets a record for each (RFC 7464: the character RECORD before it,
a line end after it; anything else that is printed is passed over), a JSON object that holds one of

- `answer`: what the verb returns;
- `messages`: what the organiser must fix (OrganiserError, or SubmissionError with all its problems);
- `traceback`: a bug, whole, because only the organisers' own machine runs this.

Before it, a record may say how far a verb is: `progress`, an object of `step`, `done` and `total`.

A package serves `prepare`, `template` and `secrets` itself; docs/packages.md has their requests and answers. Served for
every package, unless its module has a function of that name: `check_reference` (reads it, which finds every fault),
`manifest` (of `reference`, what the module `reference` says), `rank`, `power`, `columns` and `trial`, by which a build
tries a package before anyone uploads it, and `disclosure` (of `reference`, the number of `submissions` and the
`decimals` of scores: how many gold values the scores give away, `declared.disclosure`; null where it is not known).
"""

import csv
import errno
import gc
import importlib
import importlib.util
import json
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Required, TypedDict, TypeVar

from scoring_kit.base.environment import missing_package, what_is_missing
from scoring_kit.base.lines_to_press import RECORD, record_of
from scoring_kit.errors import OrganiserError, Problems, SubmissionError
from scoring_kit.submission_files import THRESHOLD, reference_module


class Request(TypedDict, total=False):
    """A verb's request from the press; which of the paths are there depends on the verb."""

    tasks: Required[Sequence[str]]
    all_tasks: Required[Sequence[str]]
    layout: Required[str]
    options: Required[Mapping[str, Any]]
    source: str
    out: str
    reference: str
    phases: Sequence[str]
    given: Mapping[str, str]
    given_to_all: Mapping[str, str]
    submissions: int
    decimals: int | None


class Warned(TypedDict):
    """The answer of `prepare` and `check_reference`: what the organisers should know of their data."""

    warnings: Sequence[str]


class Secrets(TypedDict):
    """The answer of `secrets`; docs/packages.md says what it means."""

    files: Sequence[Mapping[str, object]]


VERBS = (
    *("prepare", "check_reference", "manifest", "template", "secrets"),
    *("rank", "power", "columns", "trial", "disclosure"),
)
Verb = Callable[[Mapping[str, Any]], object]
Gold = TypeVar("Gold")


def serve(module: Mapping[str, Any]) -> int:
    """Answer calls with the functions of a package's organiser module, its `globals()`; returns the exit status."""
    package = str(module.get("__package__"))
    known: dict[str, Verb] = {
        "check_reference": lambda request: _check_reference(package, request),
        "manifest": lambda request: _manifest(package, request),
        "rank": _rank,
        "power": lambda request: _power(package, request),
        "columns": columns,
        "trial": trial,
        "disclosure": lambda _: None,
    }
    known |= {name: module[name] for name in VERBS if name in module}
    gc.set_threshold(THRESHOLD)
    Problems.tells_gold = True  # a build runs on the organisers' own machine
    for line in sys.stdin:
        print(RECORD + _answered(known, json.loads(line)), flush=True)
    return 0


Read = Callable[[Path, Sequence[str], Mapping[str, Any]], Gold]


def read_reference(read: Read[Gold], request: Request) -> Gold:
    """Return what a package's own `read` makes of the reference data that a request names.

    It is kept of the last two folders, which most verbs are asked about.
    """
    folder = Path(request["reference"])
    state: list[tuple[str, int, int]] = []
    for path in sorted(folder.rglob("*")):
        status = path.stat()
        state.append((str(path), status.st_mtime_ns, status.st_size))
    gold: Gold = _read_once(read, folder, tuple(request["tasks"]), json.dumps(request["options"]), tuple(state))
    return gold


@lru_cache(maxsize=2)
def _read_once(
    read: Read[Gold], folder: Path, tasks: Sequence[str], options: str, _state: tuple[tuple[str, int, int], ...]
) -> Gold:
    return read(folder, tasks, json.loads(options))


def write_empty_answers(request: Request, texts: Mapping[str, Iterable[str]], suffix: str, content: str) -> None:
    """Write the template of a submission with a file for each text: task → its texts; `content` answers nothing."""
    out = Path(request["out"])
    for task, names in texts.items():
        folder = out if request["layout"] == "separate" else out / task
        folder.mkdir(exist_ok=True)
        for name in names:
            (folder / f"{name}{suffix}").write_text(content, encoding="utf-8")


def write_empty_table(path: Path, header: Sequence[str], ids: Iterable[str]) -> None:
    r"""Write the template of a submission that is a CSV file: a row for each id, with no answer.

    >>> write_empty_table(folder / "submission.csv", ["id", "label"], ["a", "b"])  # in a folder of yours
    >>> (folder / "submission.csv").read_text()
    'id,label\na,\nb,\n'
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for item in ids:
            writer.writerow([item, *[""] * (len(header) - 1)])


def _answered(verbs: Mapping[str, Verb], call: Mapping[str, Any]) -> str:
    name = call["verb"]
    if name not in verbs:
        return record_of({"messages": [f"no verb {name!r}. Expected one of {', '.join(sorted(verbs))}."]})
    record: dict[str, object]
    try:
        return record_of({"answer": verbs[name](call["request"])})
    except SubmissionError as error:
        record = {"messages": error.report().splitlines()}
    except OrganiserError as error:
        record = {"messages": error.messages}
    except Exception as error:
        record = {"traceback": "".join(traceback.format_exception(error))}
        if isinstance(error, ModuleNotFoundError) and (package := missing_package(error)):
            record = {"messages": [what_is_missing(package)]}
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:  # of a key that files are called by
            name = Path(str(error.filename)).name
            record = {"messages": [f"{name[:40]}…: no file can be called so. Expected at most 255 bytes."]}
    return record_of(record)


def _rank(request: Mapping[str, Any]) -> object:
    from scoring_kit.ranking import rank

    return rank(request)


def _power(package: str, request: Mapping[str, Any]) -> object:
    """Return what made-up systems show of a phase's gold (`scoring_kit.resampling.power`).

    A package makes them in its module `systems`; raises OrganiserError where it has none.
    """
    from scoring_kit.frame import read_gold
    from scoring_kit.program import Program
    from scoring_kit.resampling.power import power

    if importlib.util.find_spec(f"{package}.systems") is None:
        raise OrganiserError(
            f"{package}: has no module systems.py, which makes systems of the gold for power. Expected one with "
            "`Systems`, or a competition with scoring_program: declared."
        )
    program = Program.read(Path(request["program"]))
    gold = read_gold(program, Path(request["reference"]))
    made = importlib.import_module(f"{package}.systems").Systems(
        gold.reference, program.tasks, program.options, request["settings"]["seed"], request["settings"]["common"]
    )
    return power(request, program, made)


def _check_reference(package: str, request: Any) -> Warned:
    read_reference(reference_module(package).read, request)
    return {"warnings": []}


def _manifest(package: str, request: Any) -> object:
    module = reference_module(package)
    return module.manifest(read_reference(module.read, request), request["tasks"])


def columns(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the modules of `tasks` declare: task → `metrics`, None without METRICS, and `needs_model`."""
    declared = {}
    for task in request["tasks"]:
        module = importlib.import_module(f"{request['package']}.{task}")
        metrics = getattr(module, "METRICS", None)
        needs_model = bool(getattr(module, "NEEDS_MODEL", False))
        declared[task] = {"metrics": metrics and list(metrics), "needs_model": needs_model}
    return declared


def trial(request: Mapping[str, Any]) -> dict[str, Any]:
    """Score a submission as the packed program does, with all that it writes.

    Args:
        request: `program`, the folder of a program.json; `phase`, a folder with the reference data in `ref/`;
            `submission`, a zip.

    Returns:
        `scores`: task id → column key → score, of the tasks that the submission enters; or `missing`: the Python
        module that is not here.

    Raises SubmissionError where it is refused; OrganiserError where package, columns, gold or own functions are wrong.
    """
    from scoring_kit.frame import phase_gold, program_of, run
    from scoring_kit.submission_zip import open_submission

    program, phase = Path(request["program"]), Path(request["phase"])
    described = program_of(program, None)
    with tempfile.TemporaryDirectory(dir=phase) as out:
        shutil.rmtree(phase / "res", ignore_errors=True)
        (phase / "res").mkdir()
        open_submission(Path(request["submission"]), phase / "res", Problems())
        try:
            read = reference_module(described.package).read
            asked: Any = {"reference": phase / "ref", "tasks": described.tasks, "options": described.options}
            reference = read_reference(read, asked)
            results = run(program, phase, Path(out), gold=phase_gold(described, phase / "ref", reference))
        except ModuleNotFoundError as error:
            package = missing_package(error)
            if package is None:
                raise
            return {"missing": package}
        scores = json.loads((Path(out) / "scores.json").read_text(encoding="utf-8"))
    failed = []
    for result in results.values():
        for key, why in result.failed.items():
            what = f"{key} could not be computed ({why.words})"
            failed.append(f"{why.place}: {what}. Expected a number, or NaN where it is undefined.")
    if failed:
        raise OrganiserError(*failed)
    by_task: dict[str, dict[str, float]] = {}
    for task in results:
        by_task[task] = {}
        for column in described.columns_of(task):
            if column.key in scores:
                by_task[task][column.key] = scores[column.key]
    return {"scores": by_task}
