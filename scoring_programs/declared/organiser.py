"""The organisers' part of a declared competition: preparing gold, its checks, the template, its secrets.

What of the gold is secret is named in a form in which a build finds it in what participants get: a table with a header
line names its columns itself; of gold in any other form the same values are written beside it as such a table, by the
names of the fields (without a header, in several files, at paths of JSON, or spread over columns).

Own functions are tried on probes, answers of every kind: where one raises, no participant has to find out.
"""

import csv
import io
import json
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from declared import reference as gold
from declared.answers import Answers
from declared.checks import faults, remarks
from declared.disclosure import disclosed
from declared.empty_files import write_empty_files
from declared.given import Given, differences
from declared.own_checks import answered_rows, run_check
from declared.plan import Plan, columns_of_task, plans_of
from declared.reference import GoldTable, as_text, expected, gold_columns, read_columns, reading
from declared.submission import Submission, with_values
from declared.tables import LINE, Table, fields_of_tasks, tables_of
from declared.tasks import compute
from scoring_kit.base.environment import missing_package, what_is_missing
from scoring_kit.base.field_types import Field
from scoring_kit.base.row_files import write_rows
from scoring_kit.errors import OrganiserError, Problems, SubmissionError
from scoring_kit.organiser import Request, Secrets, Warned, read_reference, serve
from scoring_kit.organiser import trial as scored
from scoring_kit.program import Program

MOST_LABELS = 100
"""More labels than so many are not taken from the gold."""
SAME = 6
"""So many different answers are tried for all keys alike."""
Checks = Mapping[str, Mapping[str, str]]
"""Table → the organisers' own check of its rows: `file` and `function`."""


def failing(plan: Plan, tables: Mapping[str, GoldTable], checks: Checks) -> Iterator[str]:
    """Yield what an organiser must know of an own function that gives no number for some valid answers."""
    try:
        of_tables = [tries(tables[name]) for name in plan.all_tables]
        for tried in zip(*of_tables, strict=False):
            (what, *_), of_each = zip(*tried, strict=True)
            answers = dict(zip(plan.all_tables, of_each, strict=True))
            refused = Problems()
            for name in checks.keys() & answers.keys():
                table, keys = tables[name].table, tables[name].keys
                run_check(checks[name], answered_rows(answers[name], table, keys), table.file.name, refused)
            if refused.found:  # so that no function is called with them
                continue
            failed = compute(plan, tables, Submission(answers, frozenset())).failed
            if failed is not None:
                said = f"{failed.place}: {plan.key} could not be computed for {what} ({failed.words})."
                yield f"{said} Expected a number for every valid answer, or NaN where it is undefined."
                return
    except ModuleNotFoundError as error:
        if missing_package(error) is None:
            raise  # else the trial of the template says what is missing


def tries(gold: GoldTable) -> Iterator[tuple[str, Answers]]:
    """Valid answers to a table, each with its name: from right ones to none at all."""
    if gold.table.holds_files:
        yield from _tries_of_files(gold)
        return
    made = _Made(gold)
    table, every = gold.table, list(range(len(gold.keys)))
    lengths = made.known["lengths"]
    right, wrong, moved, template = [], [], [], []
    for field in made.fields:
        values = _gold_column(field, gold) or made.alike(field, made.owners, 0)
        right.append(values)
        unlike = list(values)
        for which in range(3):
            for place, other in enumerate(made.alike(field, made.owners, which)):
                if unlike[place] == values[place]:
                    unlike[place] = other
        wrong.append(unlike)
        moved.append(values)
        if field.name not in lengths and field.type != "tags":  # which are as many as the gold's in their place
            # moved by so many rows that hardly any keeps its own answer
            third = len(values) // 3
            moved[-1] = [*values[third:], *values[:third]]
        template.append([field.of_json(value) for value in emptiest(field, lengths, len(every))])
    yield "right answers", made.answers(made.owners, right)
    yield "the template", made.answers(every, template)
    for which in range(min(SAME, made.most)):
        same = [made.alike(field, every, which) for field in made.fields]
        yield "the same answer to every key", made.answers(every, same)
    yield "wrong answers", made.answers(made.owners, wrong)
    yield "shuffled answers", made.answers(made.owners, moved)
    if not table.reject_missing or not any(field.required for field in made.fields):
        none = [] if table.many else every
        yield "empty answers", made.answers(none, [[field.empty] * len(none) for field in made.fields])


