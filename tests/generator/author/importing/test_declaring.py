"""A foreign scorer is recognised and held against a declaration, which takes its place only where all is equal."""

import errno
import json
import random
import runpy
import sys
import traceback
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from click.testing import CliRunner

from gen_bundle.author.importing.declaring import Declared, declare
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.cli import root
from gen_bundle.dry_run.engines import Container, Ended, LineListener
from gen_bundle.dry_run.engines.process import ProcessEngine
from gen_bundle.ground.errors import UserError
from tests.forks import called
from tests.generator.author.importing.bundles import (
    HALVES_SCORER,
    RESULTS_SCORER,
    csv_text,
    guessed,
    old_bundle,
    plants,
    results_bundle,
)
from tests.generator.author.importing.projects import Files, foreign_project
from tests.generator.dry_run.in_process import InProcessEngine
from tests.sweeps import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers")]


class BothInProcess(InProcessEngine):
    """Runs a foreign program that is Python as well, in the test's own process."""

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        if (container.program / "program.json").exists():
            return super().run(container, seconds=seconds, stdout=stdout, stderr=stderr, on_line=on_line)
        here = {mount.target: str(mount.source) for mount in container.mounts}
        script = str(container.program / container.argv[1].removeprefix("/app/program/"))
        return Ended(called(lambda: _script(script, [here[part] for part in container.argv[2:]]), stdout, stderr), 0.1)


def _script(path: str, arguments: Sequence[str]) -> int:
    argv, sys.argv = sys.argv, [path, *arguments]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its authors' own
            runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        print(end.code, file=sys.stderr)
        return 0 if end.code in (None, 0) else 1
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        sys.argv = argv
    return 0


@pytest.fixture(autouse=True)
def _one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs in the test's own process shares its output."""
    monkeypatch.setattr("gen_bundle.author.importing.comparing.AT_ONCE", 1)


def declared(project: Path) -> Declared:
    return declare(project, BothInProcess(), trust=True)


RNG = random.Random(3)
IDS = [f"q{number}" for number in range(41)]
CLASSES = [RNG.randrange(3) for _ in IDS]
GUESSES = [one if RNG.random() < 0.6 else RNG.randrange(3) for one in CLASSES]
LEVELS = [round(RNG.uniform(1, 9), 3) for _ in IDS]
NEAR = [round(one + RNG.gauss(0, 1), 3) for one in LEVELS]
YES = [int(one == 1) for one in CLASSES]
CHANCES = [round(min(1, max(0, 0.4 * one + RNG.uniform(0, 0.6))), 3) for one in YES]

BY_LINE = """\
import json, sys, numpy as np
from pathlib import Path
i, o = sys.argv[1:]
y = np.genfromtxt(i + "/ref/testing_label")
p = np.genfromtxt(i + "/res/prediction")
if y.shape != p.shape or np.isnan(p).any():
    sys.exit("wrong shape")
Path(o, "scores.json").write_text(json.dumps({"accuracy": float((y == p).mean())}))
"""
LIBSCORES = """\
import sys
from glob import glob
from pathlib import Path
import numpy as np

def r2_metric(solution, prediction):
    return 1 - np.mean((solution - prediction) ** 2) / np.mean((solution - np.mean(solution)) ** 2)

i, o = sys.argv[1:]
solution = np.loadtxt(glob(i + "/ref/*.solution")[0])
prediction = np.loadtxt(glob(i + "/res/*.predict")[0])
if solution.shape != prediction.shape:
    raise ValueError("Mismatch in prediction shape")
if np.isnan(prediction).any():
    raise ValueError("NaN")
Path(o, "scores.txt").write_text("set1_score: %0.12f\\n" % r2_metric(solution, prediction))
"""
ONE_CALL = """\
import csv, json, sys
from pathlib import Path
from sklearn.metrics import mean_squared_error, mean_absolute_error
i, o = sys.argv[1:]
def read(name):
    return [float(row["y"]) for row in csv.DictReader(Path(i + name).read_text().splitlines())]
y, p = read("/ref/y_test.csv"), read("/res/y_pred.csv")
scores = {"rmse": mean_squared_error(y, p) ** 0.5, "mae": mean_absolute_error(y, p)}
Path(o, "scores.json").write_text(json.dumps(scores))
"""
ROUNDED_JSON = """\
import json, sys
from pathlib import Path
i, o = sys.argv[1:]
gold, answers = [json.loads(Path(i + name).read_text()) for name in ("/ref/gold.json", "/res/answers.json")]
if set(gold) != set(answers):
    sys.exit("other keys")
error = sum(gold[one] != answers[one] for one in gold) / len(gold)
Path(o, "scores.json").write_text(json.dumps({"error": round(100 * error, 1)}))
"""
AREAS = """\
import csv, json, sys
from pathlib import Path
from sklearn.metrics import average_precision_score, roc_auc_score
i, o = sys.argv[1:]
def read(name, column):
    return {row["id"]: row[column] for row in csv.DictReader(Path(i + name).read_text().splitlines())}
gold, scores = read("/ref/labels.csv", "label"), read("/res/scores.csv", "prob")
assert set(gold) == set(scores)
y, p = [int(gold[one]) for one in gold], [float(scores[one]) for one in gold]
assert all(0 <= one <= 1 for one in p)
scores = {"AUC": roc_auc_score(y, p), "AP": average_precision_score(y, p)}
Path(o, "scores.json").write_text(json.dumps(scores))
"""
OWN = """\
import json, math, sys
from pathlib import Path
i, o = sys.argv[1:]
y, p = [[float(line) for line in Path(i + name).read_text().split()] for name in ("/ref/y.txt", "/res/p.txt")]
score = sum(math.exp(-abs(a - b)) for a, b in zip(y, p, strict=True))
Path(o, "scores.json").write_text(json.dumps({"score": score}))
"""


