"""Jobs without a model wait for no library, whose import would take longer than all the rest."""

import json
from pathlib import Path

import pytest

from tests.scoring_programs.clarity2026 import gold as clarity
from tests.scoring_programs.clpsych2025.cases import answer, post
from tests.scoring_programs.framed import Files, run_without
from tests.scoring_programs.process2025 import gold as process

pytestmark = pytest.mark.slow

ANSWER = json.dumps({"t": answer({"p": post(wellbeing_score=6)})})
TIMELINE = '{"t": {"timeline_level": {}, "post_level": {"p": {"wellbeing_score": 5}}}}'


@pytest.mark.parametrize(
    ("name", "tasks", "layout", "gold", "answers"),
    [
        ("clarity2026", None, "joint", {"gold.csv": clarity.DEV}, {"a.csv": clarity.PERFECT}),
        ("process2025", None, "joint", {"gold.csv": process.GOLD}, {process.NAME: process.PERFECT}),
        ("clpsych2025", ["a2"], "separate", {"gold.json": TIMELINE}, {"A_1.json": ANSWER}),
    ],
    ids=["CLARITY", "PROCESS", "CLPsych A.2"],
)
def test_a_job_without_a_model_imports_no_library(
    tmp_path: Path, name: str, tasks: list[str] | None, layout: str, gold: Files, answers: Files
) -> None:
    blocked = ("numpy", "scipy", "sklearn", "pandas", "torch", "transformers", "nltk")
    outcome = run_without(tmp_path, blocked, name, gold, answers, tasks=tasks, layout=layout)
    assert outcome.exit_code == 0, outcome.stderr
