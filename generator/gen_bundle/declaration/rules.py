"""Rules between values, which the model's types cannot say. They look at the raw data, so that none hides another."""

import re
from collections.abc import Sequence
from datetime import datetime, time
from pathlib import Path, PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from gen_bundle.declaration.dates import parse_moment
from gen_bundle.declaration.model import CODE_KEYS
from gen_bundle.declaration.scoring import DECLARED
from gen_bundle.declaration.source import Section, columns_of, nearest

SHORTEST_LIMIT = 60
"""Of a phase: less leaves the code hardly any time beside the reserve."""
SUFFIXES = {"function": (".py",), "command": (".py", ".sh")}


def check_rules(declared: Section, folder: Path) -> None:
    """Note every broken rule."""
    check_unique(declared, "phases", "id")
    check_unique(declared, "tasks", "id")
    check_unique(declared, "milestones", "name")
    _check_columns(declared)
    _check_separate_columns(declared)
    _check_phases(list(declared.sections("phases")))
    _check_tasks_of_phases(declared)
    check_shared_data(declared)
    _check_gold_of_shared_data(declared)
    check_files(declared, folder)
    _check_submission_rule(declared)
    _check_time_zones(declared)
    _check_requirements(declared)
    _check_declared_alone(declared)
    _check_code(declared)


def _check_requirements(declared: Section) -> None:
    """Each package once; the model says what a requirement looks like."""
    names: list[str] = []
    for index, item in enumerate(declared.items("requirements")):
        name = re.split(r"[\[=]", item)[0].lower()
        if name in names:
            declared.fault(f"{name!r} is listed twice. Expected each package once.", "requirements", index)
        names.append(name)


def check_unique(declared: Section, name: str, key: str) -> None:
    """Items of a list that have the same key, without regard to case."""
    seen: set[str] = set()
    for item in declared.sections(name):
        value = item.get(key) or ""
        if value.lower() in seen:
            item.fault(f"{value!r} is used twice. Expected: a different {key} for each of the {name}.", key)
        elif value:
            seen.add(value.lower())


def _check_columns(declared: Section) -> None:
    columns = list(columns_of(declared))
    keys: list[str] = []
    for column in columns:
        key = column.get("key")
        if key in keys:
            column.fault(f"{key!r} is used twice. Column keys are unique over all tasks.", "key")
        elif key:
            keys.append(key)
    stored = [column.get("key") for column in columns if column.data.get("computation") is None]
    for column in columns:
        if column.data.get("computation") is not None:
            _check_computed(column, stored)
            continue
        if column.data.get("worst") is None:
            column.fault("worst is missing. Expected the score of a submission that does not enter the task.")
        if column.get("of") is not None:
            column.fault("is given without a computation. Expected avg, sum, min, max or avg_rank.", "of")
    if columns:
        _check_primary(declared, columns[0])
    _check_average_ranks(columns)
    _check_tie_break(declared, columns)


def _check_computed(column: Section, stored: Sequence[Any]) -> None:
    """Check that a column that the platform computes is computed from written columns, each once."""
    if column.data.get("of") is None:
        column.fault("of is missing. Expected the keys of the columns that are computed together.")
    of = column.items("of")
    for index, key in enumerate(of):
        if key in of[:index]:
            column.fault(f"{key!r} is named twice, and counts once. Expected each column once.", "of", index)
    check_computed_of(column, stored, "written column")


def check_computed_of(column: Section, keys: Sequence[Any], what: str) -> None:
    """Note where what a column is computed from is not among those with these keys."""
    for index, key in enumerate(column.items("of")):
        if key not in keys:
            column.fault(f"no {what} {key!r}. {nearest(key, [one for one in keys if one])}", "of", index)


def _check_primary(declared: Section, column: Section) -> None:
    if column.get("hidden") is True:
        column.fault("the first column ranks the submissions. Expected one that is shown.", "hidden")
    if column.get("computation") == "avg_rank" and declared.get("submission_rule") == "best":
        declared.fault(
            "best looks at stored scores, and a rank is not stored: the column after it would decide. "
            "Expected last, all or manual, or another first column.",
            "submission_rule",
        )


