"""What a competition's folder takes into its bundle lies in that folder: nothing else of the organiser's machine."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

TAKEN = ("data", "pages", "starting_kit")


def leads_outside(folder: Path, files: Iterable[str], folders: Iterable[str]) -> list[str]:
    """The named files, and the links below the named folders, that lead out of the competition's folder.

    Another person's folder could otherwise publish any file that the organiser may read. Links within the
    competition's folder are fine, as are links to it.

    Returns:
        A message for each, with what to do.
    """
    home = folder.resolve()
    named = [folder / name for name in files]
    found = [path for path in [*named, *_links(folder, folders)] if not path.resolve().is_relative_to(home)]
    return [
        f"{_shown(path, folder)}: leads to {path.resolve()}, outside the competition's folder. "
        f"Put the file itself into {folder}{_own_data(path, folder)}."
        for path in dict.fromkeys(found)
    ]


def _links(folder: Path, folders: Iterable[str]) -> Iterator[Path]:
    for name in folders:
        top = folder / name
        if top.is_symlink():
            yield top
        for place, below, files in os.walk(top):
            yield from (path for path in (Path(place, one) for one in [*below, *files]) if path.is_symlink())


def _shown(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _own_data(path: Path, folder: Path) -> str:
    """The further way out for data that are kept elsewhere."""
    return ", or name your own data with --data" if path.is_relative_to(folder / "data") else ""
