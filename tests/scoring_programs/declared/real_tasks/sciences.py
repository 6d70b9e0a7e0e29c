"""Tasks of medicine, biology, chemistry, physics, knowledge graphs, causes and sales."""

import json
from itertools import combinations, product
from math import inf
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation
from scipy.stats import norm
from sklearn import metrics as sk

from tests.scoring_programs.declared.arrays_as_files import npz
from tests.scoring_programs.declared.real_tasks.making import (
    Case,
    Team,
    answered,
    beside,
    csv_of,
    mean_over,
    near,
    noisy,
    pearson,
    shuffled,
    task,
)

DIAGNOSES = ["CN", "MCI", "AD"]
TADPOLE = (
    "RID,ForecastMonth,ForecastDate,CNRelativeProbability,MCIRelativeProbability,ADRelativeProbability,ADAS13,"
    "ADAS1350_CILower,ADAS1350_CIUpper,Ventricles_ICV,Ventricles_ICV50_CILower,Ventricles_ICV50_CIUpper"
)


@task
def tadpole2017(rng: Team) -> Case:
    visits = [(str(40 + i % 12), f"2018-{1 + i // 12:02}") for i in range(36)]
    gold: list[list[Any]] = []
    sent: list[list[Any]] = []
    for i, visit in enumerate(visits):
        truth: list[Any] = [DIAGNOSES[i % 3], round(rng.uniform(0, 60), 2), round(rng.uniform(0.01, 0.08), 6)]
        likely = DIAGNOSES.index(noisy(rng, truth[0], DIAGNOSES))
        shares = [round(rng.uniform(0, 30), 3) if rng.manner != "perfect" else 0 for _ in DIAGNOSES]
        shares[likely] += 40
        if rng.manner == "constant":
            shares = [50, 30, 20]
        row = [visit[0], i // 12 + 1, visit[1], *shares]
        for value, spread, high in ((truth[1], 5, 60), (truth[2], 0.01, 0.1)):
            answer = near(rng, value, spread, 0, high)
            row += [answer, answer - spread * rng.uniform(0.1, 1), answer + spread * rng.uniform(0.1, 1)]
        sent.append(row)
        gold.append([*visit, *("" if rng.random() < 0.2 else value for value in truth)])
    later = [[row[0], 60, "2022-12", *row[3:]] for row in sent[:12]]  # without a visit
    there = [[(row, answer) for row, answer in zip(gold, sent, strict=True) if row[at] != ""] for at in (2, 3, 4)]
    labels = np.array([DIAGNOSES.index(row[2]) for row, _ in there[0]])
    given = np.array([answer[3:6] for _, answer in there[0]])
    table = sk.confusion_matrix(labels, given.argmax(1), labels=[0, 1, 2])
    pairs = [0.0]  # undefined where some diagnoses are never answered
    if rng.manner != "constant":
        pairs = [sk.balanced_accuracy_score(*both(table, one, other)) for one, other in combinations(range(3), 2)]
    values = {
        "mauc": float(sk.roc_auc_score(labels, given / given.sum(1, keepdims=True), multi_class="ovo")),
        "bca": float(np.mean(pairs)),
    }
    for name, at, place in (("adas", 3, 6), ("ventricles", 4, 9)):
        measured = np.array([row[at] for row, _ in there[at - 2]])
        middle, low, high = np.array([answer[place : place + 3] for _, answer in there[at - 2]]).T
        inside = float(np.mean((low < measured) & (measured < high)))
        values |= {
            f"{name}_mae": float(sk.mean_absolute_error(measured, middle)),
            f"{name}_wes": float(np.average(abs(measured - middle), weights=1 / (high - low))),
            f"{name}_coverage": inside,
            f"{name}_cpa": abs(inside - 0.5),
        }
    return (
        {"D4.csv": csv_of("RID,ForecastDate,Diagnosis,ADAS13,Ventricles", gold)},
        {"TADPOLE_Submission_mine.csv": csv_of(TADPOLE, shuffled(rng, [*sent, *later]))},
        values,
    )


def both(table: Any, one: int, other: int) -> tuple[list[int], list[int]]:
    """Gold and answers of a table of counts that are one of two classes."""
    gold, answers = [], []
    for row, column in product((one, other), repeat=2):
        gold += [row] * table[row, column]
        answers += [column] * table[row, column]
    return gold, answers


@task
def hecktor2022(rng: Team) -> Case:
    rows = [(f"CHUM-{i:03}", rng.randint(100, 130), rng.choice([0, 1])) for i in range(40)]
    risks = [round(near(rng, -time / 100, 0.1, -1.3, -1), 2) for _, time, _ in rows]
    good, known = 0.0, 0
    for (one, other), (risk, least) in zip(combinations(rows, 2), combinations(risks, 2), strict=True):
        if (one[1], -one[2]) > (other[1], -other[2]):
            one, other, risk, least = other, one, least, risk
        if one[2] and (one[1] < other[1] or not other[2]):
            known += 1
            good += 1 if risk > least else 0.5 * (risk == least)
    return (
        {"reference.csv": csv_of("PatientID,RFS,Relapse", rows)},
        {"submission.csv": csv_of("PatientID,Prediction", answered(rng, rows, risks))},
        {"c_index": good / known},
    )


@task
def physionet2012(rng: Team) -> Case:
    header = "RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death"
    died = [int(rng.random() < 0.3) for _ in range(63)]
    rows = [(132539 + i, 9, 2, 7, -1, one) for i, one in enumerate(died)]
    answers = [noisy(rng, one, [0, 1]) for one in died]
    risks = [near(rng, 0.8 * one + 0.1, 0.3) for one in died]
    if rng.manner != "constant":
        risks = [round(min(0.99, max(0.01, risk)) + i * 1e-5, 5) for i, risk in enumerate(risks)]
    order = np.argsort(risks, kind="stable")[:60].reshape(10, 6)
    observed, means = np.array(died)[order].sum(1), np.array(risks)[order].mean(1)
    terms = (observed - 6 * means) ** 2 / (6 * means * (1 - means) + 0.001)
    spread = means[-1] - means[0]
    precision, recall = (float(one(died, answers, zero_division=0)) for one in (sk.precision_score, sk.recall_score))
    sent = [(row[0], answer, risk) for row, answer, risk in zip(rows, answers, risks, strict=True)]
    return (
        {"Outcomes-a.txt": csv_of(header, rows)},
        {"Outputs-a.txt": csv_of("id,death,risk", sent).partition("\n")[2]},
        {
            "event1": min(precision, recall),
            "event2": float(terms.sum() / spread) if spread else 1e6,
            "sensitivity": recall,
            "predictivity": precision,
        },
    )


@task
def multimodal2022(rng: Team) -> Case:
    cells = [f"{i:012x}" for i in (2, 5, 11, 13, 17)]
    rows = [(at, cells[at // 8], f"CD{at % 8}", round(rng.uniform(0, 9), 4)) for at in range(40)]
    answers = [near(rng, row[3], 2, 0, 9) for row in rows]
    return (
        {"solution.csv": csv_of("row_id,cell_id,gene_id,target", rows)},
        {"submission.csv": csv_of("row_id,target", answered(rng, rows, answers))},
        {"correlation": mean_over([row[1] for row in rows], [row[3] for row in rows], answers, pearson)},
    )


@task
def champs2019(rng: Team) -> Case:
    types = ["1JHC", "2JHH", "3JHN"]
    rows = [(2324604 + i, types[i % 3], round(rng.uniform(-10, 100), 3)) for i in range(30)]
    answers = [near(rng, row[2], 5, -10, 100) for row in rows]
    errors = [abs(row[2] - answer) for row, answer in zip(rows, answers, strict=True)]
    means = [float(np.mean(errors[at::3])) for at in range(3)]
    return (
        {"solution.csv": csv_of("id,type,scalar_coupling_constant", rows)},
        {"submission.csv": csv_of("id,scalar_coupling_constant", answered(rng, rows, answers))},
        {"score": float(np.mean([np.log(max(1e-9, mean)) for mean in means])), "mae": float(np.mean(means))},
    )


@task
def wikikg90m(rng: Team) -> Case:
    gold, candidates = [rng.randint(0, 90000) for _ in range(40)], []
    for entity in gold:
        ten = rng.sample(range(90001, 99999), 10)
        if rng.manner == "constant":
            ten = list(range(10))
        if rng.manner == "perfect":
            ten[0] = entity
        if rng.manner in ("mixed", "random"):
            ten[rng.randrange(10 if rng.manner == "mixed" else 5)] = noisy(rng, entity, [90000])
        candidates.append(ten)
    ranks = [ten.index(entity) + 1 if entity in ten else inf for entity, ten in zip(gold, candidates, strict=True)]
    return (
        {"test_t.npz": npz(t=np.array(gold))},
        {"t_pred_wikikg90m-v2.npz": npz(t_pred_top10=np.array(candidates))},
        {"mrr": sum(1 / rank for rank in ranks) / 40},
    )


@task
def acic2022(rng: Team) -> Case:
    kinds = [("Overall", "NA", "NA"), ("Overall", "NA", "3"), ("X1", "0", "NA"), ("X1", "1", "NA"), ("X2", "A", "NA")]
    keys = [(f"{number:04}", *kind) for number in range(1, 11) for kind in kinds]
    gold = [round(rng.gauss(10, 8), 3) for _ in keys]
    sent = []
    for key, effect in zip(keys, gold, strict=True):
        answer, half = near(rng, effect, 5, -20, 40), 0.0 if rng.manner == "perfect" else round(rng.uniform(1, 12), 3)
        sent.append((*key, answer, round(answer - half, 4), round(answer + half, 4)))
    overall = [key[1] == "Overall" and key[3] == "NA" for key in keys]
    truth, answers = np.array(gold), np.array([row[4:] for row in sent])
    own, given = truth[overall], answers[overall]
    others = [key[1] != "Overall" for key in keys]
    difference = float(np.mean(given[:, 0]) - np.mean(own))
    return (
        {"estimands.csv": csv_of("dataset.num,variable,level,year,satt", beside(keys, gold))},
        {"submission.csv": csv_of("dataset.num,variable,level,year,satt,lower90,upper90", shuffled(rng, sent))},
        {
            "rmse": float(sk.root_mean_squared_error(own, given[:, 0])),
            "difference": difference,
            "bias": abs(difference),
            "coverage": float(np.mean((given[:, 1] <= own) & (own <= given[:, 2]))),
            "width": float(np.mean(given[:, 2] - given[:, 1])),
            "subgroup_rmse": float(sk.root_mean_squared_error(truth[others], answers[others][:, 0])),
        },
    )


@task
def weak_lensing2025(rng: Team) -> Case:
    gold = [[round(rng.uniform(0.1, 0.6), 4), round(rng.uniform(0.7, 0.95), 4)] for _ in range(12)]
    means = [[near(rng, one, 0.03) for one in pair] for pair in gold]
    bars = [[round(rng.uniform(0.01, 0.05), 4) for _ in pair] for pair in gold]
    truth, answers, sigma = np.array(gold), np.array(means), np.array(bars)
    density = norm.logpdf(truth, answers, sigma) + np.log(2 * np.pi) / 2
    error = (truth - answers) ** 2
    return (
        {"label.json": json.dumps({"means": gold})},
        {"result.json": json.dumps({"means": means, "errorbars": bars})},
        {
            "score": max(float(np.mean((2 * density - 1000 * error).sum(1))), -1e6),
            "mse": float(np.mean(error)),
        },
    )


@task
def icecube2023(rng: Team) -> Case:
    gold = [(2092 + i, round(rng.uniform(0, 6.28), 4), round(rng.uniform(0, 3.14), 4)) for i in range(30)]
    answers = [(i, near(rng, azimuth, 0.4, 0, 6.28), near(rng, zenith, 0.3, 0, 3.14)) for i, azimuth, zenith in gold]
    angles = []
    for (_, *one), (_, *other) in zip(gold, answers, strict=True):
        sides = [Rotation.from_euler("ZY", side).apply([0, 0, 1]) for side in (one, other)]
        angles.append(2 * np.arctan2(np.linalg.norm(sides[0] - sides[1]), np.linalg.norm(sides[0] + sides[1])))
    return (
        {"solution.csv": csv_of("event_id,azimuth,zenith", gold)},
        {"submission.csv": csv_of("event_id,azimuth,zenith", shuffled(rng, answers))},
        {"error": float(np.mean(angles))},
    )


@task
def m5_uncertainty2020(rng: Team) -> Case:
    quantiles = [0.005, 0.025, 0.165, 0.25, 0.5, 0.75, 0.835, 0.975, 0.995]
    days = ",".join(f"F{day}" for day in range(1, 29))
    gold, sent = [], []
    losses, weights = [], []
    sales: list[tuple[list[int], float, float]] = []
    for _ in range(3):
        sales.append(([rng.randint(0, 40) for _ in range(28)], rng.uniform(3, 9), rng.uniform(0.1, 1)))
    for quantile in quantiles:
        for series, (sold, scale, weight) in zip(("Total_X", "CA_X", "FOODS_1_X"), sales, strict=True):
            name = f"{series}_{quantile:.3f}_evaluation"
            forecast = [near(rng, day, 8, 0, 40) for day in sold]
            gold.append((name, *sold, quantile, scale, weight))
            sent.append((name, *forecast))
            losses.append(float(sk.mean_pinball_loss(sold, forecast, alpha=quantile)) / scale)
            weights.append(weight)
    return (
        {"solution.csv": csv_of(f"id,{days},quantile,scale,weight", gold)},
        {"submission.csv": csv_of(f"id,{days}", shuffled(rng, sent))},
        {
            "wspl": float(np.average(losses, weights=weights)),
            "median": float(np.average(losses[12:15], weights=weights[12:15])),
        },
    )
