"""Gold that is files, as the columns of a table that has a row for each key."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from declared.answers import Answers, ArrayFile, named_key
from declared.file_answers import by_part, stored
from declared.tables import Key, Table
from scoring_kit.base.field_types import Field, FieldError
from scoring_kit.base.row_files import File
from scoring_kit.errors import Problems

Columns = dict[str, Sequence[Any]]


def columns_of_files(
    folder: Path,
    names: Sequence[str],
    file: File,
    table: Table,
    listed: Mapping[str, Sequence[Any]] | None,
    problems: Problems,
) -> Columns | None:
    """Return the columns of gold in files: the key, the fields that there are, and those of a table of all keys.

    Args:
        folder: of the phase's gold.
        names: of the files in it that fit the table's.
        file: what they are called.
        table: as declared.
        listed: the columns of the table of all keys, where there is one.
        problems: takes what is wrong; None is returned where there is nothing to read.
    """
    if not names and listed is None:
        problems.error(file.name, "is missing", "the gold in files of this name in the phase's folder")
        return None
    found: dict[str, dict[Key, str]] = {}
    written: dict[Key, Key] = {}
    for pattern, key, name in by_part(file, names):
        compared = table.canonical(key)
        written.setdefault(compared, key)
        first = found.setdefault(pattern, {}).setdefault(compared, name)
        if first != name:
            whose = named_key(key) if key else "the one answer"
            problems.error(name, f"a second file for {whose}, after {first}", "one file for each")
    keys = list(written.values())
    columns: Columns = dict(zip(table.key, zip(*keys, strict=True), strict=False))
    if listed is not None:
        columns = dict(listed)
        keys = list(zip(*(columns[name] for name in table.key), strict=True))
        for key in written.keys() - set(table.compared(keys)):
            what = f"has no {table.key[0]} {named_key(key)}, of which there are gold files"
            problems.error(str(table.gold_keys and table.gold_keys.name), what, "all keys")
    for field in table.answers:
        there = found.get(file.holding(field.name).name)
        if there:  # else functions alone may read it
            columns[field.name] = list(_values(folder, field, file, table, keys, there, problems))
    return columns


def _values(
    folder: Path,
    field: Field,
    file: File,
    table: Table,
    keys: Sequence[Key],
    there: Mapping[Key, str],
    problems: Problems,
) -> Iterator[Path | ArrayFile | None]:
    """Yield the value of a field for each key; None, with the problem recorded, where it cannot be read."""
    part = file.holding(field.name)
    for key in keys:
        name = there.get(table.canonical(key))
        value = None
        if name is None:
            problems.error_in_file(part.name_of("".join(key)), "is missing", f"a gold file {part.name} for each key")
        else:
            try:
                value = stored(field, file, folder / name, name)
            except FieldError as error:
                problems.error_in_file(name, error.rule, error.expected)
        yield value


def shapes_of(table: Table, answers: Answers) -> dict[str, list[Sequence[int]]]:
    """Return the gold's shape for each key, of the arrays that must have it."""
    found = {}
    for field in table.answers:
        if field.type == "array" and field.shape == "gold" and (field.name, field.type) in answers.columns:
            found[field.name] = [array.head.shape for array in answers.columns[field.name, field.type]]
    return found
