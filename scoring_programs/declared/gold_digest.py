"""The digest of what scoring reads of a table's gold: scores that could not differ have the same in their signature.

Columns that no metric reads, `cluster`, which reports alone read, and the order of rows change nothing.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from declared.answers import ArrayFile
from declared.plan import Plan
from declared.tables import Table


def digest_of_rows(
    table: Table, wanted: Sequence[Plan], compared: Collection[str], columns: Mapping[str, Sequence[Any]]
) -> str:
    """Return the SHA-256 of a table's rows in those of the `columns` that scoring reads.

    These are the key, what is `compared` with answers, and what groups and weighs keys; a function may read any column,
    and its rows in their order.
    """
    has_functions = any(plan.file for plan in wanted)
    read = {*table.key, *compared}
    for plan in wanted:
        read.update(plan.grouping)
    names = sorted(name for name in columns if has_functions or name in read)
    cells = [columns[name] for name in names]
    if table.holds_files:
        cells = [list(map(_held, column)) for column in cells]
    rows = list(map(ascii, zip(*cells, strict=True)))  # no version of Unicode writes them otherwise
    if not has_functions:
        rows.sort()
    return hashlib.sha256("\n".join([ascii(names), *rows]).encode()).hexdigest()


def _held(value: Any) -> Any:
    """Return a cell, of a file the SHA-256 of what it holds."""
    path = value.path if isinstance(value, ArrayFile) else value
    if not isinstance(path, Path):
        return value
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
