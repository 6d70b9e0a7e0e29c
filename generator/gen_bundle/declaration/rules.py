"""What the model's types cannot say: rules between values. They look at the raw data, so that none hides another."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, time
from pathlib import Path, PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from gen_bundle.declaration.dates import parse_moment
from gen_bundle.declaration.declared import DECLARED
from gen_bundle.declaration.model import CODE_KEYS
from gen_bundle.declaration.source import Broken, Trail, columns_of, listed, mappings, nearest

SHORTEST_LIMIT = 60
"""Of a phase: less leaves the code hardly any time beside the reserve."""
SUFFIXES = {"function": (".py",), "command": (".py", ".sh")}


def check_rules(data: dict[str, Any], folder: Path) -> Iterator[Broken]:
    """Every broken rule."""
    yield from unique(data, "phases", "id")
    yield from unique(data, "tasks", "id")
    yield from unique(data, "milestones", "name")
    yield from _columns(data)
    yield from _separate_columns(data)
    yield from _phases(data)
    yield from _tasks_of_phases(data)
    yield from shared_data(data)
    yield from _gold_of_shared_data(data)
    yield from files(data, folder)
    yield from _submission_rule(data)
    yield from _time_zones(data)
    yield from _requirements(data)
    yield from _declared_alone(data)
    yield from code_rules(data)


def _requirements(data: dict[str, Any]) -> Iterator[Broken]:
    """Each package once; the model says what a requirement looks like."""
    names: list[str] = []
    for index, item in enumerate(listed(data, "requirements")):
        name = re.split(r"[\[=]", item)[0].strip().lower() if isinstance(item, str) else ""
        if name and name in names:
            yield ("requirements", index), f"{name!r} is listed twice. Expected each package once."
        names.append(name)


def unique(data: dict[str, Any], name: str, key: str) -> Iterator[Broken]:
    """Items of a list that have the same key, without regard to case."""
    seen: set[str] = set()
    for trail, item in mappings(data, name):
        value = item.get(key)
        if isinstance(value, str) and value.lower() in seen:
            yield (*trail, key), f"{value!r} is used twice. Expected: a different {key} for each of the {name}."
        elif isinstance(value, str):
            seen.add(value.lower())


def _columns(data: dict[str, Any]) -> Iterator[Broken]:
    columns = list(columns_of(data))
    keys: list[str] = []
    for trail, column in columns:
        key = column.get("key")
        if isinstance(key, str) and key in keys:
            yield (*trail, "key"), f"{key!r} is used twice. Column keys are unique over all tasks."
        elif isinstance(key, str):
            keys.append(key)
    stored = [column.get("key") for _, column in columns if column.get("computation") is None]
    for trail, column in columns:
        if column.get("computation") is not None:
            yield from _computed(trail, column, stored)
            continue
        if column.get("worst") is None:
            yield trail, "worst is missing. Expected the score of a submission that does not enter the task."
        if column.get("of") is not None:
            yield (*trail, "of"), "is given without a computation. Expected avg, sum, min, max or avg_rank."
    if columns:
        yield from _primary(data, *columns[0])
    yield from _average_ranks(columns)
    yield from _tie_break(data, columns)


def _computed(trail: Trail, column: dict[str, Any], stored: Sequence[Any]) -> Iterator[Broken]:
    """What a column that the platform computes is computed from: written columns, each once."""
    if column.get("of") is None:
        yield trail, "of is missing. Expected the keys of the columns that are computed together."
    of = listed(column, "of")
    for index, key in enumerate(of):
        if key in of[:index]:
            yield (*trail, "of", index), f"{key!r} is named twice, and counts once. Expected each column once."
    yield from computed_of_others(trail, column, stored, "written column")


def computed_of_others(trail: Trail, column: dict[str, Any], keys: Sequence[Any], what: str) -> Iterator[Broken]:
    """What a column is computed from is not among those with these keys."""
    known = [key for key in keys if isinstance(key, str)]
    for index, key in enumerate(listed(column, "of")):
        if key not in keys:
            yield (*trail, "of", index), f"no {what} {key!r}. {nearest(str(key), known)}"


def _primary(data: dict[str, Any], trail: Trail, column: dict[str, Any]) -> Iterator[Broken]:
    if column.get("hidden") is True:
        yield (*trail, "hidden"), "the first column ranks the submissions. Expected one that is shown."
    if column.get("computation") == "avg_rank" and data.get("submission_rule") == "best":
        yield (
            ("submission_rule",),
            "best looks at stored scores, and a rank is not stored: the column after it would decide. "
            "Expected last, all or manual, or another first column.",
        )


def _tie_break(data: dict[str, Any], columns: Sequence[tuple[Trail, dict[str, Any]]]) -> Iterator[Broken]:
    """The columns that order equal scores: shown ones of this board, where the platform's order is not asked for."""
    board = data.get("leaderboard")
    keys = listed(board, "tie_break")
    if not isinstance(board, dict) or not keys:
        return
    if board.get("ties", "columns") == "columns":
        yield (
            ("leaderboard", "tie_break"),
            "is given, but with ties: columns the following columns order equal scores. Expected ties: equal with it.",
        )
    shown = [column for _, column in columns if column.get("hidden") is not True]
    usable = [column.get("key") for column in shown if column.get("computation") != "avg_rank"]
    known = [key for key in usable if isinstance(key, str)]
    for index, key in enumerate(keys):
        if key not in known:
            what = f"{key!r} is no shown column that orders rows (an average rank does not)"
            yield ("leaderboard", "tie_break", index), f"{what}. {nearest(str(key), known)}"


