"""A competition on a site beside the bundle that it is to become: as a bundle to compare, and as requests to send.

Both come of the same table: the values of the bundle's fields as the API takes them. What the site stores otherwise is
put into the bundle's own declaration, which so becomes that of the site, and is what the requests change.

What the site does not give (logo, solutions, the content of most programs and data) is taken from where it is known:
programs and data from the bundle of which the competition was made, as long as they are those of that upload, or from
the record of what this machine has put there. Where nothing is known, the path says so.

A task is put with all its keys, since the server empties those that are left out. Pages and phases are sent as whole
lists, since the server deletes those that are missing, a phase with all its submissions: none is ever left out here.
The list of invited addresses goes with every request, since each replaces it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from gen_bundle.check.bundle import Bundle, page_files
from gen_bundle.codabench.competition import PHASE_FILES, TASK_FILES, DataUse, Phase, Task
from gen_bundle.codabench.dates import utc
from gen_bundle.codabench.reading import as_text
from gen_bundle.codabench.settings import HIDING, MIGRATE, TOP_FIELDS, PlatformField
from gen_bundle.ground.yaml_document import Document
from gen_bundle.ground.zips.tree import Archive, Node, file_of
from gen_bundle.live.competition import (
    LISTED_FLAG,
    PHASE_FIELDS,
    TASK_FIELDS,
    TOP_KEYS,
    Pairs,
    Place,
    Snapshot,
    comparable,
    key_of,
    moment,
    pairs,
    plain,
)
from gen_bundle.live.connection import Row
from gen_bundle.live.datasets import content_digest
from gen_bundle.look.difference.changes import Difference
from gen_bundle.look.difference.files import packed_files, use_changes

Replaced = Mapping[Place, Mapping[str, list[Difference]]]
"""How programs and data differ, by role, of each `("task", 7)` and `("phase", 12)` of the site where any does."""
UNKNOWN, OURS = "unknown content: ", "what this machine put there: "
UNPACKING = timedelta(hours=1)  # at most between a file of a bundle and the competition that comes of it
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
    """Return what to click for a difference that the API cannot remove, or not safely; None where it can."""
    return BY_HAND.get((difference.part, difference.what), BY_HAND.get((difference.part, None)))


# What the bundle says, as the API takes it.

PHASE_KEYS = ("id", "index", *PHASE_FIELDS)
"""Keys of a phase that are sent; tasks, board and files stay as they are when they are not named."""
IN_YAML = {"max_submissions_per_person": "max_submissions"}
"""How competition.yaml calls a field of the API, where it has another name."""


def _read(fields: Iterable[PlatformField], declared: Mapping[Any, Any]) -> dict[str, Any]:
    return {field.key: field.read(declared) for field in fields}


def _top_values(wanted: Bundle) -> dict[str, Any]:
    values = _read(TOP_FIELDS, wanted.yaml)
    return values | {"docker_image": wanted.competition.image, "fact_sheet": wanted.yaml.get("fact_sheet") or None}


def _phase_values(phase: Phase, wanted: Bundle) -> dict[str, Any]:
    """Return the fields of a phase; a date that cannot be read is none of them."""
    declared = wanted.mapping(phase.at)
    values: dict[str, Any] = {
        "name": phase.name.strip(),
        "description": as_text(declared.get("description")) or "",
        "execution_time_limit": phase.limit_s,
        "max_submissions_per_day": phase.a_day,
        "max_submissions_per_person": phase.in_all,
        **_read((MIGRATE, *HIDING), declared),
    }
    for key, instant in (("start", phase.start), ("end", phase.end)):
        if instant.fault is None:
            values[key] = instant.moment and f"{instant.moment:%Y-%m-%dT%H:%M:%SZ}"
    return values


def _task_values(task: Task, wanted: Bundle) -> dict[str, Any]:
    return {
        "name": task.name.strip(),
        "description": as_text(wanted.mapping(task.at).get("description")) or "",
        LISTED_FLAG: task.ingestion_only_during_scoring,
    }


def _same(key: str, stored: Any, value: Any) -> bool:
    """Return whether two values mean the same; no number of submissions is as good as 0: there is no limit."""
    if key in ("start", "end") and (at := moment(stored)):
        return at.replace(microsecond=0) == moment(value)
    return plain(stored) == plain(value) or (not stored and not value)


def _changed(stored: Row, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that the site stores otherwise, of the fields that it gives."""
    return {key: value for key, value in values.items() if key in stored and not _same(key, stored[key], value)}


def _texts(wanted: Bundle) -> list[tuple[str | None, str]]:
    """Title and text of each page; of the terms, the title is None."""
    found: list[tuple[str | None, str]] = []
    for page in page_files(wanted):
        title = None if page.at == ("terms",) else plain(as_text(wanted.value((*page.at[:-1], "title"))))
        found.append((title, wanted.text(page.path) or ""))
    return found


