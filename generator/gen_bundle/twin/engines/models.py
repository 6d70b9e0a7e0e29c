"""Folders of this machine that a program's options name: models, and a cache."""

import json
from collections.abc import Iterator
from pathlib import Path

from gen_bundle.twin.engines import Container, Mount

CACHE = "cache"


def model_mounts(container: Container) -> list[Mount]:
    """Mounts, at the same path, of every existing folder that the program's options name; only `cache` is writable.

    A snapshot in the Hugging Face cache is links into its model's folder, so that whole folder is mounted.
    """
    program = next(mount.source for mount in container.mounts if mount.target == "/app/program")
    try:
        content = json.loads((program / "program.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    options = content.get("options") if isinstance(content, dict) else None
    cache = options.pop(CACHE, None) if isinstance(options, dict) else None
    folders = dict.fromkeys(_whole_model(Path(text)) for text in _texts(options) if _is_folder(text))
    mounts = [Mount(folder, str(folder), "ro") for folder in folders]
    if isinstance(cache, str) and _is_folder(cache):
        mounts.append(Mount(Path(cache), cache, "rw"))
    return mounts


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _is_folder(text: str) -> bool:
    try:
        return text != "/" and Path(text).is_absolute() and Path(text).is_dir()
    except (OSError, ValueError):
        return False


def _whole_model(folder: Path) -> Path:
    return folder.parent.parent if folder.parent.name == "snapshots" else folder
