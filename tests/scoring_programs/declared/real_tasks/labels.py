"""Tasks whose answer is a label."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn import metrics as sk

from tests.scoring_programs.declared.real_tasks.making import (
    Case,
    Files,
    Team,
    Values,
    answered,
    beside,
    csv_of,
    harmonic,
    jsonl_of,
    kept,
    lines_of,
    near,
    noisy,
    prf,
    sentence,
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
    return (
        {"gold.tsv": tsv_of("ID,label,language", rows)},
        {"pred_multilingual.tsv": tsv_of("ID,label", answered(rng, rows, answers))},
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


@task
def semeval2017_4a(rng: Team) -> Case:
    labels = ["negative", "neutral", "positive"]
    gold = [*labels, *(rng.choice(labels) for _ in range(37))]
    answers = [noisy(rng, label, labels) for label in gold]
    ids = [str(801989000000 + i) for i in range(40)]
    return (
        {"SemEval2017-task4-test.subtask-A.english.txt": lines_of(beside(ids, gold))},
        {"team-A.txt": lines_of(shuffled(rng, beside(ids, answers)))},
        {
            "average_recall": prf(gold, answers, "macro")[1],
            "f1_pn": prf(gold, answers, "macro", labels=["positive", "negative"])[2],
            "accuracy": float(sk.accuracy_score(gold, answers)),
        },
    )


@task
def semeval2018_3(rng: Team) -> Case:
    gold_files: Files = {}
    sent: Files = {}
    values: Values = {}
    for name, labels, average in (("A", [0, 1], "binary"), ("B", [0, 1, 2, 3], "macro")):
        gold = [*labels, *(rng.choice(labels) for _ in range(26))]
        answers = [noisy(rng, label, labels) for label in gold]
        gold_files[f"goldstandard_test_{name}.txt"] = "".join(f"{label}\n" for label in gold)
        sent[f"predictions-task{name}.txt"] = "".join(f"{label}\n" for label in answers)
        precision, recall, f1 = prf(gold, answers, average)
        found = {"f1": f1, "precision": precision, "recall": recall, "accuracy": sk.accuracy_score(gold, answers)}
        values |= {f"{name.lower()}_{key}": float(value) for key, value in found.items()}
    return gold_files, sent, values


@task
def semeval2020_7(rng: Team) -> Case:
    labels = [0, 1, 2]
    ids = [f"{100 + i}-{900 + i}" for i in range(40)]
    gold = [*labels, *(rng.choice(labels) for _ in range(37))]
    answers = [noisy(rng, label, labels) for label in gold]
    headline = "Senate <passes/> a bill, at last"
    rows = [(one, headline, "eats", label, headline, "bakes") for one, label in zip(ids, gold, strict=True)]
    unequal = [(label, answer) for label, answer in zip(gold, answers, strict=True) if label]
    return (
        {"test.csv": csv_of("id,original1,edit1,label,original2,edit2", rows)},
        {"task-2-output.csv": csv_of("id,pred", shuffled(rng, beside(ids, answers)))},
        {"accuracy": sum(label == answer for label, answer in unequal) / len(unequal)},
    )


@task
def germeval2018(rng: Team) -> Case:
    kinds = ["OTHER", "ABUSE", "INSULT", "PROFANITY"]
    tweets = [f'@user "Na {sentence(rng)}' for _ in range(40)]
    fine = [*kinds, *(rng.choice(kinds) for _ in range(36))]
    coarse = ["OTHER" if one == "OTHER" else "OFFENSE" for one in fine]
    values: Values = {}
    sent: dict[str, list[str]] = {}
    for name, gold, labels in (("coarse", coarse, ["OTHER", "OFFENSE"]), ("fine", fine, kinds)):
        answers = [noisy(rng, label, labels) for label in gold]
        precision, recall, _ = prf(gold, answers, "macro", labels=labels)
        values |= {f"{name}_precision": precision, f"{name}_recall": recall}
        values |= {f"{name}_f": harmonic(precision, recall)}
        values |= {f"{name}_accuracy": float(sk.accuracy_score(gold, answers))}
        sent[name] = answers
    return (
        {"germeval2018.test.txt": lines_of(beside(tweets, coarse, fine))},
        {"germeval2018.txt": lines_of(beside(tweets, sent["coarse"], sent["fine"]))},
        values,
    )


@task
def ami2020_a(rng: Team) -> Case:
    rows = [(0, 0), (1, 1), *((rng.choice([0, 1]), rng.choice([0, 1])) for _ in range(38))]
    answers = [tuple(noisy(rng, label, [0, 1]) for label in row) for row in rows]
    f1 = [prf([row[at] for row in rows], [row[at] for row in answers], "macro")[2] for at in (0, 1)]
    gold = [(f"t{i}", f'e poi "{sentence(rng)}', *row) for i, row in enumerate(rows)]
    return (
        {"AMI2020_test_raw_gt.tsv": tsv_of("id,text,misogynous,aggressiveness", gold)},
        {"team.A.r.run1.tsv": lines_of(shuffled(rng, [(f"t{i}", *row) for i, row in enumerate(answers)]))},
        {"score": (f1[0] + f1[1]) / 2, "misogyny": f1[0], "aggressiveness": f1[1]},
    )


@task
def fnc1(rng: Team) -> Case:
    """A quarter for the right side (related or not), three more for the right stance of what is related."""
    labels = ["agree", "disagree", "discuss", "unrelated"]
    keys = [(f'"Spider", burrows: {i // 2}', 700 + i % 2) for i in range(40)]
    gold = [*labels, *(rng.choice(labels) for _ in range(36))]
    answers = [noisy(rng, label, labels) for label in gold]

    def points(label: str, answer: str) -> float:
        found = 0.25 if label == answer else 0.0
        found += 0.5 if label == answer != "unrelated" else 0.0
        return found + (0.25 if "unrelated" not in (label, answer) else 0.0)

    reached = sum(map(points, gold, answers))
    header = "Headline,Body ID,Stance"
    return (
        {"competition_test_stances.csv": csv_of(header, beside(keys, gold))},
        {"answer.csv": csv_of(header, shuffled(rng, beside(keys, answers)))},
        {"score": reached / sum(map(points, gold, gold))},
    )


@task
def touche2023_stance(rng: Team) -> Case:
    labels, languages = ["In favor", "Against", "Other"], ["de", "fr", "hu"]
    gold = [label for label in labels for _ in languages] + [rng.choice(labels) for _ in range(30)]
    spoken = [languages[i % 3] for i in range(39)]
    answers = [noisy(rng, label, labels) for label in gold]
    german = kept([one == "de" for one in spoken], gold, answers)

    def scores(gold: Sequence[str], answers: Sequence[str]) -> tuple[float, float, float]:
        """The precision of a label that is never answered is 1."""
        _, recall, f1 = prf(gold, answers, "macro")
        return prf(gold, answers, "macro", zero_division=1)[0], recall, f1

    precision, recall, f1 = scores(gold, answers)
    rows = [(f"c{i}", label, language) for i, (label, language) in enumerate(zip(gold, spoken, strict=True))]
    return (
        {"ground-truth.tsv": tsv_of("id,label,lan", rows)},
        {"run.tsv": lines_of(shuffled(rng, [(f"c{i}", answer) for i, answer in enumerate(answers)]))},
        {
            "macro_f1": f1,
            "macro_precision": precision,
            "macro_recall": recall,
            "accuracy": float(sk.accuracy_score(gold, answers)),
            "f1_de": scores(*german)[2],
            "precision_de": scores(*german)[0],
        },
    )


@task
def wmt2021_qe_words(rng: Team) -> Case:
    words = ['"', "Haus", "ist", "'", "#1", "grün"]
    keys = [(number, place) for number in range(10) for place in range(rng.randint(3, 6))]
    tags = ["OK", "BAD", *(rng.choice(["OK", "OK", "BAD"]) for _ in keys[2:])]
    answers = [noisy(rng, tag, ["OK", "BAD"]) for tag in tags]
    f1 = sk.f1_score(tags, answers, average=None, labels=["BAD", "OK"], zero_division=0)

    def rows(system: str, tags: Sequence[str]) -> list[Any]:
        found = [("en-de", system, "mt", *key, words[sum(key) % 6], tag) for key, tag in zip(keys, tags, strict=True)]
        return shuffled(rng, found) if system != "gold" else found

    spelt = [rng.choice({"OK": ["OK", "ok", "GOOD"], "BAD": ["BAD", "bad"]}[tag]) for tag in answers]
    return (
        {"goldlabels_mt.tags": lines_of(rows("gold", tags))},
        {"predictions_mt.txt": f"2147483648\n110000000\n{lines_of(rows('team', spelt))}"},
        {
            "mcc": float(sk.matthews_corrcoef(tags, answers)),
            "f1_bad": float(f1[0]),
            "f1_ok": float(f1[1]),
            "f1_multi": float(f1[0] * f1[1]),
        },
    )


@task
def rumoureval2019(rng: Team) -> Case:
    stances, truths = ["support", "deny", "query", "comment"], ["true", "false", "unverified"]
    gold = {str(860000 + i): rng.choice(stances) for i in range(30)}
    answers = {one: noisy(rng, stance, stances) for one, stance in gold.items()}
    rumours = {f"rumour{i}": truths[i % 3] for i in range(24)}
    sent = {one: [noisy(rng, truth, truths), near(rng, 0.7)] for one, truth in rumours.items()}
    counted, errors = [], []
    for one, truth in rumours.items():
        label, confidence = sent[one]
        counted.append(label if confidence >= 0.5 else "unverified")
        if truth == "unverified":
            errors.append(confidence**2)
        else:
            errors.append((1 - confidence) ** 2 if label == truth else 1.0)
    return (
        {"final-eval-key.json": json.dumps({"subtaskaenglish": gold, "subtaskbenglish": rumours})},
        {"answer.json": json.dumps({"subtaskaenglish": answers, "subtaskbenglish": sent})},
        {
            "a_f1": prf(list(gold.values()), list(answers.values()), "macro")[2],
            "a_accuracy": float(sk.accuracy_score(list(gold.values()), list(answers.values()))),
            "b_f1": prf(list(rumours.values()), counted, "macro")[2],
            "b_rmse": (sum(errors) / len(errors)) ** 0.5,
        },
    )
