"""The journey of a bundle to a server: check, store, unpack, compare, publish.

Each step looks before it repeats anything: a server may have done what it answered 500 to. Once the bundle was handed
over, no error hides that a competition may have come of it.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from gen_bundle.check import Report, check_path
from gen_bundle.check.bundle import Bundle, open_readable_bundle
from gen_bundle.check.catalogue import explain_refusal
from gen_bundle.check.report import OVER
from gen_bundle.codabench.fields import as_text
from gen_bundle.difference.report import differences
from gen_bundle.draft import Lack, contact_and_image, scaffold, synthetic_gold
from gen_bundle.errors import UserError
from gen_bundle.json_files import read_json, write_json
from gen_bundle.live.competition import Snapshot, site_version, with_tasks
from gen_bundle.live.connection import AnswerError, Connection, LiveError
from gen_bundle.live.datasets import send_file, without_file
from gen_bundle.live.site_bundle import UNKNOWN, SiteBundle
from gen_bundle.remembered import file_digest, state_folder
from gen_bundle.resources import shipped_gold
from gen_bundle.zips.tree import Node

PATIENCE_S = 15 * 60.0
LOOKING_S = 60.0  # for a competition after an answer was lost
FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 5.0
SAYING_S = 60.0  # between two lines while the site unpacks
ROLE = "competition_bundle"
MAX_PAGE = 4 * 1024 * 1024


class NotReadyError(LiveError):
    """A bundle that should not be uploaded, or that a competition should not become; nothing was sent."""


class UnpackingError(LiveError):
    """The server did not make a competition of the bundle."""


class UploadedBeforeError(LiveError):
    """The same bundle was sent to the same server before, and a competition may have come of it; nothing was sent."""


class HandedOverError(LiveError):
    """Something failed after the server had the bundle, so that a competition may exist.

    Attributes:
        id: the competition's; None where it is not known.
        address: where to look.
    """

    def __init__(self, error: UserError, address: str, number: int | None = None) -> None:
        exists = "The competition exists" if number else "The competition may exist"
        advice = f"{exists}: {address} Look there before you upload the bundle again. {error.advice}".rstrip()
        super().__init__(*error.messages, advice=advice)
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
        NotReadyError: the bundle would be refused, cannot work, shows gold, or is a draft.
        UploadedBeforeError: a competition may have come of it before.
        UnpackingError: the server did not make a competition of it.
        HandedOverError: a request failed, and a competition may exist.
        UserError: the bundle cannot be read, or a request failed before the bundle was sent.
    """
    connection.get("my_profile/")
    connection.say("checking")
    ready = readiness(bundle, datetime.now(UTC), connection)
    if ready.obstacles and not force:
        raise NotReadyError(*ready.obstacles, advice="Nothing was uploaded. To upload it nevertheless: --force")
    sent = _Sent(connection.server, bundle)
    if not again:
        sent.refuse_again(connection)
    connection.say("uploading")
    key = send_file(connection, ROLE, bundle)
    before = _mine(connection)
    connection.say("unpacking")
    sent.note(None)
    number = _created(connection, bundle, key, before, ready, sent)
    sent.note(number)
    address = f"{connection.server}/competitions/{number}/"
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
        raise HandedOverError(error, address, number) from None
    return Uploaded(number, address, published, ready.obstacles, tuple(found))


@dataclass(frozen=True)
class Readiness:
    """What speaks against an upload.

    Attributes:
        report: what the check finds.
        obstacles: why the bundle should not be uploaded; empty for one that is ready.
    """

    report: Report
    obstacles: tuple[str, ...]


def readiness(bundle: Path, now: datetime, connection: Connection) -> Readiness:
    """What speaks against uploading a bundle to a server, whose version and queues the check follows.

    Raises:
        UserError: it is not a file, or cannot be read.
    """
    if bundle.is_dir():
        build = f" Build it first: gen-bundle {bundle} --out bundle.zip --release"
        hint = build if (bundle / "bundle.yaml").is_file() else ""
        raise UserError(f"{bundle}: is a folder. Expected a bundle's zip.{hint}")
    version, queues = site_version(connection), []
    try:
        queues = [str(row["vhost"]) for row in connection.rows("queues/") if row.get("vhost")]
    except AnswerError as error:
        if error.code not in (403, 404):  # else one has no queue of one's own
            raise
    report = check_path(bundle, now=now, version=version, known_keys=queues)
    obstacles = [
        f"{one.id}: {one.what} ({one.file}). {one.consequence} {one.repair}".rstrip()
        for one in report.findings
        if one.grave or one.id == OVER
    ]
    if report.accepted:
        obstacles += _signs_of_a_draft(bundle, now)
    return Readiness(report, tuple(obstacles))


def _signs_of_a_draft(path: Path, now: datetime) -> list[str]:
    with ExitStack() as held:
        bundle = open_readable_bundle(path, now, held)
        read = bundle.competition
        contact = as_text(bundle.yaml.get("contact_email")) or ""
        pages = {page: _content(bundle, page) for _, page in read.pages}
        logo = _content(bundle, bundle.yaml.get("image"))
        again = "and build the bundle again"
        lacks = (
            *contact_and_image(contact, read.image, read.queue),
            *scaffold(pages, logo, f"pages/ of the competition, {again}", f"it, {again}"),
            *_synthetic_golds(bundle),
        )
        return [f"draft: {lack}" for lack in lacks]


