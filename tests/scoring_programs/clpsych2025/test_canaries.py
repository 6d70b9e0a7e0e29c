"""With models, too, nothing shows the gold, and the page shows nothing of the submission."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from tests.punkt import punkt as punkt
from tests.scoring_programs.clpsych2025.cases import write_files
from tests.scoring_programs.clpsych2025.model_cases import MARKS, MODELS
from tests.scoring_programs.clpsych2025.model_cases import answers as answers
from tests.scoring_programs.clpsych2025.model_cases import gold_folder as gold_folder
from tests.scoring_programs.packed import run_program

pytestmark = MARKS
GOLD, OWN = "goldcanary7f3a", "owncanary9b1c"


def marked(value: Any, canary: str) -> Any:
    """The value with the canary in every text."""
    if isinstance(value, dict):
        return {key: marked(child, canary) for key, child in value.items()}
    if isinstance(value, list):
        return [marked(child, canary) for child in value]
    return f"{canary} {value}" if isinstance(value, str) else value


def test_no_output_shows_gold_and_the_page_no_submission(
    gold_folder: Path, answers: dict[str, Any], tmp_path: Path
) -> None:
    gold = json.loads((gold_folder / "gold.json").read_text(encoding="utf-8"))
    (tmp_path / "gold").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "gold" / "gold.json").write_text(json.dumps(marked(gold, GOLD)), encoding="utf-8")
    sent = write_files(tmp_path / "sent", marked(answers, OWN))
    options = {f"{group}.{key}": value for group, values in MODELS.items() for key, value in values.items()}
    left = run_program(tmp_path / "run", "clpsych2025", tmp_path / "gold", sent, options=options)
    assert left.exit_code == 0, left.stderr
    assert left.page is not None
    assert GOLD not in left.stdout + left.stderr + json.dumps(left.details) + left.page
    assert OWN not in left.page
