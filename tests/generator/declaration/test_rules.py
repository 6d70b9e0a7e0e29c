"""Rules between values, at their edges: what is just allowed, and what is just not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.generator.competition import errors_of, second_task, small_competition


@pytest.mark.parametrize(
    ("end", "start", "wrong"),
    [
        ("2031-02-28 12:00:00 UTC", "2031-02-28 12:00:01 UTC", False),
        ("2031-02-28 12:00:00 UTC", "2031-02-28 12:00:00 UTC", True),
        ("2031-02-28 12:00:00 UTC", "2031-02-28 13:00:00 +01:00", True),
        ("2031-02-28 12:00:00 UTC", "2031-02-28 11:59:59 UTC", True),
    ],
)
def test_a_phase_starts_after_the_one_before_has_ended(tmp_path: Path, end: str, start: str, wrong: bool) -> None:
    """Codabench refuses a phase that starts in the second in which the one before ends."""
    dates = ("dev.start=2031-01-01 UTC", f"dev.end={end}", f"test.start={start}", "test.end=2031-03-31 UTC")
    messages = errors_of(small_competition(tmp_path), *(f"phases.{date}" for date in dates))
    said = "phases.test.start: the phase starts before or when 'dev' ends"
    assert [said in each and "Codabench's phases follow each other" in each for each in messages] == [True] * wrong


@pytest.mark.parametrize(
    ("end", "wrong"),
    [
        ("2031-03-02 12:00:01 UTC", False),
        ("2031-03-02 12:00:00 UTC", True),
        ("2031-03-02 11:59:59 UTC", True),
    ],
)
def test_a_phase_ends_after_its_start(tmp_path: Path, end: str, wrong: bool) -> None:
    dates = ("dev.start=2031-01-01 UTC", "dev.end=2031-02-01 UTC", "test.start=2031-03-02 12:00 UTC", f"test.end={end}")
    messages = errors_of(small_competition(tmp_path), *(f"phases.{date}" for date in dates))
    assert ["phases.test.end: the phase ends" in message for message in messages] == [True] * wrong


def test_only_the_last_phase_may_be_endless(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    assert errors_of(folder, "phases.test.end=null") == []
    (message,) = errors_of(folder, "phases.dev.end=null")
    assert "phases.dev" in message
    assert "end is missing. Every phase but the last needs one." in message


def test_nothing_migrates_to_the_first_phase(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    assert errors_of(folder, "phases.test.auto_migrate=true", "phases.dev.auto_migrate=false") == []
    (message,) = errors_of(folder, "phases.dev.auto_migrate=true")
    assert "phases.dev.auto_migrate: nothing can migrate to the first phase" in message


@pytest.mark.parametrize("ids", [("dev", "dev"), ("dev", "Dev"), ("Dev", "dev")])
@pytest.mark.parametrize("items", ["phases", "tasks"])
def test_ids_differ_in_more_than_their_case(tmp_path: Path, items: str, ids: tuple[str, str]) -> None:
    """They name files, and some systems do not tell Dev from dev."""
    overrides = [f"{items}.{place}.id={each}" for place, each in enumerate(ids)]
    (message,) = errors_of(small_competition(tmp_path, second_task), *overrides)
    assert f"{items}.{ids[1]}.id" in message
    assert f"{ids[1]!r} is used twice. Expected: a different id for each of the {items}." in message


def _phases(*phases: dict[str, object]) -> Callable[[dict[str, Any]], None]:
    def change(declaration: dict[str, Any]) -> None:
        second_task(declaration)
        for phase, changed in zip(declaration["phases"], phases, strict=False):
            phase |= changed

    return change


@pytest.mark.parametrize(
    ("dev", "test", "expected"),
    [
        ({}, {"data": "dev"}, []),
        ({"gold": "public"}, {"data": "dev", "gold": "public"}, []),
        ({}, {"data": "dve"}, ["phases.test.data: 'dve' is not the id of a phase. Did you mean 'dev'?"]),
        ({}, {"data": "test"}, ["phases.test.data: 'test' has no data of its own."]),
        ({"data": "test"}, {"data": "dev"}, ["phases.dev.data: 'test' has no data", "phases.test.data: 'dev' has no"]),
        ({"gold": "public"}, {"data": "dev"}, ["phases.test.data: the gold is that of 'dev'."]),
        ({}, {"data": "dev", "gold": "public"}, ["phases.test.gold: the gold is that of 'dev'."]),
        ({"tasks": ["again"]}, {"tasks": ["classification"]}, []),
        ({"tasks": ["agian"]}, {}, ["phases.dev.tasks.0: no task 'agian'. Did you mean 'again'?"]),
        ({"tasks": ["again", "again"]}, {}, ["phases.dev.tasks.1: 'again' is listed twice."]),
        ({"tasks": ["again"]}, {"tasks": ["again"]}, ["tasks.classification.id: no phase has the task"]),
        ({"tasks": []}, {}, ["phases.dev.tasks:"]),
    ],
)
def test_tasks_and_data_of_phases(
    dev: dict[str, object], test: dict[str, object], expected: list[str], tmp_path: Path
) -> None:
    messages = errors_of(small_competition(tmp_path, _phases(dev, test)))
    assert len(messages) == len(expected), messages
    assert all(any(text in message for message in messages) for text in expected), messages


@pytest.mark.parametrize(
    ("milestones", "expected"),
    [
        ([{"name": "Papers due", "date": "2031-03-19 AoE"}], []),
        ([{"name": "Papers due", "date": "2031-03-19"}], ["milestones.0.date: expected a moment such as"]),
        ([{"name": "Papers due", "day": "2031-03-19 AoE"}], ["milestones.0.date: is missing", "unknown key"]),
        ([{"name": "Due", "date": "2031-03-19 AoE"}] * 2, ["milestones.1.name: 'Due' is used twice"]),
    ],
)
def test_milestones(milestones: list[dict[str, str]], expected: list[str], tmp_path: Path) -> None:
    def change(declaration: dict[str, Any]) -> None:
        declaration["milestones"] = [dict(one) for one in milestones]

    messages = errors_of(small_competition(tmp_path, change))
    assert len(messages) == len(expected), messages
    assert all(any(text in message for message in messages) for text in expected), messages


@pytest.mark.parametrize(("title", "wrong"), [("x" * 64, False), ("x" * 65, True), ('""', True)])
def test_titles_of_the_leaderboard_fit_codabench(title: str, wrong: bool, tmp_path: Path) -> None:
    assert bool(errors_of(small_competition(tmp_path), f"leaderboard.title={title}")) is wrong


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        ("manual", False),
        ("all", False),
        ("Add", False),
        ("Add_And_Delete_Multiple", False),
        ("last", True),
        ("best", True),
    ],
)
def test_in_layout_tasks_only_rules_that_keep_all_tasks(rule: str, wrong: bool, tmp_path: Path) -> None:
    """The rules by hand put all of a submission's children on the board (facts of Codabench's strategies)."""
    messages = errors_of(small_competition(tmp_path), "layout=tasks", f"submission_rule={rule}")
    assert ["submission_rule" in message for message in messages] == [True] * wrong


@pytest.mark.parametrize("computation", ["avg", "sum", "min", "max", "avg_rank"])
@pytest.mark.parametrize(
    ("of", "wrong"), [(["macro_f1", "accuracy"], False), (["macro_f1", "macro_f1", "accuracy"], True)]
)
def test_a_column_is_named_once_in_a_computation(computation: str, of: list[str], wrong: bool, tmp_path: Path) -> None:
    def change(declaration: dict[str, Any]) -> None:
        column = {"key": "all", "title": "All", "meaning": "All.", "computation": computation, "of": of}
        column["sort"] = "asc" if computation == "avg_rank" else "desc"
        declaration["tasks"][0]["columns"].append(column)

    messages = errors_of(small_competition(tmp_path, change))
    assert ["'macro_f1' is named twice, and counts once" in message for message in messages] == [True] * wrong
