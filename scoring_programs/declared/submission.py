"""A submission of a declared competition: one file for each table, rows matched by key.

Runs on Python 3.9 with the standard library alone: `validate.pyz` holds this very module.
"""

from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Dict, FrozenSet, List, Mapping, Optional, Sequence, Set, Tuple

from declared.answers import Answers, named_key, read_answers
from declared.own_checks import answered_rows, run_check
from declared.rows import NamedText, Rows, column_names, joined, read_files
from declared.tables import Key, Table, fields_by_task, fields_of_tasks, tables_of, tasks_left_out
from scoring_kit.base.fields import Field, ordered
from scoring_kit.errors import Problems, counted, first_of, shown
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
    tables = list(tables_of(manifest.options).values())
    scored = [table for table in tables if table.id in manifest.expected["tables"]]
    fitting = {table.id: table.file.matching(files.paths) for table in tables}
    sent_here = tables if manifest.layout == "tasks" else scored
    names = _find_files(files, fitting, scored, sent_here, problems)
    if not files.paths:
        return None
    answers: Dict[str, Answers] = {}
    missing: Set[str] = set()
    for table in scored:
        reading = fields_by_task(table, manifest.options)
        if table.id not in names:
            missing.update(reading)
            continue
        sources = _sources(files, names[table.id], table, manifest.expected["tables"][table.id], problems)
        if sources is None:
            continue
        left_out = _left_out(sources, table, reading, manifest, problems)
        missing |= left_out
        tasks = [task for task in manifest.tasks if task in reading.keys() - left_out]
        if tasks:
            answers[table.id] = _checked_table(sources, table, tables, tasks, manifest, problems)
    if not names:
        _report_nothing(files, _files_of_others(fitting, scored), scored, manifest, problems)
    return Submission(answers, frozenset(manifest.tasks).difference(missing))


def _checked_table(
    sources: Sequence[NamedText],
    table: Table,
    tables: Sequence[Table],
    tasks: Sequence[str],
    manifest: Manifest,
    problems: Problems,
) -> Answers:
    """A table's answers to these tasks, which the organisers' own check has seen where there is one."""
    expected = manifest.expected["tables"][table.id]
    keys: List[Key] = list(map(tuple, expected["keys"]))
    needed = fields_of_tasks(table, manifest.options, tasks)
    fields = [with_values(field, expected["values"]) for field in needed]
    others = [one for one in tables if one.file.name == table.file.name]
    before = problems.found
    answers = _read_table(sources, table, fields, others, keys, expected, problems)
    check = manifest.options.get("checks", {}).get(table.id)
    if check is not None and problems.found == before:
        run_check(check, answered_rows(answers, table, keys), table.file.name, problems)
    return answers


def _report_nothing(
    files: SubmissionFiles, of_others: Sequence[str], scored: Sequence[Table], manifest: Manifest, problems: Problems
) -> None:
    """Record that no file is one of those that are scored here, unless they go to other tasks."""
    if of_others and manifest.layout == "tasks":
        return
    what = f"holds no file with predictions; found {_listed(list(files.paths))}"
    if of_others:
        what += f", of which none of the tasks that are scored here reads {_listed(of_others)}"
    problems.error("submission", what, ", ".join(dict.fromkeys(table.file.name for table in scored)))


def _find_files(
    files: SubmissionFiles,
    fitting: Mapping[str, List[str]],
    scored: Sequence[Table],
    sent_here: Sequence[Table],
    problems: Problems,
) -> Dict[str, List[str]]:
    """Id of a scored table → the names of its files: the declared one, or else the only one with its ending.

    Args:
        files: what was sent.
        fitting: id of every table → those of the names that its declaration says.
        scored: the tables that are read here.
        sent_here: those whose files may be there.
        problems: takes what is wrong, or not read.
    """
    names: Dict[str, List[str]] = {}
    for table in scored:
        own = _own_files(files, table, fitting, sent_here, problems)
        if own:
            names[table.id] = own
    of_others = _files_of_others(fitting, scored)
    known = {*of_others, *chain(*names.values())}
    unread = [name for name in files.paths if name not in known]
    if of_others:
        problems.warn(_listed(of_others), "not read here: no task that is scored here needs it")
    if unread and names:
        problems.warn(_listed(unread), "not read")
    return names


