"""SeeDev and ARE, which have a folder of files for each task: what their programs need, and tasks by themselves."""

from pathlib import Path

import pytest

from gen_bundle.ground.resources import resource
from tests.bundles.replayed import columns_of, files_of
from tests.scoring_programs.framed import run_without, score

TASK = {"seedev2016": "full", "are2007": "task4"}
SHOWN = {"seedev2016": "Regulates_<wbr>Process", "are2007": "Success rate by text"}
ABOVE_0 = {
    "seedev2016": (("full", "substitutions"), ("binary", "f1.Regulates_Process")),
    "are2007": (("task3", "attempted"),),
}
EMPTY = {"seedev2016": ("", {"full_ser": 1.0}), "are2007": ("<document/>", {})}


@pytest.fixture(params=TASK)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def gold(name: str) -> dict[str, bytes]:
    return files_of(resource("bundles") / name / "data" / "dev")


@pytest.fixture
def answer(name: str) -> dict[str, bytes]:
    return files_of(resource("bundles") / name / "data" / "baselines" / "dev" / "good")


@pytest.mark.slow
def test_they_run_without_torch_transformers_pandas_and_scikit_learn(
    tmp_path: Path, name: str, gold: dict[str, bytes], answer: dict[str, bytes]
) -> None:
    outcome = run_without(tmp_path, ("torch", "transformers", "pandas", "sklearn", "nltk"), name, gold, answer)
    assert outcome.exit_code == 0, outcome.stderr
    assert set(outcome.scores) == set(columns_of(name))
    assert set(outcome.details) == {"signature", "warnings", "tasks"}
    for task, metric in ABOVE_0[name]:
        assert outcome.details["tasks"][task][metric]["value"] > 0
    assert outcome.page is not None
    assert SHOWN[name] in outcome.page


@pytest.mark.parametrize("layout", ["tasks", "separate"])
def test_a_task_of_its_own_gives_the_same_scores(
    tmp_path: Path, name: str, gold: dict[str, bytes], answer: dict[str, bytes], layout: str
) -> None:
    whole, task = score(tmp_path / "whole", name, gold, answer).scores, TASK[name]
    own_gold = {file: text for file, text in gold.items() if file.startswith(f"{task}/")}
    if layout == "separate":
        answer = {file.removeprefix(f"{task}/"): text for file, text in answer.items() if file.startswith(f"{task}/")}
    scores = score(tmp_path / "one", name, own_gold, answer, tasks=[task], layout=layout).scores
    own = [key for key in columns_of(name) if key.startswith(f"{task}_")]
    assert len(own) >= 3
    assert {key: scores[key] for key in own} == {key: whole[key] for key in own}


def test_no_answer_at_all_finds_nothing(
    tmp_path: Path, name: str, gold: dict[str, bytes], answer: dict[str, bytes]
) -> None:
    nothing, others = EMPTY[name]
    outcome = score(tmp_path, name, gold, dict.fromkeys(answer, nothing))
    assert outcome.exit_code == 0
    assert outcome.scores == {**dict.fromkeys(columns_of(name), 0.0), **others}
