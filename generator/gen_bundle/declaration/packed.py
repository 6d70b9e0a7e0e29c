"""The paths in bundle.yaml to what is packed as it is: where each leads to, and where it comes to lie in the bundle."""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from gen_bundle.declaration.source import Broken, Trail, mappings

DATA = "data"
"""The folder of a project that --data replaces."""
UUID = re.compile(r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
WORDS = {
    "scoring": "the scoring program",
    "ingestion": "the ingestion program",
    "reference_data": "the reference data",
    "input_data": "the input data",
    "public_data": "the public data",
    "starting_kit": "the starting kit",
    "path": "the solution",
}
"""What a key names."""


def source_of(folder: Path, data: Path | None, path: str) -> Path:
    """Where a path of bundle.yaml leads to: below `data/`, into the folder given for it."""
    if data is not None and is_below_data(path):
        return data / PurePosixPath(posixpath.normpath(path)).relative_to(DATA)
    return folder / path


def is_below_data(path: str) -> bool:
    """Whether a path leads to what --data replaces."""
    return PurePosixPath(posixpath.normpath(path)).parts[:1] == (DATA,)


def is_on_server(path: str, source: Path) -> bool:
    """Whether it is the UUID of a data set that the server has."""
    return UUID.fullmatch(path) is not None and not source.exists()


def place_of(path: str, source: Path) -> str:
    """Where in the bundle that is which lies at `source`: a folder is a zip there."""
    return posixpath.normpath(path) + (".zip" if source.is_dir() else "")


def check_packed(data: dict[str, Any], folder: Path, own_data: Path | None) -> Iterator[Broken]:
    """Paths of the raw declaration that lead nowhere, or out of the project."""
    for trail, path in _paths(data):
        if not _is_below(path):
            yield trail, f"{path!r} does not lead to a part of the project. Expected a path below {folder}."
            continue
        source = source_of(folder, own_data, path)
        if _is_there(source) or UUID.fullmatch(path):
            continue
        shown = path if source == folder / path else str(source)
        if _is_there(Path(f"{source}.zip")):
            yield trail, f"nothing is at {shown}. Did you mean {path}.zip?"
            continue
        what = WORDS[str(trail[-1])]
        yield trail, f"nothing is at {shown}. Expected {what} there: a folder, which is zipped, a zip or a file."


def _is_below(path: str) -> bool:
    """Whether a path leads below the folder that it is seen from, and not to that folder."""
    place = PurePosixPath(posixpath.normpath(path))
    return bool(place.parts) and not place.is_absolute() and place.parts[0] != ".."


def _is_there(source: Path) -> bool:
    try:
        return source.exists()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _paths(data: dict[str, Any]) -> Iterator[tuple[Trail, str]]:
    """All paths with their places, in a declaration of whatever shape."""
    items: list[tuple[Trail, dict[str, Any]]] = [((), {"programs": data.get("programs")})]
    for name in ("tasks", "phases", "solutions"):
        items += mappings(data, name)
    for trail, item in items:
        programs = item.get("programs")
        if isinstance(programs, dict):
            yield from _named((*trail, "programs"), programs)
        yield from _named(trail, item)


def _named(trail: Trail, item: dict[str, Any]) -> Iterator[tuple[Trail, str]]:
    for key in WORDS:
        path = item.get(key)
        if isinstance(path, str) and path:
            yield (*trail, key), path
