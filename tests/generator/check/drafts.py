"""Small bundles for the check, and edits that make one broken or odd."""

import copy
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gen_bundle.check import Report, check_path
from tests.yaml_text import dumped

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def png(width: int = 4, height: int = 4) -> bytes:
    """A grey PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\x80" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def packed(files: dict[str, bytes], **options: Any) -> bytes:
    """A zip of some files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", **options) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


SCORER = {"metadata.yaml": b"command: python3 /app/program/score.py\n", "score.py": b"print('scored')\n"}
PROGRAM_FILES = {f"scoring/{name}": data for name, data in SCORER.items()}
NEW: dict[str, Any] = {
    "version": 2,
    "title": "A small task",
    "image": "logo.png",
    "terms": "terms.md",
    "pages": [{"title": "Overview", "file": "overview.md"}],
    "tasks": [{"index": 0, "name": "Task", "scoring_program": "scoring", "reference_data": "ref"}],
    "phases": [
        {"index": 0, "name": "Main", "start": "2031-01-01 00:00:00", "end": "2031-12-31 23:59:59", "tasks": [0]},
    ],
    "leaderboards": [
        {
            "title": "Results",
            "key": "main",
            "columns": [{"title": "Points", "key": "points", "index": 0}, {"title": "More", "key": "more", "index": 1}],
        }
    ],
}
NEW_FILES = {
    "logo.png": png(),
    "terms.md": b"Be fair.\n",
    "overview.md": b"# Overview\nWelcome.\n",
    "ref/truth.txt": b"a\nb\na\n",
    **PROGRAM_FILES,
}
OLD: dict[str, Any] = {
    "title": "An old task",
    "image": "logo.png",
    "html": {"overview": "overview.html", "terms": "terms.html"},
    "phases": {
        1: {
            "phasenumber": 1,
            "label": "Main",
            "start_date": "2031-01-01",
            "scoring_program": "scoring.zip",
            "reference_data": "reference.zip",
        }
    },
    "leaderboard": {
        "leaderboards": {"Results": {"label": "Results", "rank": 1}},
        "columns": {"points": {"leaderboard": {"label": "Results", "rank": 1}, "label": "Points", "rank": 1}},
    },
}
OLD_FILES = {
    "logo.png": png(),
    "overview.html": b"<h1>Overview</h1>Welcome.\n",
    "terms.html": b"<p>Be fair.</p>\n",
    "scoring.zip": packed(SCORER),
    "reference.zip": packed({"truth.txt": b"a\nb\na\n"}),
}


@dataclass
class Draft:
    """A bundle in the making: competition.yaml as a value (or, in `text`, as it stands), files, or the zip's bytes."""

    yaml: dict[str, Any]
    files: dict[str, bytes]
    text: str | bytes | None = None
    zip_bytes: bytes | None = None
    options: dict[str, Any] = field(default_factory=dict)
    is_folder: bool = False

    def as_zip(self) -> bytes:
        """The bundle's zip."""
        if self.zip_bytes is not None:
            return self.zip_bytes
        text = self.text
        if text is None:
            text = dumped(self.yaml, allow_unicode=True)
        data = text.encode() if isinstance(text, str) else text
        return packed({"competition.yaml": data, **self.files})

    def unpack(self, folder: Path) -> Path:
        """The folder, with the bundle in it."""
        with zipfile.ZipFile(io.BytesIO(self.as_zip())) as archive:
            archive.extractall(folder)
        return folder

    def check(self, folder: Path) -> Report:
        """The report on the bundle's zip."""
        path = folder / "bundle.zip"
        path.write_bytes(self.as_zip())
        if self.is_folder:
            path = self.unpack(folder / "unpacked")
        return check_path(path, **{"now": NOW, **self.options})


Edit = Callable[[Draft], None]


def new(*edits: Edit) -> Draft:
    """A sound bundle of the new format, with edits."""
    draft = Draft(copy.deepcopy(NEW), dict(NEW_FILES))
    both(*edits)(draft)
    return draft


def old(*edits: Edit) -> Draft:
    """A sound bundle of the old format, with edits."""
    draft = Draft(copy.deepcopy(OLD), dict(OLD_FILES))
    both(*edits)(draft)
    return draft


