"""Tasks whose answer is several labels."""

from __future__ import annotations

import numpy as np
from sklearn import metrics as sk

from tests.scoring_programs.declared.real_tasks.making import (
    Case,
    Team,
    noisy,
    prf,
    shuffled,
    task,
    tsv_of,
)


@task
def hateval(rng: Team) -> Case:
    gold = [[rng.choice([0, 1]) for _ in range(3)] for _ in range(40)]
    answers = [[noisy(rng, label, [0, 1]) for label in row] for row in gold]
    columns = list(zip(zip(*gold, strict=True), zip(*answers, strict=True), strict=True))
    f1 = [prf(list(g), list(a), "macro")[2] for g, a in columns]
    return (
        {"gold.tsv": tsv_of("id,HS,TR,AG", [(i, *row) for i, row in enumerate(gold)])},
        {"en_a.tsv": tsv_of("id,HS,TR,AG", shuffled(rng, [(i, *row) for i, row in enumerate(answers)]))},
        {
            "a_f1": f1[0],
            "a_accuracy": float(sk.accuracy_score(*columns[0])),
            "b_emr": float(np.mean([g == a for g, a in zip(gold, answers, strict=True)])),
            "b_f1": float(np.mean(f1)),
        },
    )
