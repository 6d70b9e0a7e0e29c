"""The table of docs/real-tasks.md: `python -m tests.docs.real_tasks_table` prints it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parents[1] / "scoring_programs" / "declared" / "real_tasks"


def table() -> str:
    """A row for each declaration: the task, what is handed in, and by which metrics it is scored."""
    rows = [_row(path) for path in sorted(FOLDER.glob("*.yaml"), key=lambda path: _title(path).casefold())]
    return "\n".join(["| Task | Handed in | Metrics |", "| --- | --- | --- |", *rows])


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ").removesuffix(".")


def _row(path: Path) -> str:
    declaration = yaml.safe_load(path.read_text(encoding="utf-8"))
    submission = declaration["submission"]
    files = [one["file"] for one in submission.get("tables", {"": submission}).values()]
    metrics = dict.fromkeys(_metrics(declaration))
    link = f"../tests/scoring_programs/declared/real_tasks/{path.name}"
    return f"| [{_title(path)}]({link}) | {_codes(files)} | {_codes(metrics)} |"


def _metrics(declaration: dict[str, Any]) -> Iterator[str]:
    for task in declaration["tasks"]:
        for column in task["columns"]:
            metric = column.get("metric")
            if metric is not None:
                yield metric if isinstance(metric, str) else metric["name"]


def _codes(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    print(table())
