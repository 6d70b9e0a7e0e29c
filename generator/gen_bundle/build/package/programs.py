"""Packs programs, so that they run by themselves: scoring and ingestion programs, and participants' first code."""

import ast
import hashlib
import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import metadata
from importlib.util import resolve_name
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Any

from gen_bundle.build.package.libraries import base_name, libraries_beyond_score, not_here, site_members
from gen_bundle.build.package.resolve import ProgramPart, Resolved, ids
from gen_bundle.codabench.board import time_limit
from gen_bundle.codabench.worker import CALLED_OTHERWISE, MODULES, PACKAGES, PLATFORM_IMAGE, PYTHON, STANDARD_LIBRARY
from gen_bundle.declaration.model import DeclaredPhase, DeclaredTask
from gen_bundle.ground.local_files import file_digest
from gen_bundle.ground.resources import resource
from gen_bundle.ground.zips.writing import Members, all_files, below, folder_members
from scoring_kit.base.submissions import is_junk

VERSION = metadata.version("gen-bundle")
COMMAND = "python3 /app/program/score.py /app/input /app/output"
INGESTION_COMMAND = "python3 /app/program/ingest.py /app/input_data /app/ingested_program /app/output"
SAMPLE = "sample"
"""The folder of the public data that holds what submitted code reads, `input/`, and gold for it, `gold/`."""
ORGANISERS_ONLY = "organiser.py"
"""The module of a package that is in no program."""
NEVER_PACKED = ("scoring_kit.resampling", "declared.units")
"""Packages that the verbs `rank` and `trial` import of modules that are in programs, too."""
LAZY_METRICS = tuple(f"declared.metrics.{name}" for name in ("embeddings", "means", "own", "per_key"))
"""Modules that others import only where a metric needs them."""
OF_FILES = ("declared.file_answers", "declared.gold_of_files", "declared.arrays", "scoring_kit.base.array_heads")
"""Modules that others import only where a table's values are files."""

Baselines = Mapping[str, Mapping[str, float]]
"""Name of a baseline → column key → score."""

NO_BASELINES: Baselines = {}
BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")
"""Parts of a statement that hold statements, or hold what does."""
STATEMENT = re.compile(r"\n(?=def |async def |class |@|\w+(?:: .*)? = )")
LONG_TEXT = ('"""', "'''")
PARSING = Lock()


def program_members(
    competition: Resolved,
    part: ProgramPart,
    phase: DeclaredPhase | None = None,
    *,
    baselines: Baselines = NO_BASELINES,
    secrets: Sequence[Mapping[str, Any]] = (),
    reference: Path | None = None,
    scores_txt: bool = False,
) -> dict[str, bytes | Path]:
    """Return the files of a part's scoring program: `metadata.yaml` and `score.py` at the root, then what they import.

    It scores with the gold of `phase`: None where that is the participants' own or organisers rank, who see all. The
    results page compares scores with `baselines`; `secrets` say where in the gold the check finds what is secret, and
    `reference` is the folder of that gold, whose digests let the check recognise synthetic gold. With `scores_txt` it
    also writes scores.txt, which the older CodaLab reads.
    """
    code = _code(competition)
    description = dict(program_description(competition, part.tasks, phase, baselines, code))
    site: Members = {}
    if phase is not None:
        site = site_members(competition)
        description["secrets"] = []
        if phase.gold != "public":
            description["secrets"] += secrets
        if reference is not None and phase.data_id in competition.synthetic_phases:
            description["synthetic"] = {name: file_digest(reference / name) for name in all_files(reference)}
    if scores_txt:
        description["scores_txt"] = True
    if competition.takes_code:
        description["takes_code"] = True
    return {
        **site,
        "metadata.yaml": f"command: {COMMAND}\n".encode(),
        "program.json": json.dumps(description, indent=1, ensure_ascii=False).encode(),
        **code,
    }