def _own_files(
    files: SubmissionFiles,
    table: Table,
    fitting: Mapping[str, List[str]],
    sent_here: Sequence[Table],
    problems: Problems,
) -> List[str]:
    """The names of a table's files; what is wrong with them, or taken in their place, is recorded."""
    file, own = table.file, fitting[table.id]
    if file.name.startswith("*") and len(own) > 1:
        problems.error(_listed(own), f"{len(own)} files that end with {file.name[1:]}", "one of them alone")
    if own:
        return own
    rivals = {one.file.name for one in sent_here if one.file.ending == file.ending}
    others: List[str] = []
    if not file.is_pattern and len(rivals) == 1:  # else it is not clear whose files these are
        declared = set(chain(*fitting.values()))
        others = [name for name in files.named(file.ending) if name not in declared]
    if len(others) > 1:
        problems.error(_listed(others), f"{len(others)} {file.ending} files", f"{file.name} alone")
        return []
    if others:
        problems.warn(others[0], f"read as {file.name}, since it is the only {file.ending} file")
    elif len(fitting) > 1:
        problems.warn(file.name, "is not there, so the tasks that need it are not entered")
    return others


def _files_of_others(fitting: Mapping[str, List[str]], scored: Sequence[Table]) -> List[str]:
    """The files of tables that no task reads here."""
    found = dict.fromkeys(chain(*fitting.values()))
    for table in scored:
        for name in fitting[table.id]:
            found.pop(name, None)
    return list(found)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names[:FILES_SHOWN]))


def _sources(
    files: SubmissionFiles, names: Sequence[str], table: Table, expected: Mapping[str, Any], problems: Problems
) -> Optional[List[NamedText]]:
    """A table's files as texts; None where its only one cannot be read."""
    named = dict.fromkeys(names, "")
    if table.file.named_by:
        named = _known_names(names, table, expected["keys"], problems)
    sources = []
    for name, value in named.items():
        text = read_utf8(files.paths[name], name, expected["megabytes"], problems)
        if text is not None:
            sources.append(NamedText(name, text, value))
    return sources if sources or table.file.named_by else None


def _known_names(
    names: Sequence[str], table: Table, keys: Sequence[Sequence[str]], problems: Problems
) -> Dict[str, str]:
    """File → the id in its name, as the data write it; files of unknown ids, and second ones, are recorded."""
    at = table.key.index(table.file.named_by)
    field = table.key_fields[at]
    known = {field.canonical(key[at]): key[at] for key in keys}
    first: Dict[str, str] = {}
    found: Dict[str, str] = {}
    for name in names:
        sent = table.file.value_in(name) or ""
        folded = field.canonical(sent)
        if folded not in known:
            problems.error(name, f"unknown {field.name} {shown(sent)}", "a file for each id of this phase's data")
        elif folded in first:
            problems.error(name, f"a second file for {shown(sent)}, after {first[folded]}", "one file for each id")
        else:
            first[folded] = name
            found[name] = known[folded]
    return found


def _left_out(
    sources: Sequence[NamedText],
    table: Table,
    reading: Mapping[str, Set[str]],
    manifest: Manifest,
    problems: Problems,
) -> Set[str]:
    """The tasks of a table's several that its files do not enter, since what only they need is not in them."""
    judged = manifest.all_tasks if manifest.layout == "tasks" else manifest.tasks
    tasks = {task: names for task, names in reading.items() if task in judged}
    if len(tasks) < 2 or table.file.suffix == ".txt" or not sources:
        return set()
    there = _fields_there(sources, table)
    found = tasks_left_out(table, tasks, there)
    for task in manifest.tasks:
        if task in found:
            lacking = ", ".join(sorted(tasks[task].difference(there)))
            problems.warn(sources[0].name, f"has no {lacking}, so the task {task} is not entered")
    return found


def _fields_there(sources: Sequence[NamedText], table: Table) -> Set[str]:
    """The answers of which some file has one of the columns, or the first name on the way to them."""
    columns: Set[str] = set()
    for source in sources:
        # another spelling is a problem of its own
        columns.update(map(str.casefold, column_names(source.text, table.file, table)))
    there: Set[str] = set()
    for field in table.answers:
        place = table.file.place(field)
        names = place.path[:1] if place.path else (place.name, *place.columns)
        if not columns.isdisjoint(map(str.casefold, names)):
            there.add(field.name)
    return there


