"""The files that participants fill in: every key, and the emptiest answer that is valid."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Any

from declared.reference import GoldTable, expected
from declared.submission import with_values
from declared.tables import Key
from scoring_kit.base.fields import Field
from scoring_kit.base.row_files import write_rows


def template_files(golds: Sequence[GoldTable], answers: Sequence[Sequence[Field]]) -> dict[str, str]:
    """Name → text of the files of tables that share them, to answer the given fields of each.

    There is a row for each key, or, where every judged item must be ranked, for each of them.
    """
    table = golds[0].table
    keys: Sequence[Key] = golds[0].keys
    items: list[str] = []
    if table.all_items:
        judged = expected(golds[0])["items"]
        keys = [key for key, own in zip(keys, judged, strict=True) for _ in own]
        items = list(chain.from_iterable(judged))
    fields = list(table.key_fields)
    columns: list[Sequence[Any]] = [*zip(*keys, strict=True)]
    names, paths = dict(table.file.names), dict(table.file.paths)
    for gold, own in zip(golds, answers, strict=True):
        known = expected(gold)
        names, paths = {**gold.table.file.names, **names}, {**gold.table.file.paths, **paths}
        for field in own:
            asked = with_values(field, known["values"])
            fields.append(asked)
            if items and field.name == table.distinct:
                columns.append(items)
            else:
                columns.append(emptiest(asked, known["lengths"], len(keys)))
    file = replace(table.file, names=names, paths=paths)
    return write_rows(file, fields, list(zip(*columns, strict=True)), table.key, by_line=table.by_line)


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
    """The emptiest valid answer to each of so many keys, as JSON writes it; `lengths` has the numbers of tags."""
    if field.name not in lengths:
        return [field.kind.emptiest(field, 0)] * keys
    return [field.kind.emptiest(field, tags or 0) for tags in lengths[field.name]]
