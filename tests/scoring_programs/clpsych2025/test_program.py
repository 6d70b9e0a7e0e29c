"""The packed program, run as the platform runs it."""

import json
from pathlib import Path

import pytest

from tests.scoring_programs.clpsych2025.cases import CANARY, WORST, answer, full_gold, post, write_files, write_gold
from tests.scoring_programs.framed import blocking
from tests.scoring_programs.packed import run_program
from tests.shared import FIXTURES

pytestmark = pytest.mark.slow
LIBRARIES = ("torch", "transformers", "nltk", "bert_score", "numpy", "scipy", "sklearn", "pandas")


@pytest.mark.parametrize("profile", ["published", "as-run"])
def test_the_real_template_gets_the_worst_of_everything_without_a_model(tmp_path: Path, profile: str) -> None:
    template = FIXTURES / "clpsych2025_empty_test_submission.json"
    ids = {timeline: list(entry["post_level"]) for timeline, entry in json.loads(template.read_text()).items()}
    gold = write_gold(tmp_path / "gold", full_gold(ids))
    submission = write_files(tmp_path / "res", template.read_bytes())
    outcome = run_program(
        tmp_path,
        "clpsych2025",
        gold,
        submission,
        options={"profile": profile},
        environment={"PYTHONPATH": str(blocking(tmp_path / "blocked", *LIBRARIES)), "HF_HOME": str(tmp_path)},
    )
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.scores == WORST
    assert outcome.details["tasks"]["a2"]["a2_abstentions"] == {"value": 94, "rows": 94}
    assert CANARY not in f"{outcome.stdout}{outcome.stderr}{outcome.details}{outcome.page}"


@pytest.mark.models
def test_a_missing_model_is_the_organisers_error(tmp_path: Path) -> None:
    gold = write_gold(tmp_path / "gold", full_gold({"t1": ["p1"]}))
    content = {"t1": answer({"p1": post(adaptive_evidence=["calm"])})}
    outcome = run_program(
        tmp_path, "clpsych2025", gold, write_files(tmp_path / "res", content), environment={"HF_HOME": str(tmp_path)}
    )
    assert outcome.exit_code == 2
    assert "This is not the submission's fault: the organisers must act." in outcome.stderr
    assert "microsoft/deberta-xlarge-mnli" in outcome.stderr
    assert CANARY not in outcome.stderr
