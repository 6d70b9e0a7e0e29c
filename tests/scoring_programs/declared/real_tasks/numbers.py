"""Tasks whose answer is a number."""

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
    jsonl_of,
    kendall,
    kept,
    lines_of,
    mean_over,
    near,
    noisy,
    pearson,
    sentence,
    shuffled,
    spearman,
    task,
    tsv_of,
)


@task
def emoint(rng: Team) -> Case:
    emotions = ["anger", "fear", "joy", "sadness"]
    rows = [(f"{emotion}{i}", round(rng.random(), 3), emotion) for emotion in emotions for i in range(14)]
    answers = [near(rng, row[1]) for row in rows]
    gold, groups = [row[1] for row in rows], [row[2] for row in rows]
    strong = kept([value >= 0.5 for value in gold], groups, gold, answers)
    return (
        {"gold.tsv": tsv_of("id,intensity,emotion", rows)},
        {"predictions.tsv": tsv_of("id,intensity", answered(rng, rows, answers))},
        {
            "pearson": mean_over(groups, gold, answers, pearson),
            "spearman": mean_over(groups, gold, answers, spearman),
            "pearson_anger": pearson(*kept([one == "anger" for one in groups], gold, answers)),
            "pearson_strong": mean_over(strong[0], strong[1], strong[2], pearson),
        },
    )


@task
def semrel2024(rng: Team) -> Case:
    gold = [round(rng.random(), 2) for _ in range(30)]
    answers = [near(rng, value, 0.2) for value in gold]
    return (
        {"gold.csv": csv_of("PairID,Text,Score", [(f"P{i}", "a, b", value) for i, value in enumerate(gold)])},
        {"pred_eng_a.csv": csv_of("PairID,Pred_Score", shuffled(rng, [(f"P{i}", v) for i, v in enumerate(answers)]))},
        {"spearman": spearman(gold, answers)},
    )


@task
def complex2021(rng: Team) -> Case:
    sides: dict[str, list[list[float]]] = {}
    for name in ("single", "multi"):
        complexity = [round(rng.random(), 3) for _ in range(20)]
        sides[name] = [complexity, [near(rng, one) for one in complexity]]
    gold = {f"{name}.csv": csv_of("id,complexity", list(enumerate(side[0]))) for name, side in sides.items()}
    sent = {
        f"{name}.csv": csv_of("id,complexity", shuffled(rng, list(enumerate(side[1])))) for name, side in sides.items()
    }
    single, multi = sides["single"], sides["multi"]
    return (
        gold,
        sent,
        {
            "single_pearson": pearson(*single),
            "single_spearman": spearman(*single),
            "single_mae": float(sk.mean_absolute_error(*single)),
            "single_mse": float(sk.mean_squared_error(*single)),
            "single_r2": float(sk.r2_score(*single)),
            "multi_pearson": pearson(*multi),
            "multi_r2": float(sk.r2_score(*multi)),
        },
    )


@task
def mediqa_eval2026(rng: Team) -> Case:
    groups = [(lang, metric, data) for lang in ("en", "zh") for metric in ("factual", "tone") for data in ("x", "y")]
    keys = [(f"e{i}", *group) for group in groups for i in range(6)]
    gold = [rng.randint(0, 4) / 4 if i % 6 > 1 else i % 6 for i in range(len(keys))]
    answers = [near(rng, value) for value in gold]
    header = "encounter_id,lang,metric,dataset,value"
    by = [key[1:] for key in keys]
    return (
        {"gold.csv": csv_of(header, beside(keys, gold))},
        {"prediction.csv": csv_of(header, shuffled(rng, beside(keys, answers)))},
        {
            "kendall": mean_over(by, gold, answers, kendall),
            "pearson": mean_over(by, gold, answers, pearson),
            "spearman": mean_over(by, gold, answers, spearman),
        },
    )


