"""What only the organisers of CLARITY need: preparing the gold, the template, what is secret."""

import csv
import shutil
from pathlib import Path
from typing import Any

from clarity2026 import reference
from clarity2026.labels import ALIASES, CLARITY_LABELS, EVASION_LABELS
from clarity2026.submission import COLUMNS, ID
from scoring_kit.organiser import Request, Secrets, Warned, read_reference, serve


def prepare(request: Request) -> Warned:
    """Validate the organiser's gold.csv and copy it."""
    source = Path(request["source"])
    gold = reference.read(source, request["tasks"], request["options"])
    shutil.copyfile(source / reference.FILE, Path(request["out"]) / reference.FILE)
    return {"warnings": _remarks(gold)}


def check_reference(request: Request) -> Warned:
    """Validate prepared gold and the options."""
    read_reference(reference.read, request)
    return {"warnings": []}


def template(request: Request) -> dict[str, Any]:
    """Write `submission.csv` with every id and no label."""
    tasks = request["tasks"] if request["layout"] == "separate" else request["all_tasks"]
    columns = [COLUMNS[task] for task in tasks]
    with (Path(request["out"]) / "submission.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([ID, *columns])
        writer.writerows([item, *([""] * len(columns))] for item in read_reference(reference.read, request).ids)
    return {}


def secrets(request: Request) -> Secrets:
    """The labels, in all their spellings, tied to their ids.

    No text is secret, because the participants' input holds all of it.
    """
    gold = read_reference(reference.read, request)
    spellings = {label: [label] for label in (*CLARITY_LABELS, *EVASION_LABELS)}
    for alias, label in ALIASES.items():
        spellings[label].append(alias)
    # A column that does not count here is empty.
    pairs = [*zip(gold.ids, gold.clarity, strict=False), *zip(gold.ids, gold.evasion, strict=False)]
    pairs += [(item, label) for item, given in zip(gold.ids, gold.annotations, strict=False) for label in given]
    labels = [[item, written] for item, label in dict.fromkeys(pairs) for written in spellings[label]]
    return {"texts": [], "labels": labels, "files": [reference.FILE]}


def _remarks(gold: reference.Reference) -> list[str]:
    skipped = sum(not labels for labels in gold.annotations)
    if not skipped:
        return []
    return [f"{reference.FILE}: {skipped} of {len(gold.ids)} rows have no valid annotator label and are skipped."]


if __name__ == "__main__":
    raise SystemExit(serve(globals()))
