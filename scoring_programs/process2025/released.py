"""`dem-info.csv`, in which the challenge released the labels of training and development speakers, made into gold."""

import csv
from pathlib import Path

from process2025.reference import CLASS, GOLD, RELEASED, phase_rows
from scoring_kit.csv_reading import read_table
from scoring_kit.errors import Problems


def make_gold(path: Path, target: Path) -> list[str]:
    """Write the speakers of a valid dem-info.csv to `target` in the form of gold.csv, their cells unchanged.

    Returns:
        A warning where training speakers were left out.
    """
    table = read_table(path.read_text(encoding="utf-8-sig"), path.name, Problems())
    names = {RELEASED.id: GOLD.id, CLASS: CLASS, RELEASED.mmse: GOLD.mmse}
    at = {new: table.header.index(old) for old, new in names.items() if old in table.header}
    rows, left_out = phase_rows(table)
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(at)
        writer.writerows([cells[i].strip() for i in at.values()] for _, cells in rows)
    if not left_out:
        return []
    return [f"{path.name}: {left_out} of {left_out + len(rows)} speakers are not development speakers and not scored."]
