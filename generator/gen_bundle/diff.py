"""The journey from two bundles, or two declarations, to what differs between them."""

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gen_bundle.building import finished_bundle
from gen_bundle.check.bundle import Bundle, open_readable_bundle
from gen_bundle.difference.changes import Difference
from gen_bundle.difference.report import differences


@dataclass(frozen=True)
class DiffRequest:
    """Two bundles to be compared.

    Attributes:
        old, new: a zip, an unpacked bundle's folder, or the name or folder of a declaration, which is built for it.
        data: the data with which declarations are built; their synthetic data without.
        layout: the layout in which declarations are built; None: the one that they declare.
        trust: build also a declaration whose folder brings code that this user has not built before.
    """

    old: str
    new: str
    data: Path | None = None
    layout: str | None = None
    trust: bool = False


def diff(request: DiffRequest) -> list[Difference]:
    """Everything in which the two differ, in the order of `PARTS`.

    Raises:
        UserError: one of them cannot be read or built.
    """
    now = datetime.now(UTC)
    with ExitStack() as held:
        old, new = (_bundle(source, request, now, held) for source in (request.old, request.new))
        return differences(old, new)


def _bundle(source: str, request: DiffRequest, now: datetime, held: ExitStack) -> Bundle:
    work = Path(held.enter_context(tempfile.TemporaryDirectory()))
    path = finished_bundle(source, work, request.data, request.layout, trust=request.trust)
    return open_readable_bundle(path, now, held)
