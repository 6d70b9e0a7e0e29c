"""When a phase takes a submission: between its two dates, which belong to it, and as long as there are some left."""

import datetime as dt
from typing import Any

import pytest

from gen_bundle.codabench.board import Board, closed
from gen_bundle.codabench.competition import Leaderboard, Phase
from gen_bundle.codabench.dates import Instant

START, END = dt.datetime(2031, 3, 1, 12, tzinfo=dt.UTC), dt.datetime(2031, 3, 31, 23, 59, 59, tzinfo=dt.UTC)
SECOND = dt.timedelta(seconds=1)


def phase(
    start: dt.datetime | None = START,
    end: dt.datetime | None = END,
    in_all: int | None = None,
    a_day: int | None = None,
) -> Phase:
    declared = {"id": "test", "name": "Test", "index": 0, "tasks": (), "files": {}, "auto_migrate": False}
    dates = {"start": Instant(start), "end": Instant(end), "start_at": (), "end_at": ()}
    given: dict[str, Any] = {**declared, **dates}
    return Phase(at=(), **given, limit_s=600, a_day=a_day, in_all=in_all)


@pytest.mark.parametrize(
    ("start", "end", "now", "reason"),
    [
        (START, END, START - SECOND, "phase test is not open yet: it starts 2031-03-01 12:00 UTC"),
        (START, END, START, None),
        (START, END, START + SECOND, None),
        (START, END, END, None),
        (START, END, END + SECOND, "phase test is over: it ended 2031-03-31 23:59 UTC"),
        (START, None, END + SECOND, None),
        (START, None, START - SECOND, "phase test is not open yet: it starts 2031-03-01 12:00 UTC"),
        (None, END, START, None),
        (None, END, END + SECOND, "phase test is over: it ended 2031-03-31 23:59 UTC"),
        (None, None, START, None),
    ],
)
def test_a_phase_is_open_from_its_start_to_its_end(
    start: dt.datetime | None, end: dt.datetime | None, now: dt.datetime, reason: str | None
) -> None:
    assert closed(phase(start, end), now) == reason


@pytest.mark.parametrize("tasks", [(), ("a", "b", "c")])
def test_a_submission_for_several_tasks_counts_once(tasks: tuple[str, ...]) -> None:
    board = Board(Leaderboard(columns=()))
    board.submit("1", "ann", tasks)
    board.submit("1", "ben", tasks)
    assert board.used_up(phase(in_all=2, a_day=2), "ann") is None
    board.submit("2", "ann", tasks)
    assert board.used_up(phase(a_day=2), "ann") == "Reached maximum allowed submissions for today for this phase"
    assert board.used_up(phase(in_all=2), "ann") == "Reached maximum allowed submissions for this phase"
    assert board.used_up(phase(in_all=3, a_day=3), "ann") is None
    assert board.used_up(phase(in_all=2, a_day=2), "ben") is None


@pytest.mark.parametrize("limit", [0, None])
def test_no_limit(limit: int | None) -> None:
    board = Board(Leaderboard(columns=()))
    board.submit("1", "ann")
    assert board.used_up(phase(in_all=limit, a_day=limit), "ann") is None


def test_failed_submissions_do_not_count() -> None:
    board = Board(Leaderboard(columns=()))
    board.fail(board.submit("1", "ann"))
    assert board.used_up(phase(in_all=1, a_day=1), "ann") is None
    board.finish(board.submit("2", "ann"))
    assert board.used_up(phase(in_all=1), "ann") is not None
