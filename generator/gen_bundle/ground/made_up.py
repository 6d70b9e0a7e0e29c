"""The gold that comes with the tool: made up, so that no competition may be decided by it."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from gen_bundle.ground.resources import MADE_UP, SCAFFOLD, resource


def is_made_up(name: str, size: int, read: Callable[[], bytes]) -> bool:
    """Return whether a file is gold that comes with the tool, or a part of a recipe's gold, which `new` divides.

    Args:
        name: without its folder.
        size: in bytes; most files are no such gold by name and size, and are not read.
        read: gives its content.
    """
    twins, recipes = _files().get((name, size), []), _recipes().get(name, [])
    if size == 0 or not (twins or any(size <= len(recipe) for recipe in recipes)):
        return False
    content = read()
    if any(twin.read_bytes() == content for twin in twins):
        return True
    first, *others = content.splitlines()
    return bool(others) and any({first, *others} <= {*recipe.splitlines()} for recipe in recipes)


@cache
def _files() -> dict[tuple[str, int], list[Path]]:
    """All files of gold that come with the tool, by name and size."""
    found = defaultdict(list)
    for folder in _folders():
        for path in folder.rglob("*"):
            if path.is_file():
                found[path.name, path.stat().st_size].append(path)
    return found


def _folders() -> Iterator[Path]:
    for data in (*resource("bundles").glob("*/data"), *SCAFFOLD.glob("*/*/data")):
        for folder in data.iterdir():
            if folder.name not in ("public", "input", "baselines"):  # participants have these anyway
                yield folder


@cache
def _recipes() -> dict[str, list[bytes]]:
    """The gold of the recipes that are one table, by the table's name."""
    found = defaultdict(list)
    for path in MADE_UP.glob("*/gold.*"):
        found[path.name].append(path.read_bytes())
    return found
