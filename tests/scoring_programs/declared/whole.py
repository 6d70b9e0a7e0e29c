"""A whole scoring run of a declared competition: from its bundle.yaml through the frame to the outputs."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.generator.after.report.declared_task import declared_task
from tests.scoring_programs.declared.declaring import by_id, columns_of
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
    more = {
        "phases": [{"id": "test", "name": "Test", "start": "2096-01-01 AoE", "gold": "public"}],
        "reference": {"file": "gold.csv"},
        **(overrides or {}),
    }
    competition = declared_task(folder / "competition", by_id(*fields, **keys), columns_of(**metrics), **more)
    for file in beside:
        shutil.copy(file, competition)
    return score(folder, str(competition), {"gold.csv": gold}, {"predictions.csv": answers}, phase="test")
