"""What tasks are made of: their tables, with the files of each phase."""

import csv
import io
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]
Files = dict[str, bytes]
Draw = random.Random
WORDS = ["river", "stone", "cloud", "paper", "green", "quick", "night", "sugar", "metal", "north", "winter", "harbour"]
SHARE = {"balanced": 0.5, "usual": 0.8, "rare": 0.93, "empty": 0.6}
"""How often the usual answer is given."""


@dataclass
class Data:
    """The files of a phase: gold, the same as answers, what participants get, and what is no secret beside gold."""

    gold: Files = field(default_factory=dict)
    answers: Files = field(default_factory=dict)
    inputs: Files = field(default_factory=dict)
    beside: Files = field(default_factory=dict)

    def written(self, folder: Path, phase: str) -> None:
        """Write what lies in a competition's data."""
        for below, files in (("", {**self.gold, **self.beside}), ("public/", self.inputs)):
            for name, content in files.items():
                path = folder / "data" / f"{below}{phase}" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)


@dataclass
class Table:
    """A table of a task: what bundle.yaml says of it, and its data by phase."""

    declared: dict[str, Any]
    reference: dict[str, Any]
    columns: list[dict[str, Any]]
    data: dict[str, Data]


def sentence(draw: Draw, _: str = "") -> str:
    return " ".join(draw.choices(WORDS, k=draw.randint(5, 12)))


def cells(
    names: Sequence[str], rows: Rows, delimiter: str, types: Mapping[str, Mapping[str, Any]], *, has_header: bool
) -> str:
    """A table of cells; probabilities are spread over their columns."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    is_spread = isinstance(rows[0].get("answer"), dict)
    titles: list[str] = []
    for name in names:
        titles += types[name]["columns"] if name == "answer" and is_spread else [name]
    if has_header:
        writer.writerow(titles)
    for row in rows:
        written: list[str] = []
        for name in names:
            value = row[name]
            written += (
                [str(one) for one in value.values()] if isinstance(value, dict) else [cell(value, types.get(name, {}))]
            )
        writer.writerow(written)
    return buffer.getvalue()


def cell(value: Any, declared: Mapping[str, Any]) -> str:
    kind = declared.get("type", "string")
    if kind == "labels":
        return str(declared.get("separator", "|")).join(value)
    if kind in ("tags", "numbers"):
        return " ".join(map(str, value))
    return json.dumps(value) if kind in ("texts", "spans", "offsets") else str(value)
