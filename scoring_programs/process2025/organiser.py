"""What only the organisers of PROCESS need: preparing the gold, the template, what is secret, the final ranking."""

import csv
import shutil
from pathlib import Path
from typing import Any

from process2025 import reference
from process2025.final_ranking import rank as rank  # a verb
from process2025.reference import CLASS, GOLD, RELEASED, phase_rows
from process2025.submission import ID, PREFIX, SUFFIXES, TEMPLATE_TEAM, column_names
from scoring_kit.csv_reading import read_table
from scoring_kit.errors import OrganiserError, Problems
from scoring_kit.organiser import Request, Secrets, Warned, read_reference, serve, write_empty_table


def prepare(request: Request) -> Warned:
    """Validate the organiser's gold.csv and copy it, or make it of dem-info.csv as the challenge released it."""
    source, target = Path(request["source"]), Path(request["out"]) / GOLD.file
    form = RELEASED if (source / RELEASED.file).is_file() else GOLD
    if form is RELEASED and (source / GOLD.file).is_file():
        raise OrganiserError(f"{source}: holds {GOLD.file} and {RELEASED.file}. Expected: one or the other.")
    gold = reference.read(source, request["tasks"], request["options"], form)
    if form is RELEASED:
        warnings = _make_gold(source / RELEASED.file, target)
    else:
        shutil.copyfile(source / GOLD.file, target)
        warnings = []
    unknown = sum(value is None for value in gold.mmse)
    if unknown:
        warnings.append(
            f"{form.file}: {unknown} of {len(gold.ids)} speakers have no {form.mmse} and are left out of the RMSE."
        )
    return {"warnings": warnings}


def _make_gold(path: Path, target: Path) -> list[str]:
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
        for _, cells in rows:
            writer.writerow([cells[i].strip() for i in at.values()])
    if not left_out:
        return []
    return [f"{path.name}: {left_out} of {left_out + len(rows)} speakers are not development speakers and not scored."]


def check_reference(request: Request) -> Warned:
    """Validate prepared gold and the options."""
    read_reference(reference.read, request)
    return {"warnings": []}


def template(request: Request) -> dict[str, Any]:
    """Write a file with every speaker and no answer, which enters no task."""
    path = Path(request["out"]) / f"{PREFIX}{TEMPLATE_TEAM}.csv"
    write_empty_table(path, [ID, *column_names(SUFFIXES)], read_reference(reference.read, request).ids)
    return {}


def secrets(request: Request) -> Secrets:
    """The classes and MMSE scores of the speakers."""
    return {"files": [{"name": GOLD.file, "key": [GOLD.id], "columns": [CLASS, GOLD.mmse]}]}


if __name__ == "__main__":
    raise SystemExit(serve(globals()))
