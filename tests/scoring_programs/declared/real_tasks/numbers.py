"""Tasks whose answer is a number."""

from __future__ import annotations

from sklearn import metrics as sk

from tests.scoring_programs.declared.real_tasks.making import (
    Case,
    Team,
    csv_of,
    kendall,
    kept,
    mean_over,
    near,
    pearson,
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
    sent = shuffled(rng, [(row[0], value) for row, value in zip(rows, answers, strict=True)])
    return (
        {"gold.tsv": tsv_of("id,intensity,emotion", rows)},
        {"predictions.tsv": tsv_of("id,intensity", sent)},
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
    sent = shuffled(rng, [(*key, value) for key, value in zip(keys, answers, strict=True)])
    return (
        {"gold.csv": csv_of(header, [(*key, value) for key, value in zip(keys, gold, strict=True)])},
        {"prediction.csv": csv_of(header, sent)},
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
    sent = shuffled(rng, [(row[0], value) for row, value in zip(rows, answers, strict=True)])
    return (
        {"gold.tsv": tsv_of("segment,score,pair", rows)},
        {"seg.scores.tsv": tsv_of("segment,score", sent)},
        {"kendall": mean_over(groups, gold, answers, kendall), "kendall_de": kendall(gold[:12], answers[:12])},
    )
