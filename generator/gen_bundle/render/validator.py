"""`validate.pyz`: the participants' validator, made of the competition's own `submission` module.

It holds that module, the kit's `validate` and what these two import, and nothing else of the scoring program.
"""

import ast
import io
import json
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from jinja2 import Template

from gen_bundle.zips.writing import write_zip

SHEBANG = b"#!/usr/bin/env python3\n"
TEMPLATES = Path(__file__).resolve().parent / "templates" / "starting_kit"


def validator_bytes(package_folder: Path, kit_folder: Path, manifest: Mapping[str, Any]) -> bytes:
    """The zipapp, the same bytes for the same content.

    Args:
        package_folder: the scoring package, with its `submission.py`.
        kit_folder: the folder `scoring_kit`.
        manifest: what participants may know (`scoring_kit.manifest.Manifest` as a JSON object), without gold.
    """
    main = Template((TEMPLATES / "validate_main.py.j2").read_text(encoding="utf-8")).render(package=package_folder.name)
    members: dict[str, bytes | Path] = {
        "__main__.py": main.encode(),
        "scoring_kit/NOTICE": kit_folder / "NOTICE",
        "scoring_kit/manifest.json": json.dumps(manifest, ensure_ascii=False, default=str).encode(),
        **imported_modules(package_folder, kit_folder),
    }
    file = io.BytesIO()
    file.write(SHEBANG)
    write_zip(file, members)
    return file.getvalue()


@cache
def imported_modules(package_folder: Path, kit_folder: Path) -> Mapping[str, Path]:
    """`submission.py` of the package, `validate.py` of the kit, and all of the two packages that these import."""
    folders = {folder.name: folder for folder in (package_folder, kit_folder)}
    found: dict[str, Path] = {}
    waiting = [f"{package_folder.name}.submission", f"{kit_folder.name}.validate"]
    while waiting:
        name = waiting.pop()
        folder = folders.get(name.split(".")[0])
        path = _module_file(folder, name) if folder else None
        if folder is None or path is None:
            continue
        place = f"{folder.name}/{path.relative_to(folder).as_posix()}"
        if place not in found:
            found[place] = path
            waiting += [*accumulate(name.split(".")[:-1], "{}.{}".format), *_imports(path)]
    return found


def _module_file(folder: Path, name: str) -> Path | None:
    """The file of a dotted module name below its package's folder; None where it names a function, say."""
    place = folder.joinpath(*name.split(".")[1:])
    candidates = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((path for path in candidates if path.is_file() and path.is_relative_to(folder)), None)


def _imports(path: Path) -> Iterator[str]:
    """The names a module may import: for `from a import b` both `a` and `a.b`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
