"""A submission of a declared competition: one file for each table, rows matched by key.

Runs on Python 3.9 with the standard library alone: `validate.pyz` holds this very module.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Collection, Dict, FrozenSet, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

from declared.answers import (
    Answers,
    NamedText,
    files_of_keys,
    joined,
    named_key,
    near,
    read_answers,
    read_files,
    report_missing,
)
from declared.own_checks import answered_rows, run_check
from declared.records import Rows
from declared.rows import column_names
from declared.tables import Key, Table, fields_by_task, fields_of_tasks, tables_of, tasks_left_out
from scoring_kit.base.field_types import Field, ordered
from scoring_kit.base.row_files import File
from scoring_kit.base.texts import counted
from scoring_kit.errors import Problems, first_of, shown
from scoring_kit.json_reading import read_utf8
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles

FILES_SHOWN = 5
KEYS_SHOWN = 20


@dataclass(frozen=True)
class Submission:
    """A submission as it was read.

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
    names = _find_files(files, tables, scored, manifest, problems)
    if not files.paths:
        return None
    answers: Dict[str, Answers] = {}
    missing: Set[str] = set()
    for table in scored:
        reading = fields_by_task(table, manifest.options)
        if table.id not in names:
            missing.update(reading)
            continue
        sources: List[NamedText] = []
        if not table.holds_files:
            sources = _sources(files, names[table.id], table, manifest.expected["tables"][table.id], problems)
        if sources or table.holds_files or table.file.named_by:  # else its only one cannot be read
            paths = {name: files.paths[name] for name in names[table.id]}
            sent = _SentTable(table, sources, paths, manifest, problems)
            left_out = sent.left_out(reading)
            missing |= left_out
            tasks = [task for task in manifest.tasks if task in reading.keys() - left_out]
            if tasks:
                answers[table.id] = sent.checked(tasks, tables)
    if not names:
        _report_nothing(files, tables, scored, manifest, problems)
    return Submission(answers, frozenset(manifest.tasks).difference(missing))


def unseen_at_home(manifest: Manifest) -> str:
    """Return what of a submission only the scoring looks at, as a sentence after another one."""
    for table in tables_of(manifest.options).values():
        if any(field.type == "array" for field in table.fields):
            return " The numbers of its arrays are looked at when it is scored."
    return ""


def meant_folders(manifest: Manifest) -> Set[str]:
    """Return the folders at the top that names of files have, with an id of the phase in place of a placeholder."""
    found: Set[str] = set()
    for table in tables_of(manifest.options).values():
        expected = manifest.expected["tables"].get(table.id)
        for part in table.file.parts or [table.file]:
            top = replace(part, name=part.name.partition("/")[0])
            if "/" in part.name and not top.named_by:
                found.add(top.name)
            elif "/" in part.name and expected:
                at = table.key.index(part.named_by)
                found.update(top.name_of(key[at]) for key in expected["keys"])
    return found


def _report_nothing(
    files: SubmissionFiles, tables: Sequence[Table], scored: Sequence[Table], manifest: Manifest, problems: Problems
) -> None:
    """Record that no file is one of those that are scored here, unless they go to other tasks."""
    of_others = _files_of_others(files, tables, scored)
    if of_others and manifest.layout == "tasks":
        return
    what = f"holds no file with predictions; found {first_of(list(files.paths), FILES_SHOWN, shown)}"
    if of_others:
        what += f", of which none of the tasks that are scored here reads {first_of(of_others, FILES_SHOWN, shown)}"
    problems.error("submission", what, ", ".join(dict.fromkeys(table.file.name for table in scored)))


