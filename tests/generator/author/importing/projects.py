"""Foreign projects of one scorer, as import writes them, in as few files as they need."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.generator.check.drafts import png
from tests.yaml_text import dumped

Files = Mapping[str, str]


def foreign_project(
    folder: Path,
    scorer: str,
    gold: Files,
    solution: Files,
    columns: Sequence[Mapping[str, Any]],
    command: str = "python3 score.py $input $output",
) -> Path:
    """A project of one phase and task: its scorer, its reference data, a solution, and its columns."""
    files = {
        "pages/overview.md": "# Overview\n",
        "programs/score/metadata.yaml": f"command: {command}\n",
        "programs/score/score.py": scorer,
        **{f"data/main/{name}": text for name, text in gold.items()},
        **{f"solutions/sample/{name}": text for name, text in solution.items()},
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "logo.png").write_bytes(png())
    declaration = {
        "title": "A task of others",
        "logo": "logo.png",
        "docker_image": "codalab/codalab-legacy:py37",
        "pages": [{"title": "Overview", "file": "pages/overview.md"}],
        "terms": "pages/overview.md",
        "programs": {"scoring": "programs/score"},
        "tasks": [{"id": "main", "name": "Main", "reference_data": "data/main"}],
        "phases": [{"id": "main", "name": "Main", "start": "2031-01-01", "tasks": ["main"]}],
        "solutions": [{"path": "solutions/sample", "tasks": ["main"]}],
        "leaderboard": {"columns": list(columns)},
    }
    (folder / "bundle.yaml").write_text(dumped(declaration), encoding="utf-8")
    return folder