def _check_tie_break(declared: Section, columns: Sequence[Section]) -> None:
    """The columns that order equal scores: shown ones of this board, where the platform's order is not asked for."""
    board = declared.mapping("leaderboard")
    keys = board.items("tie_break")
    if not keys:
        return
    if board.data.get("ties", "columns") == "columns":
        what = "is given, but with ties: columns the following columns order equal scores."
        board.fault(f"{what} Expected ties: equal with it.", "tie_break")
    known = []
    for column in columns:
        key, is_hidden = column.get("key"), column.get("hidden") is True
        if key and not is_hidden and column.get("computation") != "avg_rank":
            known.append(key)
    for index, key in enumerate(keys):
        if key not in known:
            what = f"{key!r} is no shown column that orders rows (an average rank does not)"
            board.fault(f"{what}. {nearest(key, known)}", "tie_break", index)


def _check_average_ranks(columns: Sequence[Section]) -> None:
    """Note what the platform's average rank leaves out or turns round without a word."""
    hidden = {column.get("key") for column in columns if column.get("hidden") is True}
    for column in columns:
        if column.get("computation") != "avg_rank":
            continue
        if column.get("sort") == "desc":
            column.fault("puts the worst rank first. Expected asc: rank 1 is the best.", "sort")
        if column.get("hidden") is True:
            column.fault("a hidden average rank is not computed. Expected one that is shown.", "hidden")
        for index, key in enumerate(column.items("of")):
            if key in hidden:
                column.fault(f"{key!r} is hidden, and an average rank leaves hidden columns out.", "of", index)


def _check_separate_columns(declared: Section) -> None:
    """In layout `separate` a bundle has the columns of its task alone, so none can be computed from another's."""
    if declared.get("layout") != "separate":
        return
    for task in declared.sections("tasks"):
        columns = list(task.sections("columns"))
        own = {column.get("key") for column in columns}
        for column in columns:
            for index, key in enumerate(column.items("of")):
                if key not in own:
                    what = f"{key!r} is not a column of this task, which has a bundle of its own in layout separate."
                    column.fault(f"{what} Expected columns of the same task, or layout joint or tasks.", "of", index)


def _check_phases(phases: Sequence[Section]) -> None:
    for phase in phases[:1]:
        if phase.get("auto_migrate") is True:
            phase.fault("nothing can migrate to the first phase. Expected false.", "auto_migrate")
    for phase in phases[:-1]:
        if phase.data.get("end") is None:
            phase.fault("end is missing. Every phase but the last needs one.")
    _check_overlaps(phases)


def _check_overlaps(phases: Sequence[Section]) -> None:
    """Phases that end before they start, or start before the one before them ends."""
    last: tuple[str, datetime] | None = None
    for phase in phases:
        start, end = phase.get("start"), phase.get("end")
        start = start and parse_moment(start, time(0, 0, 0))
        end = end and parse_moment(end, time(23, 59, 59))
        if start and end and end <= start:
            phase.fault(f"the phase ends ({end:%Y-%m-%d %H:%M:%S} UTC) before it starts.", "end")
        if start and last and start <= last[1]:
            what = f"the phase starts before or when {last[0]!r} ends ({last[1]:%Y-%m-%d %H:%M:%S} UTC)."
            phase.fault(f"{what} Codabench's phases follow each other without overlap.", "start")
        if end:
            last = str(phase.get("id")), end


def _check_tasks_of_phases(declared: Section) -> None:
    """A phase has declared tasks, each once, and every task is in a phase."""
    tasks = list(declared.sections("tasks"))
    ids = [task.get("id") for task in tasks]
    used: set[Any] = set()
    for phase in declared.sections("phases"):
        own = phase.items("tasks")
        used.update(own or ids)
        for index, name in enumerate(own):
            if name in own[:index]:
                phase.fault(f"{name!r} is listed twice. Expected each task once.", "tasks", index)
            elif name not in ids:
                phase.fault(f"no task {name!r}. {nearest(name, [one for one in ids if one])}", "tasks", index)
    for task in tasks:
        if used and task.get("id") not in used:
            task.fault(f"no phase has the task {task.get('id')!r}. Expected it among the tasks of a phase.", "id")


def check_shared_data(declared: Section) -> None:
    """A phase shares the data of one that has its own."""
    ids, owners = [], []
    for phase in declared.sections("phases"):
        if phase.get("id"):
            ids.append(phase.get("id"))
            if phase.get("data") is None:
                owners.append(phase.get("id"))
    for phase in declared.sections("phases"):
        shared = phase.get("data")
        if shared and shared not in owners:
            what = "has no data of its own" if shared in ids else "is not the id of a phase"
            phase.fault(f"{shared!r} {what}. {nearest(shared, owners)}", "data")


