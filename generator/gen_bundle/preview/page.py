"""The preview as one self-contained HTML file."""

from collections.abc import Mapping
from datetime import UTC
from pathlib import Path
from typing import Any

from gen_bundle.declaration.dates import AOE, shown
from gen_bundle.errors import UserError
from gen_bundle.preview.leaderboard import boards
from gen_bundle.preview.reading import View
from gen_bundle.preview.schedule import axis
from gen_bundle.render.html_page import Functions, html_page, is_marked
from gen_bundle.whole_file import write_whole

MARK = b'<meta name="generator" content="gen-bundle preview">'
TEMPLATES = Path(__file__).resolve().parent / "templates"


def preview_page(view: View, dry_run: Mapping[str, Any] | None = None) -> str:
    """The page's HTML; the same for the same arguments.

    Args:
        view: the competition.
        dry_run: the content of dry-run.json, to fill the leaderboard.

    Raises:
        UserError: the dry run is of another bundle.
    """
    filters: Functions = {
        "utc": lambda moment: shown(moment, UTC),
        "aoe": lambda moment: shown(moment, AOE),
        "iso": lambda moment: f"{moment:%Y-%m-%dT%H:%M:%SZ}",
        "size": _size,
    }
    values = {
        "view": view,
        "axis": axis(view.phases),
        "boards": boards(view, dry_run),
        "dry_run": dry_run is not None,
        "findings": dry_run.get("findings", ()) if dry_run else (),
        "board_version": dry_run.get("platform_version") if dry_run else None,
    }
    script = (TEMPLATES / "preview.js").read_text(encoding="utf-8")
    return html_page(TEMPLATES / "preview.html.j2", filters, values, script)


def write_page(page: str, folder: Path) -> Path:
    """Write the page as `index.html` of a folder, which is made; an earlier preview is replaced.

    Raises:
        UserError: another page is there, or it cannot be written.
    """
    file = folder / "index.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if file.exists() and not is_marked(file, MARK):
            raise UserError(f"{file}: exists and is not a preview. Choose another --out, or remove the file.")
    except OSError as error:
        raise UserError(f"--out {folder}: cannot be used ({error.strerror}). Choose another folder.") from error
    write_whole(file, page.encode("utf-8", "replace"))
    return file


def _size(count: int) -> str:
    """Bytes in words, with decimal units as file managers show them."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
