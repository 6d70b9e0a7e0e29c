"""Tasks whose answer is several labels."""

from typing import Any

import numpy as np
import yaml
from sklearn import metrics as sk

from tests.scoring_programs.declared.real_tasks.making import (
    REAL_TASKS,
    Case,
    Files,
    Team,
    jsonl_of,
    kept,
    lines_of,
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


@task
def semeval2018_1_e_c(rng: Team) -> Case:
    names = ["anger", "anticipation", "disgust", "fear", "joy", "love", "optimism", "pessimism"]
    names += ["sadness", "surprise", "trust"]
    gold = [[int(rng.random() < 0.25) for _ in names] for _ in range(40)]
    gold[0] = [0] * 11
    answers = [[noisy(rng, one, [0, 1]) for one in row] for row in gold]
    ids = [f"2018-En-{i:05}" for i in range(40)]

    def rows(of: list[list[int]]) -> list[tuple[Any, ...]]:
        return [(one, '"so, "', *row) for one, row in zip(ids, of, strict=True)]

    header = ",".join(["ID", "Tweet", *names])
    return (
        {"2018-E-c-En-test-gold.txt": tsv_of(header, rows(gold))},
        {"E-C_en_pred.txt": tsv_of(header, shuffled(rng, rows(answers)))},
        {
            "accuracy": float(sk.jaccard_score(gold, answers, average="samples", zero_division=1)),
            "micro_f1": prf(gold, answers, "micro")[2],
            "macro_f1": prf(gold, answers, "macro")[2],
        },
    )


@task
def semeval2022_4(rng: Team) -> Case:
    kinds = ["unb", "sha", "pre", "aut", "met", "com", "the"]
    gold = [0, 1, *(rng.choice([0, 1]) for _ in range(28))]
    answers = [noisy(rng, label, [0, 1]) for label in gold]
    of_kinds = [[label * rng.choice([0, 1]) for _ in kinds] for label in gold]
    of_kinds[1] = [1] * 7
    sent = [[noisy(rng, one, [0, 1]) for one in row] for row in of_kinds]
    precision, recall, f1 = prf(gold, answers, "binary")
    values = {"precision": precision, "recall": recall, "f1": f1}
    for at, kind in enumerate(kinds):
        values[kind] = prf([row[at] for row in of_kinds], [row[at] for row in sent], "binary")[2]
    values["mean_f1"] = sum(values[kind] for kind in kinds) / 7

    def texts(first: list[int], second: list[list[int]]) -> Files:
        return {
            "task1.txt": "".join(f"{label}\n" for label in first),
            "task2.txt": "".join(",".join(map(str, row)) + "\n" for row in second),
        }

    return texts(gold, of_kinds), texts(answers, sent), values


@task
def semeval2022_5(rng: Team) -> Case:
    """The number of memes that have a label is always the same: they are weights in the declaration."""
    supports = {"shaming": 8, "stereotype": 14, "objectification": 11, "violence": 5}
    columns = {name: shuffled(rng, [1] * number + [0] * (40 - number)) for name, number in supports.items()}
    columns = {"misogynous": [int(any(row)) for row in zip(*columns.values(), strict=True)], **columns}
    answers = {name: [noisy(rng, one, [0, 1]) for one in column] for name, column in columns.items()}
    f1 = {name: prf(columns[name], answers[name], "macro", labels=[0, 1])[2] for name in columns}

    def rows(of: dict[str, list[int]]) -> list[tuple[Any, ...]]:
        return [(f"{15000 + i}.jpg", *row) for i, row in enumerate(zip(*of.values(), strict=True))]

    return (
        {"truth.txt": lines_of(rows(columns))},
        {"answer.txt": lines_of(shuffled(rng, rows(answers)))},
        {
            "a": f1.pop("misogynous"),
            "b": sum(f1[name] * number for name, number in supports.items()) / sum(supports.values()),
            **f1,
        },
    )


@task
def pan2023_triggers(rng: Team) -> Case:
    file = REAL_TASKS / "pan2023-triggers" / "declaration.yaml"
    names = yaml.safe_load(file.read_text(encoding="utf-8"))["submission"]["fields"][1]["values"]
    gold = [[int(rng.random() < 0.1) for _ in names] for _ in range(40)]
    answers = [[noisy(rng, one, [0, 1]) if rng.random() < 0.3 else one for one in row] for row in gold]
    values = {"subset_accuracy": float(sk.accuracy_score(gold, answers))}
    for average in ("macro", "micro"):
        found = prf(gold, answers, average)
        values |= {f"{average}_{key}": one for key, one in zip(("precision", "recall", "f1"), found, strict=True)}
    values["rare_f1"] = prf(np.array(gold)[:, 15:], np.array(answers)[:, 15:], "micro")[2]

    def records(of: list[list[int]]) -> list[dict[str, Any]]:
        named = [[name for name, one in zip(names, row, strict=True) if one] for row in of]
        return [{"work_id": f"w{i}", "labels": row} for i, row in enumerate(named)]

    return (
        {"labels.jsonl": jsonl_of(records(gold))},
        {"labels.jsonl": jsonl_of(shuffled(rng, records(answers)))},
        values,
    )


@task
def gap2018(rng: Team) -> Case:
    pronouns = ["he", "His", "him", "she", "Her", "hers"]
    gold = [(one, other) for one, other in ((1, 0), (0, 1), (0, 0)) for _ in range(14)]
    spoken = [pronouns[i % 6] for i in range(42)]
    answers = [tuple(noisy(rng, one, [0, 1]) for one in row) for row in gold]

    def scores(flags: list[bool]) -> list[float]:
        right, answered = kept(flags, gold, answers)
        return prf(np.ravel(right), np.ravel(answered), "binary")

    precision, recall, f1 = scores([True] * 42)
    masculine = scores([one in ("he", "His", "him") for one in spoken])[2]
    feminine = scores([one in ("she", "Her", "hers") for one in spoken])[2]
    truth = [("FALSE", "TRUE"), ("False", "true")]
    rows = []
    for i, (one, other) in enumerate(gold):
        told = (truth[0][one], truth[0][other])
        rows.append((f"test-{i}", 'a "text', spoken[i], 9, "Ann", 2, told[0], "Bo", 7, told[1]))
    sent = [(f"test-{i}", truth[i % 2][one], truth[i % 2][other]) for i, (one, other) in enumerate(answers)]
    header = "ID,Text,Pronoun,Pronoun-offset,A,A-offset,A-coref,B,B-offset,B-coref"
    return (
        {"gap-test.tsv": tsv_of(header, rows)},
        {"team.tsv": lines_of(shuffled(rng, sent))},
        {
            "precision": precision,
            "recall": recall,
            "f1": f1,
            "masculine": masculine,
            "feminine": feminine,
            "bias": feminine / masculine if masculine else 0.0,
        },
    )
