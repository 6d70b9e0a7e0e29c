"""Tasks whose answer is a label."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics as sk

from tests.scoring_programs.declared.real_tasks.making import (
    Case,
    Team,
    csv_of,
    jsonl_of,
    kept,
    near,
    noisy,
    prf,
    shuffled,
    spearman,
    task,
    tsv_of,
)


@task
def semeval2026_13(rng: Team) -> Case:
    gold = [0, 1, *(rng.choice([0, 1]) for _ in range(40))]
    answers = [noisy(rng, label, [0, 1]) for label in gold]
    precision, recall, f1 = prf(gold, answers, "macro")
    return (
        {"gold.csv": csv_of("ID,label", list(enumerate(gold)))},
        {"submission.csv": csv_of("ID,label", shuffled(rng, list(enumerate(answers))))},
        {
            "macro_f1": f1,
            "macro_precision": precision,
            "macro_recall": recall,
            "accuracy": float(sk.accuracy_score(gold, answers)),
        },
    )


@task
def afrisenti(rng: Team) -> Case:
    labels, languages = ["negative", "neutral", "positive"], ["swa", "yor", "amh"]
    rows = [(f"{language}{i}", rng.choice(labels), language) for language in languages for i in range(15)]
    answers = [noisy(rng, label, labels) for _, label, _ in rows]
    gold, groups = [row[1] for row in rows], [row[2] for row in rows]
    precision, recall, f1 = prf(gold, answers, "weighted")
    of = {}
    for name in languages:
        own_gold, own_answers = kept([one == name for one in groups], gold, answers)
        of[name] = prf(own_gold, own_answers, "weighted")[2]
    sent = shuffled(rng, [(row[0], label) for row, label in zip(rows, answers, strict=True)])
    return (
        {"gold.tsv": tsv_of("ID,label,language", rows)},
        {"pred_multilingual.tsv": tsv_of("ID,label", sent)},
        {
            "weighted_f1": f1,
            "weighted_precision": precision,
            "weighted_recall": recall,
            "f1_swa": of["swa"],
            "f1_yor": of["yor"],
            "f1_mean": float(np.mean(list(of.values()))),
        },
    )


@task
def recam2021(rng: Team) -> Case:
    gold = [rng.randint(0, 4) for _ in range(30)]
    answers = [noisy(rng, label, range(5)) for label in gold]
    return (
        {"gold.csv": csv_of("id,answer", list(enumerate(gold)))},
        {"subtask1.csv": csv_of("id,answer", shuffled(rng, list(enumerate(answers))))},
        {"accuracy": float(sk.accuracy_score(gold, answers))},
    )


@task
def shroom2024(rng: Team) -> Case:
    labels, tracks = ["Hallucination", "Not Hallucination"], ["model-agnostic", "model-aware"]
    gold: list[dict[str, Any]] = [
        {"id": i, "label": rng.choice(labels), "p(Hallucination)": rng.randint(0, 5) / 5, "track": tracks[i % 2]}
        for i in range(40)
    ]
    sent = [
        {
            "id": row["id"],
            "label": noisy(rng, row["label"], labels),
            "p(Hallucination)": near(rng, row["p(Hallucination)"]),
        }
        for row in gold
    ]
    values = {}
    for track, name in zip(tracks, ("agnostic", "aware"), strict=True):
        at = [row["track"] == track for row in gold]
        label, probability = (
            [[row[key] for row in side] for side in (gold, sent)] for key in ("label", "p(Hallucination)")
        )
        values[f"accuracy_{name}"] = float(sk.accuracy_score(*kept(at, *label)))
        values[f"rho_{name}"] = spearman(*kept(at, *probability))
    return {"gold.jsonl": jsonl_of(gold)}, {"test.jsonl": jsonl_of(shuffled(rng, sent))}, values