def _find_files(
    files: SubmissionFiles, tables: Sequence[Table], scored: Sequence[Table], manifest: Manifest, problems: Problems
) -> Dict[str, List[str]]:
    """Id of a scored table → the names of its files: the declared one, or else the only one with its ending."""
    sent_here = tables if manifest.layout == "tasks" else scored
    names: Dict[str, List[str]] = {}
    for table in scored:
        own = _own_files(files, table.file, tables, sent_here, problems)
        if own:
            names[table.id] = own
    of_others = _files_of_others(files, tables, scored)
    known = {*of_others, *chain(*names.values())}
    unread = _others(files.paths, known)
    if of_others:
        problems.warn(first_of(of_others, FILES_SHOWN, shown), "not read here: no task that is scored here needs it")
    if unread and names:
        problems.warn(first_of(unread, FILES_SHOWN, shown), "not read")
    return names


def _own_files(
    files: SubmissionFiles, file: File, tables: Sequence[Table], sent_here: Sequence[Table], problems: Problems
) -> List[str]:
    """The names of a table's files; what is wrong with them, or taken in their place, is recorded."""
    own = file.matching(files.paths)
    if file.name.startswith("*") and len(own) > 1:
        problems.error(
            first_of(own, FILES_SHOWN, shown), f"{len(own)} files that end with {file.name[1:]}", "one of them alone"
        )
    if own:
        return own
    rivals = {table.file.name for table in sent_here if table.file.ending == file.ending}
    others: List[str] = []
    if not file.is_pattern and len(rivals) == 1:  # else it is not clear whose file another one is
        others = _others(files.named(file.ending), _declared(files, tables))
    if len(others) > 1:
        problems.error(first_of(others, FILES_SHOWN, shown), f"{len(others)} {file.ending} files", f"{file.name} alone")
        return []
    if others:
        problems.warn(others[0], f"read as {file.name}, since it is the only {file.ending} file")
    elif len(tables) > 1:
        problems.warn(file.name, "is not there, so the tasks that need it are not entered")
    return others


def _files_of_others(files: SubmissionFiles, tables: Sequence[Table], scored: Sequence[Table]) -> List[str]:
    """The files of tables that no task reads here."""
    return _others(_declared(files, tables), _declared(files, scored))


def _others(names: Iterable[str], known: Collection[str]) -> List[str]:
    return [name for name in names if name not in known]


def _declared(files: SubmissionFiles, tables: Sequence[Table]) -> Dict[str, None]:
    """The names of the files of these tables."""
    found: Dict[str, None] = {}
    for table in tables:
        found.update(dict.fromkeys(table.file.matching(files.paths)))
    return found


def _sources(
    files: SubmissionFiles, names: Sequence[str], table: Table, expected: Mapping[str, Any], problems: Problems
) -> List[NamedText]:
    """Those of a table's files that can be read, as texts; files of unknown ids, and second ones, are recorded."""
    named = list(zip(repeat(""), names))
    if table.file.named_by:
        at = table.key.index(table.file.named_by)
        field = table.key_fields[at]
        known = {field.canonical(key[at]): key[at] for key in expected["keys"]}
        sent = [("", field.canonical(table.file.value_in(name) or ""), name) for name in names]
        named = list(files_of_keys(sent, known, field.name, table, problems).get("", {}).items())
    sources = []
    for value, name in named:
        text = read_utf8(files.paths[name], name, expected["megabytes"], problems)
        if text is not None:
            sources.append(NamedText(name, text, value))
    return sources


def with_values(field: Field, values: Mapping[str, Sequence[str]]) -> Field:
    """A field of labels without declared values takes those of the gold of all phases, one of spans their types."""
    return replace(field, values=ordered(values[field.name])) if field.name in values else field


