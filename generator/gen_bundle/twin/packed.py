"""What one of our own scoring programs declares in its `program.json`."""

import json
import zipfile
from pathlib import Path
from typing import Any

from gen_bundle.zips.unpacking import UNREADABLE

PROGRAM_JSON = "program.json"


def own_columns(program: Path) -> list[str]:
    """Keys of the columns that a program's own tasks fill; none for a program that is not ours.

    In layout `tasks` every program writes all columns, those of other tasks at their worst.
    """
    content = _description(program)
    try:
        return [str(column["key"]) for column in content["columns"] if column["task"] in content["tasks"]]
    except (KeyError, TypeError):
        return []


def _description(program: Path) -> dict[str, Any]:
    try:
        if program.is_dir():
            content = json.loads((program / PROGRAM_JSON).read_bytes())
        else:
            with zipfile.ZipFile(program) as opened:
                content = json.loads(opened.read(PROGRAM_JSON))
    except (KeyError, *UNREADABLE):
        return {}
    return content if isinstance(content, dict) else {}
