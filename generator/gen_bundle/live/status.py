"""What happens in a live competition: who waits, what failed and why, and how long the phases still last."""

from collections import Counter
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gen_bundle.live.answers import all_rows, unsigned
from gen_bundle.live.connection import Connection
from gen_bundle.live.stored import moment
from gen_bundle.live.submissions import DELETED, FINAL, created, log_texts, message, phases_of, state, submissions_of
from gen_bundle.plain_text import one_line

MOST_FAILURES = 50  # whose logs are read
DAY_S = 86400
LOGS = ("scoring_stderr", "prediction_stderr", "scoring_ingestion_stderr", "prediction_ingestion_stderr")


@dataclass(frozen=True)
class PhaseStatus:
    """A phase.

    Attributes:
        days_left: until it ends (negative: over); None without an end.
        submissions: numbers by status.
    """

    name: str
    start: str | None
    end: str | None
    days_left: float | None
    submissions: Mapping[str, int]


@dataclass(frozen=True)
class Waiting:
    """The submission that has waited longest for its result."""

    id: int
    owner: str
    status: str
    seconds: int


@dataclass(frozen=True)
class Failure:
    """Failed submissions with the same line in their logs, the newest first."""

    line: str
    submissions: tuple[int, ...]


@dataclass(frozen=True)
class Status:
    """A competition at one moment.

    Attributes:
        participants: numbers by status; `pending` wait for the organisers.
        oldest: None where nothing waits.
        failures: the most frequent first.
        unread_failures: older ones, whose logs were not read.
    """

    id: int
    title: str
    published: bool
    at: str
    participants: Mapping[str, int]
    phases: tuple[PhaseStatus, ...]
    oldest: Waiting | None
    failures: tuple[Failure, ...]
    unread_failures: int


def status(
    connection: Connection, competition: int, now: datetime, known_lines: MutableMapping[int, str] | None = None
) -> Status:
    """Look at a competition.

    Args:
        connection: to the server, with an organiser's token.
        competition: its id.
        now: the moment from which waiting and days are counted.
        known_lines: what failures' logs say, by submission; filled, so that no log is read twice.

    Raises:
        AnswerError: a request failed.
    """
    lines = {} if known_lines is None else known_lines
    answer = connection.get(f"competitions/{competition}/")
    people = all_rows(connection, "participants/", competition=competition)
    phases, rows = [], []
    for phase in phases_of(answer, None):
        own = [row for row in submissions_of(connection, phase["id"]) if state(row) != DELETED]
        rows += own
        phases.append(_phase(phase, [row for row in own if not row.get("parent")], now))
    failed = sorted((row for row in rows if state(row) == "Failed"), key=lambda row: int(row["id"]), reverse=True)
    for row in failed[:MOST_FAILURES]:
        if row["id"] not in lines:
            lines[row["id"]] = _line(connection, row)
    by_line: dict[str, list[int]] = {}
    for row in failed[:MOST_FAILURES]:
        by_line.setdefault(lines[row["id"]], []).append(int(row["id"]))
    return Status(
        competition,
        str(answer.get("title")),
        bool(answer.get("published")),
        f"{now:%Y-%m-%dT%H:%M:%SZ}",
        dict(Counter(str(one["status"]) for one in people)),
        tuple(phases),
        _oldest(rows, now),
        tuple(
            Failure(line, tuple(ids))
            for line, ids in sorted(by_line.items(), key=lambda one: len(one[1]), reverse=True)
        ),
        max(0, len(failed) - MOST_FAILURES),
    )


def _phase(phase: Mapping[str, Any], rows: list[dict[str, Any]], now: datetime) -> PhaseStatus:
    end = phase.get("end")
    last = moment(end)
    left = round((last - now).total_seconds() / DAY_S, 2) if last else None
    return PhaseStatus(str(phase["name"]), phase.get("start"), end, left, dict(Counter(map(state, rows))))


def _oldest(rows: list[dict[str, Any]], now: datetime) -> Waiting | None:
    waiting = [row for row in rows if state(row) not in FINAL]
    if not waiting:
        return None
    row = min(waiting, key=created)
    seconds = int((now - created(row)).total_seconds())
    return Waiting(int(row["id"]), str(row["owner"]), state(row), seconds)


def _line(connection: Connection, row: Mapping[str, Any]) -> str:
    """What a failure's log begins with, or ends with where it is a traceback; else what the server says."""
    for text in log_texts(connection, row["id"], LOGS).values():
        if found := [line.strip() for line in text.splitlines() if line.strip()]:
            return one_line(unsigned(found[-1] if found[0].startswith("Traceback (") else found[0]))
    return message(row) or "no log, and no reason"
