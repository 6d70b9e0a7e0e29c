"""What only the organisers of a declared competition need: preparing gold, its checks, the template, its secrets."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from declared import reference as gold
from declared.checks import faults, remarks
from declared.disclosure import disclosed
from declared.given import Given, differences
from declared.plan import Plan, plans
from declared.probes import failing
from declared.tables import Table, fields_of_tasks, tables_of
from declared.template import template_text
from scoring_kit.errors import OrganiserError, Problems
from scoring_kit.organiser import Request, Secrets, Warned, read_reference, serve
from scoring_kit.program import Program
from scoring_kit.trial import trial as scored


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
            if (source / file.name).is_file():
                shutil.copyfile(source / file.name, out / file.name)
    labels = _labels_of_all([Path(folder) for folder in request.get("phases", [source])], request)
    if labels:
        (out / gold.LABELS_FILE).write_text(json.dumps(labels, ensure_ascii=False), encoding="utf-8")
    return {"warnings": []}


def _labels_of_all(folders: Sequence[Path], request: Request) -> dict[str, Any]:
    """Table id → field → the labels of the gold of all phases, of fields without declared values."""
    labels: dict[str, dict[str, set[str]]] = {}
    for table in tables_of(request["options"]).values():
        wanted = [plan for plan in _wanted(request) if plan.table == table.id]
        for folder in folders:
            for field, values in gold.labels_of_gold(folder, table, wanted).items():
                labels.setdefault(table.id, {}).setdefault(field, set()).update(values)
    return {name: {field: sorted(values) for field, values in fields.items()} for name, fields in labels.items()}


def check_reference(request: Request) -> Warned:
    """Look for metrics that the gold leaves undefined, and inputs with other ids; raises OrganiserError with all."""
    reference, wanted = read_reference(gold.read, request), _wanted(request)
    problems = Problems()
    for plan in wanted:
        for where, what, expected in faults(plan, reference.tables[plan.table]):
            problems.error(where, what, expected)
    found = [remark for plan in wanted for remark in remarks(plan, reference.tables[plan.table])]
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
    """Write a file for each table with every key and the emptiest answer that is valid."""
    out = Path(request["out"])
    for one in read_reference(gold.read, request).tables.values():
        fields = fields_of_tasks(one.table, request["options"], request["tasks"])
        (out / one.table.file.name).write_text(template_text(one, fields), encoding="utf-8", newline="")
    return {}


def secrets(request: Request) -> Secrets:
    """The gold files; texts of the gold; and every column that is not a key, groups no rows and is not declared public.

    Cells, and each label of a set, are tied to their keys where a key has one row: in lists of rows the same numbers
    and items also occur in what participants may have, so that these are found as files only.
    """
    folder, reference = Path(request["reference"]), read_reference(gold.read, request)
    labels: dict[tuple[str, str], None] = {}
    texts: dict[str, None] = {}
    columns: dict[str, list[str]] = {}
    files = []
    for data in request["options"]["tables"]:
        table = Table.from_dict(data)
        wanted = [plan for plan in _wanted(request) if plan.table == table.id]
        if not wanted:
            continue
        files.append(table.gold.name)
        answers = {column for plan in wanted for column in plan.gold}
        every = [plan for own in plans(request["options"]).values() for plan in own if plan.table == table.id]
        groups = {column for plan in every for column in plan.grouping} | {table.cluster}
        known = {*table.key, *data["public"], *(groups - answers)}
        written = {field.name for field in table.answers if field.type in ("text", "texts")}
        cells = [cell for cell in gold.cells(folder, table) if cell[1] not in known and cell[2].strip()]
        columns[table.gold.name] = [] if table.many else list(dict.fromkeys(column for _, column, _ in cells))
        identifying = _identifying(reference.tables[table.id].keys)
        separators = {field.separator for field in table.answers if field.type == "labels"}
        for key, column, text in cells:
            if column in written:
                texts[text] = None
            elif not table.many:
                whole_and_parts = [text, *(part.strip() for mark in separators for part in text.split(mark))]
                labels.update(dict.fromkeys((key[place], part) for place in identifying for part in whole_and_parts))
    return {"texts": list(texts), "labels": [list(pair) for pair in labels], "files": files, "columns": columns}


def disclosure(request: Request) -> dict[str, Any]:
    """What the scores of a phase give one participant of its gold; see `declared.disclosure`."""
    reference = read_reference(gold.read, request)
    return disclosed(_wanted(request), reference, request["submissions"], request["decimals"])


def columns(request: Request) -> dict[str, Any]:
    """Every column has a metric of its own, so that no key can be misspelt."""
    return {
        task: {
            "metrics": [plan.key for plan in own],
            "needs_model": any(plan.metric == "bertscore" and plan.file is None for plan in own),
        }
        for task, own in plans(request["options"]).items()
        if task in request["tasks"]
    }


def trial(request: Mapping[str, Any]) -> dict[str, Any]:
    """Score a submission (`scoring_kit.trial`), and with the template own functions on many other valid answers.

    Raises:
        OrganiserError: an own function fails on some of them.
    """
    tried = scored(request)
    if not request["is_template"] or "missing" in tried:
        return tried
    program = Program.read(Path(request["program"]) / "program.json")
    own = [plan for task in program.tasks for plan in plans(program.options)[task] if plan.file]
    tables = gold.read(Path(request["phase"]) / "ref", program.tasks, program.options).tables if own else {}
    messages = [text for plan in own for text in failing(plan, tables[plan.table])]
    if messages:
        raise OrganiserError(*messages)
    return tried


def _identifying(keys: Sequence[Sequence[str]]) -> list[int]:
    """The parts of a key that differ in every row; a sentence's number within its document identifies nothing."""
    return [part for part in range(len(keys[0])) if len({key[part] for key in keys}) == len(keys)]


def _wanted(request: Request) -> list[Plan]:
    return [plan for task in request["tasks"] for plan in plans(request["options"])[task]]


if __name__ == "__main__":
    raise SystemExit(serve(globals()))
