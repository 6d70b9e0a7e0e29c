"""What a build tries of a scoring package: columns, template and baselines."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.package.phase_data import check_columns, prepare_phases, try_out
from gen_bundle.build.package.resolve import resolve
from gen_bundle.ground.resources import competitions
from tests.generator.build.looking import built, edit, refused
from tests.generator.competition import second_module, second_task, small_competition

pytestmark = pytest.mark.usefixtures("kept_organisers", "forked_python")

SCORER = """
from scoring_kit.results import Metric, TaskResult
{constants}

def score(reference, submission, options):
    return TaskResult({{"macro_f1": Metric({value}, 3), "accuracy": Metric(0.5, 3)}})
"""


def errors(folder: Path) -> str:
    return "\n".join(refused(folder))


def scorer(folder: Path, value: str = "0.5", constants: str = "") -> None:
    code = folder / "my_task" / "classification.py"
    code.write_text(SCORER.format(value=value, constants=constants), encoding="utf-8")


def misspelt(declaration: dict[str, Any]) -> None:
    declaration["tasks"][0]["columns"][0]["key"] = "macro_f"


@pytest.mark.slow
@pytest.mark.parametrize("name", competitions())
def test_every_competition_names_exactly_the_metrics_that_its_tasks_give(name: str, tmp_path: Path) -> None:
    competition = resolve(competitions()[name])
    with competition.opened() as opened:
        named = check_columns(opened)
        models = {task for task, own in named.items() if own["needs_model"]}
        assert models == ({"a1", "b", "c"} if name == "clpsych2025" else set())
        trial = try_out(opened, named, prepare_phases(opened, tmp_path), tmp_path)
    tried = {column.key for task, column in competition.columns if task.id not in models}
    for phase in ("dev", "test"):
        if competition.takes_code:  # a build does not run submitted code, baselines included
            assert trial.baselines[phase] == {}
            continue
        assert len(trial.baselines[phase]) == 2
        assert {key for scores in trial.baselines[phase].values() for key in scores} == tried
    assert all(set(own["metrics"] or ()) for own in named.values())


def test_a_misspelt_column_is_found_by_the_names_of_the_metrics(tmp_path: Path) -> None:
    found = errors(small_competition(tmp_path, misspelt))
    assert found == (
        "tasks.classification.columns.macro_f: my_task/classification.py gives no such metric. Did you mean 'macro_f1'?"
    )


@pytest.mark.slow
def test_a_misspelt_column_is_found_by_scoring_where_no_metrics_are_named(tmp_path: Path) -> None:
    folder = small_competition(tmp_path, misspelt)
    scorer(folder)
    found = errors(folder)
    assert "dev: the template that organiser.py writes: tasks.classification.columns.macro_f: " in found
    assert found.endswith("test: the template that organiser.py writes, test: baselines/test/majority.")
    assert "macro_f1, accuracy" in found


def test_a_misspelt_column_of_a_task_with_a_model_is_found(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(competitions()["clpsych2025"], tmp_path / "clpsych2025"))
    edit(folder / "bundle.yaml", "b_max_entailment", "b_max_entailments")
    assert errors(folder).endswith("b.py gives no such metric. Did you mean 'b_max_entailment'?")


@pytest.mark.slow
def test_a_task_with_a_model_names_its_metrics_and_is_not_scored(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    scorer(folder, "1 / 0", "NEEDS_MODEL = True")
    assert "classification.py: sets NEEDS_MODEL and has no METRICS" in errors(folder)
    scorer(folder, "1 / 0", 'NEEDS_MODEL = True\nMETRICS = ["macro_f1", "accuracy"]')
    assert built(folder).errors == ()


@pytest.mark.slow
def test_a_typo_in_entered_is_found(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    edit(folder / "my_task" / "submission.py", '({"classification"})', '({"clasification"})')
    assert "my_task/submission.py: `entered` names 'clasification'" in errors(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("float('nan')", ["tasks.classification.columns.macro_f1: the metric macro_f1 is undefined"]),
        (
            "1 / 0",
            ["my_task/score: failed with ZeroDivisionError: division by zero", "my_task/classification.py:6 in score"],
        ),
    ],
)
def test_a_template_that_crashes_the_scorer_is_found(tmp_path: Path, value: str, expected: list[str]) -> None:
    folder = small_competition(tmp_path)
    scorer(folder, value)
    found = errors(folder)
    assert [message for message in expected if message not in found] == []
    assert "dev: the template that organiser.py writes: " in found


@pytest.mark.slow
def test_a_task_that_nothing_enters_and_that_names_no_metrics_is_told(tmp_path: Path) -> None:
    folder = small_competition(tmp_path, second_task)
    second_module(folder)
    assert not [note for note in built(folder).notes if "again" in note]
    edit(folder / "my_task" / "again.py", "METRICS =", "_ =")
    (note,) = [note for note in built(folder).notes if "again" in note]
    assert note.startswith("tasks.again: neither template nor baselines enter it")


@pytest.mark.slow
def test_without_the_scorers_packages_a_build_says_that_it_did_not_score(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    scorer(folder, "__import__('a_package_nobody_has')")
    (note,) = [note for note in built(folder).notes if "a_package_nobody_has" in note]
    assert note.startswith("Neither template nor baselines were scored. The Python package a_package_nobody_has")
    assert "pip install" in note
