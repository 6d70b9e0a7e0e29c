"""From the competition on a site and the bundle that it is to become, to the requests that change it.

A task is put with all its keys, since the server empties those that are left out. Pages and phases are sent as whole
lists, since the server deletes those that are missing, a phase with all its submissions: none is ever left out here.
The list of invited addresses goes with every request, since each replaces it.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from gen_bundle.check.bundle import Bundle, page_files
from gen_bundle.codabench.competition import PHASE_FILES, TASK_FILES, DataUse, Phase, Task
from gen_bundle.codabench.fields import Boolean, as_boolean, as_text
from gen_bundle.codabench.serializer_fields import PHASE_FLAGS, TOP_FIELDS
from gen_bundle.difference.changes import Difference
from gen_bundle.live.competition import moment
from gen_bundle.live.connection import Row
from gen_bundle.live.site_bundle import Pairs
from gen_bundle.live.snapshot import PHASE_FIELDS, TASK_FIELDS, TOP_KEYS, Key, Snapshot, key_of, plain

EDITOR = "on the site, in the competition's editor (Edit)"
# By part and setting (None: any other). What is not named here is done through the API.
BY_HAND: dict[tuple[str, str | None], str] = {
    ("competition", "queue"): f"{EDITOR}, tab Details: Queue",
    ("phases", "added"): f"make its tasks under Resources, then {EDITOR}, tab Phases: Add phase",
    ("phases", "removed"): (
        f"{EDITOR}, tab Phases: the bin beside it. The site deletes its submissions, too: fetch them first"
    ),
    ("phases", "tasks"): f"{EDITOR}, tab Phases: Tasks. A new task runs all submissions; old ones keep the old task",
    ("tasks", "added"): f"make it under Resources, Tasks, then {EDITOR}, tab Phases: Tasks of its phase",
    ("tasks", "removed"): f"{EDITOR}, tab Phases: Tasks of its phase. Its submissions stay, but lose their task",
    ("leaderboard", "removed"): (
        f"{EDITOR}, tab Leaderboard. The site deletes the column with all its scores: fetch them first"
    ),
    ("leaderboard", None): f"{EDITOR}, tab Leaderboard",
    ("public data", "removed"): f"{EDITOR}, tab Phases: Public Data",
    ("starting kits", "removed"): f"{EDITOR}, tab Phases: Starting Kit",
}


def by_hand(difference: Difference) -> str | None:
    """What to click for a difference that the API cannot remove, or not safely; None where it can."""
    return BY_HAND.get((difference.part, difference.what), BY_HAND.get((difference.part, None)))


@dataclass(frozen=True)
class Stored:
    """A file on the site: tasks name it by its key, phases by its number."""

    key: str
    number: int | None = None


@dataclass(frozen=True)
class Edit:
    """One request that changes a competition or a task.

    Attributes:
        place: the beginning of all places that it may change: `("task", 7)`; empty for the competition.
        body: what is sent.
        expected: the values that are there afterwards, of the places that change.
        files: the programs and data that are stored first, by their places; they complete the body.
    """

    place: Key
    method: str
    path: str
    body: Row
    expected: Mapping[Key, Any]
    files: Mapping[Key, DataUse] = field(default_factory=dict)

    def with_files(self, stored: Mapping[Key, Stored]) -> "Edit":
        """The edit with the files that were stored for it."""
        body, expected = dict(self.body), dict(self.expected)
        for (kind, number, role), file in stored.items():
            expected[kind, number, role] = file.key
            if kind == "task":
                body[role] = file.key
            else:
                body["phases"] = [
                    phase | {role: file.number} if phase["id"] == number else phase for phase in body["phases"]
                ]
        return Edit(self.place, self.method, self.path, body, expected)


def edits(snapshot: Snapshot, wanted: Bundle, paired: Pairs, replaced: Mapping[Key, Set[str]]) -> list[Edit]:
    """The requests that make of the competition what the bundle says, as far as the API can.

    Args:
        snapshot: what is on the site.
        wanted: the bundle.
        paired: which part of the one is which of the other.
        replaced: the roles whose files differ, by `("task", 7)` or `("phase", 12)`.
    """
    found = []
    for number, task in paired.tasks.items():
        if number in snapshot.tasks:
            found.append(_task_edit(snapshot, number, task, wanted, replaced.get(("task", number), frozenset())))
    found.append(_competition_edit(snapshot, wanted, paired, replaced))
    return [edit for edit in found if edit is not None]


def task_body(task: Row) -> dict[str, Any]:
    """A task with all keys that it has, as the server takes them."""
    return {key: task[key] for key in TASK_FIELDS if key in task} | {
        role: key_of(task.get(role)) for role in TASK_FILES
    }


def _task_edit(snapshot: Snapshot, number: int, task: Task, wanted: Bundle, roles: Set[str]) -> Edit | None:
    stored, declared = snapshot.tasks[number], wanted.mapping(task.at)
    if "key" in declared:
        return None
    values = {
        "name": task.name.strip(),
        "description": as_text(declared.get("description")) or "",
        "ingestion_only_during_scoring": task.ingestion_only_during_scoring,
    }
    place: Key = ("task", number)
    body = task_body(stored)
    changed = {key: value for key, value in values.items() if key in stored and plain(stored[key]) != plain(value)}
    expected = {(*place, key): plain(value) for key, value in changed.items()}
    files: dict[Key, DataUse] = {}
    for role in sorted(roles):
        use = task.files.get(role)
        if use is not None and wanted.find(use.path) is not None:
            files[*place, role] = use
        else:  # a file that is no longer there, or one that the bundle names by its key on the site
            changed[role] = None if use is None else str(use.path)
            expected[*place, role] = changed[role]
    if not changed and not files:
        return None
    return Edit(place, "PUT", f"tasks/{number}/", body | changed, expected, files)


def competition_body(snapshot: Snapshot, places: Sequence[Key], phases: frozenset[int]) -> dict[str, Any]:
    """What brings places of a competition back to a snapshot; `phases` are those that are still there."""
    row = snapshot.competition
    parts = {place[0] for place in places}
    body = {key: row[key] for key in TOP_KEYS if key in row and key in parts}
    if "pages" in parts:
        kept = ("id", "title", "content", "index")
        body["pages"] = [{key: page.get(key) for key in kept} for page in snapshot.pages]
    if "phase" in parts:
        body["phases"] = [_restored(phase, places) for phase in snapshot.phases if phase["id"] in phases]
    return body | {"whitelist_emails": list(row["whitelist_emails"])}


def _restored(phase: Row, places: Sequence[Key]) -> dict[str, Any]:
    files = [role for role in PHASE_FILES if ("phase", phase["id"], role) in places]
    return _phase(phase) | {role: (phase.get(role) or {}).get("id") for role in files}


def _competition_edit(
    snapshot: Snapshot, wanted: Bundle, paired: Pairs, replaced: Mapping[Key, Set[str]]
) -> Edit | None:
    row = snapshot.competition
    body: dict[str, Any] = {key: value for key, value in _top(wanted) if key in row and plain(row[key]) != plain(value)}
    expected: dict[Key, Any] = {(key,): plain(value) for key, value in body.items()}
    pages = [*_pages(wanted)]
    if pages != [(plain(page["title"]), plain(page.get("content"))) for page in snapshot.pages]:
        body["pages"] = [*_pages_to_send(snapshot, pages)]
        expected["pages",] = tuple(pages)
    phases, files = _phase_edits(snapshot, wanted, paired, replaced, expected)
    if files or any(key[0] == "phase" for key in expected):
        body["phases"] = phases
    if not body:
        return None
    body["whitelist_emails"] = list(row["whitelist_emails"])
    return Edit((), "PATCH", f"competitions/{snapshot.id}/", body, expected, files)


def _phase_edits(
    snapshot: Snapshot, wanted: Bundle, paired: Pairs, replaced: Mapping[Key, Set[str]], expected: dict[Key, Any]
) -> tuple[list[dict[str, Any]], dict[Key, DataUse]]:
    """The phases as they are sent, and the files that are stored for them; adds to what is expected."""
    files: dict[Key, DataUse] = {}
    phases = []
    for stored in snapshot.phases:
        number, phase = stored["id"], paired.phases.get(stored["id"])
        changed = _phase_changes(stored, phase, wanted)
        phases.append(_phase(stored) | changed)
        for key, value in changed.items():
            expected["phase", number, key] = moment(value) if key in ("start", "end") else plain(value)
        for role in sorted(replaced.get(("phase", number), ())):
            if phase is not None and role in phase.files:
                files["phase", number, role] = phase.files[role]
    return phases, files


def _top(wanted: Bundle) -> Iterator[tuple[str, Any]]:
    for key, kind, default, _ in TOP_FIELDS:
        value = wanted.competition.image if key == "docker_image" else wanted.yaml.get(key, default)
        yield key, bool(as_boolean(value)) if isinstance(kind, Boolean) else as_text(value)
    yield "fact_sheet", wanted.yaml.get("fact_sheet") or None
    if (terms := next((page for page in page_files(wanted) if page.at == ("terms",)), None)) is not None:
        yield "terms", plain(wanted.text(terms.path))


def _pages(wanted: Bundle) -> Iterator[tuple[str, str]]:
    for page in page_files(wanted):
        if page.at != ("terms",):
            yield plain(as_text(wanted.value((*page.at[:-1], "title")))), plain(wanted.text(page.path))


def _pages_to_send(snapshot: Snapshot, pages: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """The pages in their order, with the ids of those that are there, by title and else by place."""
    free = {plain(page["title"]): page for page in reversed(snapshot.pages)}
    same = [free.pop(title, None) for title, _ in pages]
    left = list(free.values())
    for index, ((title, content), page) in enumerate(zip(pages, same, strict=True)):
        known = page or (left.pop(0) if left else None)
        yield ({"id": known["id"]} if known else {}) | {"title": title, "content": content, "index": index}


def _phase(phase: Row) -> dict[str, Any]:
    """A phase with its settings; tasks, board and files stay as they are when they are not named."""
    return {key: phase[key] for key in ("id", "index", *PHASE_FIELDS) if key in phase}


def _phase_changes(stored: Row, phase: Phase | None, wanted: Bundle) -> dict[str, Any]:
    if phase is None:
        return {}
    declared = wanted.mapping(phase.at)
    values: dict[str, Any] = {
        "name": phase.name.strip(),
        "description": as_text(declared.get("description")) or "",
        "execution_time_limit": phase.limit_s,
        "max_submissions_per_day": phase.a_day,
        "max_submissions_per_person": phase.in_all,
        "auto_migrate_to_this_phase": phase.auto_migrate,
        **{flag: bool(as_boolean(declared.get(flag))) for flag in PHASE_FLAGS},
    }
    changed = {key: value for key, value in values.items() if key in stored and not _same(stored[key], value)}
    for key, instant in (("start", phase.start), ("end", phase.end)):
        before = moment(stored.get(key))
        if instant.fault is None and (before and before.replace(microsecond=0)) != instant.moment:
            changed[key] = instant.moment and f"{instant.moment:%Y-%m-%dT%H:%M:%SZ}"
    return changed


def _same(stored: Any, value: Any) -> bool:
    """Whether two values mean the same; no number of submissions is as good as 0: there is no limit."""
    return bool(plain(stored) == plain(value) or (not stored and not value))
