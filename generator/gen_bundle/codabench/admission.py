"""Whether a phase takes a submission: dates and quotas, which count only with `--enforce-limits`."""

import datetime as dt
from typing import Protocol

from gen_bundle.codabench.board import Board


class Phase(Protocol):
    """What decides on submissions to a phase."""

    @property
    def id(self) -> str:
        """What it is called in messages."""

    @property
    def start(self) -> dt.datetime | None:
        """When it opens, in UTC."""

    @property
    def end(self) -> dt.datetime | None:
        """Its last moment, in UTC; None for endless."""

    @property
    def max_submissions(self) -> int | None:
        """Submissions of a participant in all; 0 and None for no limit."""

    @property
    def max_submissions_per_day(self) -> int | None:
        """Likewise for a day."""


def closed(phase: Phase, now: dt.datetime) -> str | None:
    """Why a phase takes no submission now, or None.

    In 1.25 only the web page looks at the dates, and the API takes submissions to phases that are over; in 1.32 (read
    in threads and forks) the API answers 400.
    """
    if phase.start is not None and now < phase.start:
        return f"phase {phase.id} is not open yet: it starts {phase.start:%Y-%m-%d %H:%M} UTC"
    if phase.end is not None and now > phase.end:
        return f"phase {phase.id} is over: it ended {phase.end:%Y-%m-%d %H:%M} UTC"
    return None


def used_up(phase: Phase, board: Board, owner: str) -> str | None:
    """Why a participant has no submission left, or None.

    Source: Codabench `competitions/models.py`, `Phase.can_user_make_submissions`: failed submissions and children do
    not count; 0 and null mean no limit. A dry run takes place within one day.
    """
    made = sum(1 for entry in board.entries if entry.owner == owner and entry.parent is None and not entry.failed)
    if phase.max_submissions_per_day and made >= phase.max_submissions_per_day:
        return "Reached maximum allowed submissions for today for this phase"
    if phase.max_submissions and made >= phase.max_submissions:
        return "Reached maximum allowed submissions for this phase"
    return None
