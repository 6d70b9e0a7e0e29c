"""Documents with their entities as brat has them: an .ann file for each, and its text beside it."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gen_bundle.ground.tables.table import FileTable
from gen_bundle.ground.tables.text_file import open_text

ENTITY = re.compile(r"T[0-9]+\t(\S+) ([0-9]+ [0-9]+(?:;[0-9]+ [0-9]+)*)\t.*")
"""An entity of brat: its type, and where its pieces start and end."""


def read_documents(name: str, paths: Sequence[Path], encoding: str | None) -> FileTable:
    """Return the entities of each document as spans; a discontinuous one from its start to its end."""
    texts: dict[str, str] = {}
    spans: dict[str, list[list[Any]]] = {}
    others = 0
    for path in paths:
        text = ""
        if path.stat().st_size:
            text = open_text(path, encoding=encoding).text
        if path.suffix.lower() == ".txt":
            texts[path.stem] = text
            continue
        found = spans.setdefault(path.stem, [])
        for line in text.split("\n"):
            if entity := ENTITY.fullmatch(line.strip()):
                places = re.findall("[0-9]+", entity[2])
                found.append([int(places[0]), int(places[-1]), entity[1]])
            elif line.strip():
                others += 1
    notes = [f"{name}: the entities of {len(spans)} .ann files are spans; a document is called as its file"]
    if others:
        left_out = f"{others} annotations that are no entities are left out"
        notes.append(f"{name}: {left_out}; relations and events need a scoring package")
    columns: dict[str, Sequence[Any]] = {"doc": list(spans)}
    if texts:
        columns["text"] = [texts.get(document, "") for document in spans]
    columns["spans"] = list(spans.values())
    return FileTable(name, ".jsonl", columns, range(1, len(spans) + 1), notes=tuple(notes))
