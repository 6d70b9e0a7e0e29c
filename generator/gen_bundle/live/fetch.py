"""The journey of all submissions from a server to a folder, in the layout that `gen-bundle rank --submissions` reads.

`OUT/PHASE/submissions/OWNER/DATE/FILE.zip` holds what was scored, `OUT/PHASE/other/` likewise what failed, was taken
back or still runs; scores, logs, results and the board are beside them. What is there already is not fetched again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gen_bundle.errors import UserError
from gen_bundle.fetched import COMPETITION
from gen_bundle.live.answers import all_rows
from gen_bundle.live.connection import Connection
from gen_bundle.live.json_files import private, read_json, write_json
from gen_bundle.live.names import Names, Pseudonyms, folder_of_phase
from gen_bundle.live.phase_folder import PhaseFetched, PhaseFolder
from gen_bundle.live.request_parts import Tick
from gen_bundle.live.stored import moment
from gen_bundle.live.submissions import phases_of


@dataclass(frozen=True)
class FetchRequest:
    """What is to be fetched.

    Attributes:
        competition: its id.
        out: a folder of an earlier fetch of the same competition, or a new one.
        phase: the id, index or name of one phase; all of them without.
        pseudonyms: whether names and e-mail addresses are replaced.
    """

    competition: int
    out: Path
    phase: str | None = None
    pseudonyms: bool = False


@private()
def fetch(
    connection: Connection,
    request: FetchRequest,
    progress: Callable[[str], None] = lambda _: None,
    tick: Tick = lambda *_: None,
) -> list[PhaseFetched]:
    """Fetch what is new in a competition, readable by its owner alone; may be interrupted and called again.

    Raises:
        UserError: the folder is something else's, there is no such phase, or a request failed.
    """
    competition = connection.get(f"competitions/{request.competition}/")
    phases = phases_of(competition, request.phase)
    _own_folder(request, connection.server)
    names = Names(Pseudonyms(connection.server, request.competition) if request.pseudonyms else None)
    participants = all_rows(connection, "participants/", competition=request.competition)
    names.add(row["username"] for row in participants)
    write_json(request.out / "participants.json", [names.participant(row) for row in participants])
    write_json(
        request.out / COMPETITION,
        {
            "server": connection.server,
            "id": request.competition,
            "title": competition.get("title"),
            "pseudonyms": request.pseudonyms,
            "fetched": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "phases": [
                {
                    "id": phase["id"],
                    "name": phase["name"],
                    "end": end.isoformat() if (end := moment(phase.get("end"))) else None,
                    "folder": _folder(phase),
                }
                for phase in phases_of(competition, None)
            ],
        },
    )
    fetched = []
    for phase in phases:
        progress(f"phase {phase['name']}")
        fetched.append(PhaseFolder(connection, phase, request.out / _folder(phase), names, tick).fetch())
    return fetched


def _folder(phase: Mapping[str, Any]) -> str:
    return folder_of_phase(phase.get("index", 0), str(phase["name"]))


def _own_folder(request: FetchRequest, server: str) -> None:
    about = request.out / COMPETITION
    if about.is_file():
        before = read_json(about, dict[str, Any])
        expected = (server, request.competition, request.pseudonyms)
        if tuple(before.get(key) for key in ("server", "id", "pseudonyms")) != expected:
            raise UserError(
                f"--out {request.out}: holds competition {before.get('id')} of {before.get('server')}, "
                f"{'with' if before.get('pseudonyms') else 'without'} pseudonyms. Choose another folder."
            )
    elif request.out.exists() and (not request.out.is_dir() or any(request.out.iterdir())):
        raise UserError(f"--out {request.out}: was not made by gen-bundle fetch. Choose a new folder.")
