"""The verbs for the organisers of CLARITY alone: preparing the gold, the template, what is secret."""

import shutil
from pathlib import Path
from typing import Any

from clarity2026 import reference
from clarity2026.submission import COLUMNS, ID
from scoring_kit.organiser import Request, Secrets, Warned, read_reference, serve, write_empty_table


def prepare(request: Request) -> Warned:
    """Validate the organiser's gold.csv and copy it."""
    source = Path(request["source"])
    gold = reference.read(source, request["tasks"], request["options"])
    shutil.copyfile(source / reference.FILE, Path(request["out"]) / reference.FILE)
    skipped = gold.annotations.count(())
    if not skipped:
        return {"warnings": []}
    what = f"{skipped} of {len(gold.ids)} rows have no valid annotator label and are skipped."
    return {"warnings": [f"{reference.FILE}: {what}"]}


def template(request: Request) -> dict[str, Any]:
    """Write `submission.csv` with every id and no label."""
    tasks = request["tasks"] if request["layout"] == "separate" else request["all_tasks"]
    header = [ID, *(COLUMNS[task] for task in tasks)]
    write_empty_table(Path(request["out"]) / "submission.csv", header, read_reference(reference.read, request).ids)
    return {}


def secrets(request: Request) -> Secrets:
    """Return the labels; no text is secret, because the participants' input holds all of it."""
    columns = [reference.CLARITY, reference.EVASION, *reference.ANNOTATORS]
    return {"files": [{"name": reference.FILE, "key": [reference.ID], "columns": columns}]}


if __name__ == "__main__":
    raise SystemExit(serve(globals()))
