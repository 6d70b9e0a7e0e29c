"""A small competition for tests: the one that `gen-bundle new --package` writes, with changes to its bundle.yaml."""

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from gen_bundle.author.new.project import Place, new_package
from gen_bundle.declaration.read import read_competition
from gen_bundle.ground.errors import UserError
from tests.yaml_text import dumped, loaded

Change = Callable[[dict[str, Any]], object]


def small_competition(parent: Path, change: Change = lambda _: None, name: str = "my-task") -> Path:
    """Write the competition below `parent` and return its folder; `change` edits the declaration in place."""
    folder = parent / name
    for path, content in _written(name).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    declaration = loaded((folder / "bundle.yaml").read_bytes())
    change(declaration)
    (folder / "bundle.yaml").write_text(dumped(declaration), encoding="utf-8")
    return folder


@cache
def _written(name: str) -> dict[str, bytes]:
    """The files that `gen-bundle new --package` writes, by their relative paths."""
    with tempfile.TemporaryDirectory() as work:
        folder = new_package(Place(name, Path(work)))
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def second_task(declaration: dict[str, Any]) -> None:
    """Give the competition a second task; `second_module` adds its module to the scoring package."""
    declaration["tasks"].append(
        {
            "id": "again",
            "name": "Classification again",
            "columns": [{"key": "again_f1", "title": "F1", "sort": "desc", "worst": 0, "meaning": "The same again."}],
        }
    )


def second_module(folder: Path) -> None:
    """Add the module of the second task, which the example's submissions do not enter."""
    text = (folder / "my_task" / "classification.py").read_text(encoding="utf-8")
    (folder / "my_task" / "again.py").write_text(text.replace('"macro_f1"', '"again_f1"'), encoding="utf-8")


def errors_of(folder: Path, *overrides: str) -> list[str]:
    """What is wrong with the declaration, as some `--set` change it."""
    try:
        read_competition(folder, overrides)
    except UserError as error:
        return list(error.messages)
    return []
