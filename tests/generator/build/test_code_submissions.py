"""A competition that takes code, from bundle.yaml to the board, in both versions of the platform."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.engines import Container, Ended, LineListener
from gen_bundle.ground.errors import UserError
from tests.generator.build.looking import built, command, kit_of, refused, run_in
from tests.generator.build.test_declared import rows_of, write_csv
from tests.generator.code_competition import PREDICT, declaration, write_competition
from tests.generator.dry_run.in_process import InProcessEngine
from tests.sweeps import sweep

pytestmark = pytest.mark.usefixtures("kept_organisers")


@pytest.fixture
def competition(tmp_path: Path) -> Path:
    return write_competition(tmp_path / "feelings", declaration())


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built competition, with a word in its gold that is nowhere else."""
    work = tmp_path_factory.mktemp("feelings")
    competition = write_competition(work / "feelings", declaration())
    for phase, number in (("dev", 20), ("test", 30)):
        rows = [{**row, "remark": "a-word-of-gold"} for row in rows_of(phase, number)]
        write_csv(competition / "data" / phase / "gold.csv", rows)
    built = command(competition, "--out", work / "bundle.zip")
    assert built.exit_code == 0, built.output
    return work / "bundle.zip"


def check_board(out: Path) -> None:
    """What is recorded of a dry run is right."""
    record = json.loads((out / "dry-run.json").read_text(encoding="utf-8"))
    board = record["board"]
    assert [(row["phase"], row["submission"]) for row in board] == [("dev", "empty"), ("test", "neutral")]
    assert all("seconds" in row["cells"] for row in board)
    assert all(0 < one["scores"]["seconds"] < 60 for one in record["runs"])
    gold = [one["label"] for one in rows_of("test", 30)]
    assert float(board[1]["cells"]["accuracy"]) == pytest.approx(gold.count("neutral") / 30, abs=1e-4)


@pytest.mark.slow
@pytest.mark.usefixtures("runs_in_forks")
def test_a_command_from_bundle_yaml_to_the_board(tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "feelings", declaration(interface="command"))
    built = command(folder, "--out", tmp_path / "bundle.zip")
    assert built.exit_code == 0, built.output
    out = tmp_path / "out"
    done = command(
        "dry-run", tmp_path / "bundle.zip", "--engine", "process", "--platform-version", "1.32", "--out", out
    )
    assert done.exit_code == 0, done.output
    check_board(out)


class WatchedEngine(InProcessEngine):
    """Notes in which kind of container something is, by looking into each file of each folder that it is given."""

    def __init__(self, something: str) -> None:
        self.something = something.encode()
        self.found: dict[str, list[str]] = {"ingestion": [], "program": []}
        self.environments: list[Mapping[str, str]] = []

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        files = [path for mount in container.mounts for path in mount.source.rglob("*") if path.is_file()]
        assert len(files) > 10
        self.found[container.kind] += [path.name for path in files if self.something in path.read_bytes()]
        self.environments.append(container.environment)
        return super().run(container, seconds=seconds, stdout=stdout, stderr=stderr, on_line=on_line)


@pytest.mark.slow
@pytest.mark.parametrize("version", sweep(PlatformVersion, [NEWEST]))
def test_code_is_scored_and_none_of_its_folders_holds_gold(
    version: PlatformVersion, bundle: Path, tmp_path: Path
) -> None:
    engine = WatchedEngine("a-word-of-gold")
    assert dry_run(DryRunRequest(bundle, tmp_path / "out", version=version), engine).good
    check_board(tmp_path / "out")
    assert engine.found == {"ingestion": [], "program": ["gold.csv", "gold.csv"]}
    assert engine.environments == [{}] * 4


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["tasks", "separate"])
def test_every_layout_takes_code(layout: str, competition: Path, tmp_path: Path) -> None:
    built = build(BuildRequest(str(competition), tmp_path / "bundles", layout=layout, force=True))
    for one in built:
        results = dry_run(DryRunRequest(one.path, tmp_path / "out", phases=["test"]), InProcessEngine())
        assert results.good
        (row,) = results.board
        assert "seconds" in row.cells
        assert sum((one.scores or {}).get("seconds", 0) for one in results.runs) > 0


@pytest.mark.slow
def test_the_validator_judges_code_without_running_it(bundle: Path, tmp_path: Path) -> None:
    kit = kit_of(bundle, tmp_path / "kit")
    (tmp_path / "mine").mkdir()
    mark = tmp_path / "ran"
    (tmp_path / "mine/model.py").write_text(f"open({str(mark)!r}, 'w')\nfrom rules import *\n")
    (tmp_path / "mine/rules.py").write_text(PREDICT)
    good = run_in(kit, "-I", "-S", "validate.pyz", tmp_path / "mine")
    assert good.returncode == 0
    assert good.stdout.startswith("mine is valid. It was not run")
    assert not mark.exists()


def test_input_data_and_code_belong_together(competition: Path) -> None:
    shutil.rmtree(competition / "data/input/test")
    with pytest.raises(UserError, match=r"input/test: holds no file. Expected what the submitted code may read"):
        built(competition, overrides=("phases.test.gold=secret",))


def test_input_data_without_code_are_an_error(tmp_path: Path) -> None:
    data = declaration(kind="results", entry=None)
    data["tasks"][0]["columns"].pop()
    folder = write_competition(tmp_path / "feelings", data)
    with pytest.raises(UserError, match=r"input/dev: only submitted code reads it. Expected submission.kind: code"):
        built(folder)


@pytest.mark.slow
def test_codalab_takes_no_code(competition: Path) -> None:
    with pytest.raises(UserError, match=r"submission\.kind: code is not supported by --platform codalab"):
        built(competition, platform="codalab")


@pytest.mark.slow
def test_gold_among_what_the_code_reads_stops_the_build(competition: Path) -> None:
    write_csv(competition / "data/input/test/texts.csv", rows_of("test", 30), "id", "language", "label")
    assert any("input_data/test.zip" in message for message in refused(competition))
