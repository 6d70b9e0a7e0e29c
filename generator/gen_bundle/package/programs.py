"""Packs scoring programs: the kit, a scoring package and program.json, so that they run by themselves."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from gen_bundle.declaration.declared.metrics import metrics
from gen_bundle.declaration.declared.settle import DECLARED
from gen_bundle.declaration.model import Phase, Task
from gen_bundle.package.imports import imported_modules
from gen_bundle.package.resolve import Part, Resolved
from gen_bundle.package.wheels import site_members
from gen_bundle.resources import resource
from gen_bundle.zips.writing import folder_members

COMMAND = "python3 /app/program/score.py /app/input /app/output"
ORGANISERS_ONLY = "organiser.py"
"""The module of a package that is in no program."""
NEVER_PACKED = ("scoring_kit.resampling", "declared.units")
"""What the verbs `rank` and `trial` import of modules that are in programs, too."""
WARM = "scoring_kit.warm"
LAZY_METRICS = ("embeddings", "own", "tags")
"""Modules of `declared.metrics` that others import only where a metric needs them."""

Baselines = Mapping[str, Mapping[str, float]]
"""Name of a baseline → column key → score."""

NO_BASELINES: Baselines = {}


def program_members(
    competition: Resolved,
    part: Part,
    phase: Phase | None = None,
    *,
    baselines: Baselines = NO_BASELINES,
    secrets: Sequence[Mapping[str, Any]] = (),
    scores_txt: bool = False,
) -> dict[str, bytes | Path]:
    """The files of a part's scoring program: `metadata.yaml` and `score.py` at the root, then what they import.

    It scores with the gold of `phase`: None where that is the participants' own or organisers rank, who see all. The
    results page compares scores with `baselines`; `secrets` say where in the gold the check finds what is secret. With
    `scores_txt` it also writes scores.txt, which the older CodaLab reads.
    """
    code = _code(competition)
    description = dict(program_description(competition, part, phase, baselines))
    if phase is not None:
        description["secrets"] = [] if phase.gold == "public" else list(secrets)
    if scores_txt:
        description["scores_txt"] = True
    if competition.takes_code:
        description["takes_code"] = True
    return {
        **(site_members(competition) if phase else {}),
        "metadata.yaml": f"command: {COMMAND}\n".encode(),
        "program.json": json.dumps(description, indent=1, ensure_ascii=False).encode(),
        **code,
    }


def _code(competition: Resolved) -> dict[str, bytes | Path]:
    """The files of a scoring program but for those that describe it: what runs, with the data beside it.

    Of a package of the organisers' own everything, since only they know what its modules read and import.
    """
    kit = resource("scoring_programs")
    package = competition.package
    own: dict[str, bytes | Path] = {}
    if package.is_own:
        own = {
            name: path
            for name, path in folder_members(package.folder, f"{package.name}/").items()
            if Path(name).name != ORGANISERS_ONLY
        }
        places = [Path(name) for name in own if name.endswith(".py")]
        started = [".".join(place.with_suffix("").parts).removesuffix(".__init__") for place in places]
    else:
        modules = ("submission", "reference", "gold_files", "tasks", *(task.id for task in competition.tasks))
        started = [f"{package.name}.{module}" for module in (*modules, *_metric_modules(competition))]
    names, folders = ("scoring_kit.frame", *started), (package.folder, kit / "scoring_kit")
    unused = {f"declared.metrics.{module}" for module in LAZY_METRICS} - set(started)
    if not competition.takes_code:
        unused.add("scoring_kit.code_submission")
    found = imported_modules(names, folders, frozenset({*NEVER_PACKED, WARM, *unused}))
    # What is worth keeping between submissions: models, and whatever a package of the organisers' own may load.
    if own or any(name.startswith("scoring_kit/models/") for name in found):
        found = imported_modules((*names, f"{WARM}.worker"), folders, frozenset({*NEVER_PACKED, *unused}))
    return {"score.py": kit / "score.py", **found, **_data_beside(found), **own, **competition.program_files}


def _metric_modules(competition: Resolved) -> list[str]:
    """The modules of `declared` that a competition's metrics, and the figures of its fields, import by name."""
    if competition.package.name != DECLARED:
        return []
    table = metrics()
    columns = [column for task in competition.tasks for column in competition.options["metrics"][task.id].values()]
    used = {"own" if column["file"] else table[column["metric"]].module for column in columns}
    types = {field["type"] for one in competition.options["tables"] for field in one["fields"]}
    return [f"metrics.{module}" for module in sorted(used | ({"tags"} & types))]


def _data_beside(modules: Mapping[str, Path]) -> dict[str, bytes | Path]:
    """The files of other kinds in the folders of modules, which these read."""
    folders = {Path(name).parent: path.parent for name, path in modules.items()}
    return {
        (inside / path.name).as_posix(): path
        for inside, folder in folders.items()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }


def _digest(members: Mapping[str, bytes | Path]) -> str:
    """Eight hexadecimal digits that change with the name or content of any file."""
    digest = hashlib.sha256()
    for name, content in sorted(members.items()):
        content = content if isinstance(content, bytes) else content.read_bytes()
        digest.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()[:8]


def write_program(competition: Resolved, tasks: Sequence[Task], folder: Path) -> Path:
    """Write program.json for `tasks`, and beside it the files that options name, as in a scoring program.

    The organiser's verbs `rank` and `trial` score with it. Returns `folder`.
    """
    for name, file in competition.program_files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder / name)
    folder.mkdir(parents=True, exist_ok=True)
    description = program_description(competition, Part("all", "", tuple(tasks)))
    (folder / "program.json").write_text(json.dumps(description), encoding="utf-8")
    return folder


def program_description(
    competition: Resolved, part: Part, phase: Phase | None = None, baselines: Baselines = NO_BASELINES
) -> Mapping[str, Any]:
    """The content of program.json (read by `scoring_kit.program.Program`)."""
    return {
        "competition": competition.name,
        "package": competition.package.name,
        "title": competition.declaration.title,
        "version": metadata.version("gen-bundle"),
        "code": _digest(_code(competition)),
        "layout": competition.layout,
        "tasks": part.task_ids,
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
        "phase": {"id": phase.id, "name": phase.name} if phase else None,
        "details": phase.shown_details if phase else "full",
        "score_decimals": phase.score_decimals if phase else None,
        "scores_hidden": phase.hides_scores if phase else False,
        "baselines": baselines,
    }
