"""Files that a run leaves: scores.json for the board, details.json with the run's signature, and the results page."""

import codecs
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from scoring_kit.errors import OrganiserError
from scoring_kit.program import Program, title_of
from scoring_kit.results import TaskResult
from scoring_kit.results_page.page import RunFacts, failure_page, results_page
from scoring_kit.results_page.withholding import Shown, shown_names

PAGE = "detailed_results.html"
OUTPUTS = ("scores.json", "scores.txt", "details.json", PAGE)


def remove_outputs(folder: Path) -> None:
    """Remove what an earlier run left in `folder`: a run that fails must not be left with the scores of another."""
    for name in OUTPUTS:
        (folder / name).unlink(missing_ok=True)


def write_outputs(folder: Path, program: Program, results: Mapping[str, TaskResult], run: RunFacts) -> dict[str, float]:
    """Write the files, each moved into place when it is complete, scores.json last; returns the scores."""
    scores = board_scores(program, results)
    with_computed = program.with_computed(scores)
    warnings, shown, tasks, failed = list(run.warnings), {}, {}, {}
    for task, result in results.items():
        for text in result.warnings:
            warnings.append(f"{task}: {text}")
        shown[task] = shown_names(program, result.metrics)
        tasks[task] = _metric_details(program, result, shown[task]) | _computed_details(program, task, with_computed)
        for key, why in result.failed.items():
            failed[key] = why.place
    run = replace(run, warnings=[*warnings, *value_remarks(program, results)])
    details = {"signature": run.signature, "warnings": run.warnings, "tasks": tasks}
    if failed:
        details["failed"] = failed
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / PAGE, results_page(program, scores, results, shown, run))
    _write(folder / "details.json", json.dumps(details, allow_nan=False))
    if program.scores_txt:
        _write(folder / "scores.txt", "".join(f"{key}: {score!r}\n" for key, score in scores.items()))
    _write(folder / "scores.json", json.dumps(scores, indent=1, allow_nan=False))
    return scores


def write_failure_page(folder: Path, program_folder: Path, lines: Sequence[str], scored: datetime) -> None:
    """Write the message of a failed run where the platform keeps it, and nothing else; never fails itself.

    Logs often get lost and the scoring output of a failed run is thrown away, but this page is shown.
    """
    try:
        remove_outputs(folder)
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / PAGE, failure_page(title_of(program_folder / "program.json"), lines, scored))
    except Exception:
        # The exit status and the log say what happened; a full disk must not turn it into something else.
        return


def board_scores(program: Program, results: Mapping[str, TaskResult]) -> dict[str, float]:
    """Return every written column with a finite number: no score is missing, because a missing one would rank first.

    Raises OrganiserError: columns that no metric fills, metrics that are not finite numbers.
    """
    check_columns(program, results)
    check_finite(program, results)
    scores = {}
    for column in program.columns:
        if column.computation is not None or column.worst is None:
            continue
        score = column.worst
        if column.task in results:
            metric = results[column.task].metrics[column.key]
            if metric.value is not None:
                score = column.bounded(metric.value)
        scores[column.key] = float(program.rounded(score))
    return scores


def value_remarks(program: Program, results: Mapping[str, TaskResult]) -> list[str]:
    """Return what participants are told of scores that are not what the metric gave, where they see scores at all."""
    if program.scores_hidden:
        return []
    remarks = []
    for column in program.columns:
        result = results.get(column.task)
        value = result.metrics[column.key].value if result and column.computation is None else None
        if result and column.key in result.failed:
            what = f"this metric could not be computed on your submission; {column.worst:g} counts instead."
            remarks.append(f"{column.task}: {column.key}: {what}")
        elif value is not None and column.bounded(value) != value:
            than = "less" if column.sort == "desc" else "more"
            remarks.append(f"{column.task}: {column.key}: {column.worst:g} is written, since no score is {than}.")
    return remarks


def check_columns(program: Program, results: Mapping[str, TaskResult]) -> None:
    """Raise OrganiserError for every column of a scored task that its scorer gives no metric for."""
    messages = []
    for column in program.columns:
        if column.task not in results or column.computation is not None:
            continue
        metrics = results[column.task].metrics
        if column.key not in metrics:
            # Names with a part after . or : may be those of gold labels, and participants read this.
            known = [name for name in metrics if not re.search("[.:]", name)]
            messages.append(
                f"tasks.{column.task}.columns.{column.key}: the scoring program has no such metric. "
                f"Expected one of {', '.join(known)} as the column's key in bundle.yaml; then build the bundle again."
            )
    if messages:
        raise OrganiserError(*messages)


