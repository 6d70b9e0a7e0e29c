"""Small bundles to preview: anybody's, not only ours."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from tests.generator.check.drafts import packed
from tests.yaml_text import dumped

Change = Callable[[dict[str, Any]], object]


def logo() -> bytes:
    """A small PNG."""
    data = io.BytesIO()
    Image.new("RGB", (20, 20), "navy").save(data, "PNG")
    return data.getvalue()


def declaration() -> dict[str, Any]:
    """A competition.yaml of two phases with everything that a preview shows."""
    return {
        "version": 2,
        "title": "Tiny <task>",
        "description": "Count the birds.",
        "image": "logo.png",
        "terms": "terms.md",
        "pages": [{"title": "Overview", "file": "overview.md"}],
        "docker_image": "python:3.12",
        "contact_email": "birds@example.org",
        "tasks": [
            {
                "index": 0,
                "name": "Count",
                "description": "How many?",
                "scoring_program": "p.zip",
                "reference_data": "ref",
            },
            {"index": 1, "name": "Name", "scoring_program": "p.zip", "reference_data": "ref"},
        ],
        "solutions": [{"index": 0, "name": "Zeros", "path": "zeros.zip", "tasks": [0]}],
        "phases": [
            {
                "index": 0,
                "id": "dev",
                "name": "Development",
                "description": "Try it. It costs $a^2$.",
                "start": "2026-01-10 12:00:00",
                "end": "2026-02-01 11:59:59",
                "max_submissions_per_day": 3,
                "tasks": [0],
                "starting_kit": "kit",
            },
            {
                "index": 1,
                "id": "test",
                "name": "Test",
                "start": "2026-02-02 12:00:00",
                "tasks": [0, 1],
                "max_submissions": 0,
            },
        ],
        "leaderboards": [
            {
                "title": "Results",
                "key": "results",
                "submission_rule": "Force_Best",
                "columns": [
                    {"index": 0, "key": "f1", "title": "F1", "sorting": "desc", "precision": 3},
                    {"index": 1, "key": "error", "title": "Error", "sorting": "asc"},
                    {"index": 2, "key": "secret", "title": "Secret", "hidden": True},
                ],
            }
        ],
    }


def write_bundle(path: Path, change: Change = lambda _: None, files: dict[str, bytes] | None = None) -> Path:
    """Write a bundle's zip; `change` edits its competition.yaml in place, `files` replaces or adds members."""
    content = declaration()
    change(content)
    members = {
        "competition.yaml": dumped(content, sort_keys=True).encode(),
        "logo.png": logo(),
        "terms.md": b"# Terms\n\nBe kind.\n",
        "overview.md": b"# Birds\n\nSee $x_1$.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n$$\\sum_{i=1}^n \\frac{1}{i}$$\n",
        "p.zip": packed({"metadata.yaml": b"command: python3 score.py\n", "score.py": b""}),
        "ref/gold.txt": b"1\n",
        "kit/README.md": b"Hello\n",
        "zeros.zip": packed({"answer.txt": b"0\n"}),
        **(files or {}),
    }
    path.write_bytes(packed(members))
    return path
