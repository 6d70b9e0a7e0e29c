"""A competition as its site gives it: who may do what with it, its phases, version, and all that it holds.

What it holds is read whole before anything is changed, and again after each change.
Sources: the answers of Codabench 1.25, and the serializers of its v1.32.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gen_bundle.check.bundle import Bundle, open_readable_bundle
from gen_bundle.codabench.competition import PHASE_FILES, TASK_FILES, Phase, Task
from gen_bundle.codabench.settings import HIDING, MIGRATE, TASK_FLAG, TOP_FIELDS, keys_of
from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.ground.errors import UserError
from gen_bundle.live.connection import AnswerError, Connection, Row
from gen_bundle.look.difference.changes import Named, paired

PHASE_FIELDS = (
    *("name", "description", "start", "end", "execution_time_limit"),
    *("max_submissions_per_day", "max_submissions_per_person", MIGRATE.key),
    *keys_of(HIDING),
)
TOP_KEYS = (*keys_of(TOP_FIELDS), "terms", "fact_sheet")
LISTED_FLAG = TASK_FLAG.key  # which the list of tasks has, and the answer of one task has not
TASK_FIELDS = ("name", "description", LISTED_FLAG)
UNTOUCHED = ("published", "secret_key", "queue")  # with the collaborators, what no change of ours may move

Place = tuple[Any, ...]
"""Where a value is: `("title",)`, `("phase", 12, "end")` or `("task", 7, "reference_data")`."""


def read_as_organiser(connection: Connection, competition: int, verb: str) -> dict[str, Any]:
    """Return the answer of `competitions/ID/`, for somebody who may do what a verb does.

    Raises:
        UserError: the user is not one of its organisers.
    """
    row: dict[str, Any] = connection.get(f"competitions/{competition}/")
    if row.get("whitelist_emails") is None:  # the site shows it to organisers alone
        raise UserError(
            f"competition {competition}: you are not one of its organisers, as {verb} needs. Log in as an organiser."
        )
    return row


def in_order(rows: Any) -> list[Row]:
    """Pages, phases or columns by their index."""
    return sorted(rows or [], key=lambda row: row.get("index") or 0)


def moment(text: str | None) -> datetime | None:
    """Return a date as the server gives it, if it gives one."""
    return zoned(text) if text else None


def zoned(text: str) -> datetime:
    """Return a date as the server gives it, in UTC where it names no time zone."""
    read = datetime.fromisoformat(text)
    if read.tzinfo is None:
        read = read.replace(tzinfo=UTC)
    return read


def submission_rule(competition: Row) -> str:
    """Return the rule by which submissions come onto the leaderboard."""
    boards = competition.get("leaderboards") or [{}]
    return str(boards[0].get("submission_rule") or "Add")


def phases_of(competition: Row, wanted: str | None, own_ids: Callable[[], Sequence[str]] = tuple) -> list[Row]:
    """Return the phases of a competition in their order, or a single one.

    Args:
        competition: the answer of `competitions/ID/`.
        wanted: a phase's name, its id on the site, its id in the bundle, or its index.
        own_ids: gives the ids of the bundle's phases, in their order.

    Raises:
        UserError: there is no such phase, or several.
    """
    phases = in_order(competition.get("phases"))
    if wanted is None:
        return phases

    def with_value(key: str) -> list[Row]:
        return [phase for phase in phases if str(phase.get(key)).casefold() == wanted.casefold()]

    for key in ("name", "id"):
        found = with_value(key)
        if len(found) > 1:
            raise UserError(f"--phase {wanted}: {len(found)} phases have that {key}. Expected an id.")
        if found:
            return found
    ids = own_ids()
    if wanted in ids and len(ids) == len(phases):
        return [phases[ids.index(wanted)]]
    if found := with_value("index"):
        return found[:1]
    names = ", ".join(f"{phase['name']} (id {phase['id']})" for phase in phases)
    if ids:
        names += f", or of the bundle's ids {', '.join(ids)}"
    raise UserError(f"--phase {wanted}: no such phase. Expected one of {names}.")


def site_version(connection: Connection) -> PlatformVersion:
    """Return the version that a site follows, as far as it shows: lists came whole until 1.25, in pages since."""
    whole = isinstance(connection.get("competitions/", mine="true"), list)
    return PlatformVersion.V1_25 if whole else NEWEST


def original_bundle(connection: Connection, competition: int, held: ExitStack) -> Bundle | None:
    """Return the bundle of which a competition was made, where the site still has it."""
    try:
        given = connection.get(f"competitions/{competition}/get_files/").get("bundle") or {}
        if not given.get("url"):
            return None
        file = Path(held.enter_context(tempfile.TemporaryDirectory())) / "original.zip"
        connection.download(given["url"], file)
        return open_readable_bundle(file, datetime.now(UTC), held)
    except UserError as error:
        if isinstance(error, AnswerError) and (error.code is None or error.code >= 500):
            raise
        return None  # it is not given away, or not what it was


@dataclass(frozen=True)
class Snapshot:
    """A competition as a site holds it at one moment.

    Attributes:
        competition: the answer of `competitions/ID/`.
        tasks: the answers of `tasks/ID/` by id; those of other people's tasks are missing.
    """

    competition: Row
    tasks: Mapping[int, Row]

    @property
    def id(self) -> int:
        """The number in the competition's address."""
        return int(self.competition["id"])

    @property
    def phases(self) -> list[Row]:
        return in_order(self.competition.get("phases"))

    @property
    def pages(self) -> list[Row]:
        return in_order(self.competition.get("pages"))

    @property
    def task_rows(self) -> dict[int, Row]:
        """The tasks as the phases name them, by id."""
        return {int(row["id"]): row for phase in self.phases for row in phase.get("tasks") or []}

    def values(self) -> dict[Place, Any]:
        """Return all that a change could move, place by place, in a form in which equal means the same."""
        row = self.competition
        found = _fields((), row, (*TOP_KEYS, *UNTOUCHED), ())
        for people in ("collaborators", "whitelist_emails"):
            found[people,] = sorted(str(one) for one in row.get(people) or [])
        found["pages",] = [(plain(page["title"]), plain(page.get("content"))) for page in self.pages]
        found["phases",] = [phase["id"] for phase in self.phases]
        for phase in self.phases:
            at = ("phase", phase["id"])
            found |= _fields(at, phase, PHASE_FIELDS, PHASE_FILES)
            found[*at, "tasks"] = sorted(task["id"] for task in phase.get("tasks") or [])
        for board in row.get("leaderboards") or []:
            found["leaderboard", board.get("id")] = plain(board)
        for number, task in self.tasks.items():
            found |= _fields(("task", number), task, TASK_FIELDS, TASK_FILES)
        return found

    def in_words(self, places: Sequence[Place]) -> str:
        """Return places as people call them."""
        names: dict[Place, Any] = {}
        for phase in self.phases:
            names["phase", phase["id"]] = phase.get("name")
            for task in phase.get("tasks") or []:
                names["task", int(task["id"])] = task.get("name")
        words = []
        for place in places:
            if place[:2] in names:
                words.append(f"{place[0]} {names[place[:2]]}: {place[2].replace('_', ' ')}")
            else:
                words.append(place[0].replace("_", " "))
        return ", ".join(words)


