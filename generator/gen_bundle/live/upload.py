"""The journey of a bundle to a server: check, store, unpack, compare, publish.

Each step looks before it repeats anything: a server may have done what it answered 500 to.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gen_bundle.check.opening import open_readable_bundle
from gen_bundle.errors import UserError
from gen_bundle.live.answers import all_rows
from gen_bundle.live.connection import AnswerError, Connection
from gen_bundle.live.datasets import send_file
from gen_bundle.live.explanation import explain_refusal
from gen_bundle.live.readiness import Readiness, readiness
from gen_bundle.live.request_parts import Tick
from gen_bundle.live.stored import Mismatch, mismatches

PATIENCE_S = 15 * 60.0
LOOKING_S = 60.0  # for a competition after an answer was lost
FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 5.0

Progress = Callable[[str], None]


class NotReadyError(UserError):
    """A bundle that should not be uploaded, or that a competition should not become; nothing was sent."""

    status = 1


class UnpackingError(UserError):
    """The server did not make a competition of the bundle."""

    status = 1


@dataclass(frozen=True)
class Uploaded:
    """The competition that came of a bundle.

    Attributes:
        obstacles: why it would not have been uploaded without `--force`.
        mismatches: what the server stored otherwise than the bundle says.
    """

    id: int
    address: str
    published: bool
    obstacles: tuple[str, ...]
    mismatches: tuple[Mismatch, ...]


def upload(
    connection: Connection,
    bundle: Path,
    *,
    publish: bool = False,
    force: bool = False,
    progress: Progress = lambda _: None,
    tick: Tick = lambda *_: None,
) -> Uploaded:
    """Upload a bundle, and publish it if asked to and stored as it should be.

    Args:
        connection: to the server, with a token.
        bundle: a bundle's zip.
        publish: make the competition public.
        force: upload also what is refused here.
        progress: hears of each step.
        tick: hears how much of the file was sent.

    Raises:
        NotReadyError: the bundle would be refused, cannot work, shows gold, or is a draft.
        UnpackingError: the server did not make a competition of it.
        UserError: the bundle cannot be read, or a request failed.
    """
    connection.get("my_profile/")
    progress("checking")
    ready = readiness(bundle, datetime.now(UTC), queues_of(connection))
    if ready.obstacles and not force:
        raise NotReadyError(*ready.obstacles, advice="Nothing was uploaded. To upload it nevertheless: --force")
    competition = _created(connection, bundle, ready, progress, tick)
    progress("comparing")
    found = _compared(connection, bundle, competition)
    published = bool(competition.get("published"))
    if publish and not published and not found:
        published = set_published(connection, competition["id"])
    return Uploaded(
        competition["id"],
        f"{connection.server}/competitions/{competition['id']}/",
        published,
        ready.obstacles,
        tuple(found),
    )


def set_published(connection: Connection, competition: int) -> bool:
    """Publish a competition that is not published; the server only has a switch, so that its position is read first.

    Raises:
        AnswerError: the server refuses.
    """
    path = f"competitions/{competition}/"
    if connection.get(path)["published"]:
        return True
    try:
        connection.send("POST", f"{path}toggle_publish/")
    except AnswerError as error:
        if not error.unclear:
            raise
    return bool(connection.get(path)["published"])


def queues_of(connection: Connection) -> list[str]:
    """The vhosts of the queues that may be named in a bundle."""
    try:
        return [str(row["vhost"]) for row in all_rows(connection, "queues/") if row.get("vhost")]
    except AnswerError as error:
        if error.code in (403, 404):  # no queue of one's own
            return []
        raise


def _created(connection: Connection, bundle: Path, ready: Readiness, progress: Progress, tick: Tick) -> dict[str, Any]:
    """Store and unpack a bundle; the competition that came of it."""
    progress("uploading")
    key = send_file(connection, "competition_bundle", bundle, tick)
    progress("unpacking")
    before = _mine(connection)
    try:
        status = connection.send("PUT", f"datasets/completed/{key}/")["status_id"]
    except AnswerError as error:
        if not error.unclear:
            raise
        created = _appeared(connection, before, error)
    else:
        created = _unpacked(connection, status, ready)
    found: dict[str, Any] = connection.get(f"competitions/{created}/")
    return found


def _unpacked(connection: Connection, status: int, ready: Readiness) -> int:
    for _ in connection.looks(PATIENCE_S, FIRST_WAIT_S, LONGEST_WAIT_S):
        answer = connection.get(f"competitions/{status}/creation_status/")
        if answer["status"] == "Failed":
            message = str(answer.get("details") or "no reason was given")
            reason = explain_refusal(message, ready.report)
            raise UnpackingError(
                f"the server did not take the bundle: {message.strip()}",
                *([reason] if reason else []),
                advice="The server has deleted the file: correct the bundle, and upload it again.",
            )
        if answer["status"] == "Finished" and answer.get("resulting_competition"):
            return int(answer["resulting_competition"])
    raise UnpackingError(
        f"the server has not unpacked the bundle within {PATIENCE_S / 60:g} minutes.",
        advice=f"It may still do so: look at {connection.server}/competitions/ before uploading again.",
    )


def _mine(connection: Connection) -> set[int]:
    return {row["id"] for row in all_rows(connection, "competitions/", mine="true")}


def _appeared(connection: Connection, before: set[int], error: AnswerError) -> int:
    """What came of an upload whose answer was lost, by its id; it is looked for before anything is sent again."""
    for _ in connection.looks(LOOKING_S, FIRST_WAIT_S, LONGEST_WAIT_S):
        if new := sorted(_mine(connection) - before):
            return new[-1]
    raise UnpackingError(
        error.messages[0],
        f"no new competition appeared within {LOOKING_S:g} seconds.",
        advice=f"Look at {connection.server}/competitions/ before uploading again.",
    )


def _compared(connection: Connection, bundle: Path, competition: dict[str, Any]) -> list[Mismatch]:
    ids = {task["id"] for phase in competition.get("phases") or [] for task in phase.get("tasks") or []}
    tasks = {number: connection.get(f"tasks/{number}/") for number in sorted(ids)}
    with ExitStack() as held:
        return mismatches(open_readable_bundle(bundle, datetime.now(UTC), held), competition, tasks)
