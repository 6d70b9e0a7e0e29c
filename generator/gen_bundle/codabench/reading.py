"""competition.yaml as every reader starts from it, and the competition that the platform would create of it.

Either format is read: the platform's own (version 2) and that of CodaLab 1.5 (version 1), which it turns into its own.
Reading is lenient and never refuses; what the platform refuses is `gen-bundle check`'s question.
"""

import re
import shlex
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, Final, Literal, NamedTuple

from gen_bundle.codabench.competition import (
    DEFAULT_A_DAY,
    DEFAULT_IMAGE,
    DEFAULT_IN_ALL,
    DEFAULT_LIMIT_S,
    MEASURED,
    PHASE_FILES,
    TASK_FILES,
    TIE_BREAK,
    Column,
    Competition,
    DataUse,
    Phase,
    Solution,
    Task,
)
from gen_bundle.codabench.dates import Instant, read_instant
from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.ground.yaml_document import Document, Path

YAML_NAME = "competition.yaml"
NEARLY_ALIKE = 0.8
TRUE: Final = frozenset(["t", "y", "yes", "true", "on", "1", 1, True])
FALSE: Final = frozenset(["f", "n", "no", "false", "off", "0", 0, 0.0, False])
NEW_KEYS = ("pages", "tasks", "leaderboards", "terms")


def as_boolean(value: Any) -> bool | None:
    """Return the truth value of a YAML value, or None when it is none."""
    wanted = value.lower() if isinstance(value, str) else value
    if not isinstance(wanted, Hashable):
        return None
    if wanted in TRUE:
        return True
    return False if wanted in FALSE else None


def as_integer(value: Any) -> int | None:
    """Return the integer that a YAML value stands for (texts and 5.0 do too), or None when it is none."""
    if isinstance(value, bool):
        return None
    text = str(value)
    if len(text) > 1000:
        return None
    try:
        return int(re.sub(r"\.0*\s*$", "", text))
    except ValueError:
        return None


