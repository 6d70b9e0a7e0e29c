"""A shared task with per-unit results for tests of the final report: two tasks, both of labels, and its teams."""

import random
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner, Result

from gen_bundle.cli import root
from tests.generator.competition import second_task, small_competition

LABELS = ("negative", "neutral", "positive")
UNITS = """
    import numpy as np

    from scoring_kit.units import Additive, Units

    at = [np.array([label == own for own in sorted(set(gold))], dtype=float) for label in gold]
    said = [np.array([label == own for own in sorted(set(gold))], dtype=float) for label in predicted]
    sums = np.stack([np.concatenate([g * p, p, g]) for g, p in zip(at, said, strict=True)])
    right = np.array([[float(g == p), 1.0] for g, p in zip(gold, predicted, strict=True)])
    units = Units("text", ids, {"macro_f1": Additive(sums, _macro_f1), "accuracy": Additive(right, _share)})
    f1 = f1_score(gold, predicted, labels=list(LABELS), average=None, zero_division=0)
    counts = [min(gold.count(label), predicted.count(label)) for label in LABELS]
    by_label = {f"f1: {label}": Metric(float(f), len(ids), n) for label, f, n in zip(LABELS, f1, counts, strict=True)}
"""
FORMULAS = """

def _macro_f1(sums):
    import numpy as np

    tp, predicted, gold = np.split(sums, 3, axis=-1)
    whole = predicted + gold
    return np.divide(2 * tp, whole, out=np.zeros_like(whole), where=whole > 0).mean(axis=-1)


def _share(sums):
    return sums[..., 0] / sums[..., 1]
"""


def shared_task(parent: Path, texts: int = 60) -> Path:
    """Write a competition whose test phase has so many texts; returns its folder."""
    folder = small_competition(parent, second_task)
    gold = random.Random(7).choices(LABELS, k=texts)
    write_labels(folder / "data" / "test" / "gold.csv", gold)
    package = folder / "my_task"
    scorer = (package / "classification.py").read_text(encoding="utf-8")
    scorer = scorer.replace("    return TaskResult(", f"{UNITS}\n    return TaskResult(\n        units=lambda: units,")
    scorer = scorer.replace('"accuracy": Metric(', '**by_label,\n            "accuracy": Metric(') + FORMULAS
    (package / "classification.py").write_text(scorer, encoding="utf-8")
    (package / "again.py").write_text(scorer.replace('"macro_f1"', '"again_f1"'), encoding="utf-8")
    submission = (package / "submission.py").read_text(encoding="utf-8")
    entered = 'frozenset({"classification"})'
    assert entered in submission
    both = submission.replace(entered, 'frozenset({"classification", "again"})')
    (package / "submission.py").write_text(both, encoding="utf-8")
    return folder


def write_labels(path: Path, labels: list[str]) -> None:
    """A table of labels, as the gold and as a submission have it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [f"t{number:04},{label}\n" for number, label in enumerate(labels)]
    path.write_text("id,label\n" + "".join(rows), encoding="utf-8")


def submissions(folder: Path, teams: Mapping[str, float]) -> Path:
    """The submissions of teams of which each gives the right label with its probability."""
    gold = [line.split(",")[1] for line in (folder / "data/test/gold.csv").read_text().splitlines()[1:]]
    every = folder.parent / "submissions"
    for number, (team, right) in enumerate(teams.items()):
        own = random.Random(number)
        labels = [label if own.random() < right else own.choice(LABELS) for label in gold]
        write_labels(every / team / "predictions.csv", labels)
    return every


def rank(folder: Path, teams: Path, *options: object) -> Result:
    """Run the command with the competition's own data."""
    arguments = [folder, "--submissions", teams, "--data", folder / "data", "--phase", "test", *options]
    return CliRunner().invoke(root, ["rank", *map(str, arguments)])