def lines(values: Sequence[object]) -> str:
    return "".join(f"{value}\n" for value in values)


def table(header: str, *columns: Sequence[object]) -> str:
    rows = [",".join(str(cell) for cell in row) for row in zip(*columns, strict=True)]
    return lines([header, *rows])


def column(key: str, sort: str = "desc") -> dict[str, Any]:
    return {"key": key, "title": key, "sort": sort, "precision": 3}


class Case(NamedTuple):
    """A scorer with its files, what is recognised, and whether the declaration takes its place."""

    scorer: str
    gold: Files
    solution: Files
    columns: Sequence[Mapping[str, Any]]
    recognised: list[str]
    is_switched: bool


CASES = {
    "a template's accuracy, line by line": Case(
        BY_LINE,
        {"testing_label": lines(CLASSES)},
        {"prediction": lines(GUESSES)},
        [column("accuracy")],
        ["prediction answers testing_label, by line", "accuracy: accuracy (field: answer)"],
        True,
    ),
    "libscores": Case(
        LIBSCORES,
        {"task.solution": lines(LEVELS)},
        {"task_valid.predict": lines(NEAR)},
        [column("set1_score")],
        ["task_valid.predict answers task.solution, by line", "set1_score: r2 (field: answer)"],
        True,
    ),
    "two calls of scikit-learn on a CSV without ids": Case(
        ONE_CALL,
        {"y_test.csv": table("y", LEVELS)},
        {"y_pred.csv": table("y", NEAR)},
        [column("rmse", "asc"), column("mae", "asc")],
        ["y_pred.csv answers y_test.csv, by line", "rmse: rmse (field: y)", "mae: mae (field: y)"],
        True,
    ),
    "a public and a private half": Case(
        HALVES_SCORER,
        {"test_labels.csv": lines(LEVELS), "private_test_labels.csv": lines(LEVELS[::-1])},
        {"test_predictions.csv": lines(NEAR), "private_test_predictions.csv": lines(NEAR[::-1])},
        [column("test", "asc"), {**column("private_test", "asc"), "hidden": True}],
        [
            "private_test_predictions.csv answers private_test_labels.csv, by line",
            "test_predictions.csv answers test_labels.csv, by line",
            "test: mae (table: test_predictions, field: answer)",
            "private_test: mae (table: private_test_predictions, field: answer)",
        ],
        True,
    ),
    "an error rate in per cent, rounded": Case(
        ROUNDED_JSON,
        {"gold.json": json.dumps(dict(zip(IDS, CLASSES, strict=True)))},
        {"answers.json": json.dumps(dict(zip(IDS, GUESSES, strict=True)))},
        [column("error", "asc")],
        ["answers.json answers gold.json, by key", "error: 100 * (1 - accuracy (field: value)), rounded to 1 decimals"],
        False,  # it scores unknown answers, and refuses none
    ),
    "areas under curves": Case(
        AREAS,
        {"labels.csv": table("id,label", IDS, YES)},
        {"scores.csv": table("id,prob", IDS, CHANCES)},
        [column("AUC"), column("AP")],
        [
            "scores.csv answers labels.csv, by id",
            "AUC: roc_auc (field: prob, positive: 1)",
            "AP: average_precision (field: prob, positive: 1)",
        ],
        False,  # an id that comes twice
    ),
    "accuracy and F1 by hand": Case(
        RESULTS_SCORER,
        {"truth.csv": csv_text("id,label", plants("x", 40))},
        {"predictions.csv": csv_text("id,label", guessed(plants("x", 40), 0.6))},
        [column("accuracy"), column("macro_f1")],
        [
            "predictions.csv answers truth.csv, by id",
            "accuracy: accuracy (field: label)",
            "macro_f1: f1 (field: label, average: macro)",
        ],
        False,  # unknown labels, and an id that comes twice
    ),
}