@dataclass
class Edit:
    """One request that changes a competition or a task.

    Attributes:
        place: the beginning of all places that it may change: `("task", 7)`; empty for the competition.
        body: what is sent.
        expected: the values that are there afterwards, of the places that change.
        files: the programs and data that are to be stored first, by their places.
    """

    place: Place
    method: str
    path: str
    body: dict[str, Any]
    expected: dict[Place, Any]
    files: dict[Place, DataUse]

    def add_file(self, place: Place, key: str, number: int | None) -> None:
        """Complete the request with a file that is stored now: tasks name it by its key, phases by its number."""
        kind, holder, role = place
        self.expected[place] = key
        if kind == "task":
            self.body[role] = key
            return
        for phase in self.body["phases"]:
            if phase["id"] == holder:
                phase[role] = number


@dataclass(frozen=True)
class SiteBundle:
    """A competition on a site, written as a bundle.

    Attributes:
        snapshot: what the site holds.
        wanted: the bundle that it is to become.
        original: the bundle of which the competition was made; None where the site does not give it.
        record: the digests of what this machine has put on the site, by key.
    """

    snapshot: Snapshot
    wanted: Bundle
    original: Bundle | None
    record: Mapping[str, str]

    @cached_property
    def paired(self) -> Pairs:
        """Return which part of the bundle is which on the site."""
        return pairs(self.snapshot, self.wanted)

    @property
    def unseen(self) -> list[str]:
        """The tasks of other owners, by name: the site shows neither their programs nor their data."""
        return [task.name for number, task in self.paired.tasks.items() if number not in self.snapshot.tasks]

    @cached_property
    def bundle(self) -> Bundle:
        """The site's bundle; its files can be read as long as the two others."""
        row, values = self.snapshot.competition, _top_values(self.wanted)
        top = _as_declared(row, self.wanted.yaml, values, values)
        top.pop("solutions", None)
        top["queue"] = row.get("queue")
        if isinstance(top["queue"], Mapping):
            top["queue"] = top["queue"].get("vhost") or top["queue"].get("name")
        top["image"] = f"wanted/{self.wanted.yaml.get('image')}"
        pages = self._pages(top)
        top["phases"] = [self._phase(phase) for phase in self.snapshot.phases]
        numbers = {task.at: number for number, task in self.paired.tasks.items()}
        wanted = self.wanted.competition.tasks
        top["tasks"] = [self._task(numbers[task.at], task) for task in wanted if task.at in numbers]
        for number, task_row in self.snapshot.task_rows.items():
            if number not in self.paired.tasks:  # one that the bundle does not have
                top["tasks"].append({"index": f"task {number}", "name": task_row["name"]})
        top["leaderboards"] = _without_nothing(row.get("leaderboards") or [])
        folders = {"pages": Node(children=pages), "wanted": self.wanted.tree}
        if self.original is not None:
            folders["original"] = self.original.tree
        return Bundle(
            archive=Archive(tree=Node(children=folders)),
            is_folder=True,
            now=self.wanted.now,
            platform=self.wanted.platform,
            document=Document(top, ""),
            held=self.wanted.held,
        )

    def _pages(self, top: dict[str, Any]) -> dict[str, Node]:
        """Return the files of pages and terms by name; they are declared in `top`."""
        declared, files = dict(_texts(self.wanted)), {}

        def add(name: str, title: str | None, content: str | None) -> None:
            text = declared.get(title)
            if text is None or plain(text) != plain(content):  # else it is as declared, also with its outer blanks
                text = content or ""
            files[name] = file_of(text.encode())

        top["pages"] = []
        for number, row in enumerate(self.snapshot.pages):
            add(f"{number}.md", plain(row["title"]), row.get("content"))
            top["pages"].append({"title": row["title"], "file": f"pages/{number}.md"})
        if (terms := self.snapshot.competition.get("terms")) or "terms" in top:
            add("terms", None, terms)
            top["terms"] = "pages/terms"
        return files

    def _phase(self, row: Row) -> dict[str, Any]:
        tasks = []
        for task in row.get("tasks") or []:
            same_task = self.paired.tasks.get(task["id"])
            index = same_task.index if same_task else f"task {task['id']}"
            tasks.append(index)
        of_the_site = {"index": row.get("index") or 0, "tasks": tasks}
        same = self.paired.phases.get(row["id"])
        if same is None:  # with an id that no phase of the bundle has, so that it is not taken for one at its place
            return of_the_site | {"id": f"phase {row['id']}", "name": row["name"]}
        found = _as_declared(row, self.wanted.mapping(same.at), PHASE_FIELDS, _phase_values(same, self.wanted))
        return self._with_files(found | of_the_site, row["id"], row, PHASE_FILES, same)

    def _task(self, number: int, same: Task) -> dict[str, Any]:
        declared, values = self.wanted.mapping(same.at), _task_values(same, self.wanted)
        if "key" in declared:  # a task that is on the site: the bundle says nothing more of it
            return {"index": same.index, "name": same.name}
        stored = self.snapshot.tasks.get(number)
        if stored is None:  # not ours: its name alone is compared
            found = _as_declared(self.snapshot.task_rows[number], declared, ["name"], values)
            return found | {role: self._wanted(use) for role, use in same.files.items()}
        found = _as_declared(stored, declared, TASK_FIELDS, values)
        return self._with_files(found, number, stored, TASK_FILES, same)

    def _with_files(
        self, found: dict[str, Any], number: int, stored: Row, roles: Sequence[str], same: Task | Phase
    ) -> dict[str, Any]:
        for role in roles:
            found.pop(role, None)
            if (key := key_of(stored.get(role))) is not None:
                found[role] = self._path(number, role, stored[role], key, same)
        return found

    def _path(self, number: int, role: str, stored: Any, key: str, same: Task | Phase) -> Any:
        """Return where in the trees of the three bundles the content of a file of the site is."""
        about: Row = stored if isinstance(stored, Mapping) else {}
        if use := same.files.get(role):
            known = key in self.record and self.record[key] == content_digest(self.wanted, use)
            if known or use.path == key:
                return self._wanted(use)
        if former := self._of_the_upload(number, role, about, key):
            return f"original/{former.path}"
        whose = OURS if key in self.record else UNKNOWN
        return f"{whose}{about.get('name') or key}"

    def _wanted(self, use: DataUse) -> Any:
        """Return the path of what the bundle itself holds; as it is where it leads to nothing that can be read."""
        return use.path if packed_files(self.wanted, use) is None else f"wanted/{use.path}"

    @cached_property
    def _former(self) -> Pairs:
        if self.original is None:
            return Pairs({}, {})
        return pairs(self.snapshot, self.original)

    def _of_the_upload(self, number: int, role: str, about: Row, key: str) -> DataUse | None:
        """Return the file of the bundle of which the competition was made, while it is still there.

        It is, as long as it is as old as the competition: another one came with another bundle.
        """
        same: Task | Phase | None = self._former.phases.get(number)
        if role in TASK_FILES:
            same = self._former.tasks.get(number)
            for row in self.snapshot.task_rows[number].get("public_datasets") or []:
                if isinstance(row, Mapping) and row.get("key") == key:
                    about = row
        made, began = moment(about.get("created_when")), moment(self.snapshot.competition.get("created_when"))
        if same and made and began and about.get("was_created_by_competition") and abs(began - made) <= UNPACKING:
            return same.files.get(role)
        return None

    @cached_property
    def replaced(self) -> Replaced:
        """Return how programs and data differ from those that the bundle holds."""
        site = self.bundle
        stored_tasks = {task.index: task for task in site.competition.tasks}
        sides: list[tuple[Place, Any, Any]] = []
        for number, task in self.paired.tasks.items():
            if number in self.snapshot.tasks:
                sides.append((("task", number), stored_tasks[task.index], task))
        for row, stored in zip(self.snapshot.phases, site.competition.phases, strict=True):
            if phase := self.paired.phases.get(row["id"]):
                sides.append((("phase", row["id"]), stored, phase))
        found: dict[Place, dict[str, list[Difference]]] = {}
        for place, old, new in sides:
            for role in sorted({**old.files, **new.files}):
                used = site, old.files.get(role), self.wanted, new.files.get(role)
                if changes := list(use_changes(role, new.name, *used)):
                    found.setdefault(place, {})[role] = changes
        return found

    def edits(self) -> list[Edit]:
        """Return the requests that make of the competition what the bundle says, as far as the API can."""
        found = []
        for number, task in self.paired.tasks.items():
            if number in self.snapshot.tasks and "key" not in self.wanted.mapping(task.at):
                found.append(self._task_edit(number, task))
        found.append(self._competition_edit())
        return [edit for edit in found if edit.expected or edit.files]

    def _task_edit(self, number: int, task: Task) -> Edit:
        stored, place = self.snapshot.tasks[number], ("task", number)
        changed = _changed(stored, _task_values(task, self.wanted))
        files: dict[Place, DataUse] = {}
        for role in self.replaced.get(place, ()):
            use = task.files.get(role)
            if use is not None and self.wanted.find(use.path) is not None:
                files[*place, role] = use
            else:  # a file that is no longer there, or one that the bundle names by its key on the site
                changed[role] = use and str(use.path)
        expected: dict[Place, Any] = {}
        for key, value in changed.items():
            expected[*place, key] = value if key in TASK_FILES else plain(value)
        return Edit(place, "PUT", f"tasks/{number}/", _task_body(stored) | changed, expected, files)

    def _competition_edit(self) -> Edit:
        row, values, pages = self.snapshot.competition, _top_values(self.wanted), []
        for title, text in _texts(self.wanted):
            if title is None:
                values["terms"] = plain(text)
            else:
                pages.append((title, plain(text)))
        body = _changed(row, values)
        edit = Edit((), "PATCH", f"competitions/{self.snapshot.id}/", body, {}, {})
        for key, value in body.items():
            edit.expected[key,] = plain(value)
        if pages != self.snapshot.values()["pages",]:
            body["pages"] = _pages_to_send(self.snapshot.pages, pages)
            edit.expected["pages",] = pages
        phases = [self._phase_edit(edit, stored) for stored in self.snapshot.phases]
        if any(place[0] == "phase" for place in (*edit.expected, *edit.files)):
            body["phases"] = phases
        body["whitelist_emails"] = list(row["whitelist_emails"])
        return edit

    def _phase_edit(self, edit: Edit, stored: Row) -> dict[str, Any]:
        """Return a phase as it is sent; what changes is added to the edit."""
        place, phase = ("phase", stored["id"]), self.paired.phases.get(stored["id"])
        if phase is None:
            return _only(stored, PHASE_KEYS)
        changed = _changed(stored, _phase_values(phase, self.wanted))
        for key, value in changed.items():
            edit.expected[*place, key] = comparable(key, value)
        for role in self.replaced.get(place, ()):
            if role in phase.files:
                edit.files[*place, role] = phase.files[role]
        return _only(stored, PHASE_KEYS) | changed


