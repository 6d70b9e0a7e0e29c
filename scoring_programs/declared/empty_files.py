"""Files as empty as an answer can be: arrays of zeros, and files without content."""

from collections.abc import Sequence
from pathlib import Path

from declared.answers import ArrayFile
from declared.reference import GoldTable
from scoring_kit.base.array_files import write_arrays
from scoring_kit.base.array_heads import Head
from scoring_kit.base.field_types import Field, FieldError
from scoring_kit.errors import OrganiserError

LEAST_PLACES = {"png": 2}
"""Format → how many sizes a shape has, where nothing says which."""


def write_empty_files(gold: GoldTable, fields: Sequence[Field], folder: Path) -> None:
    """Write an empty answer to each key of a table in these fields."""
    table = gold.table
    for at, key in enumerate(gold.keys):
        for part in table.file.parts:
            arrays: dict[str, tuple[Head, bytes]] = {}
            held = [field for field in fields if table.file.holding(field.name) == part]
            for field in held:
                if field.type == "array":
                    of_gold = gold.answers.columns.get((field.name, field.type), {at: None})[at]
                    head = _head(field, of_gold, str(part.format))
                    arrays[table.file.names.get(field.name, field.name)] = head, b""
            if held:
                name = part.name_of("".join(key)).replace("*", table.id)
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                try:
                    write_arrays(path, str(part.format), arrays)
                except FieldError as error:
                    raise OrganiserError(f"{name}: {error.rule}. Expected {error.expected}.") from error


def _head(field: Field, gold: ArrayFile | None, file_format: str) -> Head:
    """Return the shape and kind of an empty array: the gold's, or where any will do 1 in each place."""
    if gold is None:
        return Head((1,) * LEAST_PLACES.get(file_format, 1), "u1")
    if field.shape == "gold":
        return gold.head
    return Head((1,) * len(gold.head.shape), gold.head.kind)
