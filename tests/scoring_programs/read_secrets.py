"""What the check takes for secret in reference data, by an organiser's answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gen_bundle.check.leaks.secrets import PART, SecretTable, fits, named_tables
from gen_bundle.ground.zips.tree import file_of


@dataclass(frozen=True)
class ReadSecrets:
    """What the check takes for secret in reference data.

    Attributes:
        files: the names of secret files.
        labels: (cell of the key, title of the column, secret cell) of every row that a single column identifies.
        texts: secret texts, as they are compared.
    """

    files: Sequence[str]
    labels: Sequence[tuple[str, str, str]]
    texts: Sequence[str]


def read_secrets(folder: Path, secrets: Mapping[str, Any]) -> ReadSecrets:
    """What an answer of the organiser's verb `secrets` means.

    Args:
        folder: reference data, as `prepare` writes them.
        secrets: the answer.

    Raises:
        ValueError: a name that fits no file, or a file that has none of the columns.
    """
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    found: dict[str, list[SecretTable]] = {}
    for one in secrets["files"]:
        fitting = [name for name in files if fits(name, one)]
        if not fitting:
            raise ValueError(f"{one['name']}: no such file. The reference data hold {', '.join(files)}.")
        for name in fitting:
            found[name] = list(named_tables(name, file_of(files[name].read_bytes()), one))
            if one.get("columns") and not found[name]:
                raise ValueError(f"{name}: has none of the columns {', '.join(one['columns'])}.")
    labels: list[tuple[str, str, str]] = []
    texts: list[str] = []
    for table in (table for tables in found.values() for table in tables):
        for title, cells in table.secret.items():
            texts += filter(None, cells)
            for item, row in table.keys[0].rows.items() if table.keys else ():
                if cells[row] and PART not in item:
                    labels.append((item, title, cells[row]))
    return ReadSecrets(list(found), labels, texts)