def read_snapshot(connection: Connection, competition: int, flags: Snapshot | None = None) -> Snapshot:
    """Read a competition with its tasks; a UserError where the user is not one of its organisers.

    `flags` is an earlier reading, whose tasks' LISTED_FLAG is taken to hold still.
    """
    return with_tasks(connection, read_as_organiser(connection, competition, "update"), flags)


def with_tasks(connection: Connection, competition: Row, flags: Snapshot | None = None) -> Snapshot:
    """Read the tasks of a competition, as far as they are the user's; `flags` as for `read_snapshot`."""
    tasks: dict[int, Row] = {}
    without_flag: dict[int, dict[str, Any]] = {}
    for number in sorted(Snapshot(competition, {}).task_rows):
        try:
            task = connection.get(f"tasks/{number}/")
        except AnswerError as error:
            if error.code in (403, 404):  # it is somebody else's
                continue
            raise
        tasks[number] = task
        if LISTED_FLAG not in task:
            without_flag[number] = task
    if without_flag:
        # The list holds all tasks of the account, at a fifth of a second each: it is read as seldom as can be.
        for row in flags.tasks.values() if flags else connection.rows("tasks/"):
            if row["id"] in without_flag and row.get(LISTED_FLAG) is not None:
                without_flag[row["id"]][LISTED_FLAG] = row[LISTED_FLAG]
    return Snapshot(competition, tasks)


