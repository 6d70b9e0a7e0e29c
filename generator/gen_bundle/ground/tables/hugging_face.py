"""Data sets of Hugging Face: Parquet, and the names of labels that are written as numbers (its feature `ClassLabel`).

Parquet files say their features in the metadata of their schema. Of other files they are in dataset_info.json, which
`save_to_disk` writes, or at the head of README.md in the data set's repository, above the folder with its files.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.plain_text import listed
from gen_bundle.ground.tables.table import FileTable
from gen_bundle.ground.yaml_document import UnreadableYamlError, read_yaml

PARQUET = ".parquet"
INFO, CARD = "dataset_info.json", "README.md"
METADATA = b"huggingface"
MOST_NAMED = 5
NO_LABEL = -1
"""The label in test sets whose labels are kept secret."""
Names = Mapping[str, Sequence[str]]


def read_parquet(path: Path) -> FileTable:
    """Return the rows of a Parquet file, with its labels by their names.

    Raises:
        UserError: pyarrow is not installed, or cannot read it.
    """
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise UserError(
            f"{path.name}: is a Parquet file, which pyarrow reads. Install it (python -m pip install pyarrow), or "
            'write JSON lines: dataset.to_json("gold.jsonl").'
        ) from error
    try:
        read = parquet.read_table(path)
    except (OSError, ArrowException) as error:
        raise UserError(f"{path.name}: cannot be read as Parquet: {error}.") from error
    columns, left_out = {}, []
    for name, values in read.to_pydict().items():
        try:
            json.dumps(values)
            columns[name] = values
        except TypeError:  # bytes of images, moments
            left_out.append(name)
    notes = [f"{path.name}: a Parquet file; what is written here is JSON lines"]
    if left_out:
        notes.append(f"{path.name}: left out, since JSON has no form for their values: {', '.join(left_out)}")
    table = FileTable(path.name, ".jsonl", columns, range(1, read.num_rows + 1), notes=tuple(notes))
    info = json.loads((read.schema.metadata or {}).get(METADATA, b"{}")).get("info", {})
    return _by_name(table, dict(_names(info.get("features"))), "the file")


def with_names(path: Path, table: FileTable) -> FileTable:
    """Return the table of a file with labels by their names, where these lie beside it or in the folder above."""
    if not table.is_json:
        return table
    for folder in (path.resolve().parent, path.resolve().parent.parent):
        if (file := folder / INFO).is_file():
            infos: Any = _json_or_nothing(file)
        elif (file := folder / CARD).is_file():
            infos = _head(file).get("dataset_info")
        else:
            continue
        named: dict[str, Sequence[str]] = {}
        for info in infos if isinstance(infos, list) else [infos]:  # one for each configuration
            if isinstance(info, dict):
                named |= dict(_names(info.get("features")))
        return _by_name(table, named, file.name)
    return table


def _json_or_nothing(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return None


def _head(card: Path) -> Mapping[str, Any]:
    """Return what the head of a data set's card says, between two lines of hyphens."""
    before, _, rest = card.read_text(encoding="utf-8", errors="replace").partition("---\n")
    if before.strip():
        return {}
    try:
        head = read_yaml(rest.partition("\n---")[0].encode()).value
    except UnreadableYamlError:
        return {}
    return head if isinstance(head, dict) else {}


def _names(features: Any) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the columns of labels with their names: by name, as in JSON, or in a list, as on a card."""
    if isinstance(features, dict):
        features = [{"name": name, "dtype": feature} for name, feature in features.items()]
    for feature in features if isinstance(features, list) else []:
        if isinstance(feature, dict) and (names := _of_labels(feature)):
            yield str(feature.get("name")), names


def _of_labels(feature: Any) -> Sequence[str]:
    """Return the names of a feature that is a label, or a sequence of labels; nothing for any other."""
    if isinstance(feature, list):
        feature = feature[0] if feature else None
    if not isinstance(feature, dict):
        return ()
    names = feature.get("names")
    if isinstance(names, dict):  # number → name
        names = list(names.values())
    if isinstance(names, list):
        return [str(name) for name in names]
    for key in ("class_label", "dtype", "feature", "sequence", "list"):
        if key in feature:
            return _of_labels(feature[key])
    return ()


def _by_name(table: FileTable, named: Names, where: str) -> FileTable:
    """Return the table with the numbers of labels as their names; a column with any other value stays as it is."""
    columns, notes = dict(table.columns), [*table.notes]
    for name, names in named.items():
        said: dict[int | None, str | None] = {NO_LABEL: None, None: None}
        said.update(enumerate(names))
        try:
            values = [_said(value, said) for value in columns.get(name, ())]
        except LookupError:
            continue
        if values:
            columns[name] = values
            shown = listed(names, MOST_NAMED)
            notes.append(f"{table.file}: the numbers of {name} are written as the labels that {where} names ({shown})")
    return replace(table, columns=columns, notes=tuple(notes))


def _said(value: Any, said: Mapping[int | None, str | None]) -> Any:
    """Return what a number says, or each of a list; None for no label. Raises LookupError for anything else."""
    if isinstance(value, list):
        return [_said(one, said) for one in value]
    if value is not None and type(value) is not int:
        raise LookupError
    return said[value]