@task
def eval4nlp2023(rng: Team) -> Case:
    pairs = ["en-de", "en-zh"]
    rows = [(f"{pair}{i}", rng.randint(0, 9), pair) for pair in pairs for i in range(12)]
    answers = [near(rng, row[1], 3, 0, 9) for row in rows]
    gold, groups = [row[1] for row in rows], [row[2] for row in rows]
    return (
        {"gold.tsv": tsv_of("segment,score,pair", rows)},
        {"seg.scores.tsv": tsv_of("segment,score", answered(rng, rows, answers))},
        {"kendall": mean_over(groups, gold, answers, kendall), "kendall_de": kendall(gold[:12], answers[:12])},
    )


@task
def semeval2018_1_ei_reg(rng: Team) -> Case:
    gold_files: Files = {}
    sent: Files = {}
    values: Values = {}
    header = "ID,Tweet,Affect Dimension,Intensity Score"
    for emotion in ("anger", "fear", "joy", "sadness"):
        gold = [0.5, *(round(rng.random(), 3) for _ in range(23))]
        answers = [near(rng, value) for value in gold]
        ids = [f"2018-En-{i:05}" for i in range(24)]
        tweets = [f'"{sentence(rng)}' for _ in ids]
        rows = {}
        for name, numbers in (("gold", gold), ("sent", answers)):
            rows[name] = [(*row, emotion, one) for row, one in zip(zip(ids, tweets, strict=True), numbers, strict=True)]
        gold_files[f"2018-EI-reg-En-{emotion}-test-gold.txt"] = tsv_of(header, rows["gold"])
        sent[f"EI-reg_en_{emotion}_pred.txt"] = tsv_of(header, shuffled(rng, rows["sent"]))
        strong = kept([value >= 0.5 for value in gold], gold, answers)
        values |= {emotion: pearson(gold, answers, undefined=0), f"{emotion}_strong": pearson(*strong, undefined=0)}
    values["pearson"] = sum(values[emotion] for emotion in ("anger", "fear", "joy", "sadness")) / 4
    return gold_files, sent, values


@task
def semeval2018_1_ei_oc(rng: Team) -> Case:
    grades = [0, 1, 2, 3]
    words = ["no anger", "low amount of anger", "moderate amount of anger", "high amount of anger"]
    gold = [*grades, *(rng.choice(grades) for _ in range(36))]
    answers = [noisy(rng, grade, grades) for grade in gold]

    def rows(grades: list[int]) -> list[tuple[str, ...]]:
        inferred = [f"{grade}: {words[grade]} can be inferred" for grade in grades]
        return [(f"2017-En-{i:05}", f'so "{sentence(rng)}', "anger", one) for i, one in enumerate(inferred)]

    def kappa(gold: list[int], answers: list[int]) -> float:
        return float(sk.cohen_kappa_score(gold, answers, labels=grades, weights="quadratic"))

    some_anger = kept([grade > 0 for grade in gold], gold, answers)
    header = "ID,Tweet,Affect Dimension,Intensity Class"
    return (
        {"2018-EI-oc-En-anger-test-gold.txt": tsv_of(header, rows(gold))},
        {"EI-oc_en_anger_pred.txt": tsv_of(header, shuffled(rng, rows(answers)))},
        {
            "pearson": pearson(gold, answers, undefined=0),
            "kappa": kappa(gold, answers),
            "pearson_some": pearson(*some_anger, undefined=0),
            "kappa_some": kappa(*some_anger),
        },
    )


@task
def wmt2021_qe_sentences(rng: Team) -> Case:
    gold = [round(rng.gauss(0, 1), 6) for _ in range(40)]
    answers = [near(rng, value, 0.5, -3, 3) for value in gold]

    def rows(system: str, numbers: list[float]) -> list[tuple[Any, ...]]:
        return [("en-de", system, i, number) for i, number in enumerate(numbers)]

    return (
        {"goldlabels.txt": lines_of(rows("gold", gold))},
        {"predictions.txt": f"2147483648\n110000000\n{lines_of(shuffled(rng, rows('team', answers)))}"},
        {
            "pearson": pearson(gold, answers),
            "mae": float(sk.mean_absolute_error(gold, answers)),
            "rmse": float(sk.root_mean_squared_error(gold, answers)),
        },
    )


