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
    ("name", "tasks", "layout", "gold", "answers", "exit_code"),
    [
        ("clarity2026", None, "joint", {"gold.csv": clarity.DEV}, {"a.csv": "id,evasion_pred\n1,Explicit\n"}, 1),
        ("process2025", None, "joint", {"gold.csv": process.GOLD}, {process.NAME: process.PERFECT + "x,,,,,,\n"}, 1),
        ("process2025", None, "joint", {"gold.csv": process.GOLD}, {process.NAME: process.answers({})}, 0),
        ("clpsych2025", ["a2"], "separate", {"gold.json": TIMELINE}, {"A_1.json": "{}"}, 1),
        ("clarity2026", None, "joint", {"gold.csv": clarity.DEV}, {"a.csv": clarity.PERFECT}, 0),
        ("process2025", None, "joint", {"gold.csv": process.GOLD}, {process.NAME: process.PERFECT}, 0),
        ("clpsych2025", ["a2"], "separate", {"gold.json": TIMELINE}, {"A_1.json": ANSWER}, 0),
    ],
    ids=[
        *("CLARITY, refused", "PROCESS, refused", "PROCESS, nothing entered", "CLPsych A.2, refused"),
        *("CLARITY, scored", "PROCESS, scored", "CLPsych A.2, scored"),
    ],
)
def test_a_job_without_a_model_imports_no_library(
    tmp_path: Path, name: str, tasks: list[str] | None, layout: str, gold: Files, answers: Files, exit_code: int
) -> None:
    blocked = ("numpy", "scipy", "sklearn", "pandas", "torch", "transformers", "nltk")
    outcome = run_without(tmp_path, blocked, name, gold, answers, tasks=tasks, layout=layout)
    assert outcome.exit_code == exit_code, outcome.stderr
