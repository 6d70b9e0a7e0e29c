"""Ordinary tasks with one thing taken away or exchanged: a file, a key, a column, a value, a folder."""

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.ordinary_tasks import Task, ordinary_task
from tests.yaml_text import dumped

FREE = ("metric", "options", "description", "meaning", "title", "name", "where", "at")
"""Keys below which, or of which, nearly anything may stand."""
Draw = random.Random


MAY_BE_SOUND = ("column exchanged", "row exchanged")
"""A gold of other values, or without a column that nothing or a function reads, may be meant."""


def broken_task(number: int, folder: Path) -> tuple[str, bool]:
    """Write the task of a number, broken, into a new folder; returns what was done to it, and if it may be sound."""
    draw = random.Random(f"broken {number}")
    task = ordinary_task(draw.randrange(10_000), folder)
    kind = list(BREAKS)[number % len(BREAKS)]
    what = BREAKS[kind](draw, task)
    # what is in a whole file nobody but functions knows
    return what, kind in MAY_BE_SOUND or (kind == "file exchanged" and "file" in task.traits)


def _gold(draw: Draw, task: Task) -> str:
    """One of the gold files, by its path in the competition's folder."""
    phase = draw.choice(list(task.gold))
    return f"data/{phase}/{draw.choice(task.gold[phase])}"


def _file_taken_away(draw: Draw, task: Task) -> str:
    names = ["bundle.yaml", "overview.md.j2", "logo.png"]
    if not {"doc", "key: case"}.intersection(task.traits):  # of several documents one may be absent
        names.append(_gold(draw, task))
    names += [name for name in ("metrics.py", "own_package/forms.py") if _is_used(task, name)]
    name = draw.choice(names)
    (task.folder / name).unlink()
    return f"without {name}"


def _is_used(task: Task, name: str) -> bool:
    return name.partition("/")[0] in (task.folder / "bundle.yaml").read_text() and (task.folder / name).exists()


def _file_exchanged(draw: Draw, task: Task) -> str:
    name = _gold(draw, task)
    contents = {
        "a picture": (task.folder / "logo.png").read_bytes(),
        "nothing": b"",
        "the inputs": b"id,text\nq1,What is this?\n",
        "other letters": "id,answer\nä,ö\n".encode("latin-1"),
        "a half": b'{["\xff\xfe',
    }
    what = draw.choice(list(contents))
    (task.folder / name).write_bytes(contents[what])
    return f"{name} is {what}"


def _folder_taken_away(draw: Draw, task: Task) -> str:
    name = draw.choice(["data/test", "data"])
    shutil.rmtree(task.folder / name)
    return f"without {name}"


def _folder_exchanged(draw: Draw, task: Task) -> str:
    name = draw.choice([_gold(draw, task), "overview.md.j2", "logo.png", "bundle.yaml", "data/test"])
    path = task.folder / name
    if path.is_dir():
        shutil.rmtree(path)
        path.write_text("a file")
        return f"{name} is a file"
    path.unlink()
    (path / "more").mkdir(parents=True)
    return f"{name} is a folder"


def _places(value: Any, trail: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where keys and items of a declaration are, but for those that may be anything."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in items:
        yield (*trail, key)
        if key not in FREE:
            yield from _places(one, (*trail, key))


def _edited(draw: Draw, task: Task, edit: Callable[[Any, Any], str], wanted: Callable[[tuple[Any, ...]], bool]) -> str:
    path = task.folder / "bundle.yaml"
    declaration = yaml.safe_load(path.read_text(encoding="utf-8"))
    trail = draw.choice([one for one in _places(declaration) if wanted(one)])
    parent = declaration
    for key in trail[:-1]:
        parent = parent[key]
    what = edit(parent, trail[-1])
    path.write_text(dumped(declaration), encoding="utf-8")
    return f"{'.'.join(map(str, trail))} {what}"


NEEDED = ("title", "logo", "pages", "phases", "tasks", "submission", "reference", "file", "field", "id", "start")


def _key_taken_away(draw: Draw, task: Task) -> str:
    def edit(parent: Any, key: Any) -> str:
        del parent[key]
        return "is taken away"

    return _edited(draw, task, edit, lambda trail: trail[-1] in NEEDED)


def _key_exchanged(draw: Draw, task: Task) -> str:
    def edit(parent: Any, key: Any) -> str:
        parent[f"{key}x"] = parent.pop(key)
        return "is misspelt"

    return _edited(draw, task, edit, lambda trail: isinstance(trail[-1], str))


def _value_exchanged(draw: Draw, task: Task) -> str:
    value = draw.choice([{"x": {"y": 1}}, [[1], [2]], 10**30, "\x00", "A" * 400 + "/", -1, [], {}])

    def edit(parent: Any, key: Any) -> str:
        parent[key] = value
        return f"is {value!r}"

    return _edited(draw, task, edit, lambda trail: trail[-1] not in FREE)


def _column_exchanged(draw: Draw, task: Task) -> str:
    name = _gold(draw, task)
    content = (task.folder / name).read_bytes()
    head = content.partition(b"\n")[0]
    old = draw.choice(
        [one for one in (b"id", b"answer", b"item", b"relevance", b"note", b"label") if one in head] or [b"x"]
    )
    (task.folder / name).write_bytes(content.replace(old, old + b"y"))
    return f"{name}: {old!r} has another name"


def _row_exchanged(draw: Draw, task: Task) -> str:
    name = _gold(draw, task)
    rows = (task.folder / name).read_bytes().split(b"\n")
    at = draw.randrange(1, len(rows) - 1) if len(rows) > 2 else 0
    ways = {"cut": rows[at][: len(rows[at]) // 2], "a quote": b'"' + rows[at], "commas": b",,,,,,,,,,", "a NUL": b"\0"}
    what = draw.choice(list(ways))
    rows[at] = ways[what]
    (task.folder / name).write_bytes(b"\n".join(rows))
    return f"{name}:{at + 1} is {what}"


BREAKS = {
    "file taken away": _file_taken_away,
    "file exchanged": _file_exchanged,
    "folder taken away": _folder_taken_away,
    "folder exchanged": _folder_exchanged,
    "key taken away": _key_taken_away,
    "key exchanged": _key_exchanged,
    "value exchanged": _value_exchanged,
    "column exchanged": _column_exchanged,
    "row exchanged": _row_exchanged,
}
