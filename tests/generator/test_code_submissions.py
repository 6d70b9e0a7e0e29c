"""A competition that takes code, from bundle.yaml to the board, in both versions of the platform."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gen_bundle.build import BuildRequest, build
from gen_bundle.cli import root
from gen_bundle.errors import UserError
from tests.generator.code_competition import declaration, write_competition
from tests.generator.test_declared import rows_of, write_csv

pytestmark = pytest.mark.slow  # nearly each test builds a bundle


def run(*arguments: object) -> Result:
    return CliRunner().invoke(root, [str(argument) for argument in arguments])


@pytest.fixture
def competition(tmp_path: Path) -> Path:
    return write_competition(tmp_path / "feelings", declaration())


def record_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "dry-run.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("version", ["1.25", "1.32"])
@pytest.mark.parametrize("interface", ["function", "command"])
def test_from_bundle_yaml_to_the_board(interface: str, version: str, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "feelings", declaration(interface=interface))
    bundle, out = tmp_path / "bundle.zip", tmp_path / "out"
    built = run(folder, "--out", bundle)
    assert built.exit_code == 0, built.output
    done = run("dry-run", bundle, "--engine", "process", "--platform-version", version, "--out", out)
    assert done.exit_code == 0, done.output
    board = record_of(out)["board"]
    assert [(row["phase"], row["submission"]) for row in board] == [("dev", "empty"), ("test", "neutral")]
    assert all(0 < float(row["cells"]["seconds"]) < 60 for row in board)


@pytest.mark.parametrize("column", ["label", "strength"])
def test_gold_among_what_the_code_reads_stops_the_build(column: str, competition: Path, tmp_path: Path) -> None:
    write_csv(competition / "data/input/test/texts.csv", rows_of("test", 30), "id", "language", column)
    with pytest.raises(UserError, match="gold") as caught:
        build(BuildRequest(str(competition), tmp_path / "bundle.zip"))
    assert any("input_data/test.zip" in message for message in caught.value.messages)
    assert not (tmp_path / "bundle.zip").exists()
