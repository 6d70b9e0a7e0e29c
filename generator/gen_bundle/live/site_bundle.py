"""The competition on a site as a bundle, so that it can be compared with the bundle that it is to become.

What the site does not give (logo, solutions, the content of most programs and data) is taken from where it is known:
programs and data from the bundle of which the competition was made, as long as they are those of that upload, or from
the record of what this machine has put there. Where nothing is known, the path says so.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from typing import Any

from gen_bundle.check.bundle import Bundle, page_files
from gen_bundle.codabench.competition import PHASE_FILES, TASK_FILES, DataUse, Phase, Task
from gen_bundle.codabench.fields import as_text
from gen_bundle.codabench.serializer_fields import PHASE_FLAGS, TOP_FIELDS
from gen_bundle.codabench.yaml_document import Document
from gen_bundle.difference.files import packed_files
from gen_bundle.live.competition import moment
from gen_bundle.live.connection import Row
from gen_bundle.live.snapshot import Snapshot, key_of, plain
from gen_bundle.live.update_record import content_digest
from gen_bundle.zips.reading import Archive
from gen_bundle.zips.tree import Node, Tree

UNKNOWN, OURS = "unknown content: ", "what this machine put there: "
_PHASE_KEYS = (
    *("name", "description", "execution_time_limit", "max_submissions_per_day", "auto_migrate_to_this_phase"),
    *PHASE_FLAGS,
)
UNPACKING = timedelta(hours=1)  # at most between a file of a bundle and the competition that comes of it


@dataclass(frozen=True)
class Pairs:
    """Which phase and task of the bundle is which on the site, by their ids there."""

    phases: Mapping[int, Phase] = field(default_factory=dict)
    tasks: Mapping[int, Task] = field(default_factory=dict)


def pairs(snapshot: Snapshot, bundle: Bundle) -> Pairs:
    """Pair what is on the site with what is in the bundle, by name.

    What has another name is paired only where it cannot be meant otherwise: phases by their place if there are as many,
    and the one task that is left of a phase. A wrong guess would change a phase under its submissions.
    """
    phases = _paired_phases(snapshot, bundle.competition.phases)
    tasks: dict[int, Task] = {}
    for row in snapshot.phases:
        if row["id"] in phases:
            _pair_tasks(row.get("tasks") or [], phases[row["id"]].tasks, bundle, tasks)
            left = [task["id"] for task in row.get("tasks") or [] if task["id"] not in tasks]
            free = [task for task in phases[row["id"]].tasks if task not in tasks.values()]
            if len(left) == len(free) == 1:
                tasks[left[0]] = free[0]
    _pair_tasks(list(snapshot.task_rows.values()), bundle.competition.used_tasks, bundle, tasks)
    return Pairs(phases, tasks)


def _paired_phases(snapshot: Snapshot, declared: Sequence[Phase]) -> dict[int, Phase]:
    phases: dict[int, Phase] = {}
    for row in snapshot.phases:
        same = [one for one in declared if one.name.strip() == plain(row["name"]) and one not in phases.values()]
        if same:
            phases[row["id"]] = same[0]
    if len(declared) == len(snapshot.phases):
        for one, row in zip(declared, snapshot.phases, strict=True):
            if row["id"] not in phases and one not in phases.values():
                phases[row["id"]] = one
    return phases


def _pair_tasks(rows: Sequence[Row], declared: Sequence[Task], bundle: Bundle, tasks: dict[int, Task]) -> None:
    """Pair tasks by name, or by the key with which the bundle names one that is on the site."""
    for row in rows:
        for one in declared:
            key = bundle.mapping(one.at).get("key")
            is_it = row.get("key") == key if key else one.name.strip() == plain(row["name"])
            if is_it and row["id"] not in tasks and one not in tasks.values():
                tasks[row["id"]] = one


@dataclass(frozen=True)
class SiteBundle:
    """A competition on a site, written as a bundle.

    Attributes:
        snapshot: what the site holds.
        wanted: the bundle that it is to become.
        paired: which part is which.
        original: the bundle of which the competition was made; None where the site does not give it.
        record: the digests of what this machine has put on the site, by key.
    """

    snapshot: Snapshot
    wanted: Bundle
    paired: Pairs
    original: Bundle | None
    record: Mapping[str, str]

    def bundle(self) -> Bundle:
        """The bundle; its files can be read as long as the two others."""
        top = self._top() | {"version": 2, "image": f"wanted/{self.wanted.yaml.get('image')}"}
        pages = self._pages(top)
        top["phases"] = [self._phase(row) for row in self.snapshot.phases]
        order = {task.at: place for place, task in enumerate(self.wanted.competition.tasks)}
        rows = [(self.paired.tasks.get(number), row) for number, row in self.snapshot.task_rows.items()]
        rows.sort(key=lambda one: order[one[0].at] if one[0] else len(order))
        top["tasks"] = [self._task(row, task) for task, row in rows]
        top["leaderboards"] = [_without_nothing(one) for one in self.snapshot.competition.get("leaderboards") or []]
        root = Node(children={"pages": Node(children=pages), "wanted": self.wanted.tree.root})
        if self.original is not None and root.children is not None:
            root.children["original"] = self.original.tree.root
        return Bundle(
            archive=Archive(tree=Tree(root)),
            is_folder=True,
            now=self.wanted.now,
            platform=self.wanted.platform,
            document=Document(top, ""),
            tick=self.wanted.tick,
            held=self.wanted.held,
        )

    def _pages(self, top: dict[str, Any]) -> dict[str, Node]:
        """The files of pages and terms by name; they are declared in `top`."""
        files: dict[str, Node] = {}
        texts = {}
        for page in page_files(self.wanted):
            title = "" if page.at == ("terms",) else str(self.wanted.value((*page.at[:-1], "title")))
            texts[title] = self.wanted.text(page.path) or ""
        top["pages"] = []
        for number, row in enumerate(self.snapshot.pages):
            title = _kept(row["title"], next((one for one in texts if plain(one) == plain(row["title"])), None))
            files[f"{number}.md"] = _text_node(_kept(row.get("content"), texts.get(str(title))))
            top["pages"].append({"title": title, "file": f"pages/{number}.md"})
        if (terms := self.snapshot.competition.get("terms")) or "terms" in self.wanted.yaml:
            files["terms"] = _text_node(_kept(terms, texts.get("")))
            top["terms"] = "pages/terms"
        return files

    def _top(self) -> dict[str, Any]:
        row, top = self.snapshot.competition, self.wanted.yaml
        found = {key: _kept(row[key], top.get(key, default)) for key, _, default, _ in TOP_FIELDS if key in row}
        found |= {key: top[key] for key, *_ in TOP_FIELDS if key not in row and key in top}
        if "docker_image" in row:
            found["docker_image"] = row["docker_image"]
        queue = row.get("queue")
        shown = queue.get("vhost") or queue.get("name") if isinstance(queue, Mapping) else queue
        found["queue"] = _kept(shown, top.get("queue"))
        found["fact_sheet"] = row.get("fact_sheet", top.get("fact_sheet"))
        return found

    def _phase(self, row: Row) -> dict[str, Any]:
        same = self.paired.phases.get(row["id"])
        declared = self.wanted.mapping(same.at) if same else {}
        found: dict[str, Any] = {}
        for key in _PHASE_KEYS:
            found[key] = _kept(row[key], declared.get(key)) if key in row else declared.get(key)
        found |= {
            key: f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}" for key in ("start", "end") if (at := moment(row.get(key)))
        }
        found["max_submissions"] = row.get("max_submissions_per_person")
        found["index"] = row.get("index") or 0
        found["tasks"] = [self._index(task["id"]) for task in row.get("tasks") or []]
        if same is None:
            found["id"] = f"phase {row['id']}"  # so that it is not taken for another one at its place
        elif same.id:
            found["id"] = same.id
        found |= {role: path for role in PHASE_FILES if (path := self._path(row, None, role, row.get(role), same))}
        return found

    def _index(self, number: int) -> Any:
        same = self.paired.tasks.get(number)
        return same.index if same else f"task {number}"

    def _task(self, row: Row, same: Task | None) -> dict[str, Any]:
        declared = self.wanted.mapping(same.at) if same else {}
        number = int(row["id"])
        if "key" in declared:  # a task that is on the site: the bundle says nothing more of it
            return {"index": self._index(number), "name": same.name if same else None}
        stored = self.snapshot.tasks.get(number)
        found: dict[str, Any] = {"index": self._index(number), "name": _kept(row["name"], declared.get("name"))}
        for key in ("description", "ingestion_only_during_scoring"):
            value = stored.get(key, declared.get(key)) if stored else declared.get(key)
            found[key] = _kept(value, declared.get(key))
        if stored is None:  # not ours: it is not compared
            return found | {role: self._wanted(use) for role, use in (same.files if same else {}).items()}
        found |= {role: path for role in TASK_FILES if (path := self._path(row, number, role, stored.get(role), same))}
        return found

    def _path(self, row: Row, task: int | None, role: str, stored: Any, same: Task | Phase | None) -> Any:
        """Where in the trees of the three bundles the content of a file of the site is."""
        key = key_of(stored)
        if key is None:
            return None
        use = same.files.get(role) if same else None
        if use is not None and (use.path == key or self._is_known(key, use)):
            return self._wanted(use)
        if (former := self._of_the_upload(row, role)) is not None:
            about = stored if task is None else self.snapshot.dataset(task, key)
            if about.get("was_created_by_competition") and self._at_its_beginning(about):
                return f"original/{former.path}"
        name = stored.get("name") if isinstance(stored, Mapping) else None
        return f"{OURS if key in self.record else UNKNOWN}{name or key}"

    def _wanted(self, use: DataUse) -> Any:
        """The path of what the bundle itself holds; as it is where it leads to nothing that can be read."""
        return use.path if packed_files(self.wanted, use) is None else f"wanted/{use.path}"

    def _is_known(self, key: str, use: DataUse) -> bool:
        return key in self.record and self.record[key] == content_digest(self.wanted, use)

    def _of_the_upload(self, row: Row, role: str) -> DataUse | None:
        """The file that a task or phase had in the bundle of which the competition was made."""
        if self.original is None:
            return None
        former = pairs(self.snapshot, self.original)
        same = former.phases.get(row["id"]) if role in PHASE_FILES else former.tasks.get(row["id"])
        return same.files.get(role) if same else None

    def _at_its_beginning(self, about: Row) -> bool:
        """Whether a file is as old as the competition, so that it came with its bundle and not with another one's."""
        made, began = (moment(one.get("created_when")) for one in (about, self.snapshot.competition))
        return made is not None and began is not None and abs(began - made) <= UNPACKING


def _kept(stored: Any, declared: Any) -> Any:
    """What is stored; as it is declared where the site keeps that in another form, such as without outer blanks."""
    texts = isinstance(stored, str) or stored is None
    same = texts and plain(stored) == plain(declared if isinstance(declared, str) else as_text(declared))
    return declared if same else None if stored == "" else stored


def _text_node(text: str | None) -> Node:
    data = (text or "").encode()
    return Node(len(data), lambda: io.BytesIO(data))


def _without_nothing(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nothing(inner) for key, inner in value.items() if inner is not None}
    return [_without_nothing(inner) for inner in value] if isinstance(value, list) else value
