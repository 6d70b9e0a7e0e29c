"""A small competition that takes code: sentiments of texts, and an entry that answers by a rule."""

import copy
from pathlib import Path
from typing import Any

from gen_bundle.ground.resources import competitions
from tests.generator.build.test_declared import DECLARATION, Rows, rows_of, write_csv
from tests.yaml_text import dumped

PREDICT = '''"""Answers neutral to everything."""
import csv
from pathlib import Path


def predict(input_folder, output_folder):
    with (input_folder / "texts.csv").open(encoding="utf-8", newline="") as file:
        ids = [row["id"] for row in csv.DictReader(file)]
    with (output_folder / "predictions.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "label", "strength"])
        writer.writerows([one, "neutral", 0.5 + number / 1000] for number, one in enumerate(ids))
'''
MAIN = PREDICT + "\n\nimport sys\n\npredict(Path(sys.argv[1]), Path(sys.argv[2]))\n"


COLUMNS = [  # of metrics that need no library
    {"key": "accuracy", "metric": {"name": "exact_match", "field": "label"}},
    {"key": "swahili", "metric": {"name": "exact_match", "field": "label", "where": {"language": "swa"}}},
    {"key": "seconds", "measured": "seconds"},
]


def declaration(**submission: object) -> dict[str, Any]:
    """The declaration, with further keys of `submission`."""
    data = copy.deepcopy(DECLARATION)
    data["submission"] |= {"kind": "code", "entry": "model.py", **submission}
    data["tasks"][0]["columns"] = copy.deepcopy(COLUMNS)
    return data


def write_competition(folder: Path, data: dict[str, Any]) -> Path:
    """Write the competition `data` with its gold, input data and a baseline of the phase `test`; returns `folder`."""
    for phase, number in (("dev", 20), ("test", 30)):
        rows: Rows = rows_of(phase, number)
        write_csv(folder / "data" / phase / "gold.csv", rows)
        write_csv(folder / "data/public" / phase / "texts.csv", rows, "id", "language")
        write_csv(folder / "data/input" / phase / "texts.csv", rows, "id", "language")
    baseline = folder / "data/baselines/test/neutral"
    baseline.mkdir(parents=True)
    submission = data["submission"]
    (baseline / (submission["entry"] or "model.py")).write_text(
        MAIN if submission.get("interface") == "command" else PREDICT
    )
    return write_declaration(folder, data)


def write_declaration(folder: Path, data: dict[str, Any]) -> Path:
    """Write the competition `data` without its gold and other data; returns `folder`."""
    folder.mkdir(exist_ok=True)
    (folder / "overview.md.j2").write_text(
        "# Overview\n\n{{ metrics_table() }}\n\n{{ format_table() }}\n\n{{ code_text() }}\n\n{{ limits_table() }}\n"
    )
    (folder / "logo.png").write_bytes((competitions()["clarity2026"] / "logo.png").read_bytes())
    (folder / "bundle.yaml").write_text(dumped(data), encoding="utf-8")
    return folder