@pytest.mark.parametrize("name", sweep(CASES, ["libscores", "accuracy and F1 by hand"]))
def test_a_common_scorer_is_recognised(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    project = foreign_project(tmp_path / "project", case.scorer, case.gold, case.solution, case.columns)
    before = (project / "bundle.yaml").read_bytes()
    found = declared(project)
    assert found.recognised == case.recognised
    assert (found.differs, found.left) == ([], [])
    assert bool(found.stricter) is not case.is_switched
    assert "31 submissions, 1 of the bundle's own and 30 mutated" in found.compared
    written = yaml.safe_load((project / (found.file or "")).read_text())
    assert written["scoring_program"] == "declared"
    if case.is_switched:
        assert found.file == "bundle.yaml"
        assert (project / "original.yaml").read_bytes() == before
        assert build(BuildRequest(str(project), tmp_path / "bundle.zip", force=True))
    else:
        assert found.file == "declared.yaml"
        assert (project / "bundle.yaml").read_bytes() == before


SAYS_NOTHING = {
    "a metric of its own": (OWN, "no metric of a declaration gives the values of score"),
    "a module that is not here": (
        "import a_module_of_the_image\n",
        "the original scorer gives no scores on this machine: ModuleNotFoundError: No module named "
        "'a_module_of_the_image'",
    ),
    "the same score for everything": (
        'import sys\nopen(sys.argv[2] + "/scores.json", "w").write(\'{"score": 1.0}\')\n',
        "no metric of a declaration gives the values of score",
    ),
}


@pytest.mark.parametrize("name", SAYS_NOTHING)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_nothing_is_declared_without_equal_values_that_differ(name: str, tmp_path: Path) -> None:
    scorer, reason = SAYS_NOTHING[name]
    gold, solution = {"y.txt": lines(LEVELS)}, {"p.txt": lines(NEAR)}
    project = foreign_project(tmp_path / "project", scorer, gold, solution, [column("score")])
    before = sorted(path.name for path in project.iterdir())
    found = declared(project)
    assert found.left == [reason]
    assert (found.compared, found.file) == ("", None)
    assert sorted(path.name for path in project.iterdir()) == before


LENIENT = """\
import csv, json, sys
from pathlib import Path
i, o = sys.argv[1:]
def read(name):
    return {row["id"]: row["y"] for row in csv.DictReader(Path(i + name).read_text().splitlines())}
gold, answers = read("/ref/y_test.csv"), read("/res/y_pred.csv")
assert set(gold) == set(answers)
assert all(abs(float(one)) < 999 for one in answers.values())
error = sum(abs(float(gold[one]) - float(answers[one])) for one in gold) / len(gold)
assert error > 0, "too good to be true"
Path(o, "scores.json").write_text(json.dumps({"mae": error, "seconds": 2.0}))
"""


def test_what_differs_and_what_is_left_is_said_and_the_original_stays(tmp_path: Path) -> None:
    gold, solution = {"y_test.csv": table("id,y", IDS, LEVELS)}, {"y_pred.csv": table("id,y", IDS, NEAR)}
    columns = [column("mae", "asc"), column("seconds", "asc")]
    project = foreign_project(tmp_path / "project", LENIENT, gold, solution, columns)
    found = declared(project)
    (differs,) = found.differs
    assert differs.startswith("15-all-right, task Main: fails (AssertionError: too good to be true); the declaration")
    assert found.left == ["seconds: no metric of this declaration gives its values"]
    assert found.file == "declared.yaml"


def add_final_phase(project: Path, file: str, gold: str) -> None:
    (project / "data" / "final").mkdir()
    (project / "data" / "final" / file).write_text(gold)
    declaration = yaml.safe_load((project / "bundle.yaml").read_text())
    declaration["tasks"].append({"id": "final", "name": "Final", "reference_data": "data/final"})
    declaration["phases"][0]["end"] = "2031-02-01"
    declaration["phases"].append({"id": "final", "name": "Final", "start": "2031-03-01", "tasks": ["final"]})
    (project / "bundle.yaml").write_text(yaml.safe_dump(declaration))


def test_tasks_without_a_solution_are_compared_by_their_gold(tmp_path: Path) -> None:
    gold, solution = {"y_test.csv": table("y", LEVELS)}, {"y_pred.csv": table("y", NEAR)}
    columns = [column("rmse", "asc"), column("mae", "asc")]
    project = foreign_project(tmp_path / "project", ONE_CALL, gold, solution, columns)
    add_final_phase(project, "y_test.csv", table("y", LEVELS[:30]))
    found = declared(project)
    assert "62 submissions, 1 of the bundle's own and 61 mutated" in found.compared
    assert found.is_switched


ONE_TASK_ONLY = """\
import json, sys
from pathlib import Path
i, o = sys.argv[1:]
y, p = [[float(line) for line in Path(i + name).read_text().split()] for name in ("/ref/y.txt", "/res/p.txt")]
if len(y) == 30:
    sys.exit("not yet")
Path(o, "scores.json").write_text(json.dumps({"mae": sum(abs(a - b) for a, b in zip(y, p, strict=True)) / len(y)}))
"""


def test_a_task_that_nothing_is_scored_for_leaves_the_original(tmp_path: Path) -> None:
    """What both refuse is equal, and says nothing."""
    project = foreign_project(
        tmp_path / "project", ONE_TASK_ONLY, {"y.txt": lines(LEVELS)}, {"p.txt": lines(NEAR)}, [column("mae", "asc")]
    )
    add_final_phase(project, "y.txt", lines(LEVELS[:30]))
    found = declared(project)
    assert found.left == ["task Final: nothing to compare by, no submission is scored by both"]
    assert not found.is_switched


class FullDisk(BothInProcess):
    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_what_fails_by_this_machine_is_no_refusal_by_both(tmp_path: Path) -> None:
    case = CASES["libscores"]
    project = foreign_project(tmp_path / "project", case.scorer, case.gold, case.solution, case.columns)
    (left,) = declare(project, FullDisk(), trust=True).left
    assert left.startswith("the programs cannot be run on this machine: ")


def said(monkeypatch: pytest.MonkeyPatch, bundle: Path, out: Path) -> str:
    """What `import --declare` prints of a bundle."""
    monkeypatch.setattr(import_module("gen_bundle.dry_run.engines.choose"), "ProcessEngine", BothInProcess)
    done = CliRunner().invoke(root, ["import", str(bundle), "--out", str(out), "--declare", "--trust"])
    assert done.exit_code == 0, done.stderr
    return done.stderr


def test_the_verb_says_what_it_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = said(monkeypatch, results_bundle(tmp_path / "bundle"), tmp_path / "project")
    for line in (
        "recognised: predictions.csv answers truth.csv, by id\n",
        "recognised: macro_f1: f1 (field: label, average: macro)\n",
        "compared: 62 submissions, 2 of the bundle's own and 60 mutated: 84 of 96 values equal; 14 submissions refused",
        "only the original scores it: 25-unknown-answer, task Plants dev: accuracy 0.83",
        "bundle.yaml stays as it was imported, with the original program\n",
        "the declaration is in declared.yaml; it takes effect under the name bundle.yaml\n",
    ):
        assert line in text
    assert yaml.safe_load((tmp_path / "project/declared.yaml").read_text())["raw"] is True


def test_the_verb_says_why_there_is_no_declaration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = said(monkeypatch, old_bundle(tmp_path / "bundle"), tmp_path / "project")
    assert "not declared: no solution is attached to a task, so that there is nothing to compare by\n" in text
    assert not (tmp_path / "project/declared.yaml").exists()


def test_programs_of_others_run_only_apart_or_with_trust(tmp_path: Path) -> None:
    case = CASES["libscores"]
    project = foreign_project(tmp_path / "project", case.scorer, case.gold, case.solution, case.columns)
    with pytest.raises(UserError, match=r"project: its programs are somebody else's, .* add --trust\."):
        declare(project, ProcessEngine(keep_apart=False))


def test_solutions_that_are_programs_run_only_apart_or_with_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the programs that run them are our own."""
    monkeypatch.setattr(import_module("gen_bundle.dry_run.engines.choose"), "programs_of_others", lambda bundle: [])
    case = CASES["libscores"]
    project = foreign_project(tmp_path / "project", case.scorer, case.gold, case.solution, case.columns)
    declaration = yaml.safe_load((project / "bundle.yaml").read_text())
    declaration["programs"]["ingestion"] = "programs/score"
    (project / "bundle.yaml").write_text(yaml.safe_dump(declaration))
    with pytest.raises(UserError, match=r"add --trust\."):
        declare(project, ProcessEngine(keep_apart=False))