def _average_ranks(columns: Sequence[tuple[Trail, dict[str, Any]]]) -> Iterator[Broken]:
    """What the platform's average rank leaves out or turns round without a word."""
    hidden = {column.get("key") for _, column in columns if column.get("hidden") is True}
    for trail, column in columns:
        if column.get("computation") != "avg_rank":
            continue
        if column.get("sort") == "desc":
            yield (*trail, "sort"), "puts the worst rank first. Expected asc: rank 1 is the best."
        if column.get("hidden") is True:
            yield (*trail, "hidden"), "a hidden average rank is not computed. Expected one that is shown."
        for index, key in enumerate(listed(column, "of")):
            if key in hidden:
                yield (*trail, "of", index), f"{key!r} is hidden, and an average rank leaves hidden columns out."


def _separate_columns(data: dict[str, Any]) -> Iterator[Broken]:
    """In layout `separate` a bundle has the columns of its task alone, so none can be computed from another's."""
    if data.get("layout") != "separate":
        return
    for trail, task in mappings(data, "tasks"):
        columns = list(mappings(task, "columns", trail))
        own = {column["key"] for _, column in columns if isinstance(column.get("key"), str)}
        for place, column in columns:
            for index, key in enumerate(listed(column, "of")):
                if key not in own:
                    yield (
                        (*place, "of", index),
                        f"{key!r} is not a column of this task, which has a bundle of its own in layout separate. "
                        "Expected columns of the same task, or layout joint or tasks.",
                    )


def _phases(data: dict[str, Any]) -> Iterator[Broken]:
    phases = list(mappings(data, "phases"))
    for trail, phase in phases[:1]:
        if phase.get("auto_migrate") is True:
            yield (*trail, "auto_migrate"), "nothing can migrate to the first phase. Expected false."
    for trail, phase in phases[:-1]:
        if phase.get("end") is None:
            yield trail, "end is missing. Every phase but the last needs one."
    yield from _overlaps(phases)


def _overlaps(phases: Sequence[tuple[Trail, dict[str, Any]]]) -> Iterator[Broken]:
    """Phases that end before they start, or start before the one before them ends."""
    last: tuple[str, datetime] | None = None
    for trail, phase in phases:
        start = _moment(phase.get("start"), time(0, 0, 0))
        end = _moment(phase.get("end"), time(23, 59, 59))
        if start and end and end <= start:
            yield (*trail, "end"), f"the phase ends ({end:%Y-%m-%d %H:%M:%S} UTC) before it starts."
        if start and last and start <= last[1]:
            yield (
                (*trail, "start"),
                f"the phase starts before or when {last[0]!r} ends ({last[1]:%Y-%m-%d %H:%M:%S} UTC). "
                "Codabench's phases follow each other without overlap.",
            )
        if end:
            last = str(phase.get("id")), end


def _tasks_of_phases(data: dict[str, Any]) -> Iterator[Broken]:
    """A phase has declared tasks, each once, and every task is in a phase."""
    tasks = [(trail, task["id"]) for trail, task in mappings(data, "tasks") if isinstance(task.get("id"), str)]
    ids = [name for _, name in tasks]
    used: set[Any] = set()
    for trail, phase in mappings(data, "phases"):
        own = phase.get("tasks")
        if not isinstance(own, list):
            used.update(ids)
            continue
        for index, name in enumerate(own):
            if name in own[:index]:
                yield (*trail, "tasks", index), f"{name!r} is listed twice. Expected each task once."
            elif isinstance(name, str):
                used.add(name)
                if name not in ids:
                    yield (*trail, "tasks", index), f"no task {name!r}. {nearest(name, ids)}"
    for trail, name in tasks:
        if name not in used:
            yield (*trail, "id"), f"no phase has the task {name!r}. Expected it among the tasks of a phase."


def shared_data(data: dict[str, Any]) -> Iterator[Broken]:
    """A phase shares the data of one that has its own."""
    phases = {phase["id"]: phase for _, phase in mappings(data, "phases") if isinstance(phase.get("id"), str)}
    owners = [name for name, phase in phases.items() if phase.get("data") is None]
    for trail, phase in mappings(data, "phases"):
        shared = phase.get("data")
        if isinstance(shared, str) and shared not in owners:
            what = "has no data of its own" if shared in phases else "is not the id of a phase"
            yield (*trail, "data"), f"{shared!r} {what}. {nearest(shared, owners)}"


