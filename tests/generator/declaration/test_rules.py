"""Rules between values, at their edges: what is just allowed, and what is just not."""

from pathlib import Path

import pytest

from gen_bundle.declaration.read import read_competition
from gen_bundle.errors import UserError
from tests.generator.competition import second_task, small_competition


def errors_of(folder: Path, *overrides: str) -> list[str]:
    try:
        read_competition(folder, overrides)
    except UserError as error:
        return list(error.messages)
    return []


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
    assert ["phases.test.start: the phase starts before or when 'dev' ends" in m for m in messages] == [True] * wrong


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
    assert f"{ids[1]!r} stands twice. Expected: a different id for each of the {items}." in message
