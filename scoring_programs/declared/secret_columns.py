"""What of the gold is secret, in a form in which a build finds it in what participants get.

A table with a header line names its columns itself. Of gold in any other form the same values are written beside it as
such a table, by the names of the fields: without a header, in several files, at paths of JSON or spread over columns.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from declared.plan import Plan
from declared.reference import as_text, read_columns
from declared.tables import Table

ENDING = ".columns"
"""Of the table that is written beside the gold; no gold is called so."""


def named_secrets(table: Table, wanted: Sequence[Plan], public: Sequence[str]) -> list[dict[str, Any]]:
    """The table's secret files and columns, as the organisers' verb `secrets` answers them.

    With many rows a key, an item is part of the key; else nothing identifies a row, and only the files are secret.
    """
    columns = _secret(table, wanted, public)
    name = table.gold.name
    if table.gold.named_by:
        name = name.replace("{" + table.gold.named_by + "}", "*")
    if not _read(table, wanted):
        return []
    if table.gold.suffix == ".txt" and not table.gold.named_by:
        return [{"name": name, "lines": True}]
    if table.many and not table.distinct:
        return [{"name": name}]
    found = {"key": _key(table), "columns": columns, "public": list(public)}
    if _names_its_columns(table, wanted):
        return [{"name": name, **found}]
    return [{"name": name}, {"name": table.id + ENDING, **found}]


def columns_text(folder: Path, table: Table, wanted: Sequence[Plan], public: Sequence[str]) -> str | None:
    """The table that is written beside the gold; None where the gold names its columns itself, or has no columns."""
    named = named_secrets(table, wanted, public)
    if len(named) < 2:
        return None
    columns: Mapping[str, Sequence[Any]] = read_columns(folder, table)
    names = [name for name in (*_key(table), *named[1]["columns"], *public) if name in columns]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(zip(*(map(as_text, columns[name]) for name in names), strict=True))
    return buffer.getvalue()


def _read(table: Table, wanted: Sequence[Plan]) -> dict[str, None]:
    """The gold's columns that metrics read."""
    return dict.fromkeys(column for plan in wanted if plan.table == table.id for column in plan.gold)


def _key(table: Table) -> list[str]:
    return [*([] if table.by_line else table.key), *([table.distinct] if table.distinct else [])]


def _secret(table: Table, wanted: Sequence[Plan], public: Sequence[str]) -> list[str]:
    return [column for column in _read(table, wanted) if column not in (*_key(table), *public)]


def _names_its_columns(table: Table, wanted: Sequence[Plan]) -> bool:
    """Whether the gold has its columns under the names of the fields."""
    file = table.gold
    if file.columns is not None or file.named_by or file.skip or file.at:
        return False
    read = [*_read(table, wanted), *table.key]
    spread = [field.name for field in table.fields if field.columns and field.type == "labels"]
    elsewhere = {*file.names, *file.paths, *spread}
    return elsewhere.isdisjoint(read) and not (file.suffix == ".json" and table.only_answer)