def _read_table(
    sources: Sequence[NamedText],
    table: Table,
    fields: Sequence[Field],
    others: Sequence[Table],
    keys: Sequence[Key],
    expected: Mapping[str, Any],
    problems: Problems,
) -> Answers:
    """One table's answers in these fields, by the keys of the phase."""
    name = table.file.name
    if not table.file.named_by:
        name = sources[0].name
    parts = read_files(sources, table.file, fields, table, problems, keys)
    if not _headers_fit(sources, parts, table, fields, others, problems):
        return Answers({}, [], [])
    rows = joined(parts)
    positions = table.positions(keys)
    answers = read_answers(rows, table, positions, fields, problems, problems.fault)
    for key in rows.empty_keys:
        if table.canonical((key,)) not in positions:
            problems.error(name, f"unknown {table.key[0]} {shown(key)}", "ids of this phase's data alone")
    may_be_empty = table.reject_missing or rows.empty_keys or table.file.named_by
    if not may_be_empty and not problems.found and max(answers.numbers, default=-1) < 0:
        problems.error(name, "has no rows", "a row for each key that is answered")
    _check_missing(answers, table, keys, sources, name, problems)
    for field in fields:
        _check_field(field, answers, rows, table, keys, expected, name, problems)
    return answers


def _check_field(
    field: Field,
    answers: Answers,
    rows: Rows,
    table: Table,
    keys: Sequence[Key],
    expected: Mapping[str, Any],
    name: str,
    problems: Problems,
) -> None:
    """What is wrong with a field's values beyond each by itself."""
    if field.name in expected["lengths"]:
        _check_lengths(answers, rows, field, expected["lengths"][field.name], problems)
    if field.name == table.distinct:
        _check_distinct(answers, rows, keys, field, problems)
        _check_items(answers, keys, field, expected.get("items", ()), name, problems)
    if field.type in ("tags", "spans") and field.values:
        _doubt_types(answers, name, field, problems)


def with_values(field: Field, values: Mapping[str, Sequence[str]]) -> Field:
    """A field of labels without declared values takes those of the gold of all phases, one of spans their types."""
    return replace(field, values=ordered(values[field.name])) if field.name in values else field


def _headers_fit(
    sources: Sequence[NamedText],
    parts: Sequence[Rows],
    table: Table,
    fields: Sequence[Field],
    others: Sequence[Table],
    problems: Problems,
) -> bool:
    """Whether every file has the columns that are asked for; `others` are further tables in the same file."""
    if table.file.suffix not in (".csv", ".tsv"):
        return True
    before = problems.found
    asked = [*table.key_in(table.file), *fields]
    listed = list(dict.fromkeys(table.file.cells(asked)))
    known = set(listed)
    for one in (table, *others):
        known.update(one.file.cells(one.fields))
    for source, part in zip(sources, parts):
        if part.names:
            needed = _needed(part.names, table, asked)
            _check_header(part.names, f"{source.name}:1", needed, known, listed, problems)
    return problems.found == before and all(part.names for part in parts)


def _needed(header: Sequence[str], table: Table, asked: Sequence[Field]) -> List[str]:
    """The columns that a file must have: of a field that is not required only where it has one of them."""
    needed: Dict[str, None] = {}
    for field in asked:
        cells = table.file.place(field).cells
        if field.required or field.name in table.key or not set(cells).isdisjoint(header):
            needed.update(dict.fromkeys(cells))
    return list(needed)


def _check_header(
    header: Sequence[str],
    where: str,
    needed: Sequence[str],
    known: Set[str],
    listed: Sequence[str],
    problems: Problems,
) -> None:
    """Record the columns of one file that are missing, spelt otherwise, or not read."""
    right = {column.casefold(): column for column in (*known, *needed) if column not in header}
    misspelt: Set[str] = set()
    further: List[str] = []
    for column in header:
        if column in known or not column:
            continue
        spelling = right.pop(column.casefold(), None)
        if spelling is None:
            further.append(column)
        else:
            problems.error(where, f"unknown column {shown(column)}", f"the spelling {spelling}")
            misspelt.add(spelling)
    for column in needed:
        if column not in header and column not in misspelt:
            problems.error(where, f"the column {column} is missing", f"the columns {', '.join(listed)}")
    if further:
        plural = "columns are" if len(further) > 1 else "column is"
        problems.warn(where, f"further {plural} not read: {', '.join(map(shown, further[:KEYS_SHOWN]))}")


