"""CLARITY: a submission of up to 1,000,000 rows, read and scored for both tasks, with three annotators a row."""

from __future__ import annotations

import csv
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

from clarity2026 import clarity, evasion, reference, submission
from clarity2026.submission import EVASION_LABELS, TAXONOMY
from research.benchmarks.scaling import grow
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles

TASKS = ("clarity", "evasion")


def main() -> None:
    """Print what reading and scoring cost."""
    grow("CLARITY, reading and scoring both tasks", [100_000, 300_000, 1_000_000], _prepared)


def _prepared(rows: int) -> Callable[[], object]:
    folder = tempfile.TemporaryDirectory()
    root = Path(folder.name)
    (root / "ref").mkdir()
    (root / "res").mkdir()
    rng = random.Random(2026)
    with (
        (root / "ref" / reference.FILE).open("w", encoding="utf-8", newline="") as gold_file,
        (root / "res" / "submission.csv").open("w", encoding="utf-8", newline="") as answer_file,
    ):
        gold, answers = csv.writer(gold_file), csv.writer(answer_file)
        gold.writerow([reference.ID, *reference.ANNOTATORS, reference.CLARITY, reference.EVASION])
        answers.writerow([submission.ID, *submission.COLUMNS.values()])
        for i in range(rows):
            annotators = rng.choices(EVASION_LABELS, k=3)
            predicted = rng.choice((*annotators, rng.choice(EVASION_LABELS)))
            gold.writerow([i, *annotators, TAXONOMY[annotators[0]], ""])
            answers.writerow([i, TAXONOMY[predicted], predicted])

    def work() -> object:
        truth = reference.read(root / "ref", TASKS, {})
        manifest = Manifest("clarity2026", TASKS, TASKS, "joint", {}, reference.manifest(truth, TASKS))
        problems = Problems()
        read = submission.read(SubmissionFiles(root / "res", TASKS, problems), manifest, problems)
        assert read is not None
        results = [clarity.score(truth, read, {}), evasion.score(truth, read, {})]
        folder.cleanup()
        return results

    return work


if __name__ == "__main__":
    main()
