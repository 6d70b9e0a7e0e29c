"""Starts a competition like a real shared task: its declaration, and made-up data in the files it has."""

import shutil
from pathlib import Path

from gen_bundle.declaration.source import read_source
from gen_bundle.errors import UserError
from gen_bundle.new.project import Place, finish, render, unfinished
from gen_bundle.resources import REAL_TASKS, SCAFFOLD

DECLARATION = "declaration.yaml"
CODE = "metrics.py"
PHASE = "test"
"""The one phase; a further one is another folder of the data."""


def real_tasks() -> dict[str, str]:
    """Name → title of the tasks."""
    found = {}
    for file in sorted(REAL_TASKS.glob("*/about.yaml")):
        found[file.parent.name] = str(read_source(file).data["title"])
    return found


def new_like(place: Place, name: str) -> Path:
    """Write a competition that is declared like the real task `name`; returns its folder.

    Raises:
        UserError: no such task, or it cannot be written.
    """
    known = real_tasks()
    if name not in known:
        width = max(map(len, known))
        listed = "\n".join(f"  {one:{width}}  {title}" for one, title in known.items())
        raise UserError(f"--like {name}: no such task. There are:\n{listed}")
    task = REAL_TASKS / name
    with unfinished(place) as work:
        declared = read_source(task / DECLARATION).data
        tables = declared["submission"].get("tables") or {"": declared["submission"]}
        files = dict.fromkeys(f"`{table['file']}`" for table in tables.values())
        values = {
            "declaration": (task / DECLARATION).read_text(encoding="utf-8"),
            "like": f"{name}: {known[name]}",
            "files": ", ".join(files),
            "phases": [PHASE],
            "inputs": False,
            "many": any(table.get("rows") == "many" for table in tables.values()),
            "code": None,
        }
        folder = render(SCAFFOLD / "declared", {**place.answers(), "task": values}, work)
        for data in ("data", "example"):
            shutil.copytree(task / "data", folder / data)
        if (task / CODE).exists():
            shutil.copyfile(task / CODE, folder / CODE)
        finish(place, folder)
    return place.folder
