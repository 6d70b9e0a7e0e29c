"""A table of scores as people have it: a row for each team or submission, with columns of the board."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from gen_bundle.dry_run.report import allowance
from gen_bundle.ground.errors import UserError, raise_all
from scoring_kit.base.submissions import allow_long_cells


def read_score_table(
    file: Path, text: str, named: str, columns: Sequence[str], expected: str, *, more: bool
) -> dict[str, dict[str, str]]:
    """Return each row's name → column → its cell, a number or empty, of those columns that are on the board.

    Args:
        file: what was read, for messages.
        text: the table.
        named: the column with the rows' names.
        columns: those of the board.
        expected: ends a message on what the table is not.
        more: it may have other columns.

    Raises:
        UserError: with all that is wrong.
    """
    allow_long_cells()
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    problems: list[str] = []
    found: dict[str, dict[str, str]] = {}
    line = 1
    try:
        heads = next(rows, [])
        known = [head for head in heads if head in (named, *columns)]
        if named not in known or len(known) < 2 or (len(known) < len(heads) and not more):
            raise UserError(f"--scores {file}: line 1: has the columns {', '.join(heads) or '(none)'}. {expected}")
        if twice := [head for head, times in Counter(known).items() if times > 1]:
            raise UserError(f"--scores {file}: line 1: {', '.join(twice)}: twice. Expected a column for each.")
        line = rows.line_num + 1
        for cells in rows:
            place, line = f"--scores {file}: line {line}", rows.line_num + 1
            if cells and len(cells) != len(heads):
                problems.append(f"{place}: {len(cells)} cells. Expected {len(heads)}, as in line 1.")
            if len(cells) != len(heads):
                continue
            row = {head: cell.strip() for head, cell in zip(heads, cells, strict=True) if head in known}
            name = row.pop(named)
            if not name:
                problems.append(f"{place}: no {named}. {expected}")
            if name in found:
                problems.append(f"{place}: {name} comes twice. Expected a line for each.")
            found[name] = row
            for key, cell in row.items():
                if cell and not _is_number(cell):
                    problems.append(f"{place}, {key}: {cell!r}. Expected a number or nothing.")
    except csv.Error as error:
        problems.append(f"--scores {file}: line {line}: {error}. Expected each quotation mark to be closed.")
    if not found:
        problems.append(f"--scores {file}: has no rows. {expected}")
    raise_all(problems)
    return found


def _is_number(cell: str) -> bool:
    try:
        return allowance(cell) >= 0
    except (ArithmeticError, ValueError):
        return False
