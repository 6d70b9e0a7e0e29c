"""A competition as its site gives it: who may do what with it, its phases, version, and the bundle it came of."""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gen_bundle.check.bundle import Bundle, open_readable_bundle
from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.errors import UserError
from gen_bundle.live.connection import AnswerError, Connection, Row, Tick

ORGANISERS_ONLY = {
    "status": "the site shows others their own submissions alone",
    "fetch": "the site shows others their own submissions alone",
    "confirm": "only organisers can delete what it submits",
    "update": "only organisers can change it, and see the list of invited addresses, which each change replaces",
}
"""What the owner of a competition and its co-organisers may do, and participants may not; and why.

Owners and co-organisers differ in two things: only the owner of a task can read and replace its programs and data, and
only the owner of a competition can delete it. Source: the permissions of `api/views/` (`all_organizers`, `created_by`).
"""


def read_as_organiser(connection: Connection, competition: int, verb: str) -> dict[str, Any]:
    """The answer of `competitions/ID/`, for somebody who may do what a verb does.

    Raises:
        UserError: the user is not one of its organisers.
    """
    row: dict[str, Any] = connection.get(f"competitions/{competition}/")
    if row.get("whitelist_emails") is None:  # the site shows it to organisers alone
        raise UserError(
            f"competition {competition}: you are not one of its organisers, as {verb} needs: {ORGANISERS_ONLY[verb]}. "
            "Log in as an organiser."
        )
    return row


def in_order(rows: Any) -> list[Row]:
    """Pages, phases or columns by their index."""
    return sorted(rows or [], key=lambda row: row.get("index") or 0)


def moment(text: str | None) -> datetime | None:
    """A date as the server gives it."""
    if not text:
        return None
    read = datetime.fromisoformat(text)
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def submission_rule(competition: Row) -> str:
    """The rule by which submissions come onto the leaderboard."""
    boards = competition.get("leaderboards") or [{}]
    return str(boards[0].get("submission_rule") or "Add")


def phases_of(competition: Row, wanted: str | None, own_ids: Callable[[], Sequence[str]] = tuple) -> list[Row]:
    """The phases of a competition in their order, or a single one.

    Args:
        competition: the answer of `competitions/ID/`.
        wanted: a phase's name, its id on the site, its id in the bundle, or its index.
        own_ids: gives the ids of the bundle's phases, in their order.

    Raises:
        UserError: there is no such phase, or several.
    """
    phases = in_order(competition.get("phases"))
    if wanted is None:
        return phases
    for key in ("name", "id"):
        if found := [phase for phase in phases if str(phase.get(key)).casefold() == wanted.casefold()]:
            if len(found) > 1:
                raise UserError(f"--phase {wanted}: {len(found)} phases have that {key}. Expected an id.")
            return found
    ids = own_ids()
    if wanted in ids and len(ids) == len(phases):
        return [phases[ids.index(wanted)]]
    if found := [phase for phase in phases if str(phase.get("index")) == wanted]:
        return found[:1]
    names = ", ".join(f"{phase['name']} (id {phase['id']})" for phase in phases)
    named = f", or of the bundle's ids {', '.join(ids)}" if ids else ""
    raise UserError(f"--phase {wanted}: no such phase. Expected one of {names}{named}.")


def site_version(connection: Connection) -> PlatformVersion:
    """The version that a site follows, as far as it shows: lists came whole until 1.25, in pages since."""
    whole = isinstance(connection.get("competitions/", mine="true"), list)
    return PlatformVersion.V1_25 if whole else NEWEST


def original_bundle(
    connection: Connection, competition: int, held: ExitStack, tick: Tick = lambda *_: None
) -> Bundle | None:
    """The bundle of which a competition was made, where the site still has it."""
    try:
        given = connection.get(f"competitions/{competition}/get_files/").get("bundle") or {}
        if not given.get("url"):
            return None
        file = Path(held.enter_context(tempfile.TemporaryDirectory())) / "original.zip"
        connection.download(given["url"], file, tick)
        return open_readable_bundle(file, datetime.now(UTC), held)
    except AnswerError as error:
        if error.code is None or error.code >= 500:
            raise
        return None
    except UserError:  # it is not what it was
        return None
