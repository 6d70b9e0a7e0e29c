"""Tasks whose answer is a set: spans, relations, rows."""

from typing import Any

import numpy as np
from scipy import stats
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support

from tests.scoring_programs.declared.real_tasks.making import (
    Case,
    Team,
    beside,
    csv_of,
    jsonl_of,
    lines_of,
    mean_dice,
    mean_over,
    micro,
    near,
    noisy,
    shuffled,
    some,
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

    cells = [[" ".join(map(str, one)) for one in side] for side in (gold, answers)]
    return (
        {"gold.csv": csv_of("id,indices,language", beside(range(20), cells[0], groups))},
        {"prediction.csv": csv_of("id,indices", shuffled(rng, list(enumerate(cells[1]))))},
        {"f1": mean_over(groups, gold, answers, mean_dice), "f1_tr": mean_dice(gold[::2], answers[::2])},
    )


@task
def semeval2021_5(rng: Team) -> Case:
    gold = [set(rng.sample(range(30), rng.randint(0, 9))) for _ in range(30)]
    gold[0] = set()
    answers = [some(rng, one, range(30)) for one in gold]
    sent = [(i, sorted(one)) for i, one in enumerate(answers)]
    return (
        {"spans-gold.txt": lines_of([(i, sorted(one)) for i, one in enumerate(gold)])},
        {"spans-pred.txt": lines_of(shuffled(rng, sent))},
        {"f1": mean_dice(gold, answers)},
    )


@task
def semeval2025_3(rng: Team) -> Case:
    """A text whose probabilities are all the same counts 1 if the answer's are, too, else 0."""
    length = 40
    hard: dict[str, list[Any]] = {"gold": [], "sent": []}
    soft: dict[str, list[Any]] = {"gold": [], "sent": []}
    overlaps, correlations = [], []
    for i in range(16):
        curves, marked = [], []
        starts = [0, 8, 16, 24]
        probabilities = [round(rng.random(), 1) for _ in starts]
        for side in ("gold", "sent"):
            own = probabilities if side == "gold" else [near(rng, one, low=0.1) for one in probabilities]
            pieces = [(start, start + 5, one) for start, one in zip(starts, own, strict=True) if one > 0 and i]
            soft[side] += [{"id": f"tst-{i}", "start": s, "end": e, "prob": one} for s, e, one in pieces]
            spans = [[s, e] for s, e, one in pieces if one >= 0.5]
            hard[side].append({"id": f"tst-{i}", "hard_labels": spans})
            curve = [0.0] * length
            for start, end, one in pieces:
                curve[start:end] = [one] * (end - start)
            curves.append(curve)
            marked.append({at for start, end in spans for at in range(start, end)})
        overlaps.append(len(marked[0] & marked[1]) / len(marked[0] | marked[1]) if marked[0] | marked[1] else 1.0)
        constant = [len(set(curve)) == 1 for curve in curves]
        correlations.append(float(all(constant)) if any(constant) else float(stats.spearmanr(*curves).statistic))
    for row in hard["gold"]:
        row["model_output_text"] = "x" * length
    return (
        {
            "labels.jsonl": jsonl_of(hard["gold"]),
            "soft.jsonl": jsonl_of(soft["gold"]),
            "texts.csv": csv_of("id", [[f"tst-{i}"] for i in range(16)]),
        },
        {"hard.jsonl": jsonl_of(shuffled(rng, hard["sent"])), "soft.jsonl": jsonl_of(shuffled(rng, soft["sent"]))},
        {"iou": float(np.mean(overlaps)), "cor": float(np.mean(correlations))},
    )


@task
def drugprot2021(rng: Team) -> Case:
    relations = ["INHIBITOR", "SUBSTRATE", "ACTIVATOR"]
    keys = [(str(17429000 + i), relation) for i in range(10) for relation in relations]
    pairs = [(f"Arg1:T{chemical}", f"Arg2:T{10 + gene}") for chemical in range(3) for gene in range(3)]
    gold = {key: {pair for pair in pairs if rng.random() < 0.2} for key in keys}
    for relation in relations:
        gold[keys[0][0], relation] = {pairs[0]}
        gold[keys[-1][0], relation] = set()
    answers = {key: some(rng, gold[key], pairs) for key in keys}

    def scores(*wanted: str) -> tuple[float, float, float]:
        sides = [[side[key] for key in keys if key[1] in wanted] for side in (gold, answers)]
        return micro(*sides)

    precision, recall, f1 = scores(*relations)
    rows = [[(*key, *pair) for key in keys for pair in sorted(side[key])] for side in (gold, answers)]
    sent = shuffled(rng, rows[1]) or [(*keys[0], "Arg1:T0", "Arg2:T19")]
    if not rows[1]:
        precision = recall = f1 = 0.0
    return (
        {"gs_relations.tsv": lines_of(rows[0]), "keys.csv": csv_of("pmid,relation", keys)},
        {"team.tsv": lines_of(sent)},
        {
            "precision": precision,
            "recall": recall,
            "f1": f1,
            "inhibitor": scores("INHIBITOR")[2],
            "substrate": scores("SUBSTRATE")[2],
        },
    )


@task
def conll2003(rng: Team) -> Case:
    tags = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    gold = [[rng.choice(tags) for _ in range(rng.randint(4, 9))] for _ in range(20)]
    answers = [[noisy(rng, tag, tags) for tag in sentence] for sentence in gold]
    scores = precision_recall_fscore_support(gold, answers, average="micro", zero_division=0)[:3]
    rows = [{"id": f"s{i}", "tokens": ["word"] * len(one), "tags": one} for i, one in enumerate(gold)]
    sent = [{"id": f"s{i}", "tags": one} for i, one in enumerate(answers)]
    return (
        {"gold.jsonl": jsonl_of(rows)},
        {"predictions.jsonl": jsonl_of(shuffled(rng, sent))},
        dict(zip(("precision", "recall", "f1"), map(float, scores), strict=True)),
    )
