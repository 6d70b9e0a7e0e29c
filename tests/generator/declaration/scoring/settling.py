"""Declarations of one table and one task, settled: how each is scored, and what is wrong with it."""

from pathlib import Path
from typing import Any

from gen_bundle.declaration import read
from gen_bundle.declaration.scoring import DeclaredScoring

FIELDS: list[dict[str, Any]] = [
    {"field": "id", "type": "string"},
    {"field": "label", "type": "label", "values": ["a", "b", 1]},
    {"field": "x", "type": "number"},
    {"field": "tags", "type": "labels"},
    {"field": "text", "type": "text"},
    {"field": "spans", "type": "spans"},
]


def declaration(columns: list[dict[str, Any]], **keys: Any) -> dict[str, Any]:
    submission = {"file": "p.csv", "key": "id", "fields": [{**field} for field in FIELDS], **keys}
    return {
        "submission": {name: value for name, value in submission.items() if value is not None},
        "reference": {"file": "gold.csv"},
        "tasks": [{"id": "t", "columns": columns}],
    }


def faults(data: dict[str, Any], folder: Path = Path()) -> list[str]:
    return settled(data, folder)[1]


def settled(data: dict[str, Any], folder: Path = Path()) -> tuple[DeclaredScoring, list[str]]:
    """How it is scored, and what is wrong."""
    scoring, found = read.settled(data, folder)
    return scoring, [f"{'.'.join(map(str, trail))}: {text}" for trail, text in found]


def sound(data: dict[str, Any]) -> DeclaredScoring:
    """How a declaration is scored that has no fault."""
    scoring, found = settled(data)
    assert found == []
    return scoring


def column(metric: Any, **keys: Any) -> dict[str, Any]:
    return {"key": "c", "metric": metric, **keys}


def table(text: str) -> list[tuple[str, list[str]]]:
    """Rows of a table: what is declared, and what is said of it, behind an arrow or on lines of arrows below."""
    rows: list[tuple[str, list[str]]] = []
    for line in text.strip().splitlines():
        declared, _, said = line.partition("→ ")
        if declared.strip():
            rows.append((declared.strip(), []))
        if said:
            rows[-1][1].append(said)
    return rows
