"""A submission of a declared competition: one file for each table, rows matched by key.

Runs on Python 3.9 with the standard library alone: `validate.pyz` holds this very module.
"""

from dataclasses import dataclass, replace
from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

from declared.answers import Answers, named_key, read_answers
from declared.fields import Field, ordered
from declared.rows import Rows, column_names, read_rows, text_lines
from declared.tables import Key, Table, fields_by_task, fields_of_tasks, tables_of, tasks_left_out
from scoring_kit.errors import Problems, shown
from scoring_kit.json_reading import read_utf8
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles

FILES_SHOWN = 5
KEYS_SHOWN = 20


@dataclass(frozen=True)
class Submission:
    """What a team sent.

    Attributes:
        tables: table id → its answers, in the order of the manifest's keys; only tables that an entered task reads.
        entered: ids of the tasks whose tables are all there, with all their columns.
    """

    tables: Mapping[str, Answers]
    entered: FrozenSet[str]


def read(files: SubmissionFiles, manifest: Manifest, problems: Problems) -> Optional[Submission]:
    """Read and judge a submission; all that is wrong is recorded in `problems`.

    Tables that no task reads here belong to tasks that are scored elsewhere, or not in this phase: their files are left
    alone. In layout `tasks` every zip goes to all tasks, so that one with files of other tasks alone is no mistake.
    """
    tables = tables_of(manifest.options)
    scored = [table for table in tables.values() if table.id in manifest.expected["tables"]]
    names = _find_files(files, list(tables.values()), scored, manifest, problems)
    of_others = _files_of_others(files, tables.values(), scored)
    answers: Dict[str, Answers] = {}
    missing: Set[str] = set()
    for table in scored:
        reading = fields_by_task(table, manifest.options)
        if table.id not in names:
            missing.update(reading)
            continue
        name = names[table.id]
        expected = manifest.expected["tables"][table.id]
        text = read_utf8(files.paths[name], name, expected["megabytes"], problems)
        if text is None:
            continue
        left_out = _left_out(text, name, table, reading, manifest, problems)
        missing |= left_out
        tasks = [task for task in manifest.tasks if task in reading and task not in left_out]
        if tasks:
            fields = fields_of_tasks(table, manifest.options, tasks)
            answers[table.id] = _read_table(text, name, table, fields, expected, problems)
    if not names and files.paths and not (of_others and manifest.layout == "tasks"):
        what = f"holds no file with predictions; found {_listed(list(files.paths))}"
        elsewhere = f", of which none of the tasks that are scored here reads {_listed(of_others)}" if of_others else ""
        problems.error("submission", what + elsewhere, ", ".join(table.file.name for table in scored))
    return Submission(answers, frozenset(manifest.tasks).difference(missing)) if files.paths else None


def _find_files(
    files: SubmissionFiles, tables: Sequence[Table], scored: Sequence[Table], manifest: Manifest, problems: Problems
) -> Dict[str, str]:
    """Id of a scored table → the name of its file: the declared one, or else the only one with its suffix."""
    declared = {table.file.name for table in tables}
    sent_here = tables if manifest.layout == "tasks" else scored
    names: Dict[str, str] = {}
    for table in scored:
        suffix = table.file.suffix
        alone = sum(other.file.suffix == suffix for other in sent_here) == 1
        others = [name for name in files.named(suffix) if name not in declared] if alone else []
        if table.file.name in files.paths:
            names[table.id] = table.file.name
        elif len(others) == 1:
            names[table.id] = others[0]
            problems.warn(others[0], f"read as {table.file.name}, since it is the only {suffix} file")
        elif others:
            problems.error(_listed(others), f"{len(others)} {suffix} files", f"{table.file.name} alone")
        elif len(tables) > 1:
            problems.warn(table.file.name, "is not there, so the tasks that need it are not entered")
    of_others = _files_of_others(files, tables, scored)
    unread = [name for name in files.paths if name not in names.values() and name not in of_others]
    if of_others:
        problems.warn(_listed(of_others), "not read here: no task that is scored here needs it")
    if unread and names:
        problems.warn(_listed(unread), "not read")
    return names


