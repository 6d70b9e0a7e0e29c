"""Copies a competition that comes with the tool into a project of one's own."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import yaml

from gen_bundle.declaration.overrides import nearest
from gen_bundle.declaration.read import FILE, read_competition
from gen_bundle.errors import UserError
from gen_bundle.new.project import SCHEMA, Place, unfinished, write_schema
from gen_bundle.new.template import render, yaml_text
from gen_bundle.resources import SCAFFOLD, competitions

SCHEMA_LINE = re.compile(r"^# yaml-language-server: .*\n")


def copy_competition(place: Place, name: str, tasks: Sequence[str] = ()) -> Path:
    """Copy the bundled competition `name` with these tasks (none named: all); returns the new folder.

    Its scoring package stays the tool's own, found by its name, so that corrections reach the copy.

    Raises:
        UserError: no such competition or task, or it cannot be written.
    """
    known = competitions()
    if name not in known:
        raise UserError(f"--from {name}: no such competition. {nearest(name, list(known))}")
    ids = [task.id for task in read_competition(known[name]).tasks]
    unknown = [task for task in tasks if task not in ids]
    if unknown:
        raise UserError(*(f"--tasks {task}: {name} has no such task. {nearest(task, ids)}" for task in unknown))
    with unfinished(place) as work:
        answers = {**place.answers(), "source": name}
        folder = render(SCAFFOLD / "copy", answers, work)
        ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
        shutil.copytree(known[name], folder, ignore=ignored, dirs_exist_ok=True)
        text = (folder / FILE).read_text(encoding="utf-8")
        text = f"# yaml-language-server: $schema={SCHEMA}\n{SCHEMA_LINE.sub('', text)}"
        unwanted = set(ids) - set(tasks) if tasks else set()
        text = _without_tasks(text, unwanted)
        _remove_data(folder / "data", unwanted)
        if place.title:
            text = re.sub("(?m)^title: .*$", lambda _: f"title: {yaml_text(place.title)}", text, count=1)
        (folder / FILE).write_text(text, encoding="utf-8")
        write_schema(folder)
        read_competition(folder)
    return place.folder


def _remove_data(data: Path, unwanted: set[str]) -> None:
    """Remove the folders of these tasks: gold, public data and baselines."""
    for path in sorted(path for path in data.rglob("*") if path.is_dir() and path.name in unwanted):
        shutil.rmtree(path)


def _without_tasks(text: str, unwanted: set[str]) -> str:
    """bundle.yaml without the items of these tasks; everything else stays as it is, comments included."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode):
        return text
    listed = next(value for key, value in root.value if key.value == "tasks")
    lines = text.splitlines(keepends=True)
    for node in reversed(listed.value):
        task = next(value.value for key, value in node.value if key.value == "id")
        if task in unwanted:
            del lines[node.start_mark.line : _last_line(node) + 1]
    return "".join(lines)


def _last_line(node: yaml.Node) -> int:
    """The last line that a node has anything in; what follows, blank lines and comments, belongs to the next one."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style:
        return max(_last_line(value) for _, value in node.value)
    if isinstance(node, yaml.SequenceNode) and not node.flow_style:
        return max(_last_line(value) for value in node.value)
    end = node.end_mark
    return int(end.line - 1 if end.column == 0 else end.line)
