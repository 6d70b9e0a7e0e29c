"""The preview as one self-contained HTML file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gen_bundle.codabench.board import NOT_AVAILABLE
from gen_bundle.declaration.dates import AOE, shown
from gen_bundle.errors import UserError
from gen_bundle.preview.reading import PhaseView, TaskView, View
from gen_bundle.render.html_page import Functions, html_page, is_marked
from gen_bundle.whole_file import write_whole


@dataclass(frozen=True)
class BoardLine:
    """A row: its rank, who sent it, and the shown text of each cell."""

    rank: int
    submission: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class PhaseBoard:
    """A phase's board.

    Attributes:
        groups: the tasks' names, where a phase has several: the columns repeat below each.
        failed: (submission, message) of runs that ended Failed.
    """

    phase: PhaseView
    groups: tuple[str, ...]
    rows: tuple[BoardLine, ...]
    failed: tuple[tuple[str, str], ...]


def boards(view: View, dry_run: Mapping[str, Any] | None) -> list[PhaseBoard]:
    """The board of each phase.

    Raises:
        UserError: the dry run is of another bundle: it has phases or columns that the view does not show.
    """
    entries = [entry for key in ("runs", "board") for entry in _mappings((dry_run or {}).get(key))]
    cells = [entry["cells"] for entry in entries if isinstance(entry.get("cells"), Mapping)]
    names = {name for phase in view.phases for name in phase.names}
    for what, found, known in (
        ("phase", {str(entry.get("phase")) for entry in entries}, names),
        ("column", {str(key) for row in cells for key in row}, {column.key for column in view.columns}),
    ):
        if foreign := sorted(found - known):
            raise UserError(
                f"--dry-run: has the {what} {', '.join(foreign[:5])}, which this bundle does not show. "
                "Expected a dry run of this bundle: run gen-bundle dry-run again."
            )
    return [_board(view, phase, dry_run or {}) for phase in view.phases]


def _board(view: View, phase: PhaseView, dry_run: Mapping[str, Any]) -> PhaseBoard:
    several = len(phase.tasks) > 1
    rows = []
    for row in _of_phase(dry_run.get("board"), phase):
        cells = _cells(row.get("cells"), view)
        if several:
            by_task = row.get("tasks")
            cells = tuple(text for task in phase.tasks for text in _cells(_of_task(by_task, task), view))
        rows.append(BoardLine(row.get("rank", 0), str(row.get("submission", "")), cells))
    failed = [
        (str(run.get("submission", "")), str(run.get("message", "")))
        for run in _of_phase(dry_run.get("runs"), phase)
        if run.get("status") == "Failed"
    ]
    groups = tuple(task.name for task in phase.tasks) if several else ()
    return PhaseBoard(phase, groups, tuple(rows), tuple(failed))


def _of_phase(entries: Any, phase: PhaseView) -> Sequence[Mapping[str, Any]]:
    return [entry for entry in _mappings(entries) if str(entry.get("phase")) in phase.names]


def _mappings(entries: Any) -> Sequence[Mapping[str, Any]]:
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []


def _of_task(by_task: Any, task: TaskView) -> Any:
    entries = by_task.items() if isinstance(by_task, Mapping) else ()
    return next((cells for name, cells in entries if name in task.names), None)


def _cells(cells: Any, view: View) -> tuple[str, ...]:
    texts = cells if isinstance(cells, Mapping) else {}
    return tuple(str(texts.get(column.key, NOT_AVAILABLE)) for column in view.columns)


MAX_TICKS = 6
MAX_DAYS = 40_000
OPEN_END = timedelta(days=30)
LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Bar:
    """A phase on the axis; positions in per cent. `endless` where it has no end."""

    phase: PhaseView
    left: float
    width: float
    endless: bool


@dataclass(frozen=True)
class Axis:
    """The time axis, from `first` to `last` (UTC), with labelled ticks at per cent positions."""

    first: datetime
    last: datetime
    bars: tuple[Bar, ...]
    ticks: tuple[tuple[float, str], ...]


def axis(phases: Sequence[PhaseView]) -> Axis | None:
    """The axis of all phases whose start can be read; None without any."""
    dated = [(phase, phase.start.moment) for phase in phases if phase.start.moment is not None]
    if not dated:
        return None
    first = min(start for _, start in dated)
    ends = [phase.end.moment for phase, _ in dated if phase.end.moment is not None]
    last = max([*ends, *(start for _, start in dated)])
    if any(phase.end.moment is None for phase, _ in dated) or last <= first:
        last += min(max(OPEN_END, (last - first) / 8), LATEST - last)
    if last == first:
        first -= OPEN_END
    span = last - first

    def percent(moment: datetime) -> float:
        return round(100 * ((moment - first) / span), 2)

    bars = []
    for phase, start in dated:
        end = phase.end.moment or last
        bars.append(Bar(phase, percent(start), max(percent(end) - percent(start), 0.8), phase.end.moment is None))
    ticks = tuple((percent(moment), label) for moment, label in _ticks(first, last))
    return Axis(first, last, tuple(bars), ticks)


def _ticks(first: datetime, last: datetime) -> list[tuple[datetime, str]]:
    """Midnights between the ends, at most `MAX_TICKS`: of days, of Mondays, of first days of months or of years."""
    days = (last - first).days
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
    midnights = [midnight + timedelta(days=n) for n in range(1, min(days, MAX_DAYS) + 1)]
    if days <= 14:
        found = [(moment, f"{moment.day} {moment:%b}") for moment in midnights]
    elif days <= 75:
        found = [(moment, f"{moment.day} {moment:%b}") for moment in midnights if moment.weekday() == 0]
    elif days <= 2000:
        found = [(moment, f"{moment:%b %Y}") for moment in midnights if moment.day == 1]
    else:
        found = [(moment, f"{moment:%Y}") for moment in midnights if (moment.month, moment.day) == (1, 1)]
    return found[:: -(-len(found) // MAX_TICKS) or 1]


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
