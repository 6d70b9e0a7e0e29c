"""The preview as one self-contained HTML file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gen_bundle.codabench.board import NOT_AVAILABLE
from gen_bundle.declaration.dates import AOE, shown
from gen_bundle.errors import UserError
from gen_bundle.local_files import write_whole
from gen_bundle.preview.reading import CompetitionView, PhaseView, TaskView
from gen_bundle.render.html_page import Functions, html_page, is_marked

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
    """The board of each phase.

    Raises:
        UserError: the dry run is of another bundle: it has phases or columns that the view does not show.
    """
    rows, runs = _mappings(dry_run, "board"), _mappings(dry_run, "runs")
    phases = (str(entry.get("phase")) for entry in (*rows, *runs))
    _refuse_foreign("phase", phases, frozenset[str]().union(*(phase.names for phase in view.phases)))
    keys = (str(key) for row in rows for key in _texts(row.get("cells")))
    _refuse_foreign("column", keys, {column.key for column in view.columns})
    return [_board(view, phase, rows, runs) for phase in view.phases]


def _board(
    view: CompetitionView, phase: PhaseView, rows: Sequence[Mapping[str, Any]], runs: Sequence[Mapping[str, Any]]
) -> PhaseBoard:
    lines = [_line(view, phase, row) for row in rows if str(row.get("phase")) in phase.names]
    own_runs = [run for run in runs if str(run.get("phase")) in phase.names and run.get("status") == "Failed"]
    failed = [(str(run.get("submission", "")), str(run.get("message", ""))) for run in own_runs]
    groups = tuple(task.name for task in phase.tasks) if len(phase.tasks) > 1 else ()
    return PhaseBoard(phase, groups, tuple(lines), tuple(failed))


def _refuse_foreign(what: str, found: Iterable[str], known: set[str] | frozenset[str]) -> None:
    if foreign := sorted(set(found) - known):
        raise UserError(
            f"--dry-run: has the {what} {', '.join(foreign[:5])}, which this bundle does not show. "
            "Expected a dry run of this bundle: run gen-bundle dry-run again."
        )


def _line(view: CompetitionView, phase: PhaseView, row: Mapping[str, Any]) -> BoardLine:
    shown_cells = [_texts(row.get("cells"))]
    if len(phase.tasks) > 1:
        shown_cells = [_of_task(_texts(row.get("tasks")), task) for task in phase.tasks]
    cells = [str(texts.get(column.key, NOT_AVAILABLE)) for texts in shown_cells for column in view.columns]
    return BoardLine(row.get("rank", 0), str(row.get("submission", "")), tuple(cells))


def _of_task(by_task: Mapping[Any, Any], task: TaskView) -> Mapping[Any, Any]:
    return next((_texts(cells) for name, cells in by_task.items() if name in task.names), {})


def _mappings(dry_run: Mapping[str, Any] | None, key: str) -> Sequence[Mapping[str, Any]]:
    entries = (dry_run or {}).get(key)
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []


def _texts(cells: Any) -> Mapping[Any, Any]:
    return cells if isinstance(cells, Mapping) else {}


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
    """The axis of all phases whose start can be read; None without any."""
    dated = [(phase, phase.start.moment, phase.end.moment) for phase in phases if phase.start.moment is not None]
    if not dated:
        return None
    starts = [start for _, start, _ in dated]
    ends = [end for _, _, end in dated if end is not None]
    first, last = min(starts), max(starts + ends)
    if len(ends) < len(starts) or last <= first:
        last += min(max(OPEN_END, (last - first) / 8), LATEST - last)
    if last == first:
        first -= OPEN_END
    span = last - first

    def percent(moment: datetime) -> float:
        return round(100 * ((moment - first) / span), 2)

    def bar(phase: PhaseView, start: datetime, end: datetime | None) -> PhaseBar:
        width = max(percent(end or last) - percent(start), 0.8)
        return PhaseBar(phase, percent(start), width, end is None)

    ticks = tuple((percent(moment), label) for moment, label in _ticks(first, last))
    return Axis(first, last, tuple(bar(*one) for one in dated), ticks)


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
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
    midnights = (midnight + timedelta(days=n) for n in range(1, min(days, MAX_DAYS) + 1))
    ticked, label = next((ticked, label) for most, ticked, label in _SCALES if days <= most)
    found = [(moment, label.format(moment)) for moment in midnights if ticked(moment)]
    return found[:: -(-len(found) // MAX_TICKS) or 1]


def preview_page(view: CompetitionView, dry_run: Mapping[str, Any] | None = None) -> str:
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
