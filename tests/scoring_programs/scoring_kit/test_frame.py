"""What every scoring program promises: exit status, files, messages; seen from outside, as the platform sees it."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.package.programs import program_members
from gen_bundle.build.package.resolve import resolve
from scoring_kit.base.environment import what_is_missing
from scoring_kit.errors import Problems, SubmissionError
from tests.generator.competition import second_task, small_competition
from tests.scoring_programs.packed import Outcome, run_unit, run_unpacked

GOLD = "id,label\nt1,positive\nt2,negative\nt3,CANARY_GOLD\n"
SCORER = """
from scoring_kit.results import Metric, TaskResult

def score(reference, submission, options):
    value = {value}
    return TaskResult({{"macro_f1": Metric(value, 3), "accuracy": Metric(0.5, 3), "extra": Metric(0.25, 2)}})
"""


class Case:
    """A packed program whose scorer, gold data and submission a test chooses."""

    def __init__(self, tmp_path: Path) -> None:
        self.tmp_path = tmp_path
        self.folder = small_competition(tmp_path)
        self.reference = tmp_path / "reference"
        self.submission = tmp_path / "submission"
        self.reference.mkdir()
        self.submission.mkdir()
        self.gold("id,label\nt1,positive\nt2,negative\nt3,neutral\n")
        self.predict("id,label\nt1,positive\nt2,negative\nt3,negative\n")

    def gold(self, text: str) -> None:
        (self.reference / "gold.csv").write_text(text, encoding="utf-8")

    def predict(self, text: str, name: str = "predictions.csv") -> None:
        path = self.submission / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def scorer(self, value: str) -> None:
        (self.folder / "my_task" / "classification.py").write_text(SCORER.format(value=value), encoding="utf-8")

    def rewrite(self, old: str, new: str, module: str = "classification") -> None:
        """Put another text into a module of the package."""
        path = self.folder / "my_task" / f"{module}.py"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def run(self, environment: Mapping[str, str] | None = None, **options: Any) -> Outcome:
        competition = resolve(self.folder, **options)
        members = program_members(competition, competition.parts[0])
        return run_unit(self.tmp_path, members, self.reference, self.submission, environment)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


@pytest.mark.slow
def test_a_scored_submission(case: Case) -> None:
    outcome = case.run()
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.scores == {"macro_f1": pytest.approx((1 + 2 / 3 + 0) / 3), "accuracy": pytest.approx(2 / 3)}
    assert outcome.details["tasks"]["classification"]["accuracy"] == {"value": pytest.approx(2 / 3), "rows": 3}
    assert outcome.details["signature"] in outcome.stdout
    assert outcome.details["signature"] in (outcome.page or "")
    assert "competition:my-task|tasks:classification" in outcome.details["signature"]


@pytest.mark.slow
def test_an_undefined_column_gets_its_worst(case: Case) -> None:
    case.scorer("None")
    assert case.run().scores["macro_f1"] == 0


@pytest.mark.slow
def test_columns_without_a_metric_are_the_organisers(case: Case) -> None:
    case.scorer("0.5")
    case.rewrite('"macro_f1"', '"f1.GOLD_LABEL"')
    case.rewrite('"accuracy"', '"share"')
    outcome = case.run()
    assert outcome.exit_code == 2
    assert outcome.scores is None
    for key in ("macro_f1", "accuracy"):
        expected = f"columns.{key}: the scoring program has no such metric. Expected one of share, extra as"
        assert expected in outcome.stderr
    assert "GOLD_LABEL" not in outcome.stderr


def test_numbers_of_problems_add_up() -> None:
    problems = Problems()
    for at in range(300):
        problems.error(f"a.json[{at}].label", "is empty", "a label" if at % 2 else f"the label {at}")
    with pytest.raises(SubmissionError) as caught:
        problems.stop_if_any()
    first, *shown, more, _ = caught.value.report().splitlines()
    assert first == "The submission cannot be scored: 300 problems found."
    assert shown[1] == (
        "a.json[1].label: is empty. Expected: a label. The same in 149 more lines: 3, 5, 7, 9, 11, 13, 15, 17, …."
    )
    assert (len(shown), more) == (50, "… and 101 more.")


@pytest.mark.slow
def test_a_submission_that_is_not_copied_to_the_predictions_is_read_where_it_is_mounted(case: Case) -> None:
    case.submission.rename(case.tmp_path / "ingested_program")
    case.predict("exitCode: null", "metadata")  # which the worker writes there
    outcome = case.run()
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.scores["accuracy"] == pytest.approx(2 / 3)


@pytest.mark.slow
def test_links_in_a_submission_are_refused(case: Case) -> None:
    (case.submission / "more.csv").symlink_to(case.reference / "gold.csv")
    (case.submission / "circle").symlink_to("circle")
    (case.submission / "nowhere").symlink_to("missing")
    (case.submission / "gold").symlink_to(case.reference)
    outcome = case.run()
    assert outcome.exit_code == 1
    for name in ("more.csv", "circle", "nowhere"):
        assert f'"{name}": is not a regular file. Expected: only regular files and folders.' in outcome.stderr
    assert '"gold": is a link. Expected: only regular files and folders.' in outcome.stderr


def test_missing_reference_data_are_the_organisers(case: Case) -> None:
    (case.reference / "gold.csv").unlink()
    case.reference.rmdir()
    outcome = case.run()
    assert outcome.exit_code == 2
    assert "input/ref" in outcome.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "advice"),
    [
        ("a_package_nobody_has", "If that is its right name, install it: pip install a_package_nobody_has."),
        ("sklearn", "Install it: pip install scikit-learn."),
    ],
)
def test_a_missing_package_is_the_organisers_and_says_how_to_get_it(case: Case, package: str, advice: str) -> None:
    elsewhere = "[path for path in sys.path if 'site-packages' not in path]"
    case.scorer(f"sys.modules.pop('{package}', 0), setattr(sys, 'path', {elsewhere}), __import__('{package}')")
    case.rewrite("from scoring_kit", "import sys\nfrom scoring_kit")
    outcome = case.run()
    assert outcome.exit_code == 2
    assert f"The Python package {package} is missing on this machine. {advice}" in outcome.stderr
    assert "image" not in outcome.stderr


def test_in_a_container_a_package_is_missing_from_the_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/app/program/score.py"])
    expected = "The Python package torch is missing from the image that runs this program."
    assert what_is_missing("torch") == expected


@pytest.mark.slow
def test_a_module_that_a_package_lacks_is_a_bug_and_nothing_to_install(case: Case) -> None:
    case.scorer("__import__('my_task.clasification')")
    outcome = case.run({"SCORING_DEBUG": "1"})
    assert outcome.exit_code == 3
    assert "No module named 'my_task.clasification'" in outcome.stderr
    assert "Install" not in outcome.stderr


@pytest.mark.slow
@pytest.mark.parametrize("value", ["float('nan')", "-float('inf')"])
def test_an_undefined_score_is_the_organisers_and_names_column_and_metric(case: Case, value: str) -> None:
    case.scorer(value)
    outcome = case.run()
    assert (outcome.exit_code, outcome.scores) == (2, None)
    assert "tasks.classification.columns.macro_f1: the metric macro_f1 is undefined" in outcome.stderr
    assert "accuracy" not in outcome.stderr


@pytest.mark.slow
def test_an_undefined_metric_of_a_label_does_not_name_the_label(case: Case) -> None:
    case.scorer("0.5")
    case.rewrite('"extra": Metric(0.25', '"f1: GOLD_LABEL": Metric(float("nan")')
    outcome = case.run()
    assert outcome.exit_code == 2
    assert "classification: the metric f1 is undefined" in outcome.stderr
    assert "GOLD_LABEL" not in outcome.stderr


@pytest.mark.slow
def test_an_entered_task_that_there_is_not_is_the_organisers(case: Case) -> None:
    case.rewrite('frozenset({"classification"})', 'frozenset({"clasification"})', "submission")
    outcome = case.run()
    assert (outcome.exit_code, outcome.scores) == (2, None)
    assert "my_task/submission.py: `entered` names 'clasification'" in outcome.stderr
    assert "Expected some of classification." in outcome.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("environment", "shown"), [({}, False), ({"SCORING_DEBUG": "1"}, True)])
def test_a_librarys_warning_is_there_for_debugging_alone(
    case: Case, environment: Mapping[str, str], shown: bool
) -> None:
    case.scorer("float(np.log(np.zeros(1))[0] == 0)")
    always = "import warnings\nimport numpy as np\nwarnings.simplefilter('always')\n"  # as some libraries ask for
    case.rewrite("from scoring_kit", f"{always}from scoring_kit")
    outcome = case.run(environment)
    assert outcome.exit_code == 0
    assert ("RuntimeWarning: divide by zero" in outcome.stderr) is shown
    assert shown or outcome.stderr == ""


@pytest.mark.slow
def test_a_task_that_is_not_scored_gets_its_worst(tmp_path: Path) -> None:
    def change(declaration: dict[str, Any]) -> None:
        second_task(declaration)
        declaration["submission_rule"] = "all"
        declaration["tasks"][1]["columns"][0].update(sort="asc", worst=81)

    case = Case(tmp_path / "parent")
    folder = small_competition(tmp_path / "two", change)
    (folder / "my_task" / "again.py").write_text("raise ImportError", encoding="utf-8")
    case.folder = folder
    outcome = case.run(layout="tasks")
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.scores["again_f1"] == 81
    assert outcome.scores["accuracy"] == pytest.approx(2 / 3)
    assert list(outcome.details["tasks"]) == ["classification"]


@pytest.mark.slow
def test_one_task_alone_by_option(case: Case, tmp_path: Path) -> None:
    case.run()

    def run(task: str) -> int:
        arguments: list[str | Path] = [tmp_path / "input", tmp_path / "one", "--task", task]
        return run_unpacked(tmp_path / "program", arguments, tmp_path / "stdout", tmp_path / "stderr", {})

    assert run("classification") == 0
    assert set(json.loads((tmp_path / "one" / "scores.json").read_text(encoding="utf-8"))) == {"macro_f1", "accuracy"}
    assert run("other") == 2
    assert "Expected one of classification" in (tmp_path / "stderr").read_text(encoding="utf-8")
