"""Competitions that take code (`submission: {kind: code}`): what their declaration must say, and what it cannot.

The platform runs an ingestion program on the submission, and then the scoring program on what that left; see
docs/code-submissions.md.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from gen_bundle.declaration.source import Broken, columns_of, mappings

SHORTEST_LIMIT = 60
"""Of a phase: less leaves the code hardly any time beside the reserve."""
CODE_KEYS = ("entry", "interface", "memory")
SUFFIXES = {"function": (".py",), "command": (".py", ".sh")}


def code_rules(data: dict[str, Any]) -> Iterator[Broken]:
    """Every broken rule of the raw declaration about code, and of the keys that only code competitions have."""
    submission = data.get("submission")
    found: dict[str, Any] = submission if isinstance(submission, dict) else {}
    columns = [(trail, column) for trail, column in columns_of(data) if column.get("measured") is not None]
    if found.get("kind") != "code":
        for key in CODE_KEYS:
            if found.get(key) is not None:
                yield ("submission", key), "is read only with kind: code."
        for trail, _ in columns:
            yield (*trail, "measured"), "measures code. Expected submission.kind: code, or another column."
        return
    yield from _entry(found)
    for trail, phase in mappings(data, "phases"):
        limit = phase.get("execution_time_limit")
        if isinstance(limit, int) and limit < SHORTEST_LIMIT:
            yield (
                (*trail, "execution_time_limit"),
                f"is {limit}, of which starting, checking and packing take a part. Expected at least {SHORTEST_LIMIT}.",
            )
    for number, (trail, column) in enumerate(columns):
        if number:
            yield (*trail, "measured"), "there is another such column. Expected one at most."
        if column.get("sort") == "desc":
            yield (*trail, "sort"), "puts the slowest first. Expected asc."
        for key in ("metric", "computation", "expression"):
            if column.get(key) is not None:
                yield (*trail, key), "cannot be given together with measured. Expected one of the two."


def _entry(submission: dict[str, Any]) -> Iterator[Broken]:
    entry, interface = submission.get("entry"), submission.get("interface") or "function"
    if entry is None:
        yield ("submission",), "entry is missing. With kind: code, the file that is run, such as model.py."
    if not isinstance(entry, str) or interface not in SUFFIXES:
        return
    name = PurePosixPath(entry)
    endings = SUFFIXES[interface]
    if name.name != entry or name.suffix not in endings or entry.startswith((".", "-")) or "\\" in entry:
        what = f"{entry!r} cannot be run as a {interface}."
        yield (
            ("submission", "entry"),
            f"{what} Expected a name at the top of the zip that ends with {' or '.join(endings)}.",
        )