def _code(competition: Resolved) -> Members:
    """The files of a scoring program but for those that describe it: what runs, with the data beside it.

    Of a package of the organisers' own everything, since only they know what its modules read and import.
    """
    kit, package = resource("scoring_programs"), competition.package
    own: dict[str, bytes | Path] = {}
    started = ["scoring_kit.frame"]
    if package.is_own:
        for name, path in folder_members(package.folder, f"{package.name}/").items():
            if Path(name).name == ORGANISERS_ONLY:
                continue
            own[name] = path
            if name.endswith(".py"):
                started.append(name.removesuffix(".py").replace("/", ".").removesuffix(".__init__"))
    else:
        modules = ["submission", "reference", "gold_files", "tasks", *competition.task_ids]
        started += [f"{package.name}.{module}" for module in (*modules, *_metric_modules(competition))]
        if any(table.file.files for table in competition.scoring.tables.values()):
            started += OF_FILES
    folders = (package.folder, kit / "scoring_kit")
    unused = {*NEVER_PACKED, *LAZY_METRICS, *OF_FILES} - set(started)
    if not competition.takes_code:
        unused.add("scoring_kit.code_submission")
    found = imported_modules(tuple(started), folders, frozenset(unused))
    return {"score.py": kit / "score.py", **found, **_data_beside(found), **own, **competition.program_files}


def _metric_modules(competition: Resolved) -> list[str]:
    """The modules of `declared` that a competition's metrics import by name."""
    used = set()
    for metric in competition.scoring.metrics_of(competition.task_ids):
        if metric.known:
            used.add(f"metrics.{metric.known.module}")
            if metric.mean_by:
                used.add("metrics.means")
        else:
            used.add("metrics.own")
            if metric.per:
                used.add("metrics.per_key")
    return sorted(used)


def _data_beside(modules: Mapping[str, Path]) -> dict[str, bytes | Path]:
    """The files of other kinds in the folders of modules, which these read."""
    found: dict[str, bytes | Path] = {}
    folders = {name.rpartition("/")[0]: path.parent for name, path in modules.items()}
    for inside, folder in folders.items():
        for path in sorted(folder.iterdir()):
            if path.is_file() and path.suffix != ".py" and not is_junk(path.name):
                found[f"{inside}/{path.name}"] = path
    return found


def _digest(members: Members) -> str:
    """Eight hexadecimal digits that change with the name or content of any file."""
    digest = hashlib.sha256()
    for name, content in sorted(members.items()):
        own = _file_digest(_state(content)) if isinstance(content, Path) else hashlib.sha256(content).hexdigest()
        digest.update(f"{name}\0{own}\n".encode())
    return digest.hexdigest()[:8]


@cache
def _file_digest(state: "State") -> str:
    return file_digest(state[0])


def write_program(competition: Resolved, tasks: Sequence[DeclaredTask], folder: Path) -> Path:
    """Write program.json for `tasks`, and beside it the files that options name, as in a scoring program.

    The organiser's verbs `rank` and `trial` score with it. Returns `folder`.
    """
    for name, file in competition.program_files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder / name)
    folder.mkdir(parents=True, exist_ok=True)
    description = program_description(competition, tasks)
    (folder / "program.json").write_text(json.dumps(description), encoding="utf-8")
    return folder


