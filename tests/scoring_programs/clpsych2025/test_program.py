"""The packed program, run as the platform runs it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scoring_programs.clpsych2025.cases import CANARY, WORST, answer, full_gold, gold_json, post, write_files
from tests.scoring_programs.packed import run_program
from tests.shared import FIXTURES

pytestmark = pytest.mark.slow


def write_gold(folder: Path, timelines: dict[str, Any]) -> Path:
    folder.mkdir()
    (folder / "gold.json").write_text(json.dumps(gold_json(timelines)), encoding="utf-8")
    return folder


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
        environment={"PYTHONPATH": str(no_torch(tmp_path)), "HF_HOME": str(tmp_path)},
    )
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.scores == WORST
    assert outcome.details["tasks"]["a2"]["a2_abstentions"] == {"value": 94, "rows": 94}
    assert CANARY not in f"{outcome.stdout}{outcome.stderr}{outcome.details}{outcome.page}"


def no_torch(folder: Path) -> Path:
    """A folder for PYTHONPATH in which torch, transformers and nltk end the program when they are imported."""
    blocked = folder / "blocked"
    for name in ("torch", "transformers", "nltk", "bert_score"):
        (blocked / name).mkdir(parents=True)
        (blocked / name / "__init__.py").write_text("raise SystemExit('a model library was imported')\n")
    return blocked


def test_a2_alone_imports_no_model_library(tmp_path: Path) -> None:
    gold = write_gold(tmp_path / "gold", {"t1": {"adaptive": ["a"], "posts": {"p1": (None, 3), "p2": (None, 8)}}})
    content = {"t1": answer({"p1": post(wellbeing_score=4, adaptive_evidence=["calm"], summary="S."), "p2": post()})}
    outcome = run_program(
        tmp_path,
        "clpsych2025",
        gold,
        write_files(tmp_path / "res", content),
        tasks=["a2"],
        layout="separate",
        environment={"PYTHONPATH": str(no_torch(tmp_path))},
    )
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.scores["a2_mse"] == 1
    assert set(outcome.scores) == {key for key in WORST if key.startswith("a2_")}
    assert "warning: a2" not in outcome.stderr
    assert "1 of the 2 posts carry no well-being score" in outcome.details["warnings"][0]


def test_an_oracle_of_scores_is_perfect(tmp_path: Path) -> None:
    gold = write_gold(tmp_path / "gold", full_gold({"t1": [f"p{number}" for number in range(10)]}))
    content = {"t1": answer({f"p{number}": post(wellbeing_score=1 + number) for number in range(10)})}
    outcome = run_program(
        tmp_path, "clpsych2025", gold, write_files(tmp_path / "res", content), tasks=["a2"], layout="separate"
    )
    assert outcome.scores == {
        "a2_mse": 0,
        "a2_mse_serious": 0,
        "a2_mse_impaired": 0,
        "a2_mse_minimal": 0,
        "a2_macro_f1": 1,
    }


def test_as_run_scores_beyond_the_worst_are_bounded_on_the_board_and_exact_in_the_details(tmp_path: Path) -> None:
    gold = write_gold(tmp_path / "gold", full_gold({"t1": [f"p{number}" for number in range(10)]}))
    content = {"t1": answer({f"p{number}": {"wellbeing_score": 101 + number} for number in range(10)})}
    outcome = run_program(
        tmp_path,
        "clpsych2025",
        gold,
        write_files(tmp_path / "res", content),
        tasks=["a2"],
        layout="separate",
        options={"profile": "as-run"},
    )
    assert outcome.scores["a2_mse"] == 81
    details = outcome.details["tasks"]["a2"]
    assert details["a2_mse"]["value"] == details["mse"]["value"] == 10_000
    bins = {"mse_serious", "mse_impaired", "mse_minimal"}
    assert bins | {"f1_macro", "f1_class_0", "f1_class_1", "f1_class_2"} < set(details)


def test_a_broken_submission_is_told_everything_and_nothing_of_the_gold(tmp_path: Path) -> None:
    gold = write_gold(tmp_path / "gold", full_gold({"t1": ["p1", "p2"], "t2": ["p3"]}))
    content = {"t1": answer({"p1": post(wellbeing_score="3"), "p2": post(adaptive_evidence="calm")})}
    outcome = run_program(tmp_path, "clpsych2025", gold, write_files(tmp_path / "res", content))
    assert outcome.exit_code == 1
    assert outcome.scores is None
    post_errors = (
        "p1, wellbeing_score: is a string. A number from 1 to 10, or null is expected.",
        "p2, adaptive_evidence: is a string. A list of strings is expected, [] for none.",
    )
    assert outcome.stderr.splitlines() == [
        "The submission cannot be scored: 3 problems found.",
        *(f"Team_1.json, timeline t1, post {error}" for error in post_errors),
        "Team_1.json, timeline t2: is missing. An entry for every timeline, level and post is expected.",
        "3 problems found, so nothing was scored.",
    ]


def test_a_refused_submission_keeps_its_warnings(tmp_path: Path) -> None:
    gold = write_gold(tmp_path / "gold", full_gold({"t1": ["p1"]}))
    outcome = run_program(tmp_path, "clpsych2025", gold, write_files(tmp_path / "res", {"t1": answer({"p1 ": post()})}))
    assert outcome.exit_code == 1
    assert "Team_1.json, timeline t1, post p1: is missing." in outcome.stderr
    assert outcome.stdout.splitlines() == [
        'warning: Team_1.json, timeline t1: the post "p1 " is not expected and is ignored.'
    ]


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


def test_wrong_gold_is_the_organisers_error(tmp_path: Path) -> None:
    gold = write_gold(tmp_path / "gold", {"t1": {"summary": CANARY, "posts": {"p1": (CANARY, 4.5)}}})
    outcome = run_program(tmp_path, "clpsych2025", gold, write_files(tmp_path / "res", {"t1": answer({"p1": post()})}))
    assert outcome.exit_code == 2
    assert "gold.json, timeline t1, timeline_level: has no evidence span." in outcome.stderr
    assert "gold.json, timeline t1, post p1, wellbeing_score: not a well-being score." in outcome.stderr
    assert CANARY not in outcome.stderr
