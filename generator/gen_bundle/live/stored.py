"""What a server stored of a competition, held against what its bundle says: settings, dates, limits, columns, files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gen_bundle.check.bundle import Bundle, page_files
from gen_bundle.codabench.competition import TASK_FILES, Column, Phase
from gen_bundle.codabench.fields import as_text
from gen_bundle.live.competition import in_order, moment

MAX_PAGE = 4 * 1024 * 1024


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


def mismatches(
    bundle: Bundle, competition: Mapping[str, Any], tasks: Mapping[int, Mapping[str, Any]]
) -> list[Mismatch]:
    """Everything that differs.

    Args:
        bundle: as the platform reads it.
        competition: the answer of `competitions/ID/`.
        tasks: the answers of `tasks/ID/` for the tasks of the phases, by id.
    """
    found = [*_top(bundle, competition), *_pages(bundle, competition)]
    declared, stored = bundle.competition.phases, in_order(competition.get("phases"))
    found += _same("number of phases", len(declared), len(stored))
    for phase, row in zip(declared, stored, strict=False):
        found += [*_phase(phase, row), *_files(phase, row, tasks)]
    boards = competition.get("leaderboards") or [{}]
    return [*found, *_board(bundle, boards[0])]


def _same(what: str, bundle: object, server: object) -> Iterator[Mismatch]:
    if bundle != server:
        yield Mismatch(what, _shown(bundle), _shown(server))


def _shown(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return "nothing" if value is None or value == "" else repr(value) if isinstance(value, str) else str(value)


def _top(bundle: Bundle, competition: Mapping[str, Any]) -> Iterator[Mismatch]:
    yield from _same("title", bundle.competition.title, competition.get("title"))
    yield from _same("docker_image", bundle.competition.image, competition.get("docker_image"))


def _pages(bundle: Bundle, competition: Mapping[str, Any]) -> Iterator[Mismatch]:
    """Pages and terms; the server gives texts without the white space at their ends."""
    stored = in_order(competition.get("pages"))
    files = [page for page in page_files(bundle) if page.at not in (("terms",), ("html", "terms"))]
    yield from _same("number of pages", len(files), len(stored))
    for number, (page, row) in enumerate(zip(files, stored, strict=False), 1):
        title = bundle.value((*page.at[:-1], "title")) if page.at[0] == "pages" else page.at[-1]
        yield from _same(f"title of page {number}", as_text(title), row.get("title"))
        if "content" in row:
            yield from _text(f"page {as_text(title)}", bundle.text(page.path, MAX_PAGE), row["content"])
    if "terms" in competition and bundle.format == "v2":
        yield from _text("terms", bundle.text(bundle.yaml.get("terms"), MAX_PAGE), competition["terms"])


def _text(what: str, bundle: str | None, server: str | None) -> Iterator[Mismatch]:
    ours, theirs = ((text or "").replace("\r\n", "\n").strip() for text in (bundle, server))
    if ours != theirs:
        yield Mismatch(what, f"a text of {len(ours)} characters", f"another one, of {len(theirs)}")


def _phase(phase: Phase, row: Mapping[str, Any]) -> Iterator[Mismatch]:
    name = f"phase {phase.name}"
    yield from _same(f"{name}, name", phase.name, row.get("name"))
    yield from _same(f"{name}, start", phase.start.moment, moment(row.get("start")))
    yield from _same(f"{name}, end", phase.end.moment, moment(row.get("end")))
    yield from _same(f"{name}, time limit per run (s)", phase.limit_s, row.get("execution_time_limit"))
    yield from _same(f"{name}, submissions per day", phase.a_day or 0, row.get("max_submissions_per_day") or 0)
    yield from _same(f"{name}, submissions in all", phase.in_all or 0, row.get("max_submissions_per_person") or 0)
    tasks = [task["name"] for task in row.get("tasks") or []]
    yield from _same(f"{name}, tasks", sorted(task.name for task in phase.tasks), sorted(tasks))


def _files(phase: Phase, row: Mapping[str, Any], tasks: Mapping[int, Mapping[str, Any]]) -> Iterator[Mismatch]:
    """Which programs and data the tasks have; the server does not give their content away."""
    declared = {task.name: task for task in phase.tasks}
    for one in row.get("tasks") or []:
        stored, task = tasks.get(one["id"]), declared.get(one["name"])
        if stored is None or task is None or not task.files:  # a task that was on the server before has no files here
            continue
        for role in TASK_FILES:
            yield from _same(f"task {task.name}, {role}", *map(_presence, (task.files.get(role), stored.get(role))))
    for role in ("public_data", "starting_kit"):
        if role in row:
            yield from _same(f"phase {phase.name}, {role}", *map(_presence, (phase.files.get(role), row[role])))


def _presence(value: object) -> str:
    return "a file" if value else "none"


def _board(bundle: Bundle, row: Mapping[str, Any]) -> Iterator[Mismatch]:
    competition = bundle.competition
    yield from _same("leaderboard, submission_rule", competition.submission_rule, row.get("submission_rule"))
    yield from _same("leaderboard, primary_index", competition.primary_index, row.get("primary_index"))
    declared: Sequence[Column] = sorted(competition.columns, key=lambda column: column.index or 0)
    stored = in_order(row.get("columns"))
    yield from _same("columns", [column.key for column in declared], [column.get("key") for column in stored])
    by_key = {column.get("key"): column for column in stored}
    for column in declared:
        if (other := by_key.get(column.key)) is None:
            continue
        name = f"column {column.key}"
        yield from _same(f"{name}, title", column.title, other.get("title"))
        yield from _same(f"{name}, index", column.index, other.get("index"))
        yield from _same(f"{name}, sorting", "asc" if column.ascending else "desc", other.get("sorting"))
        yield from _same(f"{name}, precision", column.precision, other.get("precision"))
        yield from _same(f"{name}, hidden", column.hidden, bool(other.get("hidden")))
        yield from _same(f"{name}, computation", column.computation or None, other.get("computation") or None)
