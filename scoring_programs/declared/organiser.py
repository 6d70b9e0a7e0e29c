"""What only the organisers of a declared competition need: preparing gold, its checks, the template, its secrets."""

import json
import shutil
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from declared import reference as gold
from declared.checks import faults, remarks
from declared.disclosure import disclosed
from declared.expressions import columns_of_task
from declared.given import Given, differences
from declared.plan import Plan, plans
from declared.probes import failing
from declared.secret_columns import ENDING, columns_text, named_secrets
from declared.tables import Table, fields_of_tasks, tables_of
from declared.template import template_files
from scoring_kit.errors import OrganiserError, Problems, SubmissionError
from scoring_kit.organiser import Request, Secrets, Warned, read_reference, serve
from scoring_kit.organiser import trial as scored
from scoring_kit.program import Program


def prepare(request: Request) -> Warned:
    """Copy a phase's gold, and put the labels of all phases beside it for fields without declared values.

    Raises:
        OrganiserError: with every mistake in the gold: file, line and column.
    """
    source, out = Path(request["source"]), Path(request["out"])
    tasks, options = request["tasks"], request["options"]
    gold.read(source, tasks, options)
    for table in tables_of(options).values():
        for file in filter(None, (table.gold, table.gold_keys)):
            for name in gold.gold_files(source, file):
                shutil.copyfile(source / name, out / name)
    for data in options["tables"]:
        table = Table.from_dict(data)
        text = columns_text(source, table, _wanted(request), data["public"])
        if text is not None:
            (out / f"{table.id}{ENDING}").write_text(text, encoding="utf-8", newline="")
    labels = _labels_of_all([Path(folder) for folder in request.get("phases", [source])], request)
    if labels:
        (out / gold.LABELS_FILE).write_text(json.dumps(labels, ensure_ascii=False), encoding="utf-8")
    return {"warnings": []}


def _labels_of_all(folders: Sequence[Path], request: Request) -> dict[str, Any]:
    """Table id → field → the labels of the gold of all phases, of fields without declared values."""
    labels: dict[str, dict[str, set[str]]] = {}
    for table in tables_of(request["options"]).values():
        wanted = [plan for plan in _wanted(request) if table.id in plan.all_tables]
        for folder in folders:
            for field, values in gold.labels_of_gold(folder, table, wanted).items():
                labels.setdefault(table.id, {}).setdefault(field, set()).update(values)
    listed = {}
    for name, fields in labels.items():
        listed[name] = {field: sorted(values) for field, values in fields.items()}
    return listed


def check_reference(request: Request) -> Warned:
    """Look for metrics that the gold leaves undefined, and inputs with other ids; raises OrganiserError with all."""
    reference, wanted = read_reference(gold.read, request), _wanted(request)
    problems = Problems()
    for plan in wanted:
        for where, what, expected in faults(plan, reference):
            problems.error(where, what, expected)
    found = [remark for plan in wanted for remark in remarks(plan, reference)]
    for is_mistake, what in differences(_given(request), reference.tables):
        if is_mistake:
            problems.repeat_error(what)
        else:
            found.append(what)
    problems.stop_organisers_if_any()
    return {"warnings": found}


def _given(request: Request) -> Given:
    own = {name: Path(path) for name, path in request.get("given", {}).items()}
    common = {name: Path(path) for name, path in request.get("given_to_all", {}).items()}
    return Given(own, common, [Path(folder) for folder in request.get("phases", ())])


def template(request: Request) -> dict[str, Any]:
    """Write the files of each table with every key and the emptiest answer that is valid."""
    out = Path(request["out"])
    shared: dict[str, list[gold.GoldTable]] = {}
    for one in read_reference(gold.read, request).tables.values():
        shared.setdefault(one.table.file.name, []).append(one)
    for tables in shared.values():
        answers = [fields_of_tasks(one.table, request["options"], request["tasks"]) for one in tables]
        for name, text in template_files(tables, answers).items():
            (out / name).write_text(text, encoding="utf-8", newline="")
    return {}


def secrets(request: Request) -> Secrets:
    """The gold that metrics read, but for keys and what is declared public; whole lines of a text file."""
    files: list[dict[str, Any]] = []
    for data in request["options"]["tables"]:
        files += named_secrets(Table.from_dict(data), _wanted(request), data["public"])
    return {"files": files}


def disclosure(request: Request) -> dict[str, Any]:
    """What the scores of a phase give one participant of its gold; see `declared.disclosure`."""
    reference = read_reference(gold.read, request)
    return disclosed(_wanted(request), reference, request["submissions"], request["decimals"])


def columns(request: Request) -> dict[str, Any]:
    """Every column has a metric of its own, so that no key can be misspelt."""
    found = {}
    for task in request["tasks"]:
        sources = columns_of_task(task, request["options"], request["tasks"])
        needs_model = any(plan.module == "embeddings" for plan in sources.own)
        found[task] = {"metrics": sources.keys, "needs_model": needs_model}
    return found


def trial(request: Mapping[str, Any]) -> dict[str, Any]:
    """Score a submission (`scoring_kit.organiser`), and with the template own functions on many other valid answers.

    Raises:
        OrganiserError: an own function fails on some of them.
    """
    try:
        tried = scored(request)
    except SubmissionError:
        if not request["is_template"] or not _checks(request):
            raise
        tried = {"scores": {}}  # a check of the organisers' own may ask for more than the emptiest answers
    if not request["is_template"] or "missing" in tried:
        return tried
    program = Program.read(Path(request["program"]) / "program.json")
    own = [plan for task in program.tasks for plan in plans(program.options)[task] if plan.file]
    tables = gold.read(Path(request["phase"]) / "ref", program.tasks, program.options).tables if own else {}
    messages = list(chain.from_iterable(failing(plan, tables) for plan in own))
    if messages:
        raise OrganiserError(*messages)
    return tried


def _checks(request: Mapping[str, Any]) -> bool:
    """Whether the organisers check submissions themselves."""
    return "checks" in Program.read(Path(request["program"]) / "program.json").options


def _wanted(request: Request) -> list[Plan]:
    return [plan for task in request["tasks"] for plan in plans(request["options"])[task]]


if __name__ == "__main__":
    raise SystemExit(serve(globals()))
