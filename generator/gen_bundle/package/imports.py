"""What runs without the rest of a scoring program: some of its modules, and all of the packages that they import."""

import ast
from collections.abc import Mapping
from functools import cache
from itertools import accumulate
from pathlib import Path


@cache
def imported_modules(
    names: tuple[str, ...], packages: tuple[Path, ...], without: frozenset[str] = frozenset()
) -> Mapping[str, Path]:
    """The files of modules by their dotted names, and of all in the folders `packages` that these import.

    Modules and packages called in `without` are left out, with what only they import.

    Returns:
        Place in a program, such as `scoring_kit/errors.py` → file.
    """
    folders = {folder.name: folder for folder in packages}
    found: dict[str, Path] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        folder = folders.get(name.split(".")[0])
        path = _module_file(folder, name) if folder else None
        left_out = not without.isdisjoint(accumulate(name.split("."), "{}.{}".format))
        if folder is None or path is None or left_out:
            continue
        place = f"{folder.name}/{path.relative_to(folder).as_posix()}"
        if place not in found:
            found[place] = path
            waiting += [*accumulate(name.split(".")[:-1], "{}.{}".format), *imported_names(path)]
    return found


def _module_file(folder: Path, name: str) -> Path | None:
    """The file of a dotted module name below its package's folder; None where it names a function, say."""
    place = folder.joinpath(*name.split(".")[1:])
    candidates = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((path for path in candidates if path.is_file() and path.is_relative_to(folder)), None)


@cache
def imported_names(path: Path) -> list[str]:
    """The names that a module may import when it runs: for `from a import b` both `a` and `a.b`."""
    names: list[str] = []
    try:
        waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    except (SyntaxError, ValueError):  # it cannot run, which is said when it does
        return names
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        if not _for_types_alone(node):
            waiting += ast.iter_child_nodes(node)
    return names


def _for_types_alone(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
