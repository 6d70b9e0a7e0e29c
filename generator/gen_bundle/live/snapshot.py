"""What a site holds of a competition at one moment: read whole before anything is changed, and again after each change.

Sources: the answers of Codabench 1.25, and the serializers of its v1.32.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gen_bundle.codabench.competition import PHASE_FILES, TASK_FILES
from gen_bundle.codabench.serializer_fields import PHASE_FLAGS, TOP_FIELDS
from gen_bundle.live.competition import in_order, moment, read_as_organiser
from gen_bundle.live.connection import AnswerError, Connection, Row

PHASE_FIELDS = (
    *("name", "description", "start", "end", "execution_time_limit"),
    *("max_submissions_per_day", "max_submissions_per_person", "auto_migrate_to_this_phase"),
    *PHASE_FLAGS,
)
TOP_KEYS = (*(key for key, *_ in TOP_FIELDS), "terms", "fact_sheet")
TASK_FIELDS = ("name", "description", "ingestion_only_during_scoring")
UNTOUCHED = ("published", "secret_key", "collaborators", "queue")  # what no change of ours may move

Key = tuple[Any, ...]
"""A place: `("title",)`, `("phase", 12, "end")` or `("task", 7, "reference_data")`."""


@dataclass(frozen=True)
class Snapshot:
    """A competition as it is on the site.

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

    def dataset(self, task: int, key: str) -> Row:
        """What the site says of a task's file: its name, when it was made, and whether it came with the bundle."""
        row = self.task_rows.get(task, {})
        known = [one for one in row.get("public_datasets") or [] if isinstance(one, Mapping)]
        return next((one for one in known if one.get("key") == key), {})


def read_snapshot(connection: Connection, competition: int) -> Snapshot:
    """Read a competition with its tasks.

    Raises:
        UserError: the user is not one of its organisers.
    """
    return with_tasks(connection, read_as_organiser(connection, competition, "update"))


def with_tasks(connection: Connection, competition: Row) -> Snapshot:
    """A competition with its tasks, as far as they are the user's."""
    snapshot = Snapshot(competition, {})
    tasks: dict[int, Row] = {}
    for number in sorted(snapshot.task_rows):
        if (task := _task(connection, number)) is not None:
            tasks[number] = task
    if any("ingestion_only_during_scoring" not in task for task in tasks.values()):
        for row in connection.rows("tasks/"):  # only the list has this flag
            flag = row.get("ingestion_only_during_scoring")
            if row["id"] in tasks and flag is not None:
                tasks[row["id"]] = {"ingestion_only_during_scoring": flag} | dict(tasks[row["id"]])
    return Snapshot(competition, tasks)


def _task(connection: Connection, number: int) -> dict[str, Any] | None:
    try:
        task: dict[str, Any] = connection.get(f"tasks/{number}/")
    except AnswerError as error:
        if error.code in (403, 404):  # somebody else's
            return None
        raise
    return task


def watched(snapshot: Snapshot) -> dict[Key, Any]:
    """All that a change could move, place by place, in a form in which equal means the same."""
    return dict(_watched(snapshot))


def _watched(snapshot: Snapshot) -> Iterator[tuple[Key, Any]]:
    row = snapshot.competition
    for key in (*TOP_KEYS, *UNTOUCHED):
        if key in row:
            yield (key,), tuple(sorted(map(str, row[key]))) if key == "collaborators" else plain(row[key])
    yield ("whitelist_emails",), tuple(sorted(map(str, row["whitelist_emails"])))
    yield ("pages",), tuple((plain(page["title"]), plain(page.get("content"))) for page in snapshot.pages)
    yield ("phases",), tuple(phase["id"] for phase in snapshot.phases)
    for phase in snapshot.phases:
        yield from _watched_phase(phase)
    for board in row.get("leaderboards") or []:
        yield ("leaderboard", board.get("id")), plain(board)
    for number, task in snapshot.tasks.items():
        for key in TASK_FIELDS:
            if key in task:
                yield ("task", number, key), plain(task[key])
        for role in TASK_FILES:
            yield ("task", number, role), key_of(task.get(role))


def _watched_phase(phase: Row) -> Iterator[tuple[Key, Any]]:
    at = ("phase", phase["id"])
    for key in PHASE_FIELDS:
        if key in phase:
            yield (*at, key), moment(phase[key]) if key in ("start", "end") else plain(phase[key])
    yield (*at, "tasks"), tuple(sorted(task["id"] for task in phase.get("tasks") or []))
    for role in PHASE_FILES:
        yield (*at, role), key_of(phase.get(role))


def plain(value: Any) -> Any:
    """A value as the site keeps it: texts without outer white space; nothing, an empty text and {} alike."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n").strip()
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()} or ""
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return "" if value is None else value


def key_of(dataset: Any) -> str | None:
    """The key of a program or data, which the site gives as an object or as the key alone."""
    found = dataset.get("key") if isinstance(dataset, Mapping) else dataset
    return None if found is None else str(found)


def different(expected: Mapping[Key, Any], actual: Mapping[Key, Any]) -> list[Key]:
    """The places that are not the same."""
    return [key for key in dict.fromkeys([*expected, *actual]) if expected.get(key) != actual.get(key)]


def in_words(key: Key, snapshot: Snapshot) -> str:
    """A place as people call it."""
    names = {("phase", row["id"]): row.get("name") for row in snapshot.phases}
    names |= {("task", number): row.get("name") for number, row in snapshot.task_rows.items()}
    if key[:2] in names:
        return f"{key[0]} {names[key[:2]]}: {str(key[2]).replace('_', ' ')}"
    return "leaderboard" if key[0] == "leaderboard" else str(key[0]).replace("_", " ")