def ways_back(before: Snapshot, current: Snapshot, lost: Sequence[Place]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the requests, as method, path and body, that bring places of a competition back to what they were."""
    for number in dict.fromkeys(place[1] for place in lost if place[0] == "task"):
        yield "PUT", f"tasks/{number}/", _task_body(before.tasks[number])
    parts = {place[0] for place in lost} - {"task"}
    if not parts:
        return
    body = _only(before.competition, sorted(parts & {*TOP_KEYS}))
    if "pages" in parts:
        body["pages"] = [_only(page, ("id", "title", "content", "index")) for page in before.pages]
    if "phase" in parts:
        there = {phase["id"] for phase in current.phases}
        body["phases"] = [_phase_back(phase, lost) for phase in before.phases if phase["id"] in there]
    body["whitelist_emails"] = list(before.competition["whitelist_emails"])
    yield "PATCH", f"competitions/{before.id}/", body


def _phase_back(phase: Row, lost: Sequence[Place]) -> dict[str, Any]:
    body = _only(phase, PHASE_KEYS)
    for role in PHASE_FILES:
        if ("phase", phase["id"], role) in lost:
            body[role] = (phase.get(role) or {}).get("id")
    return body


def _task_body(task: Row) -> dict[str, Any]:
    """Return a task with all keys that it has, as the server takes them."""
    return _only(task, TASK_FIELDS) | {role: key_of(task.get(role)) for role in TASK_FILES}


def _only(row: Row, keys: Sequence[str]) -> dict[str, Any]:
    return {key: row[key] for key in keys if key in row}


def _pages_to_send(stored: Sequence[Row], pages: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the pages in their order, with the ids of those that are there, by title and else by place."""
    free = {plain(page["title"]): page for page in reversed(stored)}
    same = [free.pop(title, None) for title, _ in pages]
    left = list(free.values())
    sent = []
    for index, (title, content) in enumerate(pages):
        known = same[index]
        if known is None and left:
            known = left.pop(0)
        sent.append(_only(known or {}, ["id"]) | {"title": title, "content": content, "index": index})
    return sent


def _as_declared(
    stored: Row, declared: Mapping[Any, Any], keys: Iterable[str], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a bundle would declare for a row of the site: as `declared` where that means what is stored.

    Args:
        stored: the row.
        declared: what is declared now.
        keys: the fields that may be stored otherwise.
        values: what the declaration means for the API; without a value, what is stored counts.
    """
    found = dict(declared)
    for key in keys:
        if key not in stored or (key in values and _same(key, stored[key], values[key])):
            continue
        value = comparable(key, stored[key])
        if isinstance(value, datetime):
            value = utc(value)
        found[IN_YAML.get(key, key)] = None if value == "" else value
    return found


def _without_nothing(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nothing(inner) for key, inner in value.items() if inner is not None}
    return [_without_nothing(inner) for inner in value] if isinstance(value, list) else value
