"""What a competition's folder takes into its bundle lies in that folder.

Another person's folder could otherwise publish any file that the organiser may read. Links within the competition's
folder are fine, as are links to it.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from gen_bundle.errors import UserError
from gen_bundle.resources import known_competitions


def check_inside(folder: Path, files: Iterable[str], folders: Iterable[str]) -> None:
    """See that files, and all that is in folders, named as seen from the competition's `folder`, lie in it.

    Raises:
        UserError: the named files, and the links below the folders, that lead out of it.
    """
    found = [folder / name for name in files]
    for name in folders:
        found += _links(folder / name)
    outside = [path for path in dict.fromkeys(found) if not path.resolve().is_relative_to(folder.resolve())]
    # Some installers put links in place of a package's files.
    if outside and folder not in [known.folder for known in known_competitions().values()]:
        raise UserError(*(_leads_outside(path, folder) for path in outside))


def _leads_outside(path: Path, folder: Path) -> str:
    shown = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
    further = ", or name your own data with --data" if path.is_relative_to(folder / "data") else ""
    there = f"leads to {path.resolve()}, outside the competition's folder"
    return f"{shown}: {there}. Put the file itself into {folder}{further}."


def _links(top: Path) -> Iterator[Path]:
    """A folder that is a link, and all links below it."""
    if top.is_symlink():
        yield top
    for place, below, files in os.walk(top):
        for name in [*below, *files]:
            if Path(place, name).is_symlink():
                yield Path(place, name)
