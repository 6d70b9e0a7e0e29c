"""The journey of a bundle to a server: check, store, unpack, compare, publish.

Each step looks before it repeats anything: a server may have done what it answered 500 to. Once the bundle was handed
over, no error hides that a competition may have come of it.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gen_bundle.check import Report, check_path
from gen_bundle.check.bundle import Bundle, open_readable_bundle
from gen_bundle.check.explain import explain_refusal
from gen_bundle.check.report import OVER, SYNTHETIC, UNFINISHED
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import file_digest, read_json, state_folder, write_json
from gen_bundle.live.competition import Snapshot, site_version, with_tasks
from gen_bundle.live.connection import AnswerError, Connection, LiveError
from gen_bundle.live.datasets import send_file, without_file
from gen_bundle.live.site_bundle import UNKNOWN, SiteBundle
from gen_bundle.look.difference.report import differences

PATIENCE_S = 15 * 60.0
LOOKING_S = 60.0  # for a competition after an answer was lost
FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 5.0
SAYING_S = 60.0  # between two lines while the site unpacks
ROLE = "competition_bundle"


class UploadedBeforeError(LiveError):
    """The same bundle was sent to the same server before, and a competition may have come of it; nothing was sent."""


class HandedOverError(LiveError):
    """Something failed after the server had the bundle, so that a competition may exist.

    Attributes:
        id: the competition's; None where it is not known.
        address: where to look.
    """

    def __init__(self, server: str, *messages: str, number: int | None = None, advice: str = "") -> None:
        address, exists = f"{server}/competitions/", "The competition may exist"
        if number:
            address, exists = f"{address}{number}/", "The competition exists"
        advice = f"{exists}: {address} Look there before you upload the bundle again. {advice}".rstrip()
        super().__init__(*messages, advice=advice)
        self.id, self.address = number, address


@dataclass(frozen=True)
class Mismatch:
    """One thing that the server stored otherwise than the bundle says.

    Attributes:
        what: the phase, column or file, and its setting.
    """

    what: str
    bundle: str
    server: str

    def __str__(self) -> str:
        return f"{self.what}: the bundle says {self.bundle}, the server stored {self.server}"


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
    connection: Connection, bundle: Path, *, publish: bool = False, force: bool = False, again: bool = False
) -> Uploaded:
    """Upload a bundle, and publish it if asked to and stored as it should be.

    Args:
        connection: to the server; says each step.
        bundle: a bundle's zip.
        publish: make the competition public.
        force: upload also what is refused here.
        again: upload also what was uploaded before.

    Raises:
        LiveError: the bundle would be refused, cannot work, shows gold, or is a draft; or it was not unpacked.
        UploadedBeforeError, HandedOverError: as they say.
        UserError: the bundle cannot be read, or a request failed before the bundle was sent.
    """
    connection.get("my_profile/")
    connection.say("checking")
    report, obstacles = readiness(bundle, datetime.now(UTC), connection)
    if obstacles and not force:
        raise LiveError(*obstacles, advice="Nothing was uploaded. To upload it nevertheless: --force")
    handing_over = _HandingOver(connection, bundle, report)
    if not again:
        handing_over.refuse_again()
    number = handing_over.number()
    try:
        connection.say("comparing")
        competition = connection.get(f"competitions/{number}/")
        found: list[Mismatch] = []
        with ExitStack() as held:
            wanted = open_readable_bundle(bundle, datetime.now(UTC), held)
            if wanted.format == "v2":
                found = mismatches(with_tasks(connection, competition), wanted)
            else:
                connection.say("the bundle is of CodaLab's format: what the site stored is not compared with it")
        published = bool(competition.get("published"))
        if publish and not published and not found:
            published = set_published(connection, number)
    except UserError as error:
        raise HandedOverError(connection.server, *error.messages, number=number, advice=error.advice) from None
    address = f"{connection.server}/competitions/{number}/"
    return Uploaded(number, address, published, tuple(obstacles), tuple(found))


def readiness(bundle: Path, now: datetime, connection: Connection) -> tuple[Report, list[str]]:
    """Return what the check finds, and why a bundle should not be uploaded; it follows the server's version and queues.

    Raises:
        UserError: it is not a file, or cannot be read.
    """
    if bundle.is_dir():
        hint = ""
        if (bundle / "bundle.yaml").is_file():
            hint = f" Build it first: gen-bundle {bundle} --out bundle.zip --release"
        raise UserError(f"{bundle}: is a folder. Expected a bundle's zip.{hint}")
    version, queues = site_version(connection), []
    try:
        queues = [str(row["vhost"]) for row in connection.rows("queues/") if row.get("vhost")]
    except AnswerError as error:
        if error.code not in (403, 404):  # else one has no queue of one's own
            raise
    report = check_path(bundle, now=now, version=version, known_keys=queues)
    obstacles = []
    for one in report.findings:
        if one.grave or one.id in (OVER, UNFINISHED, SYNTHETIC):
            obstacles.append(f"{one.id}: {one.what} ({one.file}). {one.consequence} {one.repair}".rstrip())
    return report, obstacles


class _HandingOver:
    """Handing a bundle over to a server, which is remembered by the bundle's digest, until a competition is there."""

    def __init__(self, connection: Connection, bundle: Path, report: Report) -> None:
        self.connection, self.bundle, self.report = connection, bundle, report
        self._file = state_folder() / "uploads.json"
        self._name = f"{connection.server} {file_digest(bundle)}"
        self._left = ""  # what the site keeps of a bundle of which no competition came

    def refuse_again(self) -> None:
        """Raise an UploadedBeforeError where a competition may have come of the bundle."""
        before = self._uploads().get(self._name)
        if before is None:
            return
        place, number = f"{self.connection.server}/competitions/", before["competition"]
        became = f"may have become a competition: {place}"
        if number is not None:
            became = f"became {place}{number}/"
            try:
                self.connection.get(f"competitions/{number}/")
            except AnswerError as error:
                if error.code in (403, 404):  # it was deleted
                    return
                raise
        raise UploadedBeforeError(
            f"{self.bundle.name} was uploaded {before['at']}, and {became}",
            advice="Nothing was uploaded. To make another competition of it: --yes",
        )

    def number(self) -> int:
        """Store the bundle, and have it unpacked; the id of the competition that came of it."""
        self.connection.say("uploading")
        key = send_file(self.connection, ROLE, self.bundle)
        self._left = f"If none came of it, an entry for {self.bundle.name} is left under Resources (key {key})."
        before = self._mine()
        self.connection.say("unpacking")
        self._note(None)
        try:
            status = self.connection.send("PUT", f"datasets/completed/{key}/").get("status_id")
        except AnswerError as error:
            if not error.unclear:
                self._forget()
                error.advice = without_file(self.connection, ROLE, key, self.bundle.name)
                raise
            number = self._appeared(before, error.messages)
        else:
            number = self._unpacked(status, before)
        self._note(number)
        return number

    def _unpacked(self, status: int | None, before: set[int]) -> int:
        """Wait until the server has unpacked the bundle."""
        if status is None:
            return self._appeared(before, ["the server did not say what becomes of the bundle."])
        said = 0.0
        for waited in self.connection.looks(PATIENCE_S, FIRST_WAIT_S, LONGEST_WAIT_S):
            if waited >= said + SAYING_S:
                self.connection.say(f"the site has been unpacking for {waited:.0f} s")
                said = waited
            try:
                answer = self.connection.get(f"competitions/{status}/creation_status/")
            except AnswerError as error:
                return self._appeared(before, error.messages)
            if answer["status"] == "Failed":
                self._forget()
                text = str(answer.get("details") or "no reason was given")
                messages = [f"the server did not take the bundle: {text.strip()}"]
                if reason := explain_refusal(text, self.report):
                    messages.append(reason)
                advice = "The server has deleted the file: correct the bundle, and upload it again."
                raise LiveError(*messages, advice=advice)
            if answer["status"] == "Finished" and answer.get("resulting_competition"):
                return int(answer["resulting_competition"])
        late = f"the server has not unpacked the bundle within {PATIENCE_S / 60:g} minutes."
        raise HandedOverError(self.connection.server, late, advice=self._left)

    def _appeared(self, before: set[int], lost: Sequence[str]) -> int:
        """Return the competition whose answer was lost; it is looked for before anything is sent again."""
        missing = f"no new competition appeared within {LOOKING_S:g} seconds."
        try:
            for _ in self.connection.looks(LOOKING_S, FIRST_WAIT_S, LONGEST_WAIT_S):
                if new := self._mine() - before:
                    return max(new)
        except UserError as another:
            raise HandedOverError(self.connection.server, *lost, *another.messages, advice=self._left) from None
        raise HandedOverError(self.connection.server, *lost, missing, advice=self._left)

    def _mine(self) -> set[int]:
        return {row["id"] for row in self.connection.rows("competitions/", mine="true")}

    def _uploads(self) -> dict[str, dict[str, Any]]:
        shape, advice = dict[str, dict[str, str | int | None]], "It says what was uploaded: restore or delete it."
        found: dict[str, dict[str, Any]] = read_json(self._file, shape, advice, missing={})
        return found

    def _note(self, competition: int | None) -> None:
        """Remember that the bundle is handed over, and what came of it."""
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        write_json(self._file, self._uploads() | {self._name: {"at": now, "competition": competition}})

    def _forget(self) -> None:
        """Remember nothing: the server made no competition of the bundle."""
        uploads = self._uploads()
        uploads.pop(self._name, None)
        write_json(self._file, uploads)


def mismatches(snapshot: Snapshot, wanted: Bundle) -> list[Mismatch]:
    """Return all in which a competition that was just made of a bundle differs from it, as far as the site shows."""
    site = SiteBundle(snapshot, wanted, wanted, {}).bundle
    found = []
    for one in differences(site, wanted):
        if one.part != "solutions" and not (one.old or "").startswith(UNKNOWN):
            place = f"{one.part}, {one.item}" if one.item else one.part
            found.append(Mismatch(f"{place}: {one.what}", one.new or "nothing", one.old or "nothing"))
    return found


def set_published(connection: Connection, competition: int) -> bool:
    """Publish a competition that is not published; the server only has a switch, so that its position is read first."""
    path = f"competitions/{competition}/"
    if connection.get(path)["published"]:
        return True
    try:
        connection.send("POST", f"{path}toggle_publish/")
    except AnswerError as error:
        if not error.unclear:
            raise
    return bool(connection.get(path)["published"])
