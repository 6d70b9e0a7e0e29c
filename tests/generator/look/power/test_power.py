"""`gen-bundle power`: from a project, or a bundle that was built of it, to sentences, figures and a page."""

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.generator.cli.running import gen_bundle
from tests.generator.competition import small_competition
from tests.yaml_text import dumped, loaded

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers")]
FEW = ("--teams", "3", "--sizes", "1")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of 150 rows with a label each."""
    folder = tmp_path_factory.mktemp("project")
    labels = np.random.default_rng(3).choice(["no", "yes"], size=150)
    lines = ["id,text,label", *(f"r{i},text {i},{label}" for i, label in enumerate(labels))]
    (folder / "gold.csv").write_text("\n".join(lines) + "\n")
    done = gen_bundle("new", "task", "--gold", "test=gold.csv", "--answer", "label", "--yes", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "task"


def columns(project: Path, copied: Path, *written: dict[str, Any]) -> Path:
    """A copy of the project with these columns in place of its own."""
    shutil.copytree(project, copied)
    (copied / "metrics.py").write_text(
        "def right(gold, predicted):\n    return float(gold['label'] == predicted['label'])\n"
    )
    declaration = loaded((copied / "bundle.yaml").read_bytes())
    declaration["tasks"][0]["columns"] = list(written)
    (copied / "bundle.yaml").write_text(dumped(declaration))
    return copied


@pytest.fixture(scope="module")
def by_accuracy(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same project with a column that is simulated in a fifth of the time."""
    folder = tmp_path_factory.mktemp("by_accuracy")
    return columns(project, folder / "task", {"key": "accuracy", "title": "Accuracy", "metric": "accuracy"})


def figures(*arguments: object, status: int = 0) -> dict[str, Any]:
    done = gen_bundle("power", *FEW, "--gaps", ".05", *arguments, "--json")
    assert done.returncode == status, done.stderr
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def answer(by_accuracy: Path) -> dict[str, Any]:
    """What is said of the one task of that project."""
    (task,) = figures(by_accuracy)["tasks"].values()
    return dict(task)