def _gold_of_shared_data(data: dict[str, Any]) -> Iterator[Broken]:
    """The gold of phases that share their data is secret or public alike."""
    golds = {str(phase.get("id")): phase.get("gold", "secret") for _, phase in mappings(data, "phases")}
    for trail, phase in mappings(data, "phases"):
        shared, gold = phase.get("data"), phase.get("gold", "secret")
        if isinstance(shared, str) and golds.get(shared, gold) != gold:
            place = (*trail, "gold") if "gold" in phase else (*trail, "data")
            yield place, f"the gold is that of {shared!r}. Expected the same gold (secret or public) in both phases."


def _moment(value: Any, date_alone: time) -> datetime | None:
    try:
        return parse_moment(value, date_alone) if isinstance(value, str) else None
    except ValueError:
        return None


def files(data: dict[str, Any], folder: Path) -> Iterator[Broken]:
    """Named files that are not in the competition's folder: the logo, the pages and the terms."""
    named: list[tuple[Trail, Any]] = [(("logo",), data.get("logo")), (("terms",), data.get("terms"))]
    named += [((*trail, "file"), page.get("file")) for trail, page in mappings(data, "pages")]
    for trail, name in named:
        if isinstance(name, str) and not (folder / name).is_file():
            yield trail, f"no file {name!r} beside bundle.yaml. Expected a path relative to {folder}."


def _submission_rule(data: dict[str, Any]) -> Iterator[Broken]:
    rule = data.get("submission_rule", "all")
    if data.get("layout") == "tasks" and rule in ("last", "best"):
        yield (
            ("submission_rule",),
            f"{rule!r} loses the scores of all tasks but one in layout tasks (Codabench keeps one child submission). "
            "Expected all, manual, Add or Add_And_Delete_Multiple, or layout joint.",
        )


def _time_zones(data: dict[str, Any]) -> Iterator[Broken]:
    for index, name in enumerate(listed(data, "time_zones")):
        if isinstance(name, str) and not _is_time_zone(name):
            yield ("time_zones", index), f"no time zone {name!r}. {nearest(name, sorted(available_timezones()))}"


def _is_time_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True


def _declared_alone(data: dict[str, Any]) -> Iterator[Broken]:
    """What only a declared competition reads: with a scoring package it would be ignored in silence."""
    if data.get("scoring_program") == DECLARED:
        return
    submission = data.get("submission")
    read = ("key", "rows", "missing", "quoting", "header", "delimiter", "skip", "tables")
    places: list[Trail] = [("submission", key) for key in read if isinstance(submission, dict) and key in submission]
    places += [("reference",)] if "reference" in data else []
    for key in ("metric", "expression"):
        places += [(*trail, key) for trail, column in columns_of(data) if key in column]
    for place in places:
        yield place, "is read only with scoring_program: declared; a scoring package computes its own metrics."


def code_rules(data: dict[str, Any]) -> Iterator[Broken]:
    """Every broken rule of the raw declaration about code, and of the keys that only code competitions have.

    The platform runs an ingestion program on the submission, and then the scoring program on what that left; see
    docs/code-submissions.md.
    """
    submission = data.get("submission")
    found: dict[str, Any] = submission if isinstance(submission, dict) else {}
    columns = [(trail, column) for trail, column in columns_of(data) if column.get("measured") is not None]
    if found.get("kind") != "code":
        for key in CODE_KEYS:
            if found.get(key) is not None:
                yield ("submission", key), "is read only with kind: code."
        for trail, _ in columns:
            yield (*trail, "measured"), "measures code. Expected submission.kind: code, or another column."
        return
    yield from _entry(found)
    yield from _short_limits(data)
    for trail, _ in columns[1:]:
        yield (*trail, "measured"), "there is another such column. Expected one at most."
    for trail, column in columns:
        yield from _measured(trail, column)


def _short_limits(data: dict[str, Any]) -> Iterator[Broken]:
    for trail, phase in mappings(data, "phases"):
        limit = phase.get("execution_time_limit")
        if isinstance(limit, int) and limit < SHORTEST_LIMIT:
            yield (
                (*trail, "execution_time_limit"),
                f"is {limit}, of which starting, checking and packing take a part. Expected at least {SHORTEST_LIMIT}.",
            )


def _measured(trail: Trail, column: dict[str, Any]) -> Iterator[Broken]:
    if column.get("sort") == "desc":
        yield (*trail, "sort"), "puts the slowest first. Expected asc."
    for key in ("metric", "computation", "expression"):
        if column.get(key) is not None:
            yield (*trail, key), "cannot be given together with measured. Expected one of the two."


def _entry(submission: dict[str, Any]) -> Iterator[Broken]:
    entry, interface = submission.get("entry"), submission.get("interface") or "function"
    if entry is None:
        yield ("submission",), "entry is missing. With kind: code, the file that is run, such as model.py."
    if not isinstance(entry, str) or interface not in SUFFIXES:
        return
    name = PurePosixPath(entry)
    endings = SUFFIXES[interface]
    if name.name != entry or name.suffix not in endings or entry.startswith((".", "-")) or "\\" in entry:
        what = f"{entry!r} cannot be run as a {interface}."
        yield (
            ("submission", "entry"),
            f"{what} Expected a name at the top of the zip that ends with {' or '.join(endings)}.",
        )
