"""What is kept on this machine of live competitions: where, as JSON files written whole, readable by their owner."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gen_bundle.errors import UserError
from gen_bundle.remembered import state_folder
from gen_bundle.whole_file import write_whole


def state_file(kind: str, server: str, competition: int) -> Path:
    """The file of a kind for one competition on one server."""
    return state_folder() / kind / f"{urlsplit(server).netloc.replace(':', '-')}-{competition}.json"


@contextmanager
def private() -> Iterator[None]:
    """Files and folders that are made meanwhile are their owner's alone."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def write_json(file: Path, content: Any) -> None:
    """Write a file, and the folders that lead to it.

    Raises:
        UserError: it cannot be written.
    """
    with private():
        write_whole(file, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def read_json(file: Path, shape: Any, advice: str = "Fetch into a new folder.", missing: Any = None) -> Any:
    """What a file of an earlier run holds, as it is there.

    Args:
        file: the file.
        shape: the type that it must be valid for.
        advice: what to do when it is damaged.
        missing: what counts where there is no file; None: the file must be there.

    Raises:
        UserError: it cannot be read, or has another shape.
    """
    from pydantic import TypeAdapter  # here, since it takes long to import

    if missing is not None and not file.exists():
        return missing
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        TypeAdapter(shape).validate_python(content)
    except (OSError, ValueError, RecursionError):
        raise UserError(f"{file}: is damaged. {advice}") from None
    return content
