"""All tasks with real engines on tiny checkpoints: the packed program, and what it shows."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from clpsych2025 import engines
from tests.punkt import punkt as punkt
from tests.scoring_programs.clpsych2025.cases import write_files
from tests.scoring_programs.clpsych2025.model_cases import MARKS, MODELS, PROFILES, scores, texts_of
from tests.scoring_programs.clpsych2025.model_cases import answers as answers
from tests.scoring_programs.clpsych2025.model_cases import gold_folder as gold_folder
from tests.scoring_programs.packed import Outcome, run_program

pytestmark = MARKS


def test_a_run_loads_each_model_once() -> None:
    options = PROFILES["published"]
    assert engines.nli_model(options) is engines.nli_model(copy.deepcopy(options))
    assert engines.bert_scorer(options) is engines.bert_scorer(copy.deepcopy(options))


def packed(folder: Path, gold_folder: Path, content: object) -> Outcome:
    """A run of the packed joint program."""
    options = {f"{group}.{key}": value for group, fields in MODELS.items() for key, value in fields.items()}
    outcome = run_program(
        folder, "clpsych2025", gold_folder, write_files(folder / "res", content), options={**options, "device": "cpu"}
    )
    assert outcome.exit_code == 0, outcome.stderr
    return outcome


def test_the_packed_joint_program_scores_with_models(
    gold_folder: Path, answers: dict[str, Any], tmp_path: Path
) -> None:
    outcome = packed(tmp_path, gold_folder, answers)
    for part in ("bertscore.num_layers:2", "nli.revision:", "profile:published", "punkt:", "torch:", "transformers:"):
        assert part in outcome.details["signature"]
    expected = scores(gold_folder, answers, tmp_path / "again", PROFILES["published"])
    for column, value in outcome.scores.items():
        assert expected[column] is not None
        assert value == pytest.approx(max(0.0, expected[column] or 0.0), abs=1e-6)


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
    gold, own = "goldcanary7f3a", "owncanary9b1c"
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "gold.json").write_text(json.dumps(marked(texts_of(gold_folder), gold)), encoding="utf-8")
    left = packed(tmp_path, tmp_path / "gold", marked(answers, own))
    assert left.page is not None
    assert gold not in left.stdout + left.stderr + json.dumps(left.details) + left.page
    assert own not in left.page
