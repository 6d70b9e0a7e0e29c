"""gen-bundle status ID: what happens in a live competition: who waits, what failed and why, and how long it lasts."""

import json
import time
from collections import Counter
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import click

from gen_bundle.cli.options import competition_id, json_option, live_options
from gen_bundle.ground.fetched import DELETED
from gen_bundle.ground.plain_text import one_line
from gen_bundle.live.competition import moment, phases_of, read_as_organiser
from gen_bundle.live.connection import AnswerError, Connection, Row
from gen_bundle.live.submissions import FINAL, created, details_of, failure_reason, state, submissions_of

WATCH_S = 60
EPILOG = """\b
Examples:
  gen-bundle status 1234
  gen-bundle status 1234 --watch
  gen-bundle status 1234 --json

\b
Shows how many participants wait for approval, submissions by status, the one that has waited longest, failures by what
their logs say, and the days that each phase still has. ID is the number in the competition's address.
Exit status: 0 shown, 1 refused by the server, 2 wrong use.
"""


@click.command(epilog=EPILOG)
@competition_id
@click.option("--watch", is_flag=True, help="Look again every minute, until Ctrl-C.")
@json_option("Print one line of JSON for each look.")
@live_options
def command(competition: int, watch: bool, as_json: bool, connection: Connection) -> None:
    """Show what happens in a live competition."""
    lines: dict[int, str] = {}
    with suppress(KeyboardInterrupt) if watch else nullcontext():
        while True:
            seen = status(connection, competition, datetime.now(UTC), lines)
            text = json.dumps(asdict(seen), ensure_ascii=False) if as_json else _text(seen)
            click.echo(text)
            if not watch:
                return
            time.sleep(WATCH_S)


MOST_FAILURES = 50  # whose logs are read
DAY_S = 86400


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
class FailuresAlike:
    """Failed submissions with the same reason, the newest first."""

    line: str
    submissions: tuple[int, ...]


@dataclass(frozen=True)
class LiveStatus:
    """A competition at one moment.

    Attributes:
        participants: numbers by status; `pending` wait for the organisers.
        oldest: None where nothing waits.
        failures: the most frequent first.
        unread_failures: older ones, whose reasons were not read.
    """

    id: int
    title: str
    published: bool
    at: str
    participants: Mapping[str, int]
    phases: tuple[PhaseStatus, ...]
    oldest: Waiting | None
    failures: tuple[FailuresAlike, ...]
    unread_failures: int


def status(
    connection: Connection, competition: int, now: datetime, known_lines: MutableMapping[int, str]
) -> LiveStatus:
    """Look at a competition; waiting and days are counted from `now`.

    `known_lines`, why submissions failed, is filled, so that nothing is read twice.

    Raises:
        UserError: the user is not an organiser.
    """
    answer = read_as_organiser(connection, competition, "status")
    people = connection.rows("participants/", competition=competition)
    phases, rows = [], []
    for phase in phases_of(answer, None):
        statuses: Counter[str] = Counter()
        for row in submissions_of(connection, phase["id"]).values():
            if state(row) == DELETED:
                continue
            rows.append(row)
            if not row.get("parent"):
                statuses[state(row)] += 1
        start, end = phase.get("start"), phase.get("end")
        last = moment(end)
        days_left = round((last - now).total_seconds() / DAY_S, 2) if last else None
        phases.append(PhaseStatus(str(phase["name"]), start, end, days_left, dict(statuses)))
    failed = sorted((row for row in rows if state(row) == "Failed"), key=lambda row: int(row["id"]), reverse=True)
    return LiveStatus(
        competition,
        str(answer.get("title")),
        bool(answer.get("published")),
        f"{now:%Y-%m-%dT%H:%M:%SZ}",
        dict(Counter(str(one["status"]) for one in people)),
        tuple(phases),
        _oldest(rows, now),
        _alike(connection, failed[:MOST_FAILURES], known_lines),
        max(0, len(failed) - MOST_FAILURES),
    )


def _oldest(rows: list[dict[str, Any]], now: datetime) -> Waiting | None:
    waiting = [row for row in rows if state(row) not in FINAL]
    if not waiting:
        return None
    row = min(waiting, key=created)
    seconds = int((now - created(row)).total_seconds())
    return Waiting(int(row["id"]), str(row["owner"]), state(row), seconds)


def _alike(connection: Connection, failed: Sequence[Row], lines: MutableMapping[int, str]) -> tuple[FailuresAlike, ...]:
    """Group failures by why they failed, as far as that can be read; what is read is added to `lines`."""
    by_line: dict[str, list[int]] = {}
    for row in failed:
        number = int(row["id"])
        if number not in lines:
            try:
                lines[number] = failure_reason(connection, row, details_of(connection, number))
            except AnswerError as error:
                if error.code is None:
                    raise
                lines[number] = f"the reason cannot be read: {error.messages[0]}"
        by_line.setdefault(lines[number], []).append(number)
    found = [FailuresAlike(line, tuple(numbers)) for line, numbers in by_line.items()]
    return tuple(sorted(found, key=lambda one: len(one.submissions), reverse=True))


def _text(seen: LiveStatus) -> str:
    published = "published" if seen.published else "not published"
    lines = [f"{seen.title} ({seen.id}, {published}), {seen.at}", f"  participants: {_counts(seen.participants)}"]
    for phase in seen.phases:
        left = "no end"
        if phase.days_left is not None:
            left = (
                f"{phase.days_left:.1f} days left" if phase.days_left >= 0 else f"over for {-phase.days_left:.1f} days"
            )
        lines.append(f"  phase {phase.name}: {left}; submissions: {_counts(phase.submissions)}")
    if seen.oldest:
        waited = f"{seen.oldest.seconds // 60} min"
        lines.append(f"  waiting longest: {seen.oldest.id} of {seen.oldest.owner}, {seen.oldest.status}, {waited}")
    for failure in seen.failures:
        ids = ", ".join(str(one) for one in failure.submissions[:5])
        if len(failure.submissions) > 5:
            ids += " …"
        lines.append(f"  failed {len(failure.submissions)}×: {failure.line} ({ids})")
    if seen.unread_failures:
        lines.append(f"  and {seen.unread_failures} older failures")
    return "\n".join(one_line(one) for one in lines)


def _counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {status}" for status, number in sorted(numbers.items())) or "none"
