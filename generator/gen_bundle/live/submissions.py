"""Submissions as the server gives them: their state, what is kept of each, and why some failed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from html import unescape
from typing import Any

from gen_bundle.live.answers import body_in_one_line, unsigned
from gen_bundle.live.connection import AnswerError, Connection, Row
from gen_bundle.plain_text import one_line

FINAL = frozenset(["Finished", "Failed", "Cancelled"])
DELETED = "Deleted"  # our own word for a submission that was taken back
ERROR_LOGS = ("scoring_stderr", "prediction_stderr", "scoring_ingestion_stderr", "prediction_ingestion_stderr")
NO_REASON = "no log, and no reason"
_REASON = re.compile(r'(?s)<section class="note"><h2>(.*?)</h2>(.*?)</section>')  # of our own page of a failed run


def submissions_of(connection: Connection, phase: int) -> list[dict[str, Any]]:
    """All submissions to a phase, by id; those to several tasks come with a child for each task."""
    return sorted(connection.rows("submissions/", phase=phase), key=lambda row: int(row["id"]))


def state(row: Row) -> str:
    """The status of a submission; also of one that was taken back."""
    return DELETED if row.get("is_soft_deleted") else str(row.get("status") or "unknown")


def created(row: Row) -> datetime:
    """When a submission was made, in UTC, to the second."""
    moment = datetime.fromisoformat(str(row["created_when"]))
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).replace(microsecond=0)


def organization(row: Row) -> str | None:
    """The team or organisation in whose name a submission was made."""
    given = row.get("organization")
    name = given.get("name") if isinstance(given, Mapping) else given
    return None if name is None else str(name)


def scores(row: Row) -> dict[str, float | str]:
    """The scores by the keys of their columns."""
    return {str(score["column_key"]): _number(score["score"]) for score in row.get("scores") or []}


def _number(text: Any) -> float | str:
    with suppress(ValueError, TypeError):
        return float(text)
    return str(text)


def message(row: Row) -> str:
    """Why a submission failed, as the server gives it, in one line; empty where it gives nothing."""
    return one_line(unsigned(" ".join(str(row.get("status_details") or "").split())))


def complete(row: Row) -> bool:
    """Whether nothing more is to come: the server says Finished before the scores are there."""
    status = state(row)
    return status == DELETED or (
        status in FINAL and (status != "Finished" or bool(row.get("scores")) or bool(row.get("has_children")))
    )


def on_leaderboard(row: Row, otherwise: bool = False) -> bool:
    """Whether a submission is on the leaderboard, as far as its row says."""
    given = [row[key] for key in ("on_leaderboard", "leaderboard") if key in row]
    return any(given) if given else otherwise


def delete_submission(connection: Connection, number: int) -> str:
    """Delete a submission with its children, which organisers may; why it is still there, nothing once it is gone."""
    path = f"submissions/{number}/"
    try:
        connection.send("DELETE", path)
    except AnswerError as error:
        if error.code == 404 or (error.unclear and _is_gone(connection, path)):
            return ""
        return f"submission {number}: {error.messages[0]}"
    return ""


def _is_gone(connection: Connection, path: str) -> bool:
    try:
        connection.get(path)
    except AnswerError as error:
        return error.code == 404
    return False


def details_of(connection: Connection, submission: int) -> Row:
    """The signed addresses of all that belongs to a submission; nothing where the server gives none away."""
    try:
        found: Row = connection.get(f"submissions/{submission}/get_details/")
    except AnswerError as error:
        if error.code not in (403, 404):
            raise
        return {}
    return found


def logs_of(details: Row) -> Iterator[tuple[str, str]]:
    """The names and signed addresses of a submission's logs; a log without text is an empty file."""
    for log in details.get("logs") or []:
        if log.get("data_file"):
            yield str(log["name"]), str(log["data_file"])


def log_texts(connection: Connection, details: Row, names: Sequence[str] = ()) -> dict[str, str]:
    """The beginnings of a submission's logs by name, or of some in that order, as far as they are given away."""
    logs = dict(logs_of(details))
    return {name: _text(connection, logs[name]) for name in names or logs if name in logs}


def _text(connection: Connection, url: str) -> str:
    try:
        return connection.text(url)
    except AnswerError as error:
        if error.code not in (403, 404):
            raise
        return ""


def failure_reason(connection: Connection, row: Row, details: Row) -> str:
    """Why a submission failed, in one line: its page, since logs are often lost; else its log; else its message.

    Of a log the first line counts, or the last one where it is a traceback.
    """
    if url := details.get("detailed_result"):
        page = _text(connection, str(url))
        found = _REASON.search(page)
        text = " ".join(found.groups()) if found else page
        if reason := body_in_one_line(re.sub(r"\s+", " ", text) if found else text):
            return unsigned(unescape(reason))
    for text in log_texts(connection, details, ERROR_LOGS).values():
        if lines := [line.strip() for line in text.splitlines() if line.strip()]:
            return one_line(unsigned(lines[-1] if lines[0].startswith("Traceback (") else lines[0]))
    return message(row) or NO_REASON