def _tries_of_files(gold: GoldTable) -> Iterator[tuple[str, Answers]]:
    """The gold's own files as answers, where they are of the same kind, and, where answers may be missing, none."""
    keys, are_answers, names = len(gold.keys), True, []
    for field in gold.table.answers:
        names.append((field.name, field.type))
        are_answers = are_answers and _is_answer(field, gold.table)
    if are_answers and gold.answers.columns.keys() >= set(names):
        yield "right answers", Answers({name: gold.answers.columns[name] for name in names}, [], [0] * keys)
    if not gold.table.reject_missing:
        yield "no answers", Answers({name: [None] * keys for name in names}, [], [-1] * keys)


def _is_answer(field: Field, table: Table) -> bool:
    """Whether the gold of a field that is a file could be handed in: same suffix, format and member, and shape."""
    kinds = []
    for file in (table.file, table.gold):
        part = file.holding(field.name)
        kinds.append((Path(part.name).suffix, part.format, file.names.get(field.name)))
    return kinds[0] == kinds[1] and field.shape != "any"


class _Made:
    """Answers that are made up for a table.

    Attributes:
        fields: with the labels that may be answered.
        owners: the position of each gold row's key.
        known: what participants know.
        most: of how many answers to a field there are, the largest number.
    """

    def __init__(self, gold: GoldTable) -> None:
        self.many = gold.table.many
        self.fields: list[Field] = []
        self.most = 0
        for field in gold.table.answers:
            self.fields.append(with_values(field, gold.labels))
            self.most = max(self.most, len(_choices(self.fields[-1])))
        self.owners = list(gold.answers.owners)
        if not self.many:
            self.owners = list(range(len(gold.keys)))
        self.known = expected(gold)

    def alike(self, field: Field, at: Sequence[int], which: int) -> list[Any]:
        """Return the same answer to the keys at these positions; of tags, or numbers, as many as there must be."""
        some = _choices(field)
        lengths = self.known["lengths"].get(field.name)
        if field.type == "tags" and not self.many:
            some = [["O"], ["B-x"], ["I-x"]] if field.scheme is None else some
            lengths = lengths or [1] * len(self.owners)
        if lengths is not None:
            return [some[which % len(some)][:1] * (lengths[i] or 0) for i in at]
        return [some[which % len(some)]] * len(at)

    def answers(self, at: list[int], columns: Sequence[list[Any]]) -> Answers:
        """Columns of values for the keys at these positions."""
        made = Answers({}, [], list(range(len(at))))
        if self.many:
            made.owners.extend(at)
        for field, values in zip(self.fields, columns, strict=True):
            made.columns[field.name, field.type] = values
        return made


def _gold_column(field: Field, gold: GoldTable) -> list[Any]:
    """The gold's values of a field, as answers; empty where the gold has none of that name and type."""
    column = list(gold.answers.columns.get((field.name, field.type), ()))
    # where the gold leaves a value out, any valid one can be answered
    while None in column:
        column[column.index(None)] = _choices(field)[0]
    return column


def _choices(field: Field) -> list[Any]:
    return [field.of_json(value) for value in field.kind.some(field)]


ENDING = ".columns"
"""Of the table that is written beside the gold; no gold is called so."""


