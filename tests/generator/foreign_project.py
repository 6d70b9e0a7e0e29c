"""A small foreign project for tests, whose programs are packed as they are."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gen_bundle.ground.resources import resource
from tests.yaml_text import dumped

SCORER = """import json, sys
from pathlib import Path
ref, res, out = (Path(sys.argv[at]) for at in (1, 2, 3))
gold = (ref / "gold.txt").read_text().split()
told = (res / "answers.txt").read_text().split()
right = sum(map(str.__eq__, gold, told)) / len(gold)
(out / "scores.json").write_text(json.dumps({"set1-acc": right}))
"""
FILES: Mapping[str, bytes] = {
    "pages/overview.md": b"# Overview\n{{ no template }} 100 % {%\n",
    "pages/terms.html": b"<p>Terms</p>\n",
    "programs/score/metadata.yaml": b"command: python3 score.py $input/ref $input/res $output\n",
    "programs/score/score.py": SCORER.encode(),
    "programs/score/.gitkeep": b"",
    "data/dev/gold.txt": b"yes no yes no maybe\n",
    "data/test/gold.txt": b"no no yes maybe yes\n",
    "solutions/guess/answers.txt": b"yes no yes yes yes\n",
}


def declaration() -> dict[str, Any]:
    """What bundle.yaml says."""
    return {
        "title": "Somebody's task",
        "description": "Answers to questions.",
        "logo": "logo.png",
        "docker_image": "codalab/codalab-legacy:py37",
        "registration": "approve",
        "submission_rule": "Force_Last",
        "raw": True,
        "pages": [{"title": "Overview", "file": "pages/overview.md"}],
        "terms": "pages/terms.html",
        "programs": {"scoring": "programs/score"},
        "tasks": [
            {"id": "dev", "name": "Development", "reference_data": "data/dev"},
            {"id": "test", "name": "Test", "reference_data": "data/test"},
        ],
        "phases": [
            {"id": "dev", "name": "Development", "start": "2031-01-01 10:00:00", "end": "2031-02-01", "tasks": ["dev"]},
            {"id": "test", "name": "Test", "start": "2031-02-02 00:00:00", "max_submissions": 0, "tasks": ["test"]},
        ],
        "solutions": [{"path": "solutions/guess", "tasks": ["dev"], "name": "Guess"}],
        "leaderboard": {"columns": [{"key": "set1-acc", "title": "Accuracy", "sort": "desc"}]},
    }


def foreign_project(folder: Path, change: Callable[[dict[str, Any]], object] = lambda _: None) -> Path:
    """Write the project into the new `folder` and return it; `change` edits the declaration in place."""
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "logo.png").write_bytes((resource("bundles") / "clpsych2025" / "logo.png").read_bytes())
    declared = declaration()
    change(declared)
    (folder / "bundle.yaml").write_text(dumped(declared), encoding="utf-8")
    return folder
