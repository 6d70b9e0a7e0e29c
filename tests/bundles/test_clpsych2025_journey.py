"""CLPsych 2025 from the data to the board, through the zip: an oracle, a broken submission."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.report import Run
from gen_bundle.ground.resources import resource
from tests import tiny_models
from tests.generator.dry_run.in_process import ForkedEngine
from tests.punkt import punkt as punkt
from tests.scoring_programs.clpsych2025.cases import WORST, answer, post

pytestmark = pytest.mark.usefixtures("kept_organisers")
DATA = resource("bundles") / "clpsych2025" / "data"
STATES = ("adaptive", "maladaptive")


def replay(out: Path, submissions: Mapping[str, Any], request: BuildRequest) -> dict[str, Run]:
    """Build, and run submissions in the test phase; each run by its submission."""
    (built,) = build(request)
    files = [out / f"{name}.json" for name in submissions]
    for file, content in zip(files, submissions.values(), strict=True):
        file.write_text(json.dumps(content), encoding="utf-8")
    results = dry_run(DryRunRequest(built.path, out / "results", files, phases=["test"]), ForkedEngine())
    return {run.submission: run for run in results.runs}


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
def test_an_oracle_leads_the_model_free_task_and_a_broken_submission_fails(tmp_path: Path) -> None:
    broken = oracle()
    first = next(iter(broken.values()))
    next(iter(first["post_level"].values()))["wellbeing_score"] = "4"
    request = BuildRequest("clpsych2025", tmp_path / "bundle.zip", layout="separate", task="a2")
    baseline = json.loads(next((DATA / "baselines" / "test" / "lexical-rule").iterdir()).read_text(encoding="utf-8"))
    runs = replay(tmp_path, {"oracle": oracle(), "baseline": baseline, "broken": broken}, request)
    assert runs["oracle"].scores == {
        "a2_mse": 0,
        "a2_mse_serious": 0,
        "a2_mse_impaired": 0,
        "a2_mse_minimal": 0,
        "a2_macro_f1": 1,
    }
    assert runs["baseline"].scores is not None
    assert runs["baseline"].scores["a2_mse"] > 0
    assert (runs["broken"].status, runs["broken"].exit_code, runs["broken"].scores) == ("Failed", 1, None)


@pytest.mark.models
@pytest.mark.slow
@pytest.mark.usefixtures("punkt")
def test_an_oracle_has_recall_1_error_0_and_f1_1_through_the_joint_zip(tmp_path: Path) -> None:
    request = BuildRequest("clpsych2025", tmp_path / "bundle.zip", overrides=tiny_models.OPTIONS)
    scores = replay(tmp_path, {"oracle": oracle()}, request)["oracle"].scores
    assert scores is not None
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
