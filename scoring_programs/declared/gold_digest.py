"""The digest of what scoring reads of a table's gold: scores that could not differ have the same in their signature."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from declared.answers import ArrayFile
from declared.plan import Plan
from declared.tables import Table
from scoring_kit.base.scoring_keys import columns_read


def digest_of_rows(table: Table, wanted: Sequence[Plan], columns: Mapping[str, Sequence[Any]]) -> str:
    """Return the SHA-256 of a table's rows in those of the `columns` that scoring reads."""
    read = columns_read(table.key, [vars(plan) for plan in wanted])
    names = sorted(columns)
    if read is not None:
        names = sorted(read.intersection(columns))
    cells = []
    for name in names:
        column = columns[name]
        if table.holds_files:
            column = list(map(_held, column))
        cells.append(column)
    rows = list(map(ascii, zip(*cells, strict=True)))  # no version of Unicode writes them otherwise
    if read is not None:
        rows.sort()
    return hashlib.sha256("\n".join([ascii(names), *rows]).encode()).hexdigest()


def _held(value: Any) -> Any:
    """Return a cell, of a file the SHA-256 of what it holds."""
    path = value.path if isinstance(value, ArrayFile) else value
    if not isinstance(path, Path):
        return value
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
