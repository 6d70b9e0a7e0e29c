"""A bundle's programs and data: who may have which, and what is in it."""

import io
import zipfile
from dataclasses import dataclass

from gen_bundle.check.bundle import Bundle
from gen_bundle.codabench.competition import DataUse, Phase
from gen_bundle.codabench.fields import as_text
from gen_bundle.zips.tree import Node
from gen_bundle.zips.unpacking import UNREADABLE

FILES_SHOWN = 40
MAX_LISTED_BYTES = 500_000_000


@dataclass(frozen=True)
class Download:
    """A program or data file: who may have it, and what is in it.

    Attributes:
        role: what it is for.
        name: its path in the bundle.
        open: participants can download it.
        size: bytes; None where the path leads nowhere.
        files: names and sizes of what it holds, the first `FILES_SHOWN` of `count`.
    """

    role: str
    name: str
    open: bool
    size: int | None
    files: tuple[tuple[str, int], ...] = ()
    count: int = 0


def downloads(bundle: Bundle, phase: Phase) -> list[Download]:
    """What participants may fetch first, then what only organisers have."""
    competition = bundle.competition
    uses = [
        ("Starting kit", phase.files.get("starting_kit"), True),
        ("Public data", phase.files.get("public_data"), True),
    ]
    tasks = {task.at[-1] for task in phase.tasks}
    for position, use in enumerate(competition.solutions):
        if any(task.index in use.tasks for task in phase.tasks):
            entry = bundle.mapping(use.at[:-1])
            uses.append((as_text(entry.get("name")) or f"Solution {position + 1}", use, True))
    for task in phase.tasks:
        label = f" of {task.name}" if len(tasks) > 1 else ""
        programs, inputs = competition.programs_available, competition.input_available
        for role, key, is_open in (
            ("Scoring program", "scoring_program", programs),
            ("Ingestion program", "ingestion_program", programs),
            ("Input data", "input_data", inputs),
            ("Reference data", "reference_data", False),
        ):
            uses.append((role + label, task.files.get(key), is_open))
    return [_download(bundle, role, use, is_open) for role, use, is_open in uses if use is not None]


def _download(bundle: Bundle, role: str, use: DataUse, is_open: bool) -> Download:
    found = bundle.tree.find(use.path) if isinstance(use.path, str) else None
    if not isinstance(found, Node):
        return Download(role, str(use.path), is_open, None)
    files = _members(found)
    size = sum(size for _, size in files) if found.is_folder else found.size
    return Download(role, str(use.path), is_open, size, tuple(files[:FILES_SHOWN]), len(files))


def _members(found: Node) -> list[tuple[str, int]]:
    """Names and sizes of the files in a folder or zip; none where it is neither, or too large to be looked into."""
    if found.is_folder:
        return [(name, node.size) for name, node in found.files()]
    if found.size > MAX_LISTED_BYTES:
        return []
    try:
        with zipfile.ZipFile(io.BytesIO(found.read(MAX_LISTED_BYTES))) as archive:
            return sorted((member.filename, member.file_size) for member in archive.infolist() if not member.is_dir())
    except UNREADABLE:
        return []
