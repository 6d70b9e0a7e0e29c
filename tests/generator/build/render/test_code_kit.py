"""The starting kit of a competition that takes code, used as a participant uses it."""

import csv
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from gen_bundle.codabench.worker import PLATFORM_IMAGE
from gen_bundle.ground.resources import competitions
from tests.generator.build.looking import check_promises, first_kit, run_in

pytestmark = pytest.mark.slow  # nearly each test runs submitted code and its scoring program

HELPDESK = competitions()["helpdesk"]


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kit of the example, with an accuracy that needs no library and is the only metric."""
    work = tmp_path_factory.mktemp("helpdesk")
    shutil.copytree(HELPDESK, work / "helpdesk")
    declared = work / "helpdesk/bundle.yaml"
    data = yaml.safe_load(declared.read_text(encoding="utf-8"))
    _, accuracy, seconds = data["tasks"][0]["columns"]
    data["tasks"][0]["columns"] = [{**accuracy, "metric": "exact_match"}, seconds]
    declared.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return first_kit(work / "helpdesk", work)


def submission(folder: Path, files: Mapping[str, str]) -> Path:
    """A submission's folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_holds_what_its_readme_names(kit: Path) -> None:
    readme = (kit / "README.md").read_text(encoding="utf-8")
    names = "FORMAT.md template/ sample/ try.py ingestion/ validate.pyz examples/valid.zip examples/invalid/ "
    for name in f"{names}score_locally.py scorer/ requirements.txt".split():
        assert f"`{name}`" in readme
        assert (kit / name).exists()
    assert "{{" not in readme
    assert f"--workdir /kit {PLATFORM_IMAGE} python3 try.py my_submission\n" in readme


def test_the_example_runs_and_is_scored_on_the_sample(kit: Path, tmp_path: Path) -> None:
    done = run_in(kit, "try.py", "--out", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert "The code ran, and what it wrote is valid." in done.stdout
    scores = json.loads((tmp_path / "out" / "scores.json").read_text(encoding="utf-8"))
    desks = {
        part: [row["desk"] for row in csv.DictReader((kit / "sample" / part).read_text(encoding="utf-8").splitlines())]
        for part in ("input/train.csv", "gold/gold.csv")
    }
    majority = max(desks["input/train.csv"], key=desks["input/train.csv"].count)
    assert scores["accuracy"] == desks["gold/gold.csv"].count(majority) / len(desks["gold/gold.csv"])
    assert 0 < scores["seconds"] < 60
    assert (tmp_path / "out" / "detailed_results.html").exists()


def test_a_packed_submission_runs_as_well(kit: Path, tmp_path: Path) -> None:
    packed = tmp_path / "mine.zip"
    better = HELPDESK / "data/baselines/dev/naive-bayes"
    assert run_in(kit, "validate.pyz", better, "--pack", packed).returncode == 0
    assert run_in(kit, "try.py", packed, "--out", tmp_path / "out").returncode == 0
    assert json.loads((tmp_path / "out" / "scores.json").read_text(encoding="utf-8"))["accuracy"] > 0.6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def predict(a, b):\n    raise KeyError('desk')\n", "model.py:2: ended with exit code 1: KeyError: 'desk'"),
        ("def predict(a, b):\n    (b / 'predictions.csv').write_text('id,desk\\nx,y\\n')\n", "predictions.csv:2"),
        ("def predict(a, b):\n    pass\n", "predictions: are missing"),
    ],
)
def test_faults_are_reported_as_on_the_platform(text: str, message: str, kit: Path, tmp_path: Path) -> None:
    done = run_in(kit, "try.py", submission(tmp_path / "mine", {"model.py": text}), "--out", tmp_path / "out")
    assert done.returncode == 1
    assert message in done.stderr
    assert "ingestion_kit" not in done.stdout + done.stderr
    assert not (tmp_path / "out").exists()


def test_data_of_ones_own(kit: Path, tmp_path: Path) -> None:
    given, gold = tmp_path / "given", tmp_path / "gold"
    shutil.copytree(kit / "sample" / "input", given)
    submission(given, {"messages.csv": "id,text\nm1,where is my parcel\nm2,the locker does not open\n"})
    submission(gold, {"gold.csv": "id,desk\nm1,delivery\nm2,lockers\n"})
    best = HELPDESK / "data/baselines/dev/naive-bayes"
    done = run_in(kit, "try.py", best, "--input", given, "--gold", gold, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out" / "scores.json").read_text(encoding="utf-8"))["accuracy"] == 1


def test_the_phases_own_input_is_checked_and_not_scored(kit: Path, tmp_path: Path) -> None:
    done = run_in(kit, "try.py", "--input", HELPDESK / "data/input/dev", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "what it wrote is valid" in done.stdout
    assert not (tmp_path / "out").exists()
    other = run_in(kit, "try.py", "--input", HELPDESK / "data/input/test")
    assert other.returncode == 1
    assert "predictions.csv" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["none.zip"], 1, "none.zip: cannot be unpacked: "),
        (["README.md"], 1, "README.md: cannot be unpacked: File is not a zip file"),
        (["--gold", "sample/gold"], 2, "--gold: expected --input, too"),
        (["--input", "nowhere"], 2, "--input nowhere: no such folder"),
        (["--input", "sample/input", "--gold", "template"], 2, "gold.csv"),
    ],
)
def test_wrong_use(arguments: list[str], status: int, message: str, kit: Path) -> None:
    done = run_in(kit, "try.py", *arguments)
    assert done.returncode == status
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_invalid_examples_get_the_message_that_is_promised(kit: Path) -> None:
    examples = sorted((kit / "examples" / "invalid").glob("*.zip"))
    assert {example.stem for example in examples} >= {"other-name", "predictions", "syntax", "no-predict", "metadata"}
    check_promises(kit, examples)


def test_without_a_sample_and_a_baseline_there_is_still_something_to_begin_with(tmp_path: Path) -> None:
    folder = tmp_path / "bare"
    shutil.copytree(HELPDESK, folder)
    shutil.rmtree(folder / "data/public/sample")
    shutil.rmtree(folder / "data/baselines")
    kit = first_kit(folder, tmp_path / "work")
    assert "sample" not in (kit / "README.md").read_text(encoding="utf-8")
    done = run_in(kit, "try.py")
    assert done.returncode == 2
    assert "this kit has no sample" in done.stderr
    assert run_in(kit, "try.py", "--input", folder / "data/input/dev").returncode == 0
