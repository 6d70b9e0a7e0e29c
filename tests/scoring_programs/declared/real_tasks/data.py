"""The made-up data of each task's folder: `python -m tests.scoring_programs.declared.real_tasks.data` writes them."""

from __future__ import annotations

import shutil

from tests.scoring_programs.declared.real_tasks import beyond_text, label_sets, labels, numbers, rankings, sets, texts
from tests.scoring_programs.declared.real_tasks.making import MAKERS, REAL_TASKS, Files, team

MODULES = (beyond_text, labels, label_sets, numbers, sets, texts, rankings)
"""Where the makers are; importing them registers them."""
SEED = 2026


def data_of(name: str) -> Files:
    """File below the task's folder → its text: the gold of one phase, and answers drawn at random as its baseline."""
    gold, answers, _ = MAKERS[name](team(SEED, "random"))
    files = {f"data/test/{file}": text for file, text in gold.items()}
    return files | {f"data/baselines/test/random/{file}": text for file, text in answers.items()}


def write(name: str) -> None:
    shutil.rmtree(REAL_TASKS / name / "data", ignore_errors=True)
    for file, text in data_of(name).items():
        path = REAL_TASKS / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")


if __name__ == "__main__":
    for name in MAKERS:
        write(name)
