"""What comes with the tool in place of the organisers' own: invented gold, a logo and placeholder texts."""

import filecmp
from collections.abc import Iterator, Sequence
from pathlib import Path

from gen_bundle.package.resolve import Resolved
from gen_bundle.resources import SCAFFOLD, resource

PLACEHOLDER = "placeholder of gen-bundle new"
"""The `Comment` of the PNG that `gen-bundle new` writes for a logo."""
SCAFFOLD_TEXT = "TODO(organiser)"
"""On the pages and in bundle.yaml of a new competition, wherever the organisers must write something themselves."""
EXAMPLE = "example"
"""Beside the data of a new competition: made-up data of the same shape."""


def synthetic_phases(competition: Resolved) -> list[str]:
    """The phases with data of their own that hold a file of those that come with the tool."""
    data = competition.data
    example = competition.folder / EXAMPLE
    return [
        phase.id
        for phase in competition.declaration.phases
        if phase.data is None and _holds_one_of(data / phase.id, [*shipped_gold(), example / phase.id])
    ]


def _holds_one_of(folder: Path, invented: Sequence[Path]) -> bool:
    files = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size]
    return any(
        filecmp.cmp(path, twin, shallow=False)
        for shipped in invented
        for path in files
        if (twin := shipped / path.relative_to(folder)).is_file()
    )


def shipped_gold() -> Iterator[Path]:
    """The folders of gold that come with the tool; participants have the rest anyway."""
    for data in (*resource("bundles").glob("*/data"), *SCAFFOLD.glob("*/*/data")):
        yield from (folder for folder in data.iterdir() if folder.name not in ("public", "input", "baselines"))
