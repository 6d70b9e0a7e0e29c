"""The final ranking over all participants: by default one ranking for each task, by the task's first column.

Served by every scoring package as the organiser's verb `rank`; a package with a rule of its own serves that instead.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from scoring_kit.csv_reading import read_table
from scoring_kit.entries import TeamName, entry_name, read_entries
from scoring_kit.errors import OrganiserError, Problems, SubmissionError, printable, shown
from scoring_kit.frame import make_manifest, score_tasks
from scoring_kit.json_reading import read_utf8
from scoring_kit.outputs import check_columns
from scoring_kit.package import reference_module, submission_module
from scoring_kit.program import Column, Program
from scoring_kit.results import TaskResult, comparable
from scoring_kit.submission_files import read_submission, task_folders

TEAM = "team"
HIDDEN = "(hidden)"

Scores = dict[str, dict[str, float | None]]
"""Team → column key → score; None where the team did not enter the column's task."""


def rank(request: Mapping[str, Any], results: Mapping[str, Mapping[str, TaskResult]] | None = None) -> dict[str, Any]:
    """One ranking for each task, ties sharing a rank.

    Args:
        request: `program`, the path of a program.json; `scores`, the path of a table of scores, or else `submissions`
            and `reference`, the folders of all submissions and of the prepared gold; `hide`, teams to show without
            name and figures.
        results: what `score_all` gives for the request, where that is known already.

    Returns:
        `teams`: a record for each team, with its columns and its rank in each task; `tables`: to be printed, each with
        `title`, `header` and `rows` of texts; `notes`: what the organisers should know.
    """
    program = Program.read(Path(request["program"]))
    columns = [column for column in program.columns if column.computation is None]
    if request.get("scores"):
        scores = read_scores(Path(request["scores"]), [column.key for column in columns])
    else:
        results = score_all(request, program) if results is None else results
        for entered in results.values():
            check_columns(program, entered)
        scores = {team: {column.key: _value(column, own) for column in columns} for team, own in results.items()}
    check_hidden(request["hide"], scores)
    records: dict[str, dict[str, Any]] = {team: {TEAM: team, **values} for team, values in scores.items()}
    tables, notes = [], []
    for task in program.tasks:
        own = [column for column in columns if column.task == task]
        if not own:
            continue  # all of its columns are filled by the platform
        if all(values[own[0].key] is None for values in scores.values()):
            notes.append(f"{program.task_names[task]}: no team entered it.")
        ranks = shared_ranks({team: values[own[0].key] for team, values in scores.items()}, own[0].sort == "desc")
        for team, record in records.items():
            record[f"{task}_rank"] = ranks.get(team)
            record.setdefault("tied", []).extend([task] if team in tied(ranks, request["hide"]) else [])
        tables.append(_table(program.task_names[task], own, scores, ranks, request["hide"]))
        notes += [f"{program.task_names[task]}: {text}" for text in tie_notes(ranks, request["hide"])]
    shown = [
        shown_record(record, request["hide"])
        for record in sorted(records.values(), key=lambda r: r[TEAM] in request["hide"])
    ]
    return {"teams": shown, "tables": tables, "notes": notes}


def shared_ranks(values: Mapping[str, float | None], descending: bool) -> dict[str, int]:
    """The rank of every team with a value, best first; equal ones share the best of their ranks (1, 2, 2, 4)."""
    there = {team: comparable(value) for team, value in values.items() if value is not None}
    ordered = sorted(there.values(), reverse=descending)
    first: dict[float, int] = {}
    for place, value in enumerate(ordered, start=1):
        first.setdefault(value, place)
    return {team: first[value] for team, value in there.items()}


def tied(ranks: Mapping[str, int], hide: Collection[str]) -> set[str]:
    """The shown teams that share their rank with another shown one; ties with a hidden team would tell its figures."""
    counts = Counter(place for team, place in ranks.items() if team not in hide)
    return {team for team, place in ranks.items() if team not in hide and counts[place] > 1}


def printed(ranks: Mapping[str, int], hide: Collection[str]) -> list[tuple[str, str]]:
    """(team, rank as it is printed) in the order of a table: `=` marks a shared rank; hidden teams come last."""
    shared = tied(ranks, hide)
    ordered = sorted(ranks, key=lambda team: (team in hide, ranks[team], team))
    return [
        (team, "" if team in hide else f"{ranks[team]}=" if team in shared else f"{ranks[team]}") for team in ordered
    ]


def tie_notes(ranks: Mapping[str, int], hide: Collection[str]) -> list[str]:
    """A sentence for each rank that is shared."""
    equal: dict[int, list[str]] = {}
    for team in sorted(tied(ranks, hide)):
        equal.setdefault(ranks[team], []).append(team)
    return [f"{' and '.join(teams)} share rank {place}." for place, teams in sorted(equal.items())]


