"""What a function beside bundle.yaml imports: modules that travel with it, and packages that the image has not."""

import json
import sys
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner

from gen_bundle.build.package import programs
from gen_bundle.build.package.programs import absent_imports, differing_there
from gen_bundle.build.package.resolve import resolve
from gen_bundle.cli import root
from gen_bundle.codabench.worker import PACKAGES, PLATFORM_IMAGE
from tests.scoring_programs.declared.declaring import by_id, columns_of, faults_of, one_task
from tests.scoring_programs.declared.test_own_functions import LABEL, project

pytestmark = pytest.mark.slow
ON_THE_PLATFORM = f"docker_image={PLATFORM_IMAGE}"
FUNCTION = "\n\ndef mine(gold, predicted):\n    return own_scorer.value(gold, predicted)\n"
NUMBER = "\n\ndef mine(gold, predicted):\n    return 1.0\n"
LAZILY = NUMBER + "\n\ndef plot():\n    import no_such\n"
SCORER = "def value(gold, predicted):\n    return 0.75\n"


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(root, [str(argument) for argument in arguments])
    return done.exit_code, done.output


def test_a_module_that_is_listed_travels_and_is_imported(tmp_path: Path) -> None:
    folder = project(tmp_path, "import own_scorer" + FUNCTION, ["own_scorer.py"])
    (folder / "own_scorer.py").write_text(SCORER, encoding="utf-8")
    status, said = run(folder, "--out", tmp_path / "b.zip")
    assert status == 0, said
    assert "own_scorer" not in said.replace("./own_scorer.py", "")
    (tmp_path / "team.csv").write_text("id,label\na,yes\nb,yes\nc,no\nd,no\n", encoding="utf-8")
    status, said = run("dry-run", tmp_path / "b.zip", "--engine", "process", "--trust", "--out", tmp_path / "out")
    assert status == 0, said
    runs = json.loads((tmp_path / "out" / "dry-run.json").read_text(encoding="utf-8"))["runs"]
    assert {run["scores"]["own"] for run in runs} == {0.75}


@pytest.mark.parametrize(
    ("place", "text", "expected"),
    [
        ("own_scorer.py", "import own_scorer" + FUNCTION, "scoring_files: [own_scorer.py]."),
        ("own_scorer.py", FUNCTION.replace("    return", "    import own_scorer\n    return"), "scoring_files: ["),
        ("own_scorer/__init__.py", "import own_scorer" + FUNCTION, "its code in files beside bundle.yaml, named in "),
    ],
)
def test_one_that_is_not_is_no_package_to_be_installed(tmp_path: Path, place: str, text: str, expected: str) -> None:
    folder = project(tmp_path, text)
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / place).write_text(SCORER, encoding="utf-8")
    status, said = run(folder, "--out", tmp_path / "b.zip")
    assert status == 2
    where = "own_scorer lies beside bundle.yaml, and does not travel with the code that imports it."
    assert f"{where} Expected {expected}" in said
    assert "pip install" not in said


@pytest.mark.parametrize(
    ("text", "surely"),
    [
        ("import own_scorer" + FUNCTION, True),
        (FUNCTION.replace("    return", "    import own_scorer\n    return"), False),
        ("import further" + NUMBER, True),
        (NUMBER, False),
    ],
)
def test_of_modules_that_travel_those_count_that_a_function_needs(tmp_path: Path, text: str, surely: bool) -> None:
    folder = project(tmp_path, text, ["own_scorer.py", "further.py"])
    (folder / "own_scorer.py").write_text(f"import no_such\n{SCORER}", encoding="utf-8")
    (folder / "further.py").write_text("from own_scorer import value\n", encoding="utf-8")
    assert absent_imports(resolve(folder, overrides=(ON_THE_PLATFORM,))) == {"no_such": surely}


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("import no_such.part, numpy, csv" + NUMBER, {"no_such": True}),
        ("from no_such import part" + NUMBER, {"no_such": True}),
        ("try:\n    import no_such\nexcept ImportError:\n    no_such = None" + NUMBER, {"no_such": False}),
        ("if __name__ == '__main__':\n    import no_such" + NUMBER, {"no_such": False}),
        (LAZILY, {"no_such": False}),
        ("from sklearn.metrics import f1_score" + NUMBER, {}),
    ],
)
def test_what_the_image_has_not_is_looked_for(text: str, absent: dict[str, bool], tmp_path: Path) -> None:
    folder = project(tmp_path, text)
    assert absent_imports(resolve(folder, overrides=(ON_THE_PLATFORM,))) == absent
    assert absent_imports(resolve(folder, overrides=("docker_image=me/mine:1",))) == {}


@pytest.mark.parametrize(("text", "surely"), [("import no_such" + NUMBER, True), (LAZILY, False)])
def test_what_the_image_has_not_keeps_a_bundle_a_draft_that_cannot_work(
    text: str, surely: bool, tmp_path: Path
) -> None:
    status, said = run(project(tmp_path, text), "--out", tmp_path / "b.zip", "--set", ON_THE_PLATFORM)
    assert status == 0, said
    lacking = f"missing: {PLATFORM_IMAGE} has no no_such, which the competition's own code imports."
    assert (lacking in said) is surely
    assert ("note: no_such: imported somewhere in the competition's own code" in said) is not surely
    status, said = run("check", tmp_path / "b.zip")
    assert ("needs no_such, which" in said) is surely
    assert ("it cannot work" in said) is surely


@pytest.mark.parametrize("python", ["3.0", "4.0"])
def test_where_versions_are_others_than_here_a_build_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: str
) -> None:
    monkeypatch.setitem(PACKAGES, "scikit-learn", "0.1")
    monkeypatch.setattr(programs, "PYTHON", python)
    folder = project(tmp_path, "import csv\nfrom sklearn import metrics\nfrom scipy.stats import tmean" + NUMBER)
    declared = (ON_THE_PLATFORM, "requirements=[scipy==0.1]")
    expected = [f"scikit-learn==0.1 ({metadata.version('scikit-learn')} is installed)"]
    if python == "3.0":
        expected.append("Python 3.0 ({}.{} runs here)".format(*sys.version_info[:2]))
        _, said = run(folder, "--out", tmp_path / "b.zip", "--set", ON_THE_PLATFORM)
        assert f"own code runs in {PLATFORM_IMAGE} with scikit-learn==0.1 (" in said
    assert differing_there(resolve(folder, overrides=declared)) == expected
    assert differing_there(resolve(folder, overrides=("docker_image=me/mine:1",))) == []


@pytest.mark.parametrize(("name", "key"), [("random.py", "scoring_files.0"), ("numpy.py", "tasks.0.columns.0.metric")])
def test_the_name_of_another_module_is_refused(tmp_path: Path, name: str, key: str) -> None:
    for file in ("metrics.py", name):
        (tmp_path / file).touch()
    own, files = ("metrics.py", [name]) if key.startswith("scoring") else (name, [])
    (fault,) = faults_of(one_task(by_id(LABEL), columns_of(c=f"{own}:mine"), scoring_files=files), tmp_path)
    assert fault.startswith(f"{key}: {name} has the name of a module of Python, of the platform's image or of ")
