"""The preview as one self-contained HTML file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gen_bundle.build.render.html_page import Functions, html_page, is_marked
from gen_bundle.codabench.board import NOT_AVAILABLE
from gen_bundle.declaration.dates import AOE, shown
from gen_bundle.declaration.source import mapping_of
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import write_whole
from gen_bundle.look.preview.reading import CompetitionView, PhaseView

MAX_TICKS = 6
MAX_DAYS = 40_000
OPEN_END = timedelta(days=30)
LATEST = datetime.max.replace(tzinfo=UTC)
MARK = b'<meta name="generator" content="gen-bundle preview">'
TEMPLATES = Path(__file__).resolve().parent / "templates"


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


def boards(view: CompetitionView, dry_run: Mapping[str, Any] | None) -> list[PhaseBoard]:
    """Return the board of each phase.

    Raises:
        UserError: the dry run is of another bundle: it has phases or columns that the view does not show.
    """
    rows, runs = _mappings(dry_run, "board"), _mappings(dry_run, "runs")
    names: set[str] = set()
    keys: set[str] = set()
    for row in rows:
        keys.update(mapping_of(row.get("cells")))
    found = []
    for phase in view.phases:
        names |= phase.names
        groups = tuple(task.name for task in phase.tasks)
        if len(groups) == 1:
            groups = ()
        lines = tuple(_line(view, phase, row) for row in rows if str(row.get("phase")) in phase.names)
        failed = []
        for run in runs:
            if str(run.get("phase")) in phase.names and run.get("status") == "Failed":
                failed.append((str(run.get("submission", "")), str(run.get("message", ""))))
        found.append(PhaseBoard(phase, groups, lines, tuple(failed)))
    _refuse_foreign("phase", {str(entry.get("phase")) for entry in (*rows, *runs)} - names)
    _refuse_foreign("column", keys - {column.key for column in view.columns})
    return found


def _refuse_foreign(what: str, foreign: set[str]) -> None:
    if foreign:
        raise UserError(
            f"--dry-run: has the {what} {', '.join(sorted(foreign)[:5])}, which this bundle does not show. "
            "Expected a dry run of this bundle: run gen-bundle dry-run again."
        )


def _line(view: CompetitionView, phase: PhaseView, row: Mapping[str, Any]) -> BoardLine:
    shown = [mapping_of(row.get("cells"))]
    if len(phase.tasks) > 1:
        of_tasks = mapping_of(row.get("tasks"))
        shown = []
        for task in phase.tasks:
            cells = next((cells for name, cells in of_tasks.items() if name in task.names), None)
            shown.append(mapping_of(cells))
    texts = [str(cells.get(column.key, NOT_AVAILABLE)) for cells in shown for column in view.columns]
    return BoardLine(row.get("rank", 0), str(row.get("submission", "")), tuple(texts))


def _mappings(dry_run: Mapping[str, Any] | None, key: str) -> Sequence[Mapping[str, Any]]:
    entries = (dry_run or {}).get(key)
    if not isinstance(entries, list):
        return []
    return [entry for entry in entries if isinstance(entry, Mapping)]


@dataclass(frozen=True)
class PhaseBar:
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
    bars: tuple[PhaseBar, ...]
    ticks: tuple[tuple[float, str], ...]


def axis(phases: Sequence[PhaseView]) -> Axis | None:
    """Return the axis of all phases whose start can be read; None without any."""
    starts: list[datetime] = []
    ends: list[datetime] = []
    for phase in phases:
        if phase.start.moment is not None:
            starts.append(phase.start.moment)
            if phase.end.moment is not None:
                ends.append(phase.end.moment)
    if not starts:
        return None
    first, last = min(starts), max(starts + ends)
    if len(ends) < len(starts) or last <= first:
        last += min(max(OPEN_END, (last - first) / 8), LATEST - last)
    if last == first:
        first -= OPEN_END

    def percent(moment: datetime) -> float:
        return round(100 * ((moment - first) / (last - first)), 2)

    bars = []
    for phase in phases:
        start, end = phase.start.moment, phase.end.moment
        if start is not None:
            width = max(percent(end or last) - percent(start), 0.8)
            bars.append(PhaseBar(phase, percent(start), width, end is None))
    ticks = [(percent(moment), label) for moment, label in _ticks(first, last)]
    return Axis(first, last, tuple(bars), tuple(ticks))


# Up to so many days: which midnights have a tick, and its label.
_SCALES: tuple[tuple[int, Callable[[datetime], bool], str], ...] = (
    (14, lambda moment: True, "{0.day} {0:%b}"),
    (75, lambda moment: moment.weekday() == 0, "{0.day} {0:%b}"),
    (2000, lambda moment: moment.day == 1, "{0:%b %Y}"),
    (MAX_DAYS * 1000, lambda moment: (moment.month, moment.day) == (1, 1), "{0:%Y}"),
)


def _ticks(first: datetime, last: datetime) -> list[tuple[datetime, str]]:
    """Midnights between the ends, at most `MAX_TICKS`: of days, of Mondays, of first days of months or of years."""
    days = (last - first).days
    moment = first.replace(hour=0, minute=0, second=0, microsecond=0)
    is_ticked, label = next((is_ticked, label) for most, is_ticked, label in _SCALES if days <= most)
    found = []
    for _ in range(min(days, MAX_DAYS)):
        moment += timedelta(days=1)
        if is_ticked(moment):
            found.append((moment, label.format(moment)))
    return found[:: -(-len(found) // MAX_TICKS) or 1]


def preview_page(view: CompetitionView, dry_run: Mapping[str, Any] | None = None) -> str:
    """Return the page's HTML; the same for the same arguments.

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
    record = dry_run or {}
    values = {
        "view": view,
        "axis": axis(view.phases),
        "boards": boards(view, dry_run),
        "dry_run": dry_run is not None,
        "findings": record.get("findings", ()),
        "board_version": record.get("platform_version"),
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