def _check_missing(
    answers: Answers, table: Table, keys: Sequence[Key], sources: Sequence[NamedText], name: str, problems: Problems
) -> None:
    """Keys without a row: an error, or a warning where they are empty answers; many rows may well be none."""
    counted = table.by_line or table.file.suffix == ".txt"
    if (counted and not table.file.named_by) or (table.many and not table.reject_missing):
        return
    missing = _unanswered(answers, table, keys, sources)
    if not missing:
        return
    what = f"no row for {len(missing)} of {len(keys)} keys: {first_of(missing, KEYS_SHOWN, named_key, '; ')}"
    if table.reject_missing:
        problems.error(name, what, f"one row for each {', '.join(table.key)} of the data")
    else:
        problems.warn(name, f"{what}; they count as {_counted_as(table)}")


def _unanswered(answers: Answers, table: Table, keys: Sequence[Key], sources: Sequence[NamedText]) -> List[Key]:
    """The keys without a row; a file for a key, without rows, is an answer without rows."""
    if not table.many:
        return [key for key, number in zip(keys, answers.numbers) if number < 0]
    answered = set(map(keys.__getitem__, answers.owners))
    if table.file.named_by:
        at = table.key.index(table.file.named_by)
        there = {source.named for source in sources}
        answered.update(key for key in keys if key[at] in there)
    return [key for key in keys if key not in answered]


def _counted_as(table: Table) -> str:
    """What a key without a row counts as."""
    return "their defaults" if any(field.default is not None for field in table.answers) else "empty answers"


def _check_lengths(
    answers: Answers, rows: Rows, field: Field, lengths: Sequence[Optional[int]], problems: Problems
) -> None:
    """Tags are as many as the gold's; a default is one tag for all of them."""
    column = answers.columns[field.name, field.type]
    for at, tags in enumerate(column):
        if field.default is not None and tags is field.empty:
            column[at] = list(tags) * (lengths[at] or 0)
        elif tags is not None and lengths[at] is not None and answers.numbers[at] >= 0 and len(tags) != lengths[at]:
            what = f"{field.name} has {counted(len(tags), 'tag')}"
            problems.error(rows.place(answers.numbers[at]), what, f"{lengths[at]}, one for each token")


def _doubt_types(answers: Answers, name: str, field: Field, problems: Problems) -> None:
    """A type that no gold has is no mistake, and yet most often a misspelt one."""
    found: Set[str] = set()
    for value in answers.columns[field.name, field.type]:
        for one in value or ():
            types = [one[2:]] if field.type == "tags" else one[2:]
            found.update(types)
    unknown = sorted(found.difference(field.values or (), [""]))
    if unknown:
        plural = "types are" if len(unknown) > 1 else "type is"
        known = ", ".join(list(field.values or ())[:KEYS_SHOWN])
        listed = ", ".join(map(shown, unknown[:KEYS_SHOWN]))
        problems.warn(name, f"{field.name}: the {plural} not among those of the data ({known}): {listed}")


def _check_items(
    answers: Answers,
    keys: Sequence[Key],
    field: Field,
    judged: Sequence[Sequence[str]],
    name: str,
    problems: Problems,
) -> None:
    """Where all judged items must be ranked: those of each key that has not."""
    given = answers.columns[field.name, field.type]
    ranked = set(zip(answers.owners, given))
    for position, items in enumerate(judged):
        missing = [item for item in items if (position, item) not in ranked]
        if missing:
            listed = ", ".join(map(shown, missing[:KEYS_SHOWN]))
            what = f"{named_key(keys[position])} has no row for {len(missing)} of {len(items)} items: {listed}"
            problems.error(name, what, f"a row for each {field.name} of the data")


def _check_distinct(answers: Answers, rows: Rows, keys: Sequence[Key], field: Field, problems: Problems) -> None:
    """The same item twice for a key would count twice in a ranking."""
    first: Dict[Tuple[int, Any], int] = {}
    for at, value in enumerate(answers.columns[field.name, field.type]):
        seen = first.setdefault((answers.owners[at], value), answers.numbers[at])
        if seen != answers.numbers[at]:
            key = named_key(keys[answers.owners[at]])
            what = f"{field.name} {shown(value)} again for {key}, after {rows.place(seen)}"
            problems.error(rows.place(answers.numbers[at]), what, "each item once for a key")