def named_secrets(folder: Path, table: Table, request: Request) -> list[dict[str, Any]]:
    """Return the table's secret files and columns, as the organisers' verb `secrets` answers them.

    Secret is every column of the gold but the key, what chooses, groups and weighs rows, and what is public, whoever
    reads it. What answers are compared with is secret also where it groups rows. With many rows a key, an item is part
    of the key, or else all that a row answers. `texts` are the columns that are texts by their field's type.
    """
    if table.gold.files:
        return _secret_files(folder, table, request)
    file, texts = table.gold, [field.name for field in table.answers if field.type in ("text", "texts")]
    name = file.name.replace("{" + file.named_by + "}", "*")
    if file.has_lines and not file.named_by:
        return [{"name": name, "lines": True, "texts": ["line"] * bool(texts)}]
    key = [] if table.by_line else list(table.key)
    if table.distinct:
        key.append(table.distinct)
    compared, free = set(table.by_name).difference(table.key), {*key, *_free(table, request)}
    for plan in reading(table, plans_of(request["options"]["metrics"], request["options"])):
        compared.update(plan.gold)
    public = list(table.public)
    secret = _secret_columns(folder, table, free - compared)
    columns = [column for column in secret if column not in key]
    if table.many and not table.distinct:
        columns, key = [], [*key, *(column for column in columns if column in compared)]
    if not secret:
        return []
    found: dict[str, Any] = {"key": key, "columns": columns, "public": public, "texts": texts}
    if table.many:
        found["choice"] = True
    if _names_its_columns(table, secret):
        return [{"name": name, **found}]
    return [{"name": name}, {"name": table.id + ENDING, **found}]


def _secret_files(folder: Path, table: Table, request: Request) -> list[dict[str, Any]]:
    """Return the gold's files, which are secret as a whole, and the columns of the table of all keys that are."""
    found: list[dict[str, Any]] = []
    for part in table.gold.parts:
        found.append({"name": part.name_of("*")})
    columns = _secret_columns(folder, table, {*table.gold.files, *_free(table, request)})
    if table.gold_keys and columns:
        of_keys = {"key": list(table.key), "columns": columns, "public": list(table.public)}
        found.append({"name": table.gold_keys.name, **of_keys})
    return found


def _secret_columns(folder: Path, table: Table, free: Collection[str | None]) -> list[str]:
    """Return the columns of a table's gold that are neither free nor public."""
    return [column for column in gold_columns(folder, table) if column not in (*free, *table.public)]


def _free(table: Table, request: Request) -> set[str | None]:
    """Return the columns of a table's gold that identify, choose, group and weigh keys."""
    free = {*table.key, table.cluster}
    for plan in reading(table, plans_of(request["options"]["metrics"], request["options"])):
        free.update((*plan.where, *plan.by, plan.mean_by, plan.weight))
    return free


def columns_text(folder: Path, table: Table, request: Request) -> str | None:
    """Return the table that is written beside the gold; None where gold names its columns itself, or has none."""
    named = named_secrets(folder, table, request)
    if len(named) < 2 or table.gold.files:
        return None
    columns: Mapping[str, Sequence[Any]] = read_columns(folder, table)
    asked = (*named[1]["key"], *named[1]["columns"], *named[1]["public"])
    there = {name: columns[name] for name in asked if name in columns}
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(there)
    for row in zip(*there.values(), strict=True):
        writer.writerow(map(as_text, row))
    return buffer.getvalue()


def _names_its_columns(table: Table, secret: Sequence[str]) -> bool:
    """Whether the gold has its columns under the names of the fields."""
    file = table.gold
    if (
        file.columns is not None
        or file.named_by
        or file.skip
        or file.at
        or file.within is not None
        or table.numbers_rows
    ):
        return False
    elsewhere = {*file.names, *file.paths, *file.spread}
    for field in table.fields:
        if field.columns and field.type in ("labels", "numbers"):
            elsewhere.add(field.name)
    named = elsewhere.isdisjoint([*secret, *table.key])
    return named and not (file.suffix == ".json" and table.only_answer)