def test_answer_first_then_figures_and_a_page_that_loads_nothing(
    by_accuracy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("power", by_accuracy, *FEW, "--out", tmp_path / "out")
    done = gen_bundle(*asked)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "Classification, Accuracy:"
    assert lines[1].startswith("150 rows tell two systems apart that differ by 0.")
    assert "Intervals: would be printed." in lines
    (task,) = json.loads((tmp_path / "out" / "power.json").read_text())["tasks"].values()
    assert task["units"] == 150
    assert task["baseline"]["name"] == "majority"
    page = (tmp_path / "out" / "power.html").read_text()
    assert page.count("<svg") == page.count("<figcaption>Classification: share of simulated test sets in which ") == 2
    assert "http://" not in page.replace("http://www.w3.org/", "")
    monkeypatch.setattr("gen_bundle.look.power.page._figures", lambda *_: [])
    assert gen_bundle(*asked).returncode == 0
    assert "<svg" not in (tmp_path / "out" / "power.html").read_text(), "one of its own is replaced"
    (tmp_path / "out" / "power.html").write_text("mine")
    assert gen_bundle(*asked).returncode == 2


def test_a_bundle_says_the_same_as_its_project(by_accuracy: Path, answer: dict[str, Any], tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.zip"
    assert gen_bundle(by_accuracy, "--out", bundle).returncode == 0
    (of_bundle,) = figures(bundle)["tasks"].values()
    assert of_bundle["sizes"] == answer["sizes"]
    assert gen_bundle("power", bundle, "--data", by_accuracy / "data").returncode == 2


def test_a_page_that_asks_for_it_has_the_first_sentence(by_accuracy: Path, tmp_path: Path) -> None:
    copied = tmp_path / "task"
    shutil.copytree(by_accuracy, copied)
    page = copied / "pages" / "evaluation.md.j2"
    page.write_text(page.read_text() + "\n{{ power }}\n")
    bundle = tmp_path / "bundle.zip"
    done = gen_bundle(copied, "--out", bundle)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(bundle) as opened:
        text = opened.read("pages/evaluation.md").decode()
    (task,) = json.loads(gen_bundle("power", by_accuracy, "--sizes", "1", "--json").stdout)["tasks"].values()
    smallest = f"{task['sizes'][0]['smallest']:.2g}"
    assert f"these 150 rows tell two systems apart that differ by {smallest} Accuracy, in 8 of 10 test sets." in text


def test_a_function_called_once_a_key_says_the_same_as_its_metric(project: Path, tmp_path: Path) -> None:
    by_itself = {"metric": {"name": "metrics.py:right", "per": "key"}, "sort": "desc", "worst": 0}
    first, second = (
        {"key": "share", "title": "Share", **by_itself},
        {"key": "share", "title": "Share", "metric": "accuracy"},
    )
    found = [figures(columns(project, tmp_path / name, one)) for name, one in (("own", first), ("known", second))]
    (own,), (known,) = (one["tasks"].values() for one in found)
    assert own["sizes"] == known["sizes"]
    assert 0.05 < own["sizes"][0]["smallest"] < 0.3


def test_a_column_that_the_platform_computes_has_baselines_too(project: Path, tmp_path: Path) -> None:
    metrics = [{"key": name, "title": name, "metric": name} for name in ("accuracy", "f1")]
    mean = {"key": "mean", "title": "Mean", "sort": "desc", "computation": "avg", "of": ["accuracy", "f1"]}
    (task,) = figures(columns(project, tmp_path / "mean", mean, *metrics))["tasks"].values()
    assert (task["title"], task["baseline"]["name"]) == ("Mean", "majority")
    assert task["level"] == pytest.approx((task["baseline"]["score"] + 1) / 2)


def test_a_task_of_a_bundle_without_gold_is_named(by_accuracy: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.zip"
    assert gen_bundle(by_accuracy, "--out", bundle).returncode == 0
    with zipfile.ZipFile(bundle) as opened:
        opened.extractall(tmp_path / "opened")
    declaration = loaded((tmp_path / "opened" / "competition.yaml").read_bytes())
    del declaration["tasks"][0]["reference_data"]
    (tmp_path / "opened" / "competition.yaml").write_text(dumped(declaration))
    done = gen_bundle("power", tmp_path / "opened")
    assert done.returncode == 2
    assert "has no reference_data. Expected gold, to make systems of." in done.stderr


def test_each_task_of_several_tables_has_its_own_answer(project: Path, tmp_path: Path) -> None:
    copied = columns(project, tmp_path / "two")
    declaration = loaded((copied / "bundle.yaml").read_bytes())
    reference, table = declaration.pop("reference"), declaration["submission"]
    half = {**table, "file": "half.csv", "reference": {**reference, "file": "half.csv"}}
    declaration["submission"] = {"tables": {"all": {**table, "reference": reference}, "half": half}}
    declaration["tasks"] = [
        {"id": name, "name": name, "columns": [{"key": f"right_{name}", "metric": {"name": "accuracy", "table": name}}]}
        for name in ("all", "half")
    ]
    (copied / "bundle.yaml").write_text(dumped(declaration))
    shutil.rmtree(copied / "data" / "baselines", ignore_errors=True)
    rows = (copied / "data" / "test" / "gold.csv").read_text().splitlines(keepends=True)
    (copied / "data" / "test" / "half.csv").write_text("".join(rows[:41]))
    found = figures(copied, status=1)["tasks"]  # of 40 rows no interval would be printed
    assert [found[name]["units"] for name in ("all", "half")] == [150, 40]
    assert found["half"]["sizes"][0]["smallest"] > found["all"]["sizes"][0]["smallest"]


def test_a_test_set_that_is_too_small_ends_with_1(by_accuracy: Path, answer: dict[str, Any]) -> None:
    smallest = answer["sizes"][0]["smallest"]
    figures(by_accuracy, "--want", smallest * 1.01)
    done = gen_bundle("power", by_accuracy, *FEW, "--want", smallest / 2)
    assert done.returncode == 1
    assert "is wanted" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--level", "1.5"), "--level 1.5: no system has that Macro F1"),
        (("--gaps", ".01,.9"), "--gaps 0.9: in Classification no system is by so much worse than 0."),
        (("--phase", "tset"), "Did you mean 'test'?"),
        (("--gaps", "a"), "expected numbers separated by commas"),
    ],
)
def test_what_is_wrong_is_said(options: tuple[str, ...], said: str, project: Path) -> None:
    done = gen_bundle("power", project, *FEW, *options)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_package_without_systems_says_so(tmp_path: Path) -> None:
    done = gen_bundle("power", small_competition(tmp_path))
    assert done.returncode == 2
    assert "has no module systems.py" in done.stderr
