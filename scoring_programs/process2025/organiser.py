"""What only the organisers of PROCESS need: preparing the gold, the template, what is secret, the final ranking."""

import csv
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from process2025 import reference
from process2025.final_ranking import rank
from process2025.submission import ID, MODELS, PREFIX, SUFFIXES, TEMPLATE_TEAM, column_name
from scoring_kit.csv_reading import read_table
from scoring_kit.errors import Problems
from scoring_kit.organiser import serve

# The weakest answers that are legal: a submission without any filled column would enter no task.
WEAKEST = {"classification": "HC", "regression": "0"}


def prepare(request: Mapping[str, Any]) -> dict[str, list[str]]:
    """Validate the organiser's gold.csv and copy it."""
    source = Path(request["source"])
    gold = reference.read(source, request["tasks"], request["options"])
    shutil.copyfile(source / reference.FILE, Path(request["out"]) / reference.FILE)
    unknown = sum(value is None for value in gold.mmse)
    note = f"{reference.FILE}: {unknown} of {len(gold.ids)} speakers have no MMSE and are left out of the RMSE."
    return {"warnings": [note] if unknown else []}


def check_reference(request: Mapping[str, Any]) -> dict[str, list[str]]:
    """Validate prepared gold and the options."""
    _gold(request)
    return {"warnings": []}


def manifest(request: Mapping[str, Any]) -> dict[str, Any]:
    """The speakers that a submission must answer for."""
    return reference.manifest(_gold(request), request["tasks"])


def template(request: Mapping[str, Any]) -> dict[str, Any]:
    """Write a file with every speaker, the first model answering the same for all and the others empty."""
    tasks = request["tasks"] if request["layout"] == "separate" else request["all_tasks"]
    columns = [(task, number) for task in SUFFIXES for number in range(1, MODELS + 1)]
    answers = [WEAKEST[task] if task in tasks and number == 1 else "" for task, number in columns]
    with (Path(request["out"]) / f"{PREFIX}{TEMPLATE_TEAM}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([ID, *(column_name(task, number) for task, number in columns)])
        writer.writerows([item, *answers] for item in _gold(request).ids)
    return {}


def secrets(request: Mapping[str, Any]) -> dict[str, Any]:
    """The classes and MMSE scores, in every spelling, tied to their speakers."""
    gold = _gold(request)
    labels = [[item, name] for item, name in zip(gold.ids, gold.classes, strict=False)]
    if gold.mmse:
        cells = _mmse_cells(Path(request["reference"]))
        for item, value, cell in zip(gold.ids, gold.mmse, cells, strict=True):
            if value is not None:
                labels += [[item, written] for written in dict.fromkeys((f"{value:g}", str(value), cell))]
    return {"texts": [], "labels": labels, "files": [reference.FILE]}


def _mmse_cells(folder: Path) -> list[str]:
    """The MMSE scores of valid gold as they are written."""
    table = read_table((folder / reference.FILE).read_text(encoding="utf-8-sig"), reference.FILE, Problems())
    at = table.header.index(reference.MMSE)
    return [cells[at].strip() for _, cells in table.rows]


def _gold(request: Mapping[str, Any]) -> reference.Reference:
    return reference.read(Path(request["reference"]), request["tasks"], request["options"])


if __name__ == "__main__":
    raise SystemExit(
        serve(
            {
                "prepare": prepare,
                "check_reference": check_reference,
                "manifest": manifest,
                "template": template,
                "secrets": secrets,
                "rank": rank,
            }
        )
    )
