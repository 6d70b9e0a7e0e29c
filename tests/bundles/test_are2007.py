"""The declaration, synthetic data and baselines of ARE, and the whole way through the built zip."""

import re
from pathlib import Path

import pytest

from are2007 import organiser, reference
from gen_bundle.build.package.resolve import resolve
from gen_bundle.build.render.pages import render_pages
from gen_bundle.ground.resources import resource
from scoring_kit.organiser import Request
from tests.bundles.replayed import columns_of, files_of, pages
from tests.scoring_programs.framed import score

NAME = "are2007"
FOLDER = resource("bundles") / NAME
TASKS = ["task1", "task2", "task3", "task4"]
LAYOUTS = ["joint", "tasks", "separate"]


def test_the_columns_are_the_exercises_measures() -> None:
    measures = ["f1", "recall", "precision"]
    keys = ["task1_success_rate", *(f"{task}_{measure}" for task in TASKS[1:] for measure in measures)]
    assert list(columns_of(NAME).items()) == [(key, ("desc", 0)) for key in keys]


@pytest.mark.parametrize("phase", ["dev", "test"])
def test_the_data_are_sound_and_hold_what_the_rules_speak_of(phase: str) -> None:
    folder = FOLDER / "data" / phase
    request = Request(reference=str(folder), tasks=TASKS, all_tasks=TASKS, layout="joint", options={})
    assert organiser.check_reference(request) == {"warnings": []}
    gold = reference.read(folder, TASKS, {})
    for task in ("task1", "task3"):
        keys = list(gold.keys[task].values())
        of_pronouns_alone = [chain for key in keys for chain in key.chains if set(chain) <= set(key.pronouns)]
        assert of_pronouns_alone
        assert all(len(key.pronouns) >= 5 for key in keys)


def test_no_text_stands_in_two_tasks() -> None:
    """The marked mentions of one task would answer another one."""
    words = [
        " ".join(re.sub(r"<[^>]*>", " ", text.decode()).split())
        for text in files_of(FOLDER / "data" / "public").values()
    ]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("phase", ["dev", "test"])
def test_the_keys_are_perfect_answers_to_the_tasks_with_chains(tmp_path: Path, phase: str) -> None:
    gold = files_of(FOLDER / "data" / phase)
    keys = {name.replace("-key", "-output"): key for name, key in gold.items() if re.match("task[24]/.*-key", name)}
    outcome = score(tmp_path, NAME, gold, keys)
    assert [outcome.scores[key] for key in columns_of(NAME) if key[:5] in ("task2", "task4")] == [1.0] * 6


@pytest.mark.parametrize("layout", LAYOUTS)
def test_pages(layout: str) -> None:
    rendered = {page: " ".join(text.split()) for page, text in pages(NAME, layout).items()}
    assert rendered["pages/evaluation.md"].count("**Choice") == 13
    assert "start-end" not in rendered["pages/submission.md"]


def test_what_the_boards_are_ranked_by_is_marked_as_a_choice() -> None:
    evaluation = " ".join(pages(NAME)["pages/evaluation.md"].split())
    joint = "the exercise has no ranking over all tasks. The board is ranked by *Task 1 success rate*, its first column"
    assert f"**Choice:** {joint}" in evaluation
    _, _, task3 = evaluation.partition("## Task 3")
    assert "**Choice:** the exercise names precision and recall for this task; the board is ranked by $F_1$" in task3


@pytest.mark.parametrize("task", TASKS)
def test_the_evaluation_page_of_one_task_refers_to_no_section_of_another(task: str) -> None:
    text = render_pages(resolve(FOLDER, layout="separate").only(task))["pages/evaluation.md"].decode()
    others = {f"task {number}" for number in range(1, 5)} - {f"task {task[-1]}"}
    assert not [other for other in others if other in text.lower()]
    if task == "task3":
        section = " ".join(text.partition("## Task 3")[2].split())
        assert (
            "is absent or wrong, if the links go round in a circle, or if the chain has nothing but pronouns" in section
        )
