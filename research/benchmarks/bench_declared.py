"""A declared competition: up to 1,000,000 rows, read and scored by F1 of labels, Pearson and F1 of sets of labels."""

from __future__ import annotations

import csv
import gc
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

from declared import reference, submission
from declared.tasks import scorer
from research.benchmarks.scaling import grow
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import THRESHOLD, read_submission
from tests.scoring_programs.declared.declaring import declared_options

LABELS = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
TOPICS = ("family", "health", "money", "school", "sleep", "sport", "weather", "work")
DECLARATION = f"""
submission:
  file: predictions.csv
  key: id
  fields:
    - {{field: id, type: string}}
    - {{field: emotion, type: label, values: [{", ".join(LABELS)}]}}
    - {{field: strength, type: number, min: 0, max: 1}}
    - {{field: topics, type: labels, values: [{", ".join(TOPICS)}]}}
reference: {{file: gold.csv}}
tasks:
  - id: one
    columns:
      - {{key: f1, metric: {{name: f1, field: emotion, average: macro}}}}
      - {{key: pearson, metric: {{name: pearson, field: strength}}}}
      - {{key: set_f1, metric: {{name: set_f1, field: topics}}}}
"""


def main() -> None:
    """Print what reading and scoring cost."""
    import sklearn.metrics  # noqa: F401  (its import takes a second, whatever the size)

    gc.set_threshold(THRESHOLD)  # as in every scoring job
    grow("Declared: F1, Pearson and set F1, gold and submission read", [100_000, 300_000, 1_000_000], _prepared)


def _prepared(rows: int) -> Callable[[], object]:
    folder = tempfile.TemporaryDirectory()
    root = Path(folder.name)
    (root / "ref").mkdir()
    (root / "res").mkdir()
    rng = random.Random(2026)
    with (
        (root / "ref" / "gold.csv").open("w", encoding="utf-8", newline="") as gold_file,
        (root / "res" / "predictions.csv").open("w", encoding="utf-8", newline="") as answer_file,
    ):
        gold, answers = csv.writer(gold_file), csv.writer(answer_file)
        for writer in (gold, answers):
            writer.writerow(["id", "emotion", "strength", "topics"])
        for i in range(rows):
            strength = rng.random()
            gold.writerow([f"item-{i:07d}", rng.choice(LABELS), f"{strength:.4f}", _topics(rng)])
            answer = strength * 0.7 + rng.random() * 0.3
            answers.writerow([f"item-{i:07d}", rng.choice(LABELS), f"{answer:.6f}", _topics(rng)])

    options = declared_options(DECLARATION)

    def work() -> object:
        truth = reference.read(root / "ref", ("one",), options)
        manifest = Manifest("declared", ("one",), ("one",), "joint", options, reference.manifest(truth, ("one",)))
        problems = Problems()
        read, _ = read_submission(submission, root / "res", manifest, problems)
        result = scorer("one")(truth, read, options)
        folder.cleanup()
        return result

    return work


def _topics(rng: random.Random) -> str:
    return "|".join(rng.sample(TOPICS, rng.randrange(4)))


if __name__ == "__main__":
    main()
