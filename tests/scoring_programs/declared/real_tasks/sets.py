"""Tasks whose answer is a set: spans, relations, rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.scoring_programs.declared.real_tasks.making import (
    Case,
    Team,
    csv_of,
    jsonl_of,
    mean_over,
    micro,
    shuffled,
    task,
)


def guessed(rng: Team, right: set[Any], share: float) -> set[Any]:
    """Each right element with this probability; in the order of their values, so that it is the same every time."""
    return {one for one in sorted(right) if rng.random() < share}


def entities(rng: Team) -> set[Any]:
    return {(start, start + rng.randint(1, 4), rng.choice(["FINDING", "ORGAN"])) for start in rng.sample(range(9), 3)}


@task
def gastrocorp2026(rng: Team) -> Case:
    gold = [entities(rng) if i else set() for i in range(6)]
    answers = [guessed(rng, one, 0.6) | entities(rng) for one in gold]
    answers[-1] = set()
    precision, recall, f1 = micro(gold, answers)
    bare = [[{entity[:2] for entity in one} for one in side] for side in (gold, answers)]
    files = [[(f"d{i}", *entity) for i, one in enumerate(side) for entity in sorted(one)] for side in (gold, answers)]
    return (
        {
            "gold.csv": csv_of("doc,start,end,type", files[0]),
            "documents.csv": csv_of("doc", [[f"d{i}"] for i in range(6)]),
        },
        {"entities.csv": csv_of("doc,start,end,type", shuffled(rng, files[1]))},
        {"f1": f1, "precision": precision, "recall": recall, "boundaries": micro(bare[0], bare[1])[2]},
    )


@task
def runne2022(rng: Team) -> Case:
    types = ["PERSON", "DISEASE", "PENALTY"]
    keys = [(f"t{i}", kind) for i in range(5) for kind in types]

    def spans() -> set[Any]:
        return {(start, start + 2) for start in rng.sample(range(6), rng.randint(1, 3))}

    gold = {key: spans() for key in keys}
    answers = {key: guessed(rng, gold[key], 0.7) | spans() for key in keys}
    of = {
        kind: micro(*([side[key] for key in keys if key[1] == kind] for side in (gold, answers)))[2] for kind in types
    }
    rows = [
        [{"id": key[0], "type": key[1], "start": s, "end": e} for key in keys for s, e in sorted(side[key])]
        for side in (gold, answers)
    ]
    return (
        {"gold.jsonl": jsonl_of(rows[0]), "keys.csv": csv_of("id,type", keys)},
        {"test.jsonl": jsonl_of(shuffled(rng, rows[1]))},
        {"macro_f1": float(np.mean(list(of.values()))), "few_shot_f1": (of["DISEASE"] + of["PENALTY"]) / 2},
    )


@task
def synur2026(rng: Team) -> Case:
    def observations() -> set[Any]:
        return {(f"o{rng.randint(0, 5)}", rng.choice(["yes", "no", "2 l"])) for _ in range(3)}

    gold = [observations() for _ in range(6)]
    answers = [guessed(rng, row, 0.7) | observations() for row in gold]
    precision, recall, f1 = micro(gold, answers)
    rows = [
        [{"id": i, "observation": o, "value": v} for i, one in enumerate(side) for o, v in sorted(one)]
        for side in (gold, answers)
    ]
    return (
        {"gold.jsonl": jsonl_of(rows[0])},
        {"predictions.jsonl": jsonl_of(shuffled(rng, rows[1]))},
        {"f1": f1, "precision": precision, "recall": recall},
    )


@task
def idioms2025(rng: Team) -> Case:
    languages = ["tr", "it"]
    gold = [set(rng.sample(range(8), rng.randint(0, 3))) for _ in range(20)]
    answers = [one if rng.random() < 0.5 else set(rng.sample(range(8), rng.randint(0, 3))) for one in gold]
    groups = [languages[i % 2] for i in range(20)]

    def f1(gold_sets: Sequence[set[int]], answer_sets: Sequence[set[int]]) -> float:
        pairs = zip(gold_sets, answer_sets, strict=True)
        return float(np.mean([2 * len(g & a) / (len(g) + len(a)) if g or a else 1.0 for g, a in pairs]))

    cells = [[" ".join(map(str, one)) for one in side] for side in (gold, answers)]
    return (
        {"gold.csv": csv_of("id,indices,language", list(zip(range(20), cells[0], groups, strict=True)))},
        {"prediction.csv": csv_of("id,indices", shuffled(rng, list(enumerate(cells[1]))))},
        {"f1": mean_over(groups, gold, answers, f1), "f1_tr": f1(gold[::2], answers[::2])},
    )