def _content(bundle: Bundle, path: Any) -> bytes:
    found = bundle.find(path)
    return found.read(MAX_PAGE) if isinstance(found, Node) else b""


@cache
def _shipped() -> dict[tuple[str, int], Path]:
    """The gold that comes with the tool, by name and size in bytes."""
    return {(file.name, file.stat().st_size): file for folder in shipped_gold() for file in folder.rglob("*.*")}


def _synthetic_golds(bundle: Bundle) -> Iterator[Lack]:
    """Reference data with a file of those that come with the tool, recognised by name and content."""
    for task in bundle.competition.used_tasks:
        unpacked = bundle.unpacked(task.files.get("reference_data"))
        for name, node in unpacked.tree.root.files() if unpacked else ():
            file = _shipped().get((name.rpartition("/")[2], node.size))
            if node.size and file is not None and file.read_bytes() == node.read(node.size):
                yield synthetic_gold(task.name, name)
                break


def _created(connection: Connection, bundle: Path, key: str, before: set[int], ready: Readiness, sent: "_Sent") -> int:
    """Hand a stored bundle over to be unpacked; the id of the competition that came of it."""
    try:
        status = connection.send("PUT", f"datasets/completed/{key}/").get("status_id")
    except AnswerError as error:
        if error.unclear:
            return _appeared(connection, before, error)
        sent.forget()
        error.advice = without_file(connection, ROLE, key, bundle.name)
        raise
    if status is None:
        return _appeared(connection, before, UserError("the server did not say what becomes of the bundle."))
    try:
        return _unpacked(connection, status, ready)
    except UnpackingError:
        sent.forget()
        raise
    except AnswerError as error:
        return _appeared(connection, before, error)


def _unpacked(connection: Connection, status: int, ready: Readiness) -> int:
    """Wait for the server; the competition's id."""
    said = 0.0
    for waited in connection.looks(PATIENCE_S, FIRST_WAIT_S, LONGEST_WAIT_S):
        if waited >= said + SAYING_S:
            connection.say(f"the site has been unpacking for {waited:.0f} s")
            said = waited
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
    late = UserError(f"the server has not unpacked the bundle within {PATIENCE_S / 60:g} minutes.")
    raise HandedOverError(late, f"{connection.server}/competitions/")


def _mine(connection: Connection) -> set[int]:
    return {row["id"] for row in connection.rows("competitions/", mine="true")}


def _appeared(connection: Connection, before: set[int], lost: UserError) -> int:
    """What came of an upload whose answer was lost, by its id; it is looked for before anything is sent again."""
    try:
        for _ in connection.looks(LOOKING_S, FIRST_WAIT_S, LONGEST_WAIT_S):
            if new := sorted(_mine(connection) - before):
                return new[-1]
    except UserError as another:
        both = UserError(*lost.messages, *another.messages)
        raise HandedOverError(both, f"{connection.server}/competitions/") from None
    missing = UserError(*lost.messages, f"no new competition appeared within {LOOKING_S:g} seconds.")
    raise HandedOverError(missing, f"{connection.server}/competitions/")


def mismatches(snapshot: Snapshot, wanted: Bundle) -> list[Mismatch]:
    """Everything in which a competition that was just made of a bundle differs from it, as far as the site shows it."""
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


class _Sent:
    """What is remembered of the bundles that were handed to servers, by their digests."""

    def __init__(self, server: str, bundle: Path) -> None:
        self._file = state_folder() / "uploads.json"
        self._bundle = bundle
        self._name = f"{server} {file_digest(bundle)}"

    def refuse_again(self, connection: Connection) -> None:
        """Raise where a competition may have come of the bundle.

        Raises:
            UploadedBeforeError: it may.
        """
        before = self._read().get(self._name)
        if before is None:
            return
        place, number = f"{connection.server}/competitions/", before["competition"]
        said = f"{self._bundle.name} was uploaded {before['at']}, and may have become a competition: {place}"
        if number is not None:
            try:
                connection.get(f"competitions/{number}/")
            except AnswerError as error:
                if error.code in (403, 404):  # it was deleted
                    return
                raise
            said = f"{self._bundle.name} was uploaded {before['at']}, and became {place}{number}/"
        raise UploadedBeforeError(said, advice="Nothing was uploaded. To make another competition of it: --yes")

    def note(self, competition: int | None) -> None:
        """Remember that the bundle is handed over, and what came of it."""
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        write_json(self._file, self._read() | {self._name: {"at": now, "competition": competition}})

    def forget(self) -> None:
        """Remember nothing: the server made no competition of the bundle."""
        uploads = self._read()
        uploads.pop(self._name, None)
        write_json(self._file, uploads)

    def _read(self) -> dict[str, dict[str, Any]]:
        shape, advice = dict[str, dict[str, str | int | None]], "It says what was uploaded: restore or delete it."
        found: dict[str, dict[str, Any]] = read_json(self._file, shape, advice, missing={})
        return found
