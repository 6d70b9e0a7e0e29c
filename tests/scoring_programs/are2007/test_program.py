"""ARE's scoring program as it runs on the platform: exit codes, what it leaves behind, what it needs."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from gen_bundle.ground.resources import resource
from tests.bundles.replayed import columns_of, files_of
from tests.scoring_programs.are2007.cases import chain, document, pair
from tests.scoring_programs.framed import run_without, score

NAME = "are2007"
GOLD = files_of(resource("bundles") / NAME / "data" / "dev")
ANSWER = files_of(resource("bundles") / NAME / "data" / "baselines" / "dev" / "good")


@pytest.mark.slow
def test_it_runs_without_torch_transformers_pandas_and_scikit_learn(tmp_path: Path) -> None:
    outcome = run_without(tmp_path, ("torch", "transformers", "pandas", "sklearn", "nltk"), NAME, GOLD, ANSWER)
    assert outcome.exit_code == 0, outcome.stderr
    assert set(outcome.scores) == set(columns_of(NAME))
    assert set(outcome.details) == {"signature", "warnings", "tasks"}
    assert outcome.details["tasks"]["task3"]["attempted"]["value"] > 20
    assert outcome.page is not None
    assert "Success rate by text" in outcome.page


@pytest.mark.parametrize("layout", ["tasks", "separate"])
def test_a_task_of_its_own_gives_the_same_scores(tmp_path: Path, layout: str) -> None:
    whole = score(tmp_path / "whole", NAME, GOLD, ANSWER).scores
    gold = {name: text for name, text in GOLD.items() if name.startswith("task4/")}
    answer = ANSWER
    if layout == "separate":
        answer = {name.removeprefix("task4/"): text for name, text in ANSWER.items() if name.startswith("task4/")}
    scores = score(tmp_path / "one", NAME, gold, answer, tasks=["task4"], layout=layout).scores
    own = ["task4_f1", "task4_recall", "task4_precision"]
    assert {key: scores[key] for key in own} == {key: whole[key] for key in own}


@pytest.mark.parametrize(
    ("task", "answer", "withheld"),
    [
        ("task1", pair("4", "2"), ("scored_1", "scored_half")),
        ("task2", chain("2", "5"), ("response_links", "common_links")),
        ("task3", pair("19 20", "11 13"), ("attempted", "pronouns_found")),
        ("task4", chain("1 2", "29 30"), ("response_links", "common_links")),
    ],
    ids=["task1", "task2", "task3", "task4"],
)
def test_what_tells_whether_a_single_answer_is_right_is_withheld(
    tmp_path: Path, task: str, answer: str, withheld: Sequence[str]
) -> None:
    """However many pronouns or links the gold has."""
    text = f"dev-{task}-news-1"
    whole = score(tmp_path / "whole", NAME, GOLD, ANSWER)
    assert whole.page is not None
    assert f"<span>{text}</span>" in whole.page
    one = {**dict.fromkeys(ANSWER, "<document/>"), f"{task}/{text}-output.xml": document(answer)}
    outcome = score(tmp_path / "one", NAME, GOLD, one)
    assert outcome.exit_code == 0, outcome.stderr
    for key in withheld:
        assert whole.details["tasks"][task][key]["value"] is not None
        assert outcome.details["tasks"][task][key]["value"] is None
    assert outcome.page is not None
    assert f"<span>{text}</span>" not in outcome.page


def test_no_answer_at_all_scores_nothing(tmp_path: Path) -> None:
    outcome = score(tmp_path, NAME, GOLD, dict.fromkeys(ANSWER, "<document/>"))
    assert outcome.exit_code == 0
    assert outcome.scores == dict.fromkeys(columns_of(NAME), 0.0)
