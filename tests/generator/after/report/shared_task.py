"""A shared task with per-unit results for tests of the final report: one task or two of labels, and its teams."""

import random
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner, Result

from gen_bundle.cli import root
from tests.generator.competition import second_task, small_competition

LABELS = ("negative", "neutral", "positive")
SCORER = """
import numpy as np

from scoring_kit.results import Metric, TaskResult
from scoring_kit.units import Additive, Units

from my_task.reference import LABELS


def score(reference, submission, options):
    ids = sorted(reference.labels)
    codes = [[LABELS.index(labels[text_id]) for text_id in ids] for labels in (reference.labels, submission.labels)]
    gold, predicted = (np.eye(len(LABELS))[own] for own in codes)
    sums = np.concatenate([gold * predicted, predicted, gold], axis=1)
    right = np.stack([(gold * predicted).sum(axis=1), np.ones(len(ids))], axis=1)
    f1 = _f1(sums.sum(axis=0))
    items = np.minimum(gold.sum(axis=0), predicted.sum(axis=0)).astype(int)
    by_label = {f"f1: {LABELS[i]}": Metric(float(f1[i]), len(ids), int(items[i])) for i in range(len(LABELS))}
    return TaskResult(
        metrics={
            "macro_f1": Metric(float(f1.mean()), len(ids)),
            "accuracy": Metric(float(right[:, 0].mean()), len(ids)),
            **by_label,
        },
        units=lambda: Units("text", ids, {"macro_f1": Additive(sums, _macro_f1), "accuracy": Additive(right, _share)}),
    )


def _f1(sums):
    tp, predicted, gold = np.split(sums, 3, axis=-1)
    whole = predicted + gold
    return np.divide(2 * tp, whole, out=np.zeros_like(whole), where=whole > 0)


def _macro_f1(sums):
    return _f1(sums).mean(axis=-1)


def _share(sums):
    return sums[..., 0] / sums[..., 1]
"""


def shared_task(parent: Path, texts: int, tasks: int = 1) -> Path:
    """Write a competition with one task or two whose test phase has so many texts; returns its folder."""
    folder = small_competition(parent, second_task) if tasks == 2 else small_competition(parent)
    gold = random.Random(7).choices(LABELS, k=texts)
    write_labels(folder / "data" / "test" / "gold.csv", gold)
    package = folder / "my_task"
    (package / "classification.py").write_text(SCORER, encoding="utf-8")
    if tasks == 1:
        return folder
    (package / "again.py").write_text(SCORER.replace('"macro_f1"', '"again_f1"'), encoding="utf-8")
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