def put(*path_and_value: Any) -> Edit:
    """Set a value of competition.yaml: put("tasks", 0, "name", "A")."""
    *path, key, value = path_and_value

    def edit(draft: Draft) -> None:
        target: Any = draft.yaml
        for step in path:
            target = target[step]
        target[key] = copy.deepcopy(value)

    return edit


def first_task(**values: Any) -> Edit:
    """Set values of the first task."""
    return lambda draft: draft.yaml["tasks"][0].update(copy.deepcopy(values))


def first_phase(**values: Any) -> Edit:
    """Set values of the first phase."""
    return lambda draft: draft.yaml["phases"][0].update(copy.deepcopy(values))


def public(name: str, content: bytes | str) -> Edit:
    """Give the first phase public data, with a file."""
    return both(first_phase(public_data="public"), write(f"public/{name}", content))


def kit(name: str, content: bytes) -> Edit:
    """Give the first phase a starting kit, with a file."""
    return both(first_phase(starting_kit="kit"), write(f"kit/{name}", content))


def leaks(draft: Draft, folder: Path) -> list[str]:
    """What the check says of leaks."""
    return [finding.what for finding in draft.check(folder).findings if finding.id == "leak"]


def unpacked(draft: Draft) -> None:
    """Look at the bundle as a folder."""
    draft.is_folder = True


def drop(*path: Any) -> Edit:
    """Delete a key of competition.yaml."""

    def edit(draft: Draft) -> None:
        target: Any = draft.yaml
        for step in path[:-1]:
            target = target[step]
        del target[path[-1]]

    return edit


def write(name: str, data: bytes | str) -> Edit:
    """Add or replace a file."""
    return lambda draft: draft.files.__setitem__(name, data.encode() if isinstance(data, str) else data)


def delete(name: str) -> Edit:
    """Delete a file."""
    return lambda draft: draft.files.__delitem__(name)


def text(content: str | bytes) -> Edit:
    """Replace the text of competition.yaml."""
    return lambda draft: setattr(draft, "text", content)


def replace(before: str, after: str) -> Edit:
    """Change the text that competition.yaml would have."""

    def edit(draft: Draft) -> None:
        written = draft.text if isinstance(draft.text, str) else dumped(draft.yaml)
        assert before in written
        draft.text = written.replace(before, after, 1)

    return edit


def raw(data: bytes) -> Edit:
    """Replace the whole zip."""
    return lambda draft: setattr(draft, "zip_bytes", data)


def secret(*files: dict[str, Any]) -> Edit:
    """A scoring program of our own, which names what is secret."""
    return write("scoring/program.json", json.dumps({"secrets": files}).encode())


def with_options(**options: Any) -> Edit:
    """Pass further options to the check."""
    return lambda draft: draft.options.update(options)


def both(*edits: Edit) -> Edit:
    """Several edits, one after the other."""

    def edit(draft: Draft) -> None:
        for one in edits:
            one(draft)

    return edit


def nothing(_: Draft) -> None:
    """No edit: the sound bundle itself."""


@dataclass(frozen=True)
class Case:
    """A bundle that triggers a rule, and one nearby that just does not."""

    trigger: Edit
    near: Edit = nothing
    base: Callable[..., Draft] = new


SECOND_TASK = put(
    "tasks",
    [
        {"index": 0, "name": "One", "scoring_program": "scoring", "reference_data": "ref"},
        {"index": 1, "name": "Two", "scoring_program": "scoring", "reference_data": "ref"},
    ],
)
TWO_TASKS = both(SECOND_TASK, put("phases", 0, "tasks", [0, 1]))


def two_phases(end: Any, start: Any) -> Edit:
    """A second phase that starts when given, after a first one that ends when given."""
    first = {"index": 0, "name": "A", "start": "2031-01-01 00:00:00", "end": end, "tasks": [0]}
    return put("phases", [first, {"index": 1, "name": "B", "start": start, "tasks": [0]}])


LATER_PHASE = two_phases("2031-02-01 00:00:00", "2031-02-02 00:00:00")


def command(line: str) -> Edit:
    """Another command of the scoring program."""
    return write("scoring/metadata.yaml", f"command: {line}\n".encode())