def program_description(
    competition: Resolved,
    tasks: Sequence[DeclaredTask],
    phase: DeclaredPhase | None = None,
    baselines: Baselines = NO_BASELINES,
    code: Members | None = None,
) -> Mapping[str, Any]:
    """Return the content of program.json (see `scoring_kit.program.Program`); `code` is `_code`, where it is known."""
    description = {
        "competition": competition.name,
        "package": competition.package.name,
        "title": competition.declaration.title,
        "version": VERSION,
        "code": _digest(code or _code(competition)),
        "layout": competition.layout,
        "tasks": ids(tasks),
        "all_tasks": competition.all_task_ids,
        "task_names": {task.id: task.name for task in competition.declaration.tasks},
        "options": competition.options,
        "columns": [
            {
                "key": column.key,
                "task": task.id,
                "title": column.title,
                "sort": column.sort,
                "precision": column.precision,
                "worst": column.worst,
                "meaning": column.meaning,
                "computation": column.computation,
                "of": column.of or [],
                "hidden": column.hidden,
                "measured": column.measured,
            }
            for task, column in competition.columns
        ],
        "details_min_items": competition.declaration.details_min_items,
        "tie_break": competition.tie_break,
        "phase": None,
        "details": "full",
        "score_decimals": None,
        "scores_hidden": False,
        "baselines": baselines,
        "needs": [
            *libraries_beyond_score(competition),
            *competition.declaration.requirements,
            *(name for name, surely in absent_imports(competition).items() if surely),
        ],
    }
    if phase:
        description |= {
            "phase": {"id": phase.id, "name": phase.name},
            "details": phase.shown_details,
            "score_decimals": phase.score_decimals,
            "scores_hidden": phase.hides_scores,
        }
    return description


def imported_modules(
    names: tuple[str, ...],
    packages: tuple[Path, ...],
    without: frozenset[str] = frozenset(),
    *,
    surely: bool = False,
) -> Mapping[str, Path]:
    """Return the files of modules by their dotted names, and of all in the folders `packages` that these import.

    Modules and packages called in `without` are left out, with what only they import. With `surely` only what is
    imported at once is followed.

    Returns:
        Place in a program, such as `scoring_kit/errors.py` → file.
    """
    ours = resource("scoring_programs")
    states = set()
    for folder in packages:
        if not folder.is_relative_to(ours):
            for path in folder.rglob("*.py"):
                states.add(_state(path))
    return _imported_modules(names, packages, without, frozenset(states), surely)


State = tuple[Path, int, int]
"""A file, its time and its size, which change with what it holds."""


def _state(path: Path) -> State:
    status = path.stat()
    return path, status.st_mtime_ns, status.st_size


@cache
def _imported_modules(
    names: tuple[str, ...],
    packages: tuple[Path, ...],
    without: frozenset[str],
    _states: frozenset[State],
    surely: bool,
) -> Mapping[str, Path]:
    folders = {folder.name: folder for folder in packages}
    found: dict[str, Path] = {}
    looked_at: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in looked_at:
            continue
        looked_at.add(name)
        folder = folders.get(name.split(".")[0])
        if folder is None or not without.isdisjoint(accumulate(name.split("."), "{}.{}".format)):
            continue
        path = _module_file(folder, name)
        if path is None:
            continue
        place = f"{folder.name}/{path.relative_to(folder).as_posix()}"
        if place not in found:
            found[place] = path
            parents = [*accumulate(name.split("."), "{}.{}".format)]
            package = name if path.name == "__init__.py" else parents[-2]
            waiting += parents[:-1]
            for one in _imported_names(path, surely):
                with suppress(ImportError):  # from above the package, which is said when it runs
                    waiting.append(resolve_name(one, package))
    return found


def _module_file(folder: Path, name: str) -> Path | None:
    """The file of a dotted module name below its package's folder; None where it names a function, say."""
    inside = "/".join(name.split(".")[1:])
    for path in (folder / inside / "__init__.py", folder / f"{inside}.py"):
        if path.is_file():
            return path
    return None


def syntax_tree(text: str) -> ast.Module:
    """Python, parsed: one text at a time, since threads may fail each other with a SystemError in Python 3.11.

    Raises:
        SyntaxError, ValueError: it is no Python of this version.
    """
    with PARSING:
        return ast.parse(text)


def _imported_names(path: Path, surely: bool = False) -> list[str]:
    """The names that a module may import when it runs, of `from .a import b` both `.a` and `.a.b`.

    With `surely` those without which it is not imported itself: not within a function, a `try` or a condition.
    """
    return _names_in(_state(path), surely)


