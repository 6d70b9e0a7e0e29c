"""Cells of tables may be whole documents."""

import csv

LONGEST_CELL = 1 << 27


def allow_long_cells() -> None:
    """Let `csv` read them: its own limit is 128 KiB, and belongs to the process, so it is set before each reading."""
    csv.field_size_limit(LONGEST_CELL)
