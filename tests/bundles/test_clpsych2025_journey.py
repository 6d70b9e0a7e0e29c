"""CLPsych 2025 from the data to the board, through the zip, and to the final report: an oracle."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.ground.resources import resource
from tests import tiny_models
from tests.generator.dry_run.in_process import ForkedEngine
from tests.punkt import punkt as punkt
from tests.scoring_programs.clpsych2025.cases import WORST, answer, post

pytestmark = pytest.mark.usefixtures("kept_organisers")
DATA = resource("bundles") / "clpsych2025" / "data"
STATES = ("adaptive", "maladaptive")


def scores_of_oracle(out: Path, **request: Any) -> dict[str, float]:
    """Of the test phase of the built bundle."""
    (built,) = build(BuildRequest("clpsych2025", out / "bundle.zip", **request))
    (out / "oracle.json").write_text(json.dumps(oracle()), encoding="utf-8")
    [run] = dry_run(
        DryRunRequest(built.path, out / "results", [out / "oracle.json"], phases=["test"]), ForkedEngine()
    ).runs
    assert run.scores is not None
    return dict(run.scores)


def oracle() -> dict[str, Any]:
    """The annotations of the synthetic test phase, as a submission."""
    content = {}
    for path in sorted((DATA / "test").iterdir()):
        timeline = json.loads(path.read_text(encoding="utf-8"))
        posts = {}
        for raw in timeline["posts"]:
            spans = {
                f"{state}_evidence": [
                    element["highlighted_evidence"] for element in raw["evidence"].get(f"{state}-state", {}).values()
                ]
                for state in STATES
            }
            posts[raw["post_id"]] = post(**spans, summary=raw["Post Summary"] or "", wellbeing_score=raw["Well-being"])
        content[timeline["timeline_id"]] = answer(posts, summary=timeline["timeline_summary"])
    return content


@pytest.mark.slow
def test_an_oracle_has_error_0_and_f1_1_in_the_task_without_models(tmp_path: Path) -> None:
    errors = ("a2_mse", "a2_mse_serious", "a2_mse_impaired", "a2_mse_minimal")
    assert scores_of_oracle(tmp_path, layout="separate", task="a2") == {**dict.fromkeys(errors, 0), "a2_macro_f1": 1}


@pytest.mark.models
@pytest.mark.slow
@pytest.mark.usefixtures("punkt")
def test_an_oracle_has_recall_1_error_0_and_f1_1_through_the_joint_zip(tmp_path: Path) -> None:
    scores = scores_of_oracle(tmp_path, overrides=tiny_models.OPTIONS)
    assert [scores[key] for key in WORST if key.startswith("a1_")] == [pytest.approx(1, abs=1e-6)] * 6
    assert [scores[key] for key in WORST if key.startswith("a2_")] == [0, 0, 0, 0, 1]
    assert 0 < scores["b_mean_consistency"] < 1
    assert 0 < scores["c_mean_consistency"] < 1


@pytest.mark.models
@pytest.mark.slow
@pytest.mark.usefixtures("punkt")
def test_the_final_report_has_all_tasks(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from gen_bundle.cli import root

    every = tmp_path / "submissions"
    shutil.copytree(DATA / "baselines" / "test", every)
    (every / "oracle.json").write_text(json.dumps(oracle()), encoding="utf-8")
    options = ["--submissions", str(every), "--data", str(DATA), "--report", str(tmp_path / "report")]
    options += [part for option in tiny_models.OPTIONS for part in ("--set", option)]
    chosen = ["--phase", "test", "--resamples", "500", "--baseline", "lexical-rule"]
    done = CliRunner().invoke(root, ["rank", "clpsych2025", *options, *chosen])
    assert done.exit_code == 0, done.output
    tasks = json.loads((tmp_path / "report" / "report.json").read_text())["tasks"]
    assert {task: (one["column"], one["unit"], one["units"]) for task, one in tasks.items()} == {
        "a1": ("a1_recall", "timeline", 11),
        "a2": ("a2_mse", "timeline", 11),
        "b": ("b_mean_consistency", "timeline", 11),
        "c": ("c_mean_consistency", "timeline", 11),
    }
    for task, one in tasks.items():
        teams = {team["team"]: team for team in one["teams"]}
        assert set(teams) == {"oracle", "lead-sentence", "lexical-rule"}
        assert teams["lexical-rule"]["rank"] is None
        assert all(team["low"] is None for team in teams.values()), "eleven timelines make no interval"
        assert len(one["pairs"]) == 3
        assert one["stability"] == {"tau_mean": None, "wins": {}}
        if task in ("a1", "a2"):  # the tiny models understand no summary
            assert (teams["oracle"]["rank"], teams["oracle"]["group"]) == (1, 1)
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "deberta-encoder" in page, "the signature names the models"
