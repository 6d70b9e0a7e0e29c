"""PROCESS: a submission of up to 1,000,000 speakers, read and scored for both tasks, with three models each."""

from __future__ import annotations

import csv
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

from process2025 import classification, reference, regression, submission
from research.benchmarks.scaling import grow
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles

TASKS = ("classification", "regression")


def main() -> None:
    """Print what reading and scoring cost."""
    grow("PROCESS, reading and scoring both tasks, three models each", [100_000, 300_000, 1_000_000], _prepared)


def _prepared(speakers: int) -> Callable[[], object]:
    folder = tempfile.TemporaryDirectory()
    root = Path(folder.name)
    (root / "ref").mkdir()
    (root / "res").mkdir()
    rng = random.Random(2025)
    columns = [submission.column_name(task, number) for task in TASKS for number in (1, 2, 3)]
    with (
        (root / "ref" / reference.GOLD.file).open("w", encoding="utf-8", newline="") as gold_file,
        (root / "res" / "PROCESS_submission_A_B.csv").open("w", encoding="utf-8", newline="") as answer_file,
    ):
        gold, answers = csv.writer(gold_file), csv.writer(answer_file)
        gold.writerow([reference.GOLD.id, reference.CLASS, reference.GOLD.mmse])
        answers.writerow([submission.ID, *columns])
        for i in range(speakers):
            name = f"Process-rec-{i:07d}"
            gold.writerow([name, rng.choice(submission.CLASSES), rng.randrange(31) if i % 10 else ""])
            scores = [f"{rng.uniform(0, 30):.2f}" for _ in range(3)]
            answers.writerow([name, *rng.choices(submission.CLASSES, k=3), *scores])

    def work() -> object:
        truth = reference.read(root / "ref", TASKS, {})
        manifest = Manifest("process2025", TASKS, TASKS, "joint", {}, reference.manifest(truth, TASKS))
        problems = Problems()
        read = submission.read(SubmissionFiles(root / "res", TASKS, problems), manifest, problems)
        assert read is not None
        results = [classification.score(truth, read, {}), regression.score(truth, read, {})]
        folder.cleanup()
        return results

    return work


if __name__ == "__main__":
    main()
