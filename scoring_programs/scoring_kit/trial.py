"""What a build tries of a scoring package before anyone uploads it: its columns, and scoring a whole submission.

Served by every scoring package as the organiser's verbs `columns` and `trial`.

A task's module may define two names beside `score`: `METRICS`, the names of the metrics that a column may show; and
`NEEDS_MODEL = True` where `score` loads a model, so that a build does not try it. Then METRICS must be there.
"""

import importlib
import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scoring_kit.base.missing_packages import missing_package, what_is_missing
from scoring_kit.errors import OrganiserError, Problems
from scoring_kit.frame import run
from scoring_kit.program import Program
from scoring_kit.submission_zip import open_submission


def columns(request: Mapping[str, Any]) -> dict[str, Any]:
    """What the modules of `tasks` in `package` declare.

    Returns:
        task id → `metrics`, the names of METRICS, None where the module has none; `needs_model`.
    """
    modules = {task: importlib.import_module(f"{request['package']}.{task}") for task in request["tasks"]}
    return {
        task: {
            "metrics": list(module.METRICS) if hasattr(module, "METRICS") else None,
            "needs_model": bool(getattr(module, "NEEDS_MODEL", False)),
        }
        for task, module in modules.items()
    }


def trial(request: Mapping[str, Any]) -> dict[str, Any]:
    """Score a submission as the packed program does, with all that it writes.

    Args:
        request: `program`, the folder of a program.json; `phase`, a folder with the reference data in `ref/`;
            `submission`, a zip; `is_template`, whether that is the empty template.

    Returns:
        `scores`: task id → column key → score, of the tasks that the submission enters; or `missing`: which Python
        package is not here, in words.

    Raises:
        SubmissionError: the submission is refused.
        OrganiserError: the package, its columns or the reference data are wrong; a function of the organisers' fails.
    """
    program, phase = Path(request["program"]), Path(request["phase"])
    with tempfile.TemporaryDirectory(dir=phase) as out:
        shutil.rmtree(phase / "res", ignore_errors=True)
        (phase / "res").mkdir()
        open_submission(Path(request["submission"]), phase / "res", Problems())
        try:
            results = run(program, phase, Path(out))
        except ModuleNotFoundError as error:
            package = missing_package(error)
            if package is None:
                raise
            return {"missing": what_is_missing(package)}
        scores = json.loads((Path(out) / "scores.json").read_text(encoding="utf-8"))
        entered = json.loads((Path(out) / "details.json").read_text(encoding="utf-8"))["tasks"]
    failed = [
        f"{why.place}: {key} could not be computed ({why.words}). Expected a number, or NaN where it is undefined."
        for result in results.values()
        for key, why in result.failed.items()
    ]
    if failed:
        raise OrganiserError(*failed)
    columns = [column for column in Program.read(program / "program.json").columns if column.key in scores]
    return {"scores": {task: {c.key: scores[c.key] for c in columns if c.task == task} for task in entered}}