def _fields(at: Place, row: Row, fields: Sequence[str], files: Sequence[str]) -> dict[Place, Any]:
    found = {(*at, key): comparable(key, row[key]) for key in fields if key in row}
    return found | {(*at, role): key_of(row.get(role)) for role in files}


def comparable(key: str, value: Any) -> Any:
    """Return a field's value in a form in which equal means the same: dates as moments, others as `plain`."""
    return moment(value) if key in ("start", "end") else plain(value)


def plain(value: Any) -> Any:
    """Return a value as the site keeps it: texts without outer white space; nothing, an empty text and {} alike."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n").strip()
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()} or ""
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return "" if value is None else value


def key_of(dataset: Any) -> str | None:
    """Return the key of a program or data, which the site gives as an object or as the key alone."""
    if isinstance(dataset, Mapping):
        dataset = dataset.get("key")
    return dataset and str(dataset)


def different(expected: Mapping[Place, Any], actual: Mapping[Place, Any]) -> list[Place]:
    """Return the places that are not the same."""
    return [place for place in dict.fromkeys([*expected, *actual]) if expected.get(place) != actual.get(place)]


@dataclass(frozen=True)
class Pairs:
    """Which phase and task of a bundle is which on the site, by their ids there."""

    phases: Mapping[int, Phase]
    tasks: Mapping[int, Task]


def pairs(snapshot: Snapshot, bundle: Bundle) -> Pairs:
    """Pair what is on the site with what is in the bundle, by name.

    What has another name is paired only where it cannot be meant otherwise: phases by their place if there are as many,
    and the one task that is left of a phase. A wrong guess would change a phase under its submissions.
    """
    rows, declared = snapshot.phases, bundle.competition.phases
    alike = len(rows) == len(declared)
    there = [Named((plain(row["name"]), place if alike else None), row) for place, row in enumerate(rows)]
    here = [Named((one.name.strip(), place if alike else None), one) for place, one in enumerate(declared)]
    phases = {row["id"]: one for row, one in paired(there, here) if row and one}
    tasks: dict[int, Task] = {}
    for row in rows:
        if row["id"] in phases:
            left, free = _pair_tasks(row.get("tasks") or [], phases[row["id"]].tasks, bundle, tasks)
            if len(left) == len(free) == 1:
                tasks[left[0]["id"]] = free[0]
    _pair_tasks(list(snapshot.task_rows.values()), bundle.competition.used_tasks, bundle, tasks)
    return Pairs(phases, tasks)


def _pair_tasks(
    rows: Sequence[Row], declared: Sequence[Task], bundle: Bundle, tasks: dict[int, Task]
) -> tuple[list[Row], list[Task]]:
    """Pair tasks by name, or by the key with which the bundle names one that is on the site; what is left of both."""
    there = [Named((row.get("key"), plain(row["name"])), row) for row in rows if row["id"] not in tasks]
    here = []
    for one in declared:
        names: tuple[Any, ...] = (None, one.name.strip())
        if key := bundle.mapping(one.at).get("key"):
            names = (key,)
        if one not in tasks.values():
            here.append(Named(names, one))
    left, free = [], []
    for row, task in paired(there, here):
        if row is None:
            free.append(task)
        elif task is None:
            left.append(row)
        else:
            tasks[row["id"]] = task
    return left, free
