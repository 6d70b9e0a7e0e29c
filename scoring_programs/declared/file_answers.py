"""Answers that are files: of each key one or several, whole ones or arrays, found by their names.

Only the heads of arrays are read here. Runs on Python 3.9 with the standard library alone, because participants run it
at home.
"""

from pathlib import Path
from typing import Any, Collection, Dict, Iterator, List, Mapping, Sequence, Tuple, Union

from declared.answers import NAMES_SHOWN, Answers, ArrayFile, files_of_keys, report_missing
from declared.tables import Key, Table
from scoring_kit.base.array_heads import read_head
from scoring_kit.base.field_types import Field, FieldError
from scoring_kit.base.row_files import File
from scoring_kit.base.texts import counted
from scoring_kit.errors import Problems, first_of, shown


def stored(field: Field, file: File, path: Path, name: str) -> Union[Path, ArrayFile]:
    """Return the value of a field in one of a table's files; raises FieldError where it is no such file."""
    if field.type == "file":
        return path
    part, member = file.holding(field.name), file.names.get(field.name)
    return ArrayFile(path, name, str(part.format), member, read_head(path, str(part.format), member))


def by_part(file: File, names: Collection[str]) -> Iterator[Tuple[str, Key, str]]:
    """(pattern, key, name) of each file of a table; a name that fits several patterns is of the longest one."""
    for name in names:
        fitting = [part for part in file.parts if part.matching([name])]
        if fitting:
            part = max(fitting, key=lambda one: len(one.name))
            value = part.value_in(name)
            yield part.name, () if value is None else (value,), name


def read_sent_files(
    paths: Mapping[str, Path],
    table: Table,
    keys: Sequence[Key],
    fields: Sequence[Field],
    shapes: Mapping[str, Sequence[Sequence[int]]],
    problems: Problems,
) -> Answers:
    """Read the answers to these fields, by the keys of the phase; all that is wrong is recorded.

    `paths` has the files of the table by their names, and `shapes` of each array that must have it the gold's shape.
    """
    answers = Answers({}, [], [-1] * len(keys))
    compared = [(pattern, table.canonical(key), name) for pattern, key, name in by_part(table.file, paths)]
    found = files_of_keys(compared, table.positions(keys), "".join(table.key[:1]), table, problems)
    for field in fields:
        column: List[Any] = [None] * len(keys)
        for position, name in found.get(table.file.holding(field.name).name, {}).items():
            answers.numbers[position] = 0
            try:
                value = stored(field, table.file, paths[name], name)
            except FieldError as error:
                problems.error_in_file(name, error.rule, error.expected)
                continue
            if isinstance(value, ArrayFile) and field.name in shapes:
                _check_shape(value, shapes[field.name][position], problems)
            column[position] = value
        answers.columns[field.name, field.type] = column
    _check_missing(found, table, keys, fields, problems)
    return answers


def _check_shape(array: ArrayFile, expected: Sequence[int], problems: Problems) -> None:
    if list(array.head.shape) != list(expected):
        what = f"has the shape {_shape(array.head.shape)}"
        problems.error_in_file(array.name, what, f"{_shape(expected)}, as the data")


def _shape(sizes: Sequence[int]) -> str:
    return " × ".join(map(str, sizes)) or "of a single number"


def _check_missing(
    found: Mapping[str, Mapping[int, str]],
    table: Table,
    keys: Sequence[Key],
    fields: Sequence[Field],
    problems: Problems,
) -> None:
    """Keys without one of their files: a problem, or a warning where an answer may be missing."""
    needed: Dict[str, bool] = {}  # pattern → whether a field in it must be there
    for field in fields:
        name = table.file.holding(field.name).name
        needed[name] = needed.get(name, False) or (field.required and table.reject_missing)
    for part in table.file.parts:
        there = found.get(part.name, {})
        missing = [part.name_of("".join(key)) for at, key in enumerate(keys) if at not in there]
        if not missing or part.name not in needed:
            continue
        if needed[part.name]:
            report_missing(missing, part, problems)
        else:
            what = f"no file for {len(missing)} of {counted(len(keys), 'key')}"
            problems.warn(part.name, f"{what}: {first_of(missing, NAMES_SHOWN, shown)}; they count as not answered")
