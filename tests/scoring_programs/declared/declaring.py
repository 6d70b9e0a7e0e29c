"""Declared competitions for tests: a declaration in YAML, gold and submissions as texts, scores as numbers."""

import copy
import csv
import io
import json
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from declared import organiser, reference, submission
from declared.checks import faults
from declared.plan import plans
from declared.tasks import scorer
from gen_bundle.declaration.scoring import settle
from gen_bundle.declaration.source import Section, parse_value
from scoring_kit.errors import Problems, SubmissionError
from scoring_kit.manifest import Manifest
from scoring_kit.results import TaskResult
from scoring_kit.submission_files import read_submission
from tests.scoring_programs.framed import write_files

Files = dict[str, str]
AnyFiles = Mapping[str, str | bytes]
"""By their names, which may have folders."""
Given = AnyFiles | str
"""Files, or the text of the only one: of gold.csv or predictions.csv."""


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


def faults_of(declaration: dict[str, Any], folder: Path = Path()) -> list[str]:
    """What is wrong with a declaration, each fault after the keys that lead to its place."""
    section = Section(copy.deepcopy(declaration))
    settle(section, folder)
    return [f"{'.'.join(map(str, trail))}: {text}" for trail, text in section.found]


def by_id(*fields: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """`submission` of one CSV file whose key is `id`."""
    return {"file": "predictions.csv", "key": "id", "fields": [{"field": "id", "type": "string"}, *fields], **keys}


def one_task(
    submission: dict[str, Any], columns: list[dict[str, Any]], reference: dict[str, Any] | None = None, **keys: Any
) -> dict[str, Any]:
    """A declaration with one task, `t`; without a `reference` the gold is in gold.csv, or is that of each table."""
    gold = {} if "tables" in submission else {"reference": reference or {"file": "gold.csv"}}
    return {"submission": submission, **gold, "tasks": [{"id": "t", "columns": columns}], **keys}


def columns_of(**metrics: Any) -> list[dict[str, Any]]:
    """Columns by key, each with its metric; of functions of the organisers' own, more is better and 0 the worst."""
    columns = []
    for key, metric in metrics.items():
        name = metric if isinstance(metric, str) else metric["name"]
        own = {"sort": "desc", "worst": 0} if ".py:" in name else {}
        columns.append({"key": key, "metric": metric, **own})
    return columns


def one_table(fields: list[dict[str, Any]], metrics: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """The options of a competition with one table and one task.

    The table is a CSV file whose key is `id`, where `keys` say nothing else. They are those of `submission`, but for
    `reference`, the competition's `folder`, the `code` of its metrics.py, and the `worst` score of what is in there.
    """
    reference, folder = keys.pop("reference", {"file": "gold.csv"}), keys.pop("folder", Path())
    code, worst = keys.pop("code", None), keys.pop("worst", 0)
    if code is not None:
        (folder / "metrics.py").write_text(code, encoding="utf-8")
    has_key = "key" in keys or any(field["field"] == "id" for field in fields)
    key = [] if has_key else [{"field": "id", "type": "string"}]
    columns = [{**column, "worst": worst} if "worst" in column else column for column in columns_of(**metrics)]
    submission = {"file": "predictions.csv", "key": "id", "fields": [*key, *fields], **keys}
    return options_of(one_task(submission, columns, reference), folder)


def files_of(given: Given, name: str) -> AnyFiles:
    return {name: given} if isinstance(given, str) else given


def read_gold(options: dict[str, Any], gold: Given, folder: Path) -> reference.Reference:
    """The gold, written into a folder and read."""
    return reference.read(write_files(folder / "ref", files_of(gold, "gold.csv")), tuple(options["metrics"]), options)


def score(options: dict[str, Any], gold: Given, answers: Given, folder: Path) -> Scored:
    """Score a submission; raises SubmissionError or OrganiserError as a scoring program would."""
    tasks = tuple(options["metrics"])
    read = read_gold(options, gold, folder)
    known = json.loads(json.dumps(reference.manifest(read, tasks)))  # as a bundle holds it
    manifest = Manifest("declared_test", tasks, tasks, "joint", options, known)
    problems = Problems()
    written = write_files(folder / "res", files_of(answers, "predictions.csv"))
    sent, _ = read_submission(submission, written, manifest, problems)
    return Scored({task: scorer(task)(read, sent, options) for task in sent.entered}, problems.warnings)


def refused(options: dict[str, Any], gold: Given, answers: Given, folder: Path) -> list[str]:
    """The problems for which a submission is refused."""
    with pytest.raises(SubmissionError) as caught:
        score(options, gold, answers, folder)
    return caught.value.messages


def request_of(options: dict[str, Any], **further: Any) -> Any:
    """What the organisers' verbs are asked of a competition with the one task `t`."""
    request = {"tasks": ["t"], "all_tasks": ["t"], "layout": "joint", "options": options}
    for name, value in further.items():
        request[name] = str(value) if isinstance(value, Path) else value
    return request


def template_of(options: dict[str, Any], folder: Path) -> Files:
    """The files that participants fill in, after gold was read in the folder."""
    out = folder / "template"
    out.mkdir()
    organiser.template(request_of(options, reference=folder / "ref", out=out))
    return {path.name: path.read_text(encoding="utf-8") for path in out.iterdir()}


def gold_faults(options: dict[str, Any], gold: Given, folder: Path) -> list[str]:
    """What a build says of the gold."""
    read = read_gold(options, gold, folder)
    found = [fault for columns in plans(options).values() for one in columns for fault in faults(one, read)]
    return [f"{where}: {what}" for where, what, _ in found]


def csv_of(header: str, rows: list[Any], delimiter: str = ",") -> str:
    """CSV of a header and rows of cells, quoted where needed."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerow(header.split(","))
    writer.writerows(rows)
    return buffer.getvalue()


def cell(value: Any, kind: str) -> Any:
    """A value as a cell of a CSV file."""
    if not isinstance(value, list):
        return value
    return {"labels": "|", "tags": " "}[kind].join(value) if kind in ("labels", "tags") else json.dumps(value)


def jsonl_of(rows: Iterable[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)
