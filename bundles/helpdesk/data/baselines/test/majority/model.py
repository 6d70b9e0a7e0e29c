"""Always the most frequent desk of the training data."""

import csv
from collections import Counter
from pathlib import Path


def predict(input_folder: Path, output_folder: Path) -> None:
    """Write the same desk for every message."""
    with (input_folder / "train.csv").open(encoding="utf-8", newline="") as table:
        [(desk, _)] = Counter(row["desk"] for row in csv.DictReader(table)).most_common(1)
    with (input_folder / "messages.csv").open(encoding="utf-8", newline="") as table:
        names = [row["id"] for row in csv.DictReader(table)]
    with (output_folder / "predictions.csv").open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([["id", "desk"], *([name, desk] for name in names)])
