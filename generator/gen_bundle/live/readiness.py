"""Whether a bundle may be uploaded: what the check finds, and what shows in a finished zip that it is a draft."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from gen_bundle.check import Report, check_path
from gen_bundle.check.bundle import Bundle, open_readable_bundle
from gen_bundle.check.report import OVER
from gen_bundle.codabench.fields import as_text
from gen_bundle.draft import Lack, contact_and_image, scaffold, synthetic_gold
from gen_bundle.errors import UserError
from gen_bundle.live.competition import site_version
from gen_bundle.live.connection import AnswerError, Connection
from gen_bundle.resources import shipped_gold
from gen_bundle.zips.tree import Node

MAX_PAGE = 4 * 1024 * 1024


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
    version = site_version(connection)
    report = check_path(bundle, now=now, version=version, known_keys=queues_of(connection))
    obstacles = [
        f"{one.id}: {one.what} ({one.file}). {one.consequence} {one.repair}".rstrip()
        for one in report.findings
        if one.grave or one.id == OVER
    ]
    if report.accepted:
        obstacles += _signs_of_a_draft(bundle, now)
    return Readiness(report, tuple(obstacles))


def queues_of(connection: Connection) -> list[str]:
    """The vhosts of the queues that may be named in a bundle."""
    try:
        return [str(row["vhost"]) for row in connection.rows("queues/") if row.get("vhost")]
    except AnswerError as error:
        if error.code in (403, 404):  # no queue of one's own
            return []
        raise


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
            *_gold(bundle),
        )
        return [f"draft: {lack}" for lack in lacks]


def _content(bundle: Bundle, path: Any) -> bytes:
    found = bundle.find(path)
    return found.read(MAX_PAGE) if isinstance(found, Node) else b""


@cache
def _shipped() -> dict[tuple[str, int], Path]:
    """The gold that comes with the tool, by name and size in bytes."""
    return {(file.name, file.stat().st_size): file for folder in shipped_gold() for file in folder.rglob("*.*")}


def _gold(bundle: Bundle) -> Iterator[Lack]:
    """Reference data with a file of those that come with the tool, recognised by name and content."""
    for task in bundle.competition.used_tasks:
        unpacked = bundle.unpacked(task.files.get("reference_data"))
        for name, node in unpacked.tree.root.files() if unpacked else ():
            file = _shipped().get((name.rpartition("/")[2], node.size))
            if node.size and file is not None and file.read_bytes() == node.read(node.size):
                yield synthetic_gold(task.name, name)
                break