def check_finite(program: Program, results: Mapping[str, TaskResult]) -> None:
    """Raise OrganiserError for every metric that is NaN or infinite, and name the column that shows it."""
    columns = {(column.task, column.key) for column in program.columns}
    messages = []
    for task, result in results.items():
        for name, metric in result.metrics.items():
            if metric.value is None or math.isfinite(metric.value):
                continue
            place = f"tasks.{task}.columns.{name}" if (task, name) in columns else task
            # Participants read this, and a name's part after . or : may be a gold label's.
            messages.append(
                f"{place}: the metric {re.split('[.:]', name)[0]} is undefined for this submission (NaN or infinite). "
                "Expected a finite number from the scorer, or None where the gold leaves the metric undefined: then "
                "the column's worst counts."
            )
    if messages:
        raise OrganiserError(*dict.fromkeys(messages))


def _metric_details(
    program: Program, result: TaskResult, shown: Shown
) -> dict[str, dict[str, float | int | str | None]]:
    values, rows = shown
    if program.scores_hidden:
        # Only organisers can open the file then: hidden columns are in it, too.
        values = values.union(program.keys)
    details = {}
    for name, metric in result.metrics.items():
        of_metric: dict[str, float | int | str | None] = {"value": None, "rows": None}
        if name in values and metric.value is not None:
            of_metric["value"] = program.rounded(metric.value)
        if name in rows:
            of_metric["rows"] = metric.rows
        if metric.status is not None:
            of_metric["status"] = metric.status
        details[name] = of_metric
    return details


def _computed_details(program: Program, task: str, with_computed: Mapping[str, float]) -> dict[str, dict[str, Any]]:
    """The columns of a task that the platform computes of this submission alone, as far as they are shown."""
    details = {}
    for column in program.columns_of(task):
        is_shown = program.scores_hidden or not column.hidden
        if column.computation is not None and column.key in with_computed and is_shown:
            details[column.key] = {"value": program.rounded(with_computed[column.key]), "rows": None}
    return details


def _write(path: Path, text: str) -> None:
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        unfinished.write_text(text, encoding="utf-8", errors="backslashreplace")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


DIGEST_DIGITS = 4
"""Of the reference data's digest. Participants read it and can compute the digest of any gold that they guess, as often
as they like, so a whole one would confirm every guess. So few digits distinguish data sets and give away 16 bits.
"""


def digest_of_text(text: str) -> str:
    """Return the first `DIGEST_DIGITS` hexadecimal digits of a text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_DIGITS]


def reference_digest(folder: Path) -> str:
    """SHA-256 over the names and contents of all files below `folder`, its first `DIGEST_DIGITS` hexadecimal digits.

    A byte order mark, CRLF for LF and a last line end say nothing of the gold, and change nothing.
    """
    files = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            same = path.read_bytes().removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").rstrip(b"\n")
            files.append(f"{path.relative_to(folder).as_posix()}\0{hashlib.sha256(same).hexdigest()}\n")
    return digest_of_text("".join(files))


def signature(program: Program, results: Mapping[str, TaskResult], digest: str) -> str:
    """One line: competition, tasks, metric options and models, program, library versions, code and reference data."""
    parts = {"competition": program.competition, "tasks": "+".join(program.tasks), "version": program.version}
    libraries: set[str] = set()
    for result in results.values():
        libraries.update(result.libraries)
        for name, value in sorted(result.settings.items()):
            parts[name] = re.sub(r"[\s|]", lambda letter: quote(letter[0]), value)  # where a signature is taken apart
    for name in sorted(libraries):
        parts[name] = _version(name)
    if program.code:
        parts["program"] = program.code
    parts["reference"] = digest
    return "|".join(f"{name}:{value}" for name, value in parts.items())


@cache
def _version(library: str) -> str:
    """The installed version, which a process that scores many submissions looks up once."""
    from importlib import metadata  # whose import is a tenth of a short run's time

    return metadata.version(library)
