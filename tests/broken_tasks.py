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


def broken_task(number: int, folder: Path) -> tuple[str, bool]:
    """Write the task of a number, broken, into a new folder; returns what was done to it, and whether it may be sound.

    A gold of other values, or without a column that nothing or a function reads, may be meant.
    """
    draw = random.Random(f"broken {number}")
    task = ordinary_task(draw.randrange(10_000), folder)
    kind = list(BREAKS)[number % len(BREAKS)]
    what = BREAKS[kind](draw, task)
    return what, kind in ("column exchanged", "row exchanged")


def _file_taken_away(draw: Draw, task: Task) -> str:
    names = ["bundle.yaml", "overview.md.j2", "logo.png"]
    if "doc" not in task.traits:  # of several documents one may be absent
        names += [f"data/test/{name}" for name in task.gold]
    if "metrics.py" in (task.folder / "bundle.yaml").read_text():
        names.append("metrics.py")
    name = draw.choice(names)
    (task.folder / name).unlink()
    return f"without {name}"


def _file_exchanged(draw: Draw, task: Task) -> str:
    name = f"data/test/{draw.choice(task.gold)}"
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
    gold = [f"data/test/{one}" for one in task.gold]
    name = draw.choice([*gold, "overview.md.j2", "logo.png", "bundle.yaml", "data/test"])
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
    name = draw.choice(task.gold)
    path = task.folder / "data/test" / name
    text = path.read_text(encoding="utf-8")
    named = [one for one in ("id", "answer", "item", "relevance", "note") if one in text.partition("\n")[0]]
    old = draw.choice(named or ["x"])
    path.write_text(text.replace(old, f"{old}y"), encoding="utf-8")
    return f"{name}: {old} has another name"


def _row_exchanged(draw: Draw, task: Task) -> str:
    name = draw.choice(task.gold)
    path = task.folder / "data/test" / name
    rows = path.read_text(encoding="utf-8").split("\n")
    at = draw.randrange(1, len(rows) - 1)
    ways = {"cut": rows[at][: len(rows[at]) // 2], "a quote": '"' + rows[at], "commas": ",,,,,,,,,,", "a NUL": "\0"}
    what = draw.choice(list(ways))
    rows[at] = ways[what]
    path.write_text("\n".join(rows), encoding="utf-8", newline="")
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