def as_text(value: Any) -> str | None:
    """Return the stored text of a YAML value (numbers become text, outer blanks go), or None when it is none."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    return str(value).strip()


def mistaken_for_yaml(names: Iterable[str]) -> list[str]:
    """Return the files that are probably meant to be the missing competition.yaml: in a folder, or misspelt."""
    found = []
    for name in names:
        stem, dot, _ = name.rpartition("/")[2].lower().partition(".")
        likeness = SequenceMatcher(None, stem, "competition").ratio()
        is_yaml = name.lower().removesuffix(".txt").endswith((".yaml", ".yml"))
        if dot and is_yaml and (stem.startswith("competition") or likeness >= NEARLY_ALIKE):
            found.append(name)
    return sorted(found, key=lambda name: (name.count("/"), name))


def no_yaml(bundle: FilePath, names: Iterable[str]) -> str:
    """Return a message on a bundle without competition.yaml, with what it has instead."""
    missing = f"{bundle}: no {YAML_NAME} at its root."
    if (bundle / "bundle.yaml").is_file():
        build = f"gen-bundle {shlex.quote(str(bundle.absolute()))} --out bundle.zip"
        return f"{missing} This is a declaration: build it first, {build}"
    for name in mistaken_for_yaml(names):
        folder, _, file = name.rpartition("/")
        if folder and file == YAML_NAME:
            return (
                f"{missing} There is {name}: a wrapping folder is not looked into, so give or zip what is in {folder}/."
            )
        return f"{missing} There is {name}: rename it to {YAML_NAME}."
    return missing


class YamlItem(NamedTuple):
    """A mapping in a list of competition.yaml."""

    at: Path
    position: int
    value: Mapping[Any, Any]

    def get(self, key: str) -> Any:
        return self.value.get(key)


@dataclass
class CompetitionYaml:
    """The content of competition.yaml, whatever it is.

    Attributes:
        now: the moment against which dates are judged, and from which incomplete ones take what they lack.
        document: the parsed file; None where it cannot be read.
        platform: the platform's version, where its versions differ.
    """

    now: datetime
    document: Document | None = None
    platform: PlatformVersion = NEWEST

    @property
    def yaml(self) -> Mapping[Any, Any]:
        """The top of competition.yaml; empty when it is not a mapping."""
        return _mapping(self.document and self.document.value)

    @property
    def version(self) -> str:
        """The version as the platform compares it."""
        return str(self.yaml.get("version", "1"))

    @property
    def format(self) -> Literal["v2", "v1"]:
        """The format that the file is written in, also where its version says another one."""
        new = "html" not in self.yaml and not self.yaml.keys().isdisjoint(NEW_KEYS)
        return "v2" if self.version == "2" or new else "v1"

    @cached_property
    def competition(self) -> Competition:
        """The competition that the platform would create, read leniently."""
        return _read_v2(self) if self.format == "v2" else _read_v1(self)

    def value(self, at: Path) -> Any:
        """Return the value at a path of competition.yaml; None where there is none."""
        value: Any = self.yaml
        for key in at:
            if isinstance(value, Mapping):
                value = value.get(key)
            elif isinstance(value, list) and isinstance(key, int) and key < len(value):
                value = value[key]
            else:
                return None
        return value

    def mapping(self, at: Path) -> Mapping[Any, Any]:
        """Return the mapping at a path of competition.yaml; empty where something else is there."""
        return _mapping(self.value(at))

    def entries(self, *at: Any) -> list[YamlItem]:
        """Return the mappings in the list at a path of competition.yaml; anything else is left out."""
        items = self.value(at)
        if not isinstance(items, list):
            return []
        return [YamlItem((*at, place), place, item) for place, item in enumerate(items) if isinstance(item, Mapping)]


def _mapping(value: Any) -> Mapping[Any, Any]:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def is_on(value: Any) -> bool:
    """Return whether a value counts as true."""
    return as_boolean(value) is True


def sorted_phases(entries: list[YamlItem]) -> list[YamlItem]:
    """Phases in the platform's order: by index (0 where missing), the list's order among equals."""
    try:
        return sorted(entries, key=lambda phase: phase.value.get("index", 0))
    except TypeError:
        return entries


def _sorting(value: Any) -> str:
    return "asc" if value == "asc" else "desc"


def input_texts(indexes: Any) -> list[str]:
    """Return the column indexes of a computation as the server stores them: items as text, split at commas."""
    if not isinstance(indexes, (list, dict, str, set)):
        return []
    joined = ",".join([str(index) for index in indexes])
    return joined.split(",") if joined else []


def _read_v2(declared: CompetitionYaml) -> Competition:
    """The competition of a bundle with `version: 2`."""
    top = declared.yaml
    tasks = [_task(one) for one in declared.entries("tasks")]
    phases = enumerate(sorted_phases(declared.entries("phases")))
    boards = declared.entries("leaderboards")
    board = boards[0].value if boards else {}
    listed = board.get(TIE_BREAK)
    tie_break = tuple(str(one) for one in listed) if isinstance(listed, list) else None
    return Competition(
        title=as_text(top.get("title")) or "",
        image=as_text(top.get("docker_image", DEFAULT_IMAGE)) or "",
        image_at=("docker_image",),
        tasks=tuple(tasks),
        phases=tuple(_phase(entry, order, tasks, declared.now) for order, entry in phases),
        columns=tuple(_column(one) for one in declared.entries("leaderboards", 0, "columns")),
        primary_index=as_integer(board.get("primary_index", 0)) or 0,
        submission_rule=str(board.get("submission_rule", "Add")),
        queue=bool(top.get("queue")),
        programs_available=is_on(top.get("make_programs_available")),
        input_available=is_on(top.get("make_input_data_available")),
        detailed_results=is_on(top.get("enable_detailed_results")),
        board_title=as_text(board.get("title")) or "",
        tie_break=tie_break,
        solutions=tuple(_solutions(declared)),
    )


def _task(entry: YamlItem) -> Task:
    files: Mapping[str, DataUse] = {}
    if "key" not in entry.value:
        files = _named_files(entry.at, entry.value, TASK_FILES, (entry.position,))
    return Task(
        at=entry.at,
        index=entry.get("index"),
        name=str(entry.get("name") or entry.get("index")),
        files=files,
        ingestion_only_during_scoring=is_on(entry.get("ingestion_only_during_scoring")),
        id=entry.get("id"),
    )


def _phase(entry: YamlItem, order: int, tasks: Sequence[Task], now: datetime) -> Phase:
    # of several tasks with one index the first counts
    by_index = {task.index: task for task in reversed(tasks) if isinstance(task.index, Hashable)}
    named: dict[Path, Task] = {}
    for index in named_indexes(entry.get("tasks")):
        if task := by_index.get(index):
            named[task.at] = task
    return Phase(
        at=entry.at,
        name=str(entry.get("name") or entry.get("index") or order),
        start=read_instant(entry.get("start"), now),
        end=read_instant(entry.get("end"), now),
        start_at=(*entry.at, "start"),
        end_at=(*entry.at, "end"),
        tasks=tuple(named.values()),
        files=_named_files(entry.at, entry.value, PHASE_FILES, (order,)),
        **_limits(entry.value),
        auto_migrate=is_on(entry.get("auto_migrate_to_this_phase")),
        index=entry.value.get("index", 0),
        id=entry.get("id"),
    )


def _column(entry: YamlItem) -> Column:
    computation = entry.get("computation")
    if computation is not None:
        computation = str(computation)
    inputs = []
    for text in input_texts(entry.get("computation_indexes")):
        number = as_integer(text)
        if number is not None:
            inputs.append(number)
    return Column(
        index=as_integer(entry.get("index")),
        key=as_text(entry.get("key")) or "",
        title=as_text(entry.get("title")) or "",
        sorting=_sorting(entry.get("sorting")),
        precision=as_integer(entry.value.get("precision", 2)),
        hidden=is_on(entry.get("hidden")),
        computation=computation,
        inputs=tuple(inputs),
        measured=entry.get(MEASURED) is not None,
        at=entry.at,
    )


def _solutions(declared: CompetitionYaml) -> Iterator[Solution]:
    for entry in declared.entries("solutions"):
        if "key" not in entry.value and "path" in entry.value:
            place, order = (*entry.at, "path"), (entry.position,)
            yield Solution(place, "solution", entry.get("path"), order, named_indexes(entry.get("tasks")))


def named_indexes(indexes: Any) -> tuple[Hashable, ...]:
    """Return the indexes that a list names, or, as on the platform, a mapping by its keys, a text by its letters."""
    if not isinstance(indexes, (list, dict, str, set)):
        return ()
    return tuple(index for index in indexes if isinstance(index, Hashable))


def _named_files(
    at: Path, value: Mapping[Any, Any], roles: tuple[str, ...], order: tuple[int, ...]
) -> dict[str, DataUse]:
    """The files of these roles that the mapping at a place of competition.yaml names, by role."""
    return {
        role: DataUse((*at, role), role, value[role], (*order, position))
        for position, role in enumerate(roles)
        if role in value
    }


def _limits(phase: Mapping[Any, Any]) -> dict[str, Any]:
    """Seconds a job, submissions a day, and submissions in all; the same keys in both formats."""
    return {
        "limit_s": as_integer(phase.get("execution_time_limit")) or DEFAULT_LIMIT_S,
        "a_day": as_integer(phase.get("max_submissions_per_day", DEFAULT_A_DAY)),
        "in_all": as_integer(phase.get("max_submissions", DEFAULT_IN_ALL)),
    }


OldEntry = tuple[Path, Mapping[Any, Any]]
"""A mapping of the old format, with its place."""


def _read_v1(declared: CompetitionYaml) -> Competition:
    """The competition that the platform makes of an old-format bundle: one task a phase, ends taken from starts."""
    top = declared.yaml
    entries = old_phases(declared)
    tasks, phases = [], []
    for order, (at, value) in enumerate(entries):
        end, end_at = _old_end(declared, entries, order)
        name = str(value.get("label"))
        files = _named_files(at, value, TASK_FILES, (order,))
        task = Task(at, order, f"{name} Task", files, is_on(value.get("ingestion_program_only_during_scoring")))
        tasks.append(task)
        phase = Phase(
            at=at,
            name=name,
            start=read_instant(value.get("start_date"), declared.now),
            end=end,
            start_at=(*at, "start_date"),
            end_at=end_at,
            tasks=(task,),
            files=_named_files(at, value, PHASE_FILES, (order,)),
            **_limits(value),
            auto_migrate=is_on(value.get("auto_migration")),
            index=order,
        )
        phases.append(phase)
    return Competition(
        title=as_text(top.get("title")) or "",
        image=as_text(top.get("competition_docker_image") or DEFAULT_IMAGE) or "",
        image_at=("competition_docker_image",),
        tasks=tuple(tasks),
        phases=tuple(phases),
        columns=tuple(_columns_v1(top)),
        board_title=as_text(next(iter(of_leaderboard(top, "leaderboards")), None)) or "",
        queue=bool(top.get("queue")),
        detailed_results=is_on(top.get("enable_detailed_results")),
        programs_available=is_on(top.get("make_programs_available")),
        input_available=is_on(top.get("make_input_data_available")),
    )


def old_phases(declared: CompetitionYaml) -> list[OldEntry]:
    """Return the old format's phases in order of `phasenumber`; a parallel parent, which is dropped, left out."""
    entries: list[OldEntry] = []
    for key, value in declared.mapping(("phases",)).items():
        if isinstance(value, Mapping):
            entries.append((("phases", key), value))
    try:
        entries.sort(key=_phase_number)
    except TypeError:
        return entries
    parallel = any(value.get("is_parallel_parent") or value.get("parent_phasenumber") for _, value in entries)
    return entries[1:] if parallel else entries


