"""Gold as people have it, one file a timeline or a prepared gold.json, made into reference data."""

import json
from pathlib import Path

from clpsych2025.raw_timelines import gold_of
from clpsych2025.reference import FILE
from scoring_kit.errors import OrganiserError


def prepare(source: Path, out: Path) -> list[str]:
    """Write the reference data made of the folder `source` into the folder `out`.

    Returns:
        Warnings about annotations that look wrong but can be scored.

    Raises:
        OrganiserError: with every mistake, naming file, timeline, post and field.
    """
    paths = sorted(p for p in source.glob("*.json") if not p.name.startswith("."))
    if not paths:
        raise OrganiserError(f"{source}: holds no timeline. Expected: {FILE}, or one JSON file a timeline.")
    if source / FILE in paths:
        if len(paths) > 1:
            raise OrganiserError(f"{source}: holds {FILE} and other JSON files. Expected: one or the other.")
        (out / FILE).write_bytes((source / FILE).read_bytes())
        return []
    prepared, warnings = gold_of(paths)
    (out / FILE).write_text(json.dumps(prepared, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return warnings