@cache
def _names_in(state: State, surely: bool) -> list[str]:
    names: list[str] = []
    try:
        waiting: list[ast.AST] = [*_parsed(state[0])]
    except (SyntaxError, ValueError):  # it cannot run, which is said when it does
        return names
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            below = ""
            if isinstance(node, ast.ImportFrom):
                source = "." * node.level + (node.module or "")
                names.append(source)
                below = f"{source}." if node.module else source
            for alias in node.names:
                names.append(f"{below}{alias.name}")
        for_types = isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        if not for_types and not surely:
            for block in BLOCKS:  # nothing is imported within an expression
                waiting += getattr(node, block, ())
    return names


def _parsed(path: Path) -> list[ast.stmt]:
    """A module's statements, without what is defined and imports nothing: to parse that takes most of the time.

    Raises:
        SyntaxError, ValueError: it is no Python of this version, or not UTF-8.
    """
    text = path.read_text(encoding="utf-8")
    parts = STATEMENT.split(text)
    try:
        if all(part.count(quotes) % 2 == 0 for part in parts for quotes in LONG_TEXT):
            return syntax_tree("\n".join(part for part in parts if "import" in part)).body
    except SyntaxError:  # a text was cut nevertheless
        pass
    return syntax_tree(text).body  # a line within a long text looks like a statement


def absent_imports(competition: Resolved) -> dict[str, bool]:
    """Return the modules that the competition's own code may import and the platform's image lacks.

    Of each, whether nothing is scored without it: what scores imports it at once.
    """
    files = _own_modules(competition)
    if not files:
        return {}
    package = competition.package
    beside = {f"files/{name}" for name in competition.declaration.scoring_files}
    modules = {place: path for place, path in competition.program_files.items() if path.suffix == ".py"}
    at_once = [path for place, path in modules.items() if place not in beside]
    for path in at_once:  # which grows by what lies beside them
        imported = [f"files/{name}.py" for name in _imported_by([path], surely=True)]
        at_once += [modules[place] for place in imported if place in modules and modules[place] not in at_once]
    if package.is_own:
        started = [f"{package.name}.{module}" for module in ("submission", "reference", *competition.task_ids)]
        at_once += imported_modules((package.name, *started), (package.folder,), surely=True).values()
    present = MODULES | STANDARD_LIBRARY | {package.name, ""}
    present |= {path.stem for path in resource("scoring_programs").iterdir()}
    present |= {Path(place).stem for place in modules}
    present |= {name.split("/")[1].removesuffix(".py") for name in site_members(competition)}
    surely = _imported_by(at_once, surely=True)
    return {name: name in surely for name in sorted(_imported_by(files) - present)}


def differing_there(competition: Resolved) -> list[str]:
    """Return what the competition's own code meets in the platform's image in another version than here, with both."""
    files = _own_modules(competition)
    if not files:
        return []
    required = {base_name(one) for one in competition.declaration.requirements}  # which travel, or are in the image
    names = {CALLED_OTHERWISE.get(name, name) for name in _imported_by(files)}
    differing = list(not_here([f"{name}=={PACKAGES[name]}" for name in sorted(names & PACKAGES.keys() - required)]))
    major, minor = sys.version_info[:2]
    if (major, minor) > tuple(int(part) for part in PYTHON.split(".")):  # what an older one has, the image's has, too
        differing.append(f"Python {PYTHON} ({major}.{minor} runs here)")
    return differing


def _own_modules(competition: Resolved) -> list[Path]:
    """The files of the competition's own code that run in the platform's image; none where it names another one."""
    if competition.declaration.image != PLATFORM_IMAGE:
        return []
    found = [path for path in competition.program_files.values() if path.suffix == ".py"]
    if competition.package.is_own:
        found += [path for path in competition.package.folder.rglob("*.py") if path.name != ORGANISERS_ONLY]
    return found