def _files_of_others(files: SubmissionFiles, tables: Iterable[Table], scored: Sequence[Table]) -> List[str]:
    """The files of tables that no task reads here."""
    return [table.file.name for table in tables if table not in scored and table.file.name in files.paths]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names[:FILES_SHOWN]))


def _left_out(
    text: str, name: str, table: Table, reading: Mapping[str, Set[str]], manifest: Manifest, problems: Problems
) -> Set[str]:
    """The tasks of a table's several that its file does not enter, since what only they need is not in it."""
    judged = manifest.all_tasks if manifest.layout == "tasks" else manifest.tasks
    tasks = {task: names for task, names in reading.items() if task in judged}
    if len(tasks) < 2 or table.file.suffix == ".txt":
        return set()
    columns = {
        column.casefold() for column in column_names(text, table.file, table.only_answer)
    }  # another spelling is a problem of its own
    there = {field.name for field in table.answers if field.name.casefold() in columns}
    found = tasks_left_out(table, tasks, there)
    for task in manifest.tasks:
        if task in found:
            lacking = ", ".join(sorted(tasks[task].difference(there)))
            problems.warn(name, f"has no {lacking}, so the task {task} is not entered")
    return found


def _read_table(
    text: str, name: str, table: Table, needed: Sequence[Field], expected: Mapping[str, Any], problems: Problems
) -> Answers:
    """One table's answers, in the fields that are `needed`, by the keys of the phase."""
    keys = [tuple(key) for key in expected["keys"]]
    fields = [with_values(field, expected["values"]) for field in needed]
    if table.file.suffix == ".txt":
        rows = _keyed_lines(text, name, table, keys, fields[0], problems)
    else:
        rows = read_rows(text, name, table.file, [*table.key, *(field.name for field in fields)], table, problems)
        if not rows.is_json and not _check_header(rows.names, name, table, fields, problems):
            return Answers({}, [], [])
    positions = {key: position for position, key in enumerate(keys)}
    answers = read_answers(rows, table, positions, fields, problems, problems.fault)
    for key in rows.empty_keys:
        if (key,) not in positions:
            problems.error(name, f"unknown {table.key[0]} {shown(key)}", "ids of this phase's data alone")
    _check_missing(answers, table, keys, name, problems)
    for field in fields:
        if field.name in expected["lengths"]:
            _check_lengths(answers, rows, field, expected["lengths"][field.name], problems)
        if field.name == table.distinct:
            _check_distinct(answers, rows, keys, field, problems)
        if field.type in ("tags", "spans") and field.values:
            _doubt_types(answers, name, field, problems)
    return answers


def with_values(field: Field, values: Mapping[str, Sequence[str]]) -> Field:
    """A field of labels without declared values takes those of the gold of all phases, one of spans their types."""
    return replace(field, values=ordered(values[field.name])) if field.name in values else field


def _keyed_lines(text: str, name: str, table: Table, keys: Sequence[Key], field: Field, problems: Problems) -> Rows:
    """Lines as rows: line n of those that are read answers the n-th key."""
    skipped = table.file.skip
    lines = text_lines(text)[skipped:]
    if len(lines) != len(keys):
        counted = f"{len(lines)} line{'' if len(lines) == 1 else 's'}"
        problems.error(name, f"has {counted}", f"{len(keys)}, one for each row of the data, in its order")
        lines = []
    rows = ((at + 1 + skipped, (*keys[at], line)) for at, line in enumerate(lines))
    return Rows([field.name], False, rows, lambda number: f"{name}:{number}")


