"""A ranking of code: by what the prediction step left, or by plain predictions."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from gen_bundle.cli import root
from tests.generator.code_competition import PREDICT
from tests.scoring_programs.ingestion_kit.steps import Steps

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers")]


def test_teams_are_ranked_by_what_their_code_left(parts: Path, tmp_path: Path) -> None:
    teams = tmp_path / "teams"
    teams.mkdir()
    for team, label in (("neutral", "neutral"), ("positive", "positive"), ("broken", "joy")):
        steps = Steps(parts, tmp_path / team, {"model.py": PREDICT.replace("neutral", label)})
        steps.ingest()
        (steps.output / "metadata").write_text("exitCode: null\n")
        shutil.make_archive(str(teams / team), "zip", steps.output)
    with zipfile.ZipFile(teams / "plain.zip", "w") as plain:
        run = next((tmp_path / "neutral/output").glob("run-*"))
        plain.write(run / "predictions/predictions.csv", "predictions.csv")
    competition = parts.parent / "feelings"
    given = {"--phase": "test", "--submissions": teams, "--data": competition / "data"}
    options = [str(part) for option in given.items() for part in option]
    done = CliRunner().invoke(root, ["rank", str(competition), *options, "--json"])
    assert done.exit_code == 1, done.output  # one could not be scored
    found = {record["team"]: record for record in json.loads(done.stdout)["teams"]}
    assert found["neutral"]["accuracy"] == found["plain"]["accuracy"] != found["positive"]["accuracy"]
    assert 0 < found["neutral"]["seconds"] < 60
    assert "predictions.csv:2: label has an unknown label" in found["broken"]["not_scored"][0]
