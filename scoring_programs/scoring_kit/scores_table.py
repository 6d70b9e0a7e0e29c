"""A table of scores that organisers rank: a row for each team, a column for each column of the board."""

import math
from collections.abc import Sequence
from pathlib import Path

from scoring_kit.csv_reading import read_table
from scoring_kit.errors import OrganiserError, Problems, shown
from scoring_kit.json_reading import read_utf8

TEAM = "team"

Scores = dict[str, dict[str, "float | None"]]
"""Team → column key → score; None where the team did not enter the column's task."""


def read_scores(path: Path, keys: Sequence[str], also: Sequence[str] = ()) -> Scores:
    """Read a table `team,<column>,…`; an empty cell or a missing column is a task that the team did not enter.

    Args:
        path: the table, CSV.
        keys: the columns it may have; it has one of them at least.
        also: further columns it may have, for one of `keys` or beside them.

    Raises:
        OrganiserError: everything that is wrong with the table, with file and line.
    """
    problems = Problems()
    if not path.is_file():
        what = "is a folder" if path.exists() else "no such file"
        raise OrganiserError(f"{path}: {what}. Expected a CSV table with the columns {TEAM}, {', '.join(keys)}.")
    text = read_utf8(path, path.name, float("inf"), problems)
    scores: Scores = {}
    if text is not None:
        table = read_table(text, path.name, problems)
        problems.stop_organisers_if_any()
        known = [*keys, *also]
        unknown = [name for name in table.header if name not in (TEAM, *known)]
        if TEAM not in table.header or unknown or not set(known) & set(table.header):
            problems.error(f"{path.name}:1", f"has the columns {', '.join(table.header)}", f"{TEAM}, {', '.join(keys)}")
        else:
            for line, cells in table.rows:
                row = dict(zip(table.header, (cell.strip() for cell in cells), strict=True))
                team = row[TEAM]
                if not team or team in scores:
                    what = f"the team {shown(team)} already has a row" if team else f"{TEAM} is empty"
                    problems.error(f"{path.name}:{line}", what, "one row for each team")
                scores[team] = {
                    key: _number(row.get(key, ""), f"{path.name}:{line} ({key})", problems) for key in known
                }
            if not scores and not problems.found:
                problems.error(path.name, "has no rows", "one row for each team")
    problems.stop_organisers_if_any()
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