@dataclass(frozen=True)
class _SentTable:
    """A table's files as they were sent.

    Attributes:
        table: as declared.
        sources: the files; none of a table without rows.
        paths: name → file.
        manifest: what is scored, and what is known of the data.
        problems: takes what is wrong.
    """

    table: Table
    sources: Sequence[NamedText]
    paths: Mapping[str, Path]
    manifest: Manifest
    problems: Problems

    @property
    def expected(self) -> Mapping[str, Any]:
        """Return what participants know of the table."""
        known: Mapping[str, Any] = self.manifest.expected["tables"][self.table.id]
        return known

    @cached_property
    def keys(self) -> List[Key]:
        """Of the phase."""
        return [tuple(key) for key in self.expected["keys"]]

    @cached_property
    def named(self) -> Set[str]:
        """The values of the key's field that the names of the files say."""
        return {source.named for source in self.sources}

    @property
    def name(self) -> str:
        """Of the file, or files, in messages."""
        return self.table.file.name if self.table.file.is_pattern else self.sources[0].name

    def left_out(self, reading: Mapping[str, Set[str]]) -> Set[str]:
        """Return those of a table's tasks that its files do not enter, since what only they need is not in them."""
        judged = self.manifest.all_tasks if self.manifest.layout == "tasks" else self.manifest.tasks
        tasks = {task: names for task, names in reading.items() if task in judged}
        if len(tasks) < 2 or self.table.file.has_lines or not (self.sources or self.table.holds_files):
            return set()
        there = self._fields_there()
        found = tasks_left_out(self.table, tasks, there)
        for task in self.manifest.tasks:
            if task in found:
                lacking = ", ".join(sorted(tasks[task].difference(there)))
                self.problems.warn(self.name, f"has no {lacking}, so the task {task} is not entered")
        return found

    def _fields_there(self) -> Set[str]:
        """The answers of which some file has one of the columns, or the first name on the way to them, or is a file."""
        if self.table.holds_files:
            from declared.file_answers import by_part

            patterns = {pattern for pattern, _, _ in by_part(self.table.file, self.paths)}
            return {name for name, (pattern, _) in self.table.file.files.items() if pattern in patterns}
        columns: Set[str] = set()
        for source in self.sources:
            # another spelling is a problem of its own
            columns.update(map(str.casefold, column_names(source.text, self.table.file, self.table)))
        there: Set[str] = set()
        for field in self.table.answers:
            place = self.table.file.place(field)
            names = place.path[:1] if place.path else (place.name, *place.columns)
            if not columns.isdisjoint(map(str.casefold, names)):
                there.add(field.name)
        return there

    def checked(self, tasks: Sequence[str], tables: Sequence[Table]) -> Answers:
        """Return the answers to these tasks, which the organisers' own check has seen where there is one."""
        fields: List[Field] = []
        for field in fields_of_tasks(self.table, self.manifest.options, tasks):
            fields.append(with_values(field, self.expected["values"]))
        before = self.problems.found
        answers = self._read(fields, tables)
        check = self.manifest.options.get("checks", {}).get(self.table.id)
        if check is not None and self.problems.found == before:
            run_check(check, answered_rows(answers, self.table, self.keys), self.table.file.name, self.problems)
        return answers

    def _read(self, fields: Sequence[Field], tables: Sequence[Table]) -> Answers:
        """The answers in these fields, by the keys of the phase."""
        table, problems = self.table, self.problems
        if table.holds_files:
            from declared.file_answers import read_sent_files

            return read_sent_files(self.paths, table, self.keys, fields, self.expected["shapes"], problems)
        parts = read_files(self.sources, table.file, fields, table, problems, self.keys)
        if table.file.has_cells and not self._headers_fit(parts, fields, tables):
            return Answers({}, [], [])
        rows = joined(parts)
        positions = table.positions(self.keys)
        answers = read_answers(rows, table, positions, fields, problems, problems.fault, table.ignores_unknown)
        names = ", ".join(table.key)
        for key in rows.empty_keys:
            if table.canonical(key) not in positions and not table.ignores_unknown:
                problems.error(self.name, f"unknown {names} {named_key(key)}", "ids of this phase's data alone")
        if answers.unknown:
            what = f"{counted(len(answers.unknown), 'row')} of unknown {names} left out"
            problems.warn(self.name, f"{what}: {first_of(answers.unknown, FILES_SHOWN, str)}")
        may_be_empty = table.reject_missing or rows.empty_keys or table.file.named_by
        if not may_be_empty and not problems.found and max(answers.numbers, default=-1) < 0:
            what = "has no rows of known ids" if answers.unknown else "has no rows"
            problems.error(self.name, what, "a row for each key that is answered")
        self._check_missing(answers, rows.empty_keys)
        self._check_columns(fields, answers, rows)
        return answers

    def _check_columns(self, fields: Sequence[Field], answers: Answers, rows: Rows) -> None:
        """Note what is wrong with a field's values beyond each by itself."""
        for field in fields:
            if field.name in self.expected["lengths"]:
                self._check_lengths(answers, rows, field)
            if field.name == self.table.distinct:
                self._check_items(answers, rows, field)
            if field.type in ("tags", "spans") and field.values and not field.scheme:
                self._doubt_types(answers, field)

    def _headers_fit(self, parts: Sequence[Rows], fields: Sequence[Field], tables: Sequence[Table]) -> bool:
        """Whether every file has the columns that are asked for; of other tables in the same file it may have any."""
        before = self.problems.found
        file = self.table.file
        asked = [*self.table.key_in(file), *fields]
        listed = list(dict.fromkeys(file.cells(asked)))
        known = set(listed)
        for one in tables:
            if one.file.name == file.name:
                known.update(one.file.cells(one.fields))
        for source, part in zip(self.sources, parts):
            if part.names:
                needed: Dict[str, None] = {}
                for field in asked:
                    cells = file.place(field).cells
                    is_there = not set(cells).isdisjoint(part.names)  # one of them, of a field that may be left out
                    if field.required or field.name in self.table.key or is_there:
                        needed.update(dict.fromkeys(cells))
                _check_header(part.names, f"{source.name}:1", list(needed), known, listed, self.problems)
        return self.problems.found == before and all(part.names for part in parts)

    def _check_missing(self, answers: Answers, empty: Sequence[Key]) -> None:
        """Keys without a row: an error, or a warning where they are empty answers; many rows may well be none."""
        table = self.table
        if self.problems.ends_early or (table.numbers_rows and self.problems.found):
            return  # what cannot be read to its end, or counted, may have them all
        in_order = table.by_line or (table.file.has_lines and not table.numbers_rows)
        if (in_order and not table.file.named_by) or (table.many and not table.reject_missing):
            return
        missing = self._unanswered(answers, empty)
        if table.file.named_by and table.reject_missing:
            missing = self._of_read_files(missing)
        if not missing:
            return
        listed = first_of(missing, KEYS_SHOWN, named_key, "; ")
        what = f"no row for {len(missing)} of {len(self.keys)} keys: {listed}"
        if table.reject_missing:
            self.problems.error(self.name, what, f"one row for each {', '.join(table.key)} of the data")
        else:
            has_defaults = any(field.default is not None for field in table.answers)
            counted_as = "their defaults" if has_defaults else "empty answers"
            self.problems.warn(self.name, f"{what}; they count as {counted_as}")

    def _of_read_files(self, missing: Sequence[Key]) -> List[Key]:
        """Return those of the keys whose file was read; files that are not there are a problem of their own."""
        file, at = self.table.file, self.table.key.index(self.table.file.named_by)
        canonical = self.table.key_fields[at].canonical
        sent = {canonical(file.value_in(name) or "") for name in self.paths}
        left: List[Key] = []
        unsent: Dict[str, None] = {}
        for key in missing:
            if key[at] in self.named:
                left.append(key)
            elif canonical(key[at]) not in sent:
                unsent[file.name_of(key[at])] = None
        if unsent:
            report_missing(list(unsent), file, self.problems)
        return left

    def _unanswered(self, answers: Answers, empty: Sequence[Key]) -> List[Key]:
        """The keys without a row; a file for a key, or a list, without rows, is an answer without rows."""
        if not self.table.many:
            return [key for key, number in zip(self.keys, answers.numbers) if number < 0]
        answered = set(answers.owners)
        positions = self.table.positions(self.keys)
        for key in self.table.compared(empty):
            answered.add(positions.get(key, -1))
        named_by = self.table.file.named_by
        missing: List[Key] = []
        for position, key in enumerate(self.keys):
            has_file = named_by and key[self.table.key.index(named_by)] in self.named
            if position not in answered and not has_file:
                missing.append(key)
        return missing

    def _check_lengths(self, answers: Answers, rows: Rows, field: Field) -> None:
        """Tags, or numbers, are as many as the gold's; a default is one of them for all."""
        column, lengths = answers.columns[field.name, field.type], self.expected["lengths"][field.name]
        for at, tags in enumerate(column):
            number, length = answers.numbers[at], lengths[at]
            if field.default is not None and tags is field.empty:
                column[at] = list(tags) * (length or 0)
            elif tags is not None and length is not None and number >= 0 and len(tags) != length:
                word, whole = (
                    ("tag", "one for each token") if field.type == "tags" else ("number", "as many as the data")
                )
                self.problems.error(
                    rows.place(number), f"{field.name} has {counted(len(tags), word)}", f"{length}, {whole}"
                )

    def _doubt_types(self, answers: Answers, field: Field) -> None:
        """A type that no gold has is no mistake, and yet most often a misspelt one."""
        found: Set[str] = set()
        for value in answers.columns[field.name, field.type]:
            for one in value or ():
                types = [one[2:]] if field.type == "tags" else one[2:]
                found.update(types)
        known = list(field.values or ())
        unknown = sorted(found.difference(known, [""]))
        if unknown:
            plural = "types are" if len(unknown) > 1 else "type is"
            listed = first_of(unknown, KEYS_SHOWN, shown)
            what = f"the {plural} not among those of the data ({first_of(known, KEYS_SHOWN, str)}): {listed}"
            self.problems.warn(self.name, f"{field.name}: {what}")

    def _check_items(self, answers: Answers, rows: Rows, field: Field) -> None:
        """An item twice for a key would count twice in a ranking; where all judged ones are asked for, none lacks."""
        first: Dict[Tuple[int, Any], int] = {}
        values = answers.columns[field.name, field.type]
        for owner, number, value in zip(answers.owners, answers.numbers, values):
            seen = first.setdefault((owner, value), number)
            if seen != number:
                key = named_key(self.keys[owner])
                what = f"{field.name} {shown(value)} again for {key}, after {rows.place(seen)}"
                self.problems.error(rows.place(number), what, "each item once for a key")
        for position, items in enumerate(self.expected.get("items", ())):
            missing = [item for item in items if (position, item) not in first]
            if missing:
                key, listed = named_key(self.keys[position]), first_of(missing, KEYS_SHOWN, shown)
                what = f"{key} has no row for {len(missing)} of {len(items)} items: {listed}"
                self.problems.error(self.name, what, f"a row for each {field.name} of the data")


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
    missing: Dict[str, str] = {}
    for column in needed:
        if column not in header and column not in misspelt:
            missing[column] = near(column, further)
    if missing and len(further) == len(header) and not any(missing.values()):
        what = (
            f"the header line is missing, or names no column of those expected: {first_of(header, KEYS_SHOWN, shown)}"
        )
        problems.error(where, what, f"a first line with the names {', '.join(listed)}")
        return
    for column, meant in missing.items():
        problems.error(where, f"the column {column} is missing{meant}", f"the columns {', '.join(listed)}")
    if further:
        plural = "columns are" if len(further) > 1 else "column is"
        problems.warn(where, f"further {plural} not read: {first_of(further, KEYS_SHOWN, shown)}")
