"""Submissions as the server gives them: their state, and what is kept of each."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from gen_bundle.errors import UserError
from gen_bundle.live.answers import all_rows, unsigned
from gen_bundle.live.connection import AnswerError, Connection
from gen_bundle.plain_text import one_line

FINAL = frozenset(["Finished", "Failed", "Cancelled"])
DELETED = "Deleted"  # our own word for a submission that was taken back


def phases_of(competition: Mapping[str, Any], wanted: str | None) -> list[Mapping[str, Any]]:
    """The phases of a competition in their order; `wanted` is the id, index or name of a single one.

    Raises:
        UserError: there is no such phase, or several.
    """
    phases = sorted(competition.get("phases") or [], key=lambda phase: phase.get("index") or 0)
    if wanted is None:
        return phases
    for key in ("name", "id", "index"):
        if found := [phase for phase in phases if str(phase.get(key)).casefold() == wanted.casefold()]:
            if len(found) > 1:
                raise UserError(f"--phase {wanted}: {len(found)} phases have that {key}. Expected an id.")
            return found
    names = ", ".join(f"{phase['name']} (id {phase['id']})" for phase in phases)
    raise UserError(f"--phase {wanted}: no such phase. Expected one of {names}.")


def submissions_of(connection: Connection, phase: int) -> list[dict[str, Any]]:
    """All submissions to a phase, by id; those to several tasks come with a child for each task.

    Raises:
        AnswerError: the server refuses.
    """
    return sorted(all_rows(connection, "submissions/", phase=phase), key=lambda row: int(row["id"]))


def state(row: Mapping[str, Any]) -> str:
    """The status of a submission; also of one that was taken back."""
    return DELETED if row.get("is_soft_deleted") else str(row.get("status") or "unknown")


def created(row: Mapping[str, Any]) -> datetime:
    """When a submission was made, in UTC, to the second."""
    moment = datetime.fromisoformat(str(row["created_when"]))
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).replace(microsecond=0)


def organization(row: Mapping[str, Any]) -> str | None:
    """The team or organisation in whose name a submission was made."""
    given = row.get("organization")
    name = given.get("name") if isinstance(given, Mapping) else given
    return None if name is None else str(name)


def scores(row: Mapping[str, Any]) -> dict[str, float | str]:
    """The scores by the keys of their columns."""
    return {str(score["column_key"]): _number(score["score"]) for score in row.get("scores") or []}


def _number(text: Any) -> float | str:
    with suppress(ValueError, TypeError):
        return float(text)
    return str(text)


def message(row: Mapping[str, Any]) -> str:
    """Why a submission failed, as the server gives it, in one line; empty where it gives nothing."""
    return one_line(unsigned(" ".join(str(row.get("status_details") or "").split())))


def complete(row: Mapping[str, Any]) -> bool:
    """Whether nothing more is to come: the server says Finished before the scores are there."""
    status = state(row)
    return status == DELETED or (
        status in FINAL and (status != "Finished" or bool(row.get("scores")) or bool(row.get("has_children")))
    )


def log_texts(connection: Connection, submission: int, names: Sequence[str] | None = None) -> dict[str, str]:
    """The beginnings of a submission's logs by name, or of some in that order; none where the server gives none away.

    Raises:
        AnswerError: the request failed.
    """
    try:
        logs = dict(logs_of(connection.get(f"submissions/{submission}/get_details/")))
        return {name: connection.text(logs[name]) for name in names or logs if name in logs}
    except AnswerError as error:
        if error.code not in (403, 404):
            raise
        return {}


def logs_of(details: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The names and signed addresses of a submission's logs; a log without text is an empty file."""
    for log in details.get("logs") or []:
        if log.get("data_file"):
            yield str(log["name"]), str(log["data_file"])
