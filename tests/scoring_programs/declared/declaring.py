"""Declared competitions for tests: a declaration in YAML, gold and submissions as texts, scores as numbers."""

from __future__ import annotations

import copy
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from declared import reference, submission
from declared.checks import faults
from declared.plan import plans
from declared.tasks import scorer
from gen_bundle.declaration.scoring import settle
from gen_bundle.declaration.source import Section, parse_value
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.results import TaskResult
from scoring_kit.submission_files import read_submission

Files = dict[str, str]
AnyFiles = Mapping[str, str | bytes]
"""By their names, which may have folders."""


@dataclass(frozen=True)
class Scored:
    """A submission's outcome, and what the participant is warned of."""

    results: dict[str, TaskResult]
    warnings: list[str]

    def value(self, column: str) -> float:
        found = next(result.metrics[column].value for result in self.results.values() if column in result.metrics)
        assert found is not None
        return found

    @property
    def all_warnings(self) -> list[str]:
        return [*self.warnings, *(text for result in self.results.values() for text in result.warnings)]


def declared_options(text: str, folder: Path = Path()) -> dict[str, Any]:
    """The options of a declaration that has `submission`, `reference` and `tasks`; it must be without fault."""
    return options_of(parse_value(textwrap.dedent(text)), folder)


def options_of(data: dict[str, Any], folder: Path = Path()) -> dict[str, Any]:
    """The same of a declaration that has been read."""
    data = copy.deepcopy(data)
    declared = Section(data)
    scoring = settle(declared, folder)
    assert declared.found == []
    options = {**data.get("options", {}), **copy.deepcopy(scoring.as_options())}
    for columns in options["metrics"].values():
        for plan in columns.values():
            if plan["file"]:
                plan["file"] = str(folder / plan["file"])
    for check in options.get("checks", {}).values():
        check["file"] = str(folder / check["file"])
    return options


def columns_of(**metrics: Any) -> list[dict[str, Any]]:
    """Columns by key, each with its metric."""
    return [{"key": key, "metric": metric} for key, metric in metrics.items()]


def one_table(fields: list[dict[str, Any]], metrics: dict[str, Any], **submission_keys: Any) -> dict[str, Any]:
    """The options of a competition with one CSV table, key `id`, and one task."""
    reference_keys = submission_keys.pop("reference", {"file": "gold.csv"})
    folder = submission_keys.pop("folder", Path())
    declaration = {
        "submission": {
            "file": "predictions.csv",
            "key": "id",
            "fields": [{"field": "id", "type": "string"}, *fields],
            **submission_keys,
        },
        "reference": reference_keys,
        "tasks": [{"id": "t", "columns": columns_of(**metrics)}],
    }
    return options_of(declaration, folder)


def read_gold(options: dict[str, Any], gold: AnyFiles, folder: Path) -> reference.Reference:
    """The gold, written into a folder and read."""
    return reference.read(_written(folder / "ref", gold), tuple(options["metrics"]), options)


def score(options: dict[str, Any], gold: AnyFiles, answers: AnyFiles, folder: Path) -> Scored:
    """Score a submission; raises SubmissionError or OrganiserError as a scoring program would."""
    tasks = tuple(options["metrics"])
    read = read_gold(options, gold, folder)
    manifest = Manifest("declared_test", tasks, tasks, "joint", options, reference.manifest(read, tasks))
    problems = Problems()
    sent, _ = read_submission(submission, _written(folder / "res", answers), manifest, problems)
    return Scored({task: scorer(task)(read, sent, options) for task in sent.entered}, problems.warnings)


def gold_faults(options: dict[str, Any], gold: AnyFiles, folder: Path) -> list[str]:
    """What a build says of the gold."""
    read = read_gold(options, gold, folder)
    found = [fault for columns in plans(options).values() for one in columns for fault in faults(one, read)]
    return [f"{where}: {what}" for where, what, _ in found]


def _written(folder: Path, files: AnyFiles) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def csv_of(header: str, rows: list[Any]) -> str:
    """CSV of a header and rows of cells, quoted where needed."""
    import csv
    import io

    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header.split(","))
    writer.writerows(rows)
    return buffer.getvalue()