def shown_name(team: str, hide: Collection[str]) -> str:
    """A team's name, unless it is hidden."""
    return HIDDEN if team in hide else team


def shown_record(record: Mapping[str, Any], hide: Collection[str]) -> dict[str, Any]:
    """A team's record; of a hidden team nothing but that it is there."""
    return {**dict.fromkeys(record), TEAM: HIDDEN} if record[TEAM] in hide else dict(record)


def check_hidden(hide: Collection[str], teams: Collection[str]) -> None:
    """Raise OrganiserError for teams to be hidden that are not there."""
    unknown = [name for name in hide if name not in teams]
    if unknown:
        known = ", ".join(sorted(teams))
        raise OrganiserError(*(printable(f"--hide {name}: no such team. Expected one of {known}.") for name in unknown))


def score_all(
    request: Mapping[str, Any], program: Program, team_name: TeamName = entry_name
) -> dict[str, dict[str, TaskResult]]:
    """Score every team's submission in `request["submissions"]` against the gold in `request["reference"]`.

    Returns:
        Team → task that it entered → result.

    Raises:
        OrganiserError: submissions that cannot be scored, each with all its problems.
    """
    reading_gold, reading = reference_module(program.package), submission_module(program.package)
    reference = reading_gold.read(Path(request["reference"]), program.tasks, program.options)
    manifest = make_manifest(program, reading_gold.manifest(reference, program.tasks))
    results: dict[str, dict[str, TaskResult]] = {}
    failures: list[str] = []
    folders = task_folders(reading, program.all_tasks)
    with tempfile.TemporaryDirectory() as work:
        for entry in read_entries(Path(request["submissions"]), Path(work), folders, team_name):
            try:
                submission = read_submission(reading, entry.files, manifest, Problems())
            except SubmissionError as error:
                more = error.found - len(error.messages)
                messages = [*error.messages, *([f"… and {more} more."] if more else [])]
                failures += [printable(f"team {entry.team} ({entry.shown}): {message}") for message in messages]
                continue
            results[entry.team] = score_tasks(program, reference, submission)
    if failures:
        raise OrganiserError(*failures)
    return results


def _value(column: Column, results: Mapping[str, TaskResult]) -> float | None:
    """A score as the board shows it; None where the task was not entered."""
    value = results[column.task].metrics[column.key].value if column.task in results else None
    return None if value is None else column.bounded(value)


def read_scores(path: Path, keys: Sequence[str]) -> Scores:
    """Read a table `team,<column>,…`; an empty cell or a missing column is a task that the team did not enter.

    Raises:
        OrganiserError: everything that is wrong with the table, with file and line.
    """
    problems = Problems()
    if not path.is_file():
        raise OrganiserError(f"{path}: no such file. Expected a CSV table with the columns {TEAM}, {', '.join(keys)}.")
    text = read_utf8(path, path.name, float("inf"), problems)
    scores: Scores = {}
    if text is not None:
        table = read_table(text, path.name, problems)
        unknown = [name for name in table.header if name not in (TEAM, *keys)]
        if TEAM not in table.header or unknown or not set(keys) & set(table.header):
            problems.error(f"{path.name}:1", f"has the columns {', '.join(table.header)}", f"{TEAM}, {', '.join(keys)}")
        else:
            for line, cells in table.rows:
                row = dict(zip(table.header, (cell.strip() for cell in cells), strict=True))
                team = row[TEAM]
                if not team or team in scores:
                    what = f"the team {shown(team)} already has a row" if team else f"{TEAM} is empty"
                    problems.error(f"{path.name}:{line}", what, "one row for each team")
                scores[team] = {key: _number(row.get(key, ""), f"{path.name}:{line} ({key})", problems) for key in keys}
            if not scores and not problems.found:
                problems.error(path.name, "has no rows", "one row for each team")
    if problems.found:
        raise problems.organiser_error()
    return scores


def _number(cell: str, where: str, problems: Problems) -> float | None:
    if not cell:
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        problems.error(where, f"{shown(cell)} is not a finite number", "a number such as 0.53, or nothing")
    return value


def _table(
    title: str, columns: Sequence[Column], scores: Scores, ranks: Mapping[str, int], hide: Collection[str]
) -> dict[str, Any]:
    rows = []
    for team, place in printed(ranks, hide):
        values = [None if team in hide else scores[team][column.key] for column in columns]
        figures = ["" if v is None else f"{v:.{c.precision}f}" for v, c in zip(values, columns, strict=True)]
        rows.append([place, shown_name(team, hide), *figures])
    return {"title": title, "header": ["Rank", "Team", *(column.title for column in columns)], "rows": rows}
