"""The files that participants fill in: every key, and the emptiest answer that is valid."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Any

from declared.reference import GoldTable, expected
from declared.submission import with_values
from scoring_kit.base.fields import Field
from scoring_kit.base.row_files import write_rows


def template_files(golds: Sequence[GoldTable], answers: Sequence[Sequence[Field]]) -> dict[str, str]:
    """Name → text of the files of tables that share them, to answer the given fields of each.

    There is a row for each key, or, where every judged item must be ranked, for each of them.
    """
    table = golds[0].table
    rows: list[list[Any]] = [[*key] for key in golds[0].keys]
    items: list[str] = []
    if table.all_items:
        judged = expected(golds[0])["items"]
        rows = [[*key] for key, own in zip(golds[0].keys, judged, strict=True) for _ in own]
        items = list(chain.from_iterable(judged))
    fields = list(table.key_fields)
    names, paths = dict(table.file.names), dict(table.file.paths)
    for gold, own in zip(golds, answers, strict=True):
        known = expected(gold)
        names, paths = {**gold.table.file.names, **names}, {**gold.table.file.paths, **paths}
        for field in own:
            asked = with_values(field, known["values"])
            fields.append(asked)
            for at, row in enumerate(rows):
                row.append(emptiest(asked, known["lengths"], at))
                if items and field.name == table.distinct:
                    row[-1] = items[at]
    file = replace(table.file, names=names, paths=paths)
    return write_rows(file, fields, rows, table.key, by_line=table.by_line)


def in_one_file(one: str, other: str) -> str:
    """Two JSON files as one, which holds at each place what either has there."""
    return json.dumps(_joined(json.loads(one), json.loads(other)), ensure_ascii=False, indent=1) + "\n"


def _joined(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        return {name: _joined(one.get(name), other.get(name)) for name in [*one, *other]}
    if isinstance(one, list) and isinstance(other, list):
        return [_joined(*both) for both in zip_longest(one, other)]
    return other if one is None else one


def emptiest(field: Field, lengths: Any, at: int) -> Any:
    """The emptiest valid answer to the key at a position, as JSON writes it, given the numbers of tags."""
    tags = lengths[field.name][at] if field.name in lengths else None
    return field.kind.emptiest(field, tags or 0)
