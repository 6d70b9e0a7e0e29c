"""Whether a phase takes a submission: dates and quotas, which count only with `--enforce-limits`."""

import datetime as dt

from gen_bundle.codabench.board import Board
from gen_bundle.twin.bundle import Phase


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
