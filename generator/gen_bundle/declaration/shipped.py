"""Which gold is invented: that of the data which come with the tool, wherever they lie."""

import filecmp
from collections.abc import Iterator
from pathlib import Path

from gen_bundle.declaration.resolve import Resolved
from gen_bundle.resources import SCAFFOLD, resource


def synthetic_phases(competition: Resolved) -> list[str]:
    """The phases with data of their own that hold a file of those that come with the tool."""
    own = [phase.id for phase in competition.declaration.phases if phase.data is None]
    return [phase for phase in own if _holds_shipped(competition.data / phase)]


def _holds_shipped(folder: Path) -> bool:
    files = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size]
    return any(
        filecmp.cmp(path, twin, shallow=False)
        for shipped in _shipped_gold()
        for path in files
        if (twin := shipped / path.relative_to(folder)).is_file()
    )


def _shipped_gold() -> Iterator[Path]:
    """The folders of gold that come with the tool; participants have the rest anyway."""
    for data in (*resource("bundles").glob("*/data"), SCAFFOLD / "data"):
        yield from (folder for folder in data.iterdir() if folder.name not in ("public", "baselines"))