def _imported_by(files: Sequence[Path], surely: bool = False) -> set[str]:
    """The modules and packages that these files import, without what is in them."""
    names: set[str] = set()
    for path in files:
        for name in _imported_names(path, surely):
            names.add(name.partition(".")[0])
    return names


def entry_seconds(competition: Resolved, phase: DeclaredPhase) -> int:
    """Wall-clock seconds that the code may run in a phase.

    The job's limit less a reserve for starting, checking the predictions and packing them: a tenth of the limit, at
    least 10 and at most 120 seconds.
    """
    limit = time_limit(phase.execution_time_limit, own_queue=competition.declaration.queue is not None)
    return limit - min(max(limit // 10, 10), 120)


def code_entry(competition: Resolved) -> dict[str, str] | None:
    """Return what is run of a submission (`scoring_kit.code_submission.CodeEntry`); None of predictions."""
    submission = competition.declaration.submission
    if not competition.takes_code:
        return None
    return {"file": str(submission.entry), "interface": submission.interface or "function"}


def check_files(competition: Resolved) -> dict[str, Path]:
    """Return the files of the organisers' own checks, which all that reads submissions needs, by their names there."""
    checks = competition.scoring.checks.values()
    return {check["file"]: competition.program_files[check["file"]] for check in checks}


def ingestion_members(
    competition: Resolved, phase: DeclaredPhase, manifest: Mapping[str, Any]
) -> dict[str, bytes | Path]:
    """Return the files of a phase's ingestion program, which runs the code and checks what it writes.

    `manifest` is what participants may know, without gold.
    """
    kit, package = resource("scoring_programs"), competition.package
    description = {
        "title": competition.declaration.title,
        "package": package.name,
        "entry": code_entry(competition),
        "seconds": entry_seconds(competition, phase),
        "memory_mib": competition.declaration.submission.memory,
        "manifest": {**manifest, "options": competition.public_options},
    }
    started = (f"{package.name}.submission", "ingestion_kit.ingestion")
    return {
        **below("scoring_kit", check_files(competition)),
        "metadata.yaml": f"command: {INGESTION_COMMAND}\n".encode(),
        "ingest.py": kit / "ingest.py",
        "program.json": json.dumps(description, indent=1, ensure_ascii=False, default=str).encode(),
        "scoring_kit/NOTICE": kit / "scoring_kit" / "NOTICE",
        "ingestion_kit/call_predict.py": kit / "ingestion_kit" / "call_predict.py",
        **imported_modules(started, (package.folder, kit / "scoring_kit", kit / "ingestion_kit")),
    }


EMPTY_FUNCTION = '''"""Writes the empty template: put your model in its place."""

import shutil
from pathlib import Path


def predict(input_folder, output_folder):
    """Write the predictions for what is in `input_folder` to `output_folder`."""
    shutil.copytree(Path(__file__).resolve().parent / "template", output_folder, dirs_exist_ok=True)
'''
EMPTY_COMMAND = (
    EMPTY_FUNCTION.replace("import shutil\n", "import shutil\nimport sys\n")
    + """

predict(Path(sys.argv[1]), Path(sys.argv[2]))
"""
)
EMPTY_SHELL = """# Writes the empty template: put your model in its place.
set -e
cp -R template/. "$2"
"""


def empty_submission(competition: Resolved, template: Members) -> Members:
    """Return a phase's empty template; where participants hand in code, code that copies it to the output folder."""
    if not competition.takes_code:
        return template
    submission = competition.declaration.submission
    entry, text = str(submission.entry), EMPTY_FUNCTION
    if entry.endswith(".sh"):
        text = EMPTY_SHELL
    elif submission.interface == "command":
        text = EMPTY_COMMAND
    return {entry: text.encode(), **below("template", template)}