def _check_gold_of_shared_data(declared: Section) -> None:
    """The gold of phases that share their data is secret or public alike."""
    phases = list(declared.sections("phases"))
    golds = {str(phase.get("id")): phase.data.get("gold", "secret") for phase in phases}
    for phase in phases:
        shared, gold = phase.get("data"), phase.data.get("gold", "secret")
        if golds.get(shared, gold) != gold:
            key = "gold" if "gold" in phase.data else "data"
            what = f"the gold is that of {shared!r}."
            phase.fault(f"{what} Expected the same gold (secret or public) in both phases.", key)


def check_files(declared: Section, folder: Path) -> None:
    """Named files that are not in the competition's folder: the logo, the pages and the terms."""
    named = [(declared, "logo"), (declared, "terms"), *((page, "file") for page in declared.sections("pages"))]
    for section, key in named:
        name = section.get(key)
        if name and not (folder / name).is_file():
            section.fault(f"no file {name!r} beside bundle.yaml. Expected a path relative to {folder}.", key)


def _check_submission_rule(declared: Section) -> None:
    rule = declared.get("submission_rule")
    if declared.get("layout") == "tasks" and rule in ("last", "best"):
        declared.fault(
            f"{rule!r} loses the scores of all tasks but one in layout tasks (Codabench keeps one child submission). "
            "Expected all, manual, Add or Add_And_Delete_Multiple, or layout joint.",
            "submission_rule",
        )


def _check_time_zones(declared: Section) -> None:
    for index, name in enumerate(declared.items("time_zones")):
        if not _is_time_zone(name):
            near = nearest(name, sorted(available_timezones()))
            declared.fault(f"no time zone {name!r}. {near}", "time_zones", index)


def _is_time_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True


def _check_declared_alone(declared: Section) -> None:
    """Note keys that only a declared competition reads: with a scoring package it would be ignored in silence."""
    if declared.get("scoring_program") == DECLARED:
        return
    submission = declared.mapping("submission")
    read = ("key", "rows", "missing", "unknown", "quoting", "header", "delimiter", "skip", "list", "tables")
    places = [(submission, key) for key in read] + [(declared, "reference"), (declared, "scoring_files")]
    for key in ("metric", "expression"):
        places += [(column, key) for column in columns_of(declared)]
    for section, key in places:
        if key in section.data:
            what = "is read only with scoring_program: declared; a scoring package has metrics and files of its own."
            section.fault(what, key)


def _check_code(declared: Section) -> None:
    """Check what holds of code, and of the keys that only code competitions have.

    The platform runs an ingestion program on the submission, and then the scoring program on what that left; see
    docs/code-submissions.md.
    """
    submission = declared.mapping("submission")
    columns = [column for column in columns_of(declared) if column.get("measured") is not None]
    if submission.get("kind") != "code":
        for key in CODE_KEYS:
            if submission.get(key) is not None:
                submission.fault("is read only with kind: code.", key)
        for column in columns:
            column.fault("measures code. Expected submission.kind: code, or another column.", "measured")
        return
    _check_entry(submission)
    for phase in declared.sections("phases"):
        limit = phase.get("execution_time_limit") or SHORTEST_LIMIT
        if limit < SHORTEST_LIMIT:
            what = f"is {limit}, of which starting, checking and packing take a part."
            phase.fault(f"{what} Expected at least {SHORTEST_LIMIT}.", "execution_time_limit")
    for column in columns[1:]:
        column.fault("there is another such column. Expected one at most.", "measured")
    for column in columns:
        _check_measured(column)


def _check_measured(column: Section) -> None:
    if column.get("sort") == "desc":
        column.fault("puts the slowest first. Expected asc.", "sort")
    for key in ("metric", "computation", "expression"):
        if column.get(key) is not None:
            column.fault("cannot be given together with measured. Expected one of the two.", key)


def _check_entry(submission: Section) -> None:
    if submission.data.get("entry") is None:
        submission.fault("entry is missing. With kind: code, the file that is run, such as model.py.")
    entry, interface = submission.get("entry"), submission.get("interface") or "function"
    if entry is None:
        return
    endings = SUFFIXES[interface]
    name = PurePosixPath(entry)
    if name.name != entry or name.suffix not in endings or entry.startswith((".", "-")) or "\\" in entry:
        what = f"{entry!r} cannot be run as a {interface}."
        where = f"a name at the top of the zip that ends with {' or '.join(endings)}"
        submission.fault(f"{what} Expected {where}.", "entry")
