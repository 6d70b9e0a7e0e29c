"""The older format against what the old server and Codabench's v1 reader ask for."""

import io
import json
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from gen_bundle.build.building import BuildRequest, Built, build
from gen_bundle.build.package.phase_data import PhaseData, PreparedGold
from gen_bundle.build.package.resolve import Resolved, resolve
from gen_bundle.build.platforms.codalab import bundle_tree, losses
from gen_bundle.check import check_path
from gen_bundle.ground.errors import UserError
from tests.generator.build.looking import members
from tests.generator.competition import second_module, second_task, small_competition

pytestmark = pytest.mark.usefixtures("kept_organisers")

# The fields of the old server's models; a key beside them is an error there.
TOP = {"title", "description", "image", "has_registration", "end_date", "competition_docker_image", "enable_forum"}
TOP |= {"force_submission_to_leaderboard", "enable_detailed_results", "html", "phases", "leaderboard"}
PHASE = {"phasenumber", "label", "description", "start_date", "max_submissions", "max_submissions_per_day"}
PHASE |= {"is_scoring_only", "execution_time_limit", "force_best_submission_to_leaderboard", "auto_migration"}
PHASE |= {"scoring_program", "reference_data", "starting_kit", "public_data"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    work = tmp_path_factory.mktemp("old")
    (built,) = build(BuildRequest(str(small_competition(work)), work / "old.zip", platform="codalab"))
    return built


@pytest.fixture
def bundle(built: Built) -> Path:
    return built.path


def read(bundle: Path, name: str) -> bytes:
    return members(bundle)[name]


def rendered(competition: Resolved) -> dict[str, Any]:
    """The competition.yaml of a bundle with any reference data at all."""
    references = {part.id: competition.folder / "pages" for part in competition.parts}
    gold = PreparedGold(Path(), references, secrets=[], elsewhere=[], warnings=())
    phases = [PhaseData(phase, gold, {}, {}, {}, {}, {}, ()) for phase in competition.phases]
    text = bundle_tree(competition, phases, {phase.id: {} for phase in competition.phases})["competition.yaml"]
    assert isinstance(text, bytes)
    document: dict[str, Any] = yaml.safe_load(text)
    return document


@pytest.mark.slow
def test_only_keys_that_the_old_server_knows(bundle: Path) -> None:
    document: dict[str, Any] = yaml.safe_load(read(bundle, "competition.yaml"))
    assert set(document) <= TOP
    assert {"overview", "evaluation", "terms", "data"} <= set(document["html"])
    for phase in document["phases"].values():
        assert set(phase) <= PHASE
        assert isinstance(phase["start_date"], datetime)
        assert all(phase[key].endswith(".zip") for key in ("scoring_program", "reference_data", "starting_kit"))
    board = document["leaderboard"]["leaderboards"]["RESULTS"]
    assert all(c["leaderboard"]["label"] == board["label"] for c in document["leaderboard"]["columns"].values())


@pytest.mark.parametrize(("ours", "has_registration"), [("auto", False), ("approve", True)])
def test_registration(tmp_path: Path, ours: str, has_registration: bool) -> None:
    competition = resolve(small_competition(tmp_path), overrides=(f"registration={ours}",))
    assert rendered(competition)["has_registration"] is has_registration


@pytest.mark.parametrize("setting", ["hide_output", "hide_prediction_output", "hide_score_output"])
def test_outputs_cannot_be_hidden_and_that_is_said(tmp_path: Path, setting: str) -> None:
    folder = small_competition(tmp_path)
    assert not any("hidden outputs" in text for text in losses(resolve(folder)))
    hiding = resolve(folder, overrides=(f"phases.test.{setting}=true",))
    assert any("hidden outputs" in text for text in losses(hiding))


@pytest.mark.slow
def test_codabench_reads_it(bundle: Path) -> None:
    assert check_path(bundle, now=datetime(2026, 1, 1, tzinfo=UTC)).accepted


@pytest.mark.slow
def test_pages_are_html_with_formulas(bundle: Path) -> None:
    page = read(bundle, "evaluation.html").decode()
    assert "<table>" in page
    assert "<math" in page
    assert "$" not in page


@pytest.mark.slow
def test_the_program_writes_scores_txt_beside_scores_json(bundle: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    with zipfile.ZipFile(io.BytesIO(read(bundle, "scoring_program_dev.zip"))) as archive:
        archive.extractall(program)
    assert (program / "metadata").read_text(encoding="utf-8").startswith("command: python3 $program/score.py ")
    given = tmp_path / "input"
    with zipfile.ZipFile(io.BytesIO(read(bundle, "reference_data_dev.zip"))) as archive:
        archive.extractall(given / "ref")
    (given / "res").mkdir()
    template = members(read(bundle, "starting_kit_dev.zip"))["template/predictions.csv"]
    (given / "res" / "predictions.csv").write_bytes(template)
    subprocess.run([sys.executable, program / "score.py", given, tmp_path / "out"], check=True, capture_output=True)
    scores = json.loads((tmp_path / "out" / "scores.json").read_text(encoding="utf-8"))
    lines = (tmp_path / "out" / "scores.txt").read_text(encoding="utf-8").splitlines()
    assert {key: float(value) for key, value in (line.split(": ") for line in lines)} == scores


@pytest.mark.slow
def test_what_the_format_cannot_say_is_named(built: Built) -> None:
    assert any("solutions" in note for note in built.notes)
    assert not any("ignored" in note or "dropped" in note for note in built.notes), "that is Codabench's reading"


@pytest.mark.slow
def test_layout_tasks_cannot_be_said(tmp_path: Path) -> None:
    def change(declaration: dict[str, Any]) -> None:
        second_task(declaration)
        declaration["submission_rule"] = "all"

    folder = small_competition(tmp_path, change)
    second_module(folder)
    with pytest.raises(UserError, match="one scoring program per phase"):
        build(BuildRequest(str(folder), tmp_path / "old.zip", layout="tasks", platform="codalab"))


@pytest.mark.parametrize(
    ("rule", "by_itself", "loss"),
    [
        ("manual", False, None),
        ("Add", False, None),
        ("Add_And_Delete_Multiple", False, "they choose"),
        ("last", True, None),
        ("all", True, "the latest"),
    ],
)
def test_the_boards_settings(rule: str, by_itself: bool, loss: str | None, tmp_path: Path) -> None:
    overrides = (f"submission_rule={rule}", "leaderboard={title: Test results, hidden: true}")
    competition = resolve(small_competition(tmp_path), overrides=overrides)
    document, lost = rendered(competition), losses(competition)
    board = document["leaderboard"]
    labels = [one["label"] for one in board["leaderboards"].values()]
    labels += [column["leaderboard"]["label"] for column in board["columns"].values()]
    assert set(labels) == {"Test results"}
    assert document["force_submission_to_leaderboard"] is by_itself
    of_rule = [text for text in lost if f"submission_rule {rule}" in text]
    assert [loss in text for text in of_rule if loss] == [True] * bool(loss)
    assert bool(of_rule) is bool(loss)
    assert [text for text in lost if "hidden leaderboard" in text]