@task
def ami2020_b(rng: Team) -> Case:
    """Bias as in Borkan et al. 2019: AUC of a word's sentences, and of them against all others, either way round."""
    terms = ["donna", "ragazza"]
    raw = [0, 1, *(rng.choice([0, 1]) for _ in range(28))]
    sent = [noisy(rng, label, [0, 1]) for label in raw]
    synthetic = [(term, label) for term in [*terms, "uomo"] for label in (0, 1) for _ in range(5)]
    answers = [noisy(rng, label, [0, 1]) for _, label in synthetic]
    counted: dict[str, list[bool]] = {}
    for term in terms:
        inside = [word == term for word, _ in synthetic]
        labels = [bool(label) for _, label in synthetic]
        counted[f"{term}_subgroup"] = inside
        counted[f"{term}_bpsn"] = [here != label for here, label in zip(inside, labels, strict=True)]
        counted[f"{term}_bnsp"] = [here == label for here, label in zip(inside, labels, strict=True)]
    values = {"auc": float(sk.roc_auc_score(raw, sent))}
    for name, flags in counted.items():
        values[name] = float(sk.roc_auc_score(*kept(flags, [label for _, label in synthetic], answers)))
    values["score"] = (values["auc"] + float(np.mean([values[name] for name in counted]))) / 2
    marks = [[int(flags[i]) for flags in counted.values()] for i in range(len(synthetic))]
    rows = [(f"s{i}", f"brava {term}", label, *marks[i]) for i, (term, label) in enumerate(synthetic)]
    return (
        {
            "AMI2020_test_raw_gt.tsv": tsv_of(
                "id,text,misogynous,aggressiveness",
                [(f"t{i}", f'"{sentence(rng)}', one, 0) for i, one in enumerate(raw)],
            ),
            "AMI2020_test_synt_gt.tsv": tsv_of(",".join(["id", "text", "misogynous", *counted]), rows),
        },
        {
            "team.B.r.run1.tsv": lines_of(shuffled(rng, [(f"t{i}", one) for i, one in enumerate(sent)])),
            "team.B.s.run1.tsv": lines_of(shuffled(rng, [(f"s{i}", one) for i, one in enumerate(answers)])),
        },
        values,
    )


@task
def pan2025_genai(rng: Team) -> Case:
    gold = [0, 1, *(rng.choice([0, 1]) for _ in range(38))]
    answers = [near(rng, label, 0.4) if i % 7 or rng.manner == "perfect" else 0.5 for i, label in enumerate(gold)]
    left_out = {5, 11} if rng.manner == "mixed" else set()
    answers = [0.5 if i in left_out else answer for i, answer in enumerate(answers)]
    pairs = list(zip(gold, answers, strict=True))
    none = answers.count(0.5)
    right = sum(answer != 0.5 and (answer > 0.5) == bool(label) for label, answer in pairs)
    hits = sum(label == 1 and answer > 0.5 for label, answer in pairs)
    wrong = sum(label == 0 and answer > 0.5 for label, answer in pairs)
    missed = sum(label == 1 and answer < 0.5 for label, answer in pairs)
    loss = float(sk.brier_score_loss(gold, answers))
    values = {
        "roc_auc": float(sk.roc_auc_score(gold, answers)),
        "brier": 1 - loss,
        "c_at_1": (right + none * right / len(gold)) / len(gold),
        "f1": float(sk.f1_score(gold, [answer > 0.5 for answer in answers], zero_division=0)),
        "f05u": 1.25 * hits / (1.25 * hits + 0.25 * (missed + none) + wrong),
    }
    sent = [{"id": f"p{i}", "label": answer} for i, answer in enumerate(answers) if i not in left_out]
    return (
        {"truth.jsonl": jsonl_of([{"id": f"p{i}", "label": label, "genre": "essays"} for i, label in enumerate(gold)])},
        {"team.jsonl": jsonl_of(shuffled(rng, sent))},
        values | {"mean": sum(values.values()) / 5, "brier_loss": loss},
    )