def prepare(request: Request) -> Warned:
    """Copy a phase's gold, and put the labels of all phases beside it for fields without declared values.

    Raises:
        OrganiserError: with every mistake in the gold: file, line and column.
    """
    source, out = Path(request["source"]), Path(request["out"])
    options = request["options"]
    labels: dict[str, dict[str, list[str]]] = {}  # table id → field → those of the gold of all phases
    for table in tables_of(options).values():
        for file in filter(None, (table.gold, table.gold_keys)):
            for name in gold.gold_files(source, file):
                (out / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / name, out / name)
        text = columns_text(source, table, request)
        if text is not None:
            (out / f"{table.id}{ENDING}").write_text(text, encoding="utf-8", newline="")
        for folder in request.get("phases", [source]):
            for field, found in gold.labels_of_gold(Path(folder), table, reading(table, _wanted(request))).items():
                of_table = labels.setdefault(table.id, {})
                of_table[field] = sorted(found.union(of_table.get(field, ())))
    _check_vocabularies(options, labels)
    if labels:
        (out / gold.LABELS_FILE).write_text(json.dumps(labels, ensure_ascii=False), encoding="utf-8")
    read_reference(gold.read, {**request, "reference": request["out"]})
    return {"warnings": []}


def _check_vocabularies(options: Mapping[str, Any], labels: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
    """Raise OrganiserError where the gold has so many labels that nobody means to tell participants all of them."""
    tables, messages = tables_of(options), []
    for name, of_fields in labels.items():
        for field, found in of_fields.items():
            if len(found) > MOST_LABELS and tables[name].field(field).type in ("label", "labels"):
                what = f"{field} has {len(found)} labels in the gold of all phases, which participants would be told"
                ways = "`values: any`, for any text as an answer, or `values` with those that may be answered"
                messages.append(f"{tables[name].gold.name}: {what}. Expected {ways} (field {field}).")
    if messages:
        raise OrganiserError(*messages)


def check_reference(request: Request) -> Warned:
    """Look for metrics that the gold leaves undefined, and inputs with other ids; raises OrganiserError with all."""
    reference, wanted = read_reference(gold.read, request), _wanted(request)
    problems = Problems()
    found = list(_numbers_of_arrays(reference, problems))
    for plan in wanted:
        for where, what, needed in faults(plan, reference):
            problems.error(where, what, f"{needed} (column {plan.key})")
        found += remarks(plan, reference)
    folder = Path(request["reference"])
    for table in tables_of(request["options"]).values():
        there = gold_columns(folder, table)
        for name in table.public:
            if there and name not in there:
                found.append(f"reference.public names {name}. {table.gold.name} has {', '.join(there)}.")
    given = Given(request.get("given", {}), request.get("given_to_all", {}), request.get("phases", ()))
    for is_mistake, what in differences(given, reference):
        if is_mistake:
            problems.repeat_error(what)
        else:
            found.append(what)
    problems.stop_organisers_if_any()
    return {"warnings": found}


def _numbers_of_arrays(reference: gold.Reference, problems: Problems) -> Iterator[str]:
    """Look at the numbers of the gold's arrays; a remark where this machine has nothing that reads them."""
    try:
        for one in reference.values():
            if one.table.holds_files:
                from declared.arrays import check_arrays  # numpy, which other tables need not

                check_arrays(one.table, one.answers, problems)
    except ModuleNotFoundError as error:
        package = missing_package(error)
        if package is None:
            raise
        yield f"the numbers of the gold's arrays were not looked at. {what_is_missing(package)}"


def template(request: Request) -> dict[str, Any]:
    """Write the files of each table with every key and the emptiest answer that is valid."""
    out = Path(request["out"])
    shared: dict[tuple[str, str], tuple[list[GoldTable], list[Sequence[Field]]]] = {}
    for one in read_reference(gold.read, request).values():
        fields = fields_of_tasks(one.table, request["options"], request["tasks"])
        if one.table.holds_files:
            write_empty_files(one, fields, out)
            continue
        tables, answers = shared.setdefault((one.table.file.name, one.table.file.at), ([], []))
        tables.append(one)
        answers.append(fields)
    files: dict[str, str] = {}
    for tables, answers in shared.values():
        for name, text in template_files(tables, answers).items():
            if name in files:
                text = in_one_file(files[name], text)
            files[name] = text
    for name, text in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return {}


def template_files(golds: Sequence[GoldTable], answers: Sequence[Sequence[Field]]) -> dict[str, str]:
    """Name → text of the files of tables that share them, to answer the given fields of each.

    There is a row for each key, or, where every judged item must be ranked, for each of them.
    """
    table = golds[0].table
    keys = list(golds[0].keys)
    items: list[str] = []
    if table.all_items:
        keys = []
        for written, own in zip(golds[0].keys, expected(golds[0])["items"], strict=True):
            keys += [written] * len(own)
            items += own
    fields = list(table.key_fields)
    columns: list[Sequence[Any]] = [*zip(*keys, strict=True)]
    names, paths = dict(table.file.names), dict(table.file.paths)
    for one, own in zip(golds, answers, strict=True):
        known = expected(one)
        names, paths = {**one.table.file.names, **names}, {**one.table.file.paths, **paths}
        for field in own:
            asked = with_values(field, known["values"])
            fields.append(asked)
            if items and field.name == table.distinct:
                columns.append(items)
            else:
                columns.append(emptiest(asked, known["lengths"], len(keys)))
    file = replace(table.file, names=names, paths=paths)
    if table.numbers_rows:  # which the rows show by their order
        at = table.key.index(LINE)
        del fields[at], columns[at]
    key = [field.name for field in table.key_fields if field in fields]
    return write_rows(file, fields, list(zip(*columns, strict=True)), key, by_line=table.by_line)


def in_one_file(one: str, other: str) -> str:
    """Two JSON files as one, which holds at each place what either has there."""
    return json.dumps(_joined(json.loads(one), json.loads(other)), ensure_ascii=False, indent=1) + "\n"


def _joined(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        return {name: _joined(one.get(name), other.get(name)) for name in [*one, *other]}
    if isinstance(one, list) and isinstance(other, list):
        return [_joined(*both) for both in zip_longest(one, other)]
    return other if one is None else one


def emptiest(field: Field, lengths: Mapping[str, Sequence[int | None]], keys: int) -> list[Any]:
    """Return the emptiest valid answer to each of so many keys, as in JSON; `lengths` has the numbers of tags."""
    if field.name not in lengths:
        return [field.kind.emptiest(field, 0)] * keys
    return [field.kind.emptiest(field, tags or 0) for tags in lengths[field.name]]


def secrets(request: Request) -> Secrets:
    """Return where the gold is: all but keys, what groups rows, and what is declared public."""
    files: list[dict[str, Any]] = []
    for table in tables_of(request["options"]).values():
        files += named_secrets(Path(request["reference"]), table, request)
    return {"files": files}


def disclosure(request: Request) -> dict[str, Any]:
    """Return what the scores of a phase give one participant of its gold; see `declared.disclosure`."""
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
    if not request["is_template"]:
        return scored(request)
    program = Program.read(Path(request["program"]) / "program.json")
    checks = program.options.get("checks", {})
    try:
        tried = scored(request)
    except SubmissionError as error:
        if not checks and not any(table.holds_files for table in tables_of(program.options).values()):
            raise
        # a check of the organisers' own may ask for more than the emptiest answers, and 0 may be no value of an array
        tried = {"scores": {}, "refused": error.messages[0]}
    if "missing" in tried:
        return tried
    own = [plan for plan in plans_of(program.tasks, program.options) if plan.file]
    if not own:
        return tried
    tables = gold.read(Path(request["phase"]) / "ref", program.tasks, program.options)
    messages: list[str] = []
    for plan in own:
        messages += failing(plan, tables, checks)
    if messages:
        raise OrganiserError(*messages)
    return tried


def _wanted(request: Request) -> list[Plan]:
    return plans_of(request["tasks"], request["options"])


if __name__ == "__main__":
    raise SystemExit(serve(globals()))