def _phase_number(entry: OldEntry) -> Any:
    return entry[1].get("phasenumber")


def _old_end(declared: CompetitionYaml, entries: Sequence[OldEntry], order: int) -> tuple[Instant, Path]:
    """A phase's end, the day before the next one's start, and the place that decides on it."""
    if order + 1 == len(entries):
        end = declared.yaml.get("end_date")
        return (Instant() if end == "null" else read_instant(end, declared.now)), ("end_date",)
    at, (next_at, following_phase) = entries[order][0], entries[order + 1]
    following = read_instant(following_phase.get("start_date"), declared.now).moment
    try:
        return Instant(following and following - timedelta(days=1)), (*at, "start_date")
    except OverflowError:
        fault = "it would be the day before the next phase's start, which is before the year 1"
        return Instant(fault=fault), (*next_at, "start_date")


def of_leaderboard(top: Mapping[Any, Any], key: str) -> Mapping[Any, Any]:
    """Return the mapping `leaderboards` or `columns` of the old format's `leaderboard`; empty where there is none."""
    return _mapping(_mapping(top.get("leaderboard")).get(key))


def old_columns(top: Mapping[Any, Any]) -> list[tuple[Any, Mapping[Any, Any]]]:
    """Return the old format's columns in the order of their rank (1 where missing)."""
    entries = [(key, value) for key, value in of_leaderboard(top, "columns").items() if isinstance(value, Mapping)]
    try:
        entries.sort(key=lambda entry: entry[1].get("rank", 1))
    except TypeError:
        return entries
    return entries


def board_label(column: Mapping[Any, Any]) -> str | None:
    """Return the leaderboard that an old column names, lower-cased as the platform compares it."""
    return _label(column.get("leaderboard"))


def old_labels(top: Mapping[Any, Any]) -> set[str]:
    """Return the labels of the old format's leaderboards, lower-cased as the platform compares them."""
    boards = of_leaderboard(top, "leaderboards").values()
    return {label for board in boards if (label := _label(board)) is not None}


def _label(board: Any) -> str | None:
    label = _mapping(board).get("label")
    return label.lower() if isinstance(label, str) else None


def _columns_v1(top: Mapping[Any, Any]) -> list[Column]:
    wanted = next((_label(value) for value in of_leaderboard(top, "leaderboards").values()), None)
    columns: list[Column] = []
    for index, (key, value) in enumerate(old_columns(top)):
        if board_label(value) != wanted:
            continue
        title = value.get("title", key)
        column = Column(
            index=index,
            key=as_text(title) or "",
            title=as_text(value.get("label", title)) or "",
            sorting=_sorting(value.get("sort")),
            precision=as_integer(value.get("numeric_format", 2)),
            hidden=is_on(value.get("hidden")),
            at=("leaderboard", "columns", key),
        )
        columns.append(column)
    return columns