def _check_header(header: Sequence[str], name: str, table: Table, fields: Sequence[Field], problems: Problems) -> bool:
    """Whether every column that is asked for is there; further columns get a warning."""
    before = problems.found
    needed = [*table.key, *(field.name for field in fields if field.required)]
    known = {*table.key, *(field.name for field in table.answers)}
    right = {column.casefold(): column for column in known if column not in header}
    further = []
    for column in header:
        if column not in known and column.casefold() in right:
            spelling = right.pop(column.casefold())
            problems.error(f"{name}:1", f"unknown column {shown(column)}", f"the spelling {spelling}")
            needed = [other for other in needed if other != spelling]
        elif column not in known and column:
            further.append(column)
    for column in needed if header else ():
        if column not in header:
            listed = ", ".join([*table.key, *(field.name for field in fields)])
            problems.error(f"{name}:1", f"the column {column} is missing", f"the columns {listed}")
    if further:
        plural = "columns are" if len(further) > 1 else "column is"
        problems.warn(f"{name}:1", f"further {plural} not read: {', '.join(map(shown, further[:KEYS_SHOWN]))}")
    return bool(header) and problems.found == before


def _check_missing(answers: Answers, table: Table, keys: Sequence[Key], name: str, problems: Problems) -> None:
    """Keys without a row: an error, or a warning where they are empty answers; many rows may well be none."""
    if table.file.suffix == ".txt" or (table.many and not table.reject_missing):
        return
    answered = set(answers.owners) if table.many else {i for i, number in enumerate(answers.numbers) if number >= 0}
    missing = [key for position, key in enumerate(keys) if position not in answered]
    if not missing:
        return
    more = f" and {len(missing) - KEYS_SHOWN} more" if len(missing) > KEYS_SHOWN else ""
    listed = "; ".join(map(named_key, missing[:KEYS_SHOWN])) + more
    what = f"no row for {len(missing)} of {len(keys)} keys: {listed}"
    if table.reject_missing:
        problems.error(name, what, f"one row for each {', '.join(table.key)} of the data")
    else:
        problems.warn(name, f"{what}; they count as empty answers")


def _check_lengths(answers: Answers, rows: Rows, field: Field, lengths: Sequence[int], problems: Problems) -> None:
    """Tags are as many as the gold's."""
    for at, tags in enumerate(answers.columns[field.name, field.type]):
        if tags is not None and answers.numbers[at] >= 0 and len(tags) != lengths[at]:
            what = f"{field.name} has {len(tags)} tag{'' if len(tags) == 1 else 's'}"
            problems.error(rows.place(answers.numbers[at]), what, f"{lengths[at]}, one for each token")


def _doubt_types(answers: Answers, name: str, field: Field, problems: Problems) -> None:
    """A type that no gold has is no mistake, and yet most often a misspelt one."""
    found: Set[str] = set()
    for value in answers.columns[field.name, field.type]:
        for one in value or ():
            found.update([one[2:]] if field.type == "tags" else one[2:])
    unknown = sorted(found.difference(field.values or (), [""]))
    if unknown:
        plural = "types are" if len(unknown) > 1 else "type is"
        known = ", ".join(list(field.values or ())[:KEYS_SHOWN])
        listed = ", ".join(map(shown, unknown[:KEYS_SHOWN]))
        problems.warn(name, f"{field.name}: the {plural} not among those of the data ({known}): {listed}")


def _check_distinct(answers: Answers, rows: Rows, keys: Sequence[Key], field: Field, problems: Problems) -> None:
    """The same item twice for a key would count twice in a ranking."""
    first: Dict[Tuple[int, Any], int] = {}
    for at, value in enumerate(answers.columns[field.name, field.type]):
        seen = first.setdefault((answers.owners[at], value), answers.numbers[at])
        if seen != answers.numbers[at]:
            key = named_key(keys[answers.owners[at]])
            what = f"{field.name} {shown(value)} again for {key}, after {rows.place(seen)}"
            problems.error(rows.place(answers.numbers[at]), what, "each item once for a key")
