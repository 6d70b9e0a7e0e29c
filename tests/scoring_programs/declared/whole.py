"""A whole scoring run of a declared competition: from its bundle.yaml through the frame to the outputs."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from gen_bundle.resources import resource
from tests.scoring_programs.framed import score
from tests.scoring_programs.packed import Outcome


def run_declared(
    folder: Path,
    fields: list[dict[str, Any]],
    metrics: dict[str, Any],
    gold: str,
    answers: str,
    *,
    overrides: dict[str, Any] | None = None,
    beside: Sequence[str] = (),
    **keys: Any,
) -> Outcome:
    """Score `answers` against `gold` (CSV, key `id`) in a phase with public gold.

    `overrides` are keys of bundle.yaml, `keys` those of `submission`, `beside` files to copy beside bundle.yaml.
    """
    declaration = {
        "title": "Declared",
        "logo": "logo.png",
        "docker_image": "docker.io/example/scoring:1",
        "scoring_program": "declared",
        "pages": [{"title": "Overview", "file": "overview.md.j2"}],
        "terms": "overview.md.j2",
        "phases": [{"id": "test", "name": "Test", "start": "2096-01-01 AoE", "gold": "public"}],
        "submission": {
            "file": "predictions.csv",
            "key": "id",
            "fields": [{"field": "id", "type": "string"}, *fields],
            **keys,
        },
        "reference": {"file": "gold.csv"},
        "tasks": [{"id": "t", "name": "T", "columns": [{"key": key, "metric": one} for key, one in metrics.items()]}],
        **(overrides or {}),
    }
    competition = folder / "competition"
    competition.mkdir()
    for file in beside:
        shutil.copy(file, competition)
    (competition / "overview.md.j2").write_text("# Overview\n")
    (competition / "logo.png").write_bytes((resource("bundles") / "clarity2026" / "logo.png").read_bytes())
    (competition / "bundle.yaml").write_text(yaml.safe_dump(declaration, sort_keys=False), encoding="utf-8")
    return score(folder, str(competition), {"gold.csv": gold}, {"predictions.csv": answers}, phase="test")
