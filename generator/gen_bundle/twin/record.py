"""`dry-run.json` for those who only read it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gen_bundle.errors import UserError

RESULT = "dry-run.json"


def read_record(path: Path) -> Mapping[str, Any]:
    """The content of dry-run.json, given itself or the folder of a dry run; `findings` are there in any case.

    Raises:
        UserError: there is none, or it is something else.
    """
    file = path / RESULT if path.is_dir() else path
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"--dry-run {path}: no {RESULT} can be read there ({error})") from error
    record: dict[str, Any] = {"findings": [], **content} if isinstance(content, dict) else {}
    if not all(isinstance(record.get(key), list) for key in ("runs", "board", "findings")):
        raise UserError(f"--dry-run {file}: expected an object with `runs` and `board`")
    return record
