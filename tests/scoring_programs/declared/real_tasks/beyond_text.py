"""Tasks beyond text: series, images, physics, probabilities of classes."""

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
    kept,
    mean_dice,
    mean_over,
    near,
    noisy,
    shuffled,
    some,
    task,
)


@task
def medi_fair(rng: Team) -> Case:
    gold = [1, -1, 0, *(rng.choice([1, -1, 0]) for _ in range(37))]
    answers = [near(rng, label, 1.0, -5, 5) for label in gold]
    ids = [f"test{i}" for i in range(40)]
    forward = float(sk.roc_auc_score([label == 1 for label in gold], answers))
    backward = float(sk.roc_auc_score([label == -1 for label in gold], [-one for one in answers]))
    return (
        {"solution.csv": csv_of("SampleID,Target", beside(ids, gold))},
        {"results.csv": csv_of("SampleID,Target", shuffled(rng, beside(ids, answers)))},
        {
            "score": (forward + backward) / 2,
            "forward_auc": forward,
            "reverse_auc": backward,
            "against": float(sk.roc_auc_score([label == -1 for label in gold], answers)),
        },
    )


@task
def eurozone_gdp(rng: Team) -> Case:
    gold_files: Files = {}
    sent: Files = {}
    values: Values = {}
    for name in ("test", "private_test"):
        keys = [(country, f"201{year}-03-01") for country in ("AT", "BE", "EL") for year in range(8)]
        gold = [round(rng.gauss(0.5, 1), 2) for _ in keys]
        answers = [near(rng, value, 0.5, -3, 3) for value in gold]
        rows = beside(keys, gold)
        gold_files[f"{name}_labels.csv"] = csv_of("country,Time,GDP_growth", rows)
        sent[f"{name}_predictions.csv"] = csv_of("GDP_growth_pred", [[answer] for answer in answers])
        values |= {
            f"{name}_rmse": float(sk.root_mean_squared_error(gold, answers)),
            f"{name}_mae": float(sk.mean_absolute_error(gold, answers)),
            f"{name}_r2": float(sk.r2_score(gold, answers)),
        }
    return gold_files, sent, values


@task
def euclid_galaxies(rng: Team) -> Case:
    bins = ["0.0-0.5", "0.5-1.0", "1.0-2.0"]
    rows = [(f"g{i}", rng.choice([0, 1]) if i > 5 else i // 3, bins[i % 3]) for i in range(45)]
    answers = [min(0.99, max(0.01, near(rng, label, 0.4))) for _, label, _ in rows]
    answers = [round(one + i * 1e-6, 6) for i, one in enumerate(answers)]  # no two are equal
    losses = []
    for name in bins:
        right = [label for _, label, of in rows if of == name]
        given = [answer for (_, _, of), answer in zip(rows, answers, strict=True) if of == name]
        weights = [len(right) / (2 * right.count(label)) for label in right]
        losses.append(sk.log_loss(right, given, sample_weight=weights))
    labels = [label for _, label, _ in rows]
    precision, recall, _ = sk.precision_recall_curve(labels, answers)
    return (
        {"test_labels.csv": csv_of("object_id,y_quenched,z_bin", rows)},
        {"test_predictions.csv": csv_of("object_id,p_quenched", answered(rng, rows, answers))},
        {
            "log_loss": float(np.mean(losses)),
            "auprc": float(sk.average_precision_score(labels, answers)),
            "recall_p85": float(max(recall[precision >= 0.85])),
        },
    )


@task
def wvs_happiness(rng: Team) -> Case:
    gold_files: Files = {}
    sent: Files = {}
    values: Values = {}
    grades = [1, 2, 3, 4]
    for name in ("public", "private"):
        gold = [*grades, *(rng.choice(grades) for _ in range(26))]
        answers = [noisy(rng, grade, grades) for grade in gold]
        gold_files[f"test_{name}_labels.csv"] = csv_of("happiness", [[grade] for grade in gold])
        sent[f"test_{name}_predictions.csv"] = csv_of("happiness", [[grade] for grade in answers])
        kappa = sk.cohen_kappa_score(gold, answers, labels=grades, weights="quadratic")
        values |= {f"{name}_qwk": float(kappa), f"{name}_mae": float(sk.mean_absolute_error(gold, answers))}
    return gold_files, sent, values


@task
def m4_forecasts(rng: Team) -> Case:
    keys = [
        (f"{kind[0].upper()}{i}", step, kind)
        for kind in ("monthly", "yearly")
        for i in range(4)
        for step in range(1, 7)
    ]
    scale = {f"{letter}{i}": round(rng.uniform(5, 20), 3) for letter in "MY" for i in range(4)}
    gold = [round(rng.uniform(50, 150), 2) for _ in keys]
    answers = [near(rng, value, 20, 1, 200) for value in gold]
    apart = [abs(value - answer) for value, answer in zip(gold, answers, strict=True)]
    scaled = [one / scale[key[0]] for one, key in zip(apart, keys, strict=True)]
    relative = [200 * d / (abs(v) + abs(a)) for d, v, a in zip(apart, gold, answers, strict=True)]
    (monthly,) = kept([kind == "monthly" for _, _, kind in keys], scaled)
    rows = [(*key[:2], value, scale[key[0]], key[2]) for key, value in zip(keys, gold, strict=True)]
    sent = [(*key[:2], answer) for key, answer in zip(keys, answers, strict=True)]
    return (
        {"actual.csv": csv_of("series,step,value,scale,frequency", rows)},
        {"forecasts.csv": csv_of("series,step,value", shuffled(rng, sent))},
        {
            "smape": float(np.mean(relative)),
            "mase": float(np.mean(scaled)),
            "mase_monthly": float(np.mean(monthly)),
        },
    )


@task
def gefcom2014(rng: Team) -> Case:
    keys = [(f"zone{zone}", f"2011-01-0{day}") for zone in range(4) for day in range(1, 8)]
    gold = [round(rng.uniform(80, 160), 1) for _ in keys]
    quantiles = [q / 10 for q in range(1, 10)]
    answers = [[near(rng, value + 40 * (q - 0.5), 5, 10, 300) for q in quantiles] for value in gold]
    if rng.manner == "perfect":
        answers = [[value] * 9 for value in gold]
    losses = {}
    for at, q in enumerate(quantiles):
        losses[f"p{round(100 * q)}"] = float(sk.mean_pinball_loss(gold, [row[at] for row in answers], alpha=q))
    header = ",".join(["zone", "time", *(f"q{10 * q}" for q in range(1, 10))])
    return (
        {"load.csv": csv_of("zone,time,load", beside(keys, gold))},
        {"forecast.csv": csv_of(header, shuffled(rng, beside(keys, answers)))},
        {**losses, "loss": sum(losses.values()) / 9},
    )


@task
def plasticc2018(rng: Team) -> Case:
    classes = [6, 15, 16, 42, 52, 53, 62, 64, 65, 67, 88, 90, 92, 95, 99]
    gold = classes * 3
    drawn = np.array([[rng.random() + 0.02 for _ in classes] for _ in gold])
    for row, label in zip(drawn, gold, strict=True):
        row[classes.index(noisy(rng, label, classes))] += 6
    if rng.manner == "constant":
        drawn[:] = drawn[0]
    drawn = drawn.round(4)
    p = drawn / drawn.sum(axis=1, keepdims=True)
    losses = {f"loss_{one}": float(-np.log(p[np.equal(gold, one), at]).mean()) for at, one in enumerate(classes)}
    weights = [2 if one in (15, 64, 99) else 1 for one in classes]
    top, right = p.max(axis=1), [classes[at] == label for at, label in zip(p.argmax(axis=1), gold, strict=True)]
    places = np.ceil(top * 10).astype(int)
    off = [abs(sum(top[places == at]) - sum(np.array(right)[places == at])) for at in range(1, 11)]
    header = ",".join(["object_id", *(f"class_{one}" for one in classes)])
    return (
        {"truth.csv": csv_of("object_id,target", [(f"o{i}", label) for i, label in enumerate(gold)])},
        {"submission.csv": csv_of(header, shuffled(rng, [(f"o{i}", *row) for i, row in enumerate(drawn.tolist())]))},
        {
            **losses,
            "loss": float(np.dot(weights, list(losses.values()))) / sum(weights),
            "auc": float(sk.roc_auc_score(gold, p, multi_class="ovr", average="macro")),
            "top2": float(sk.top_k_accuracy_score(gold, p, k=2, labels=classes)),
            "ece": float(sum(off) / len(gold)),
        },
    )


def runs(pixels: set[int]) -> str:
    """The run lengths of pixels."""
    found: list[int] = []
    for one in sorted(pixels):
        if found and one == found[-2] + found[-1]:
            found[-1] += 1
        else:
            found += [one, 1]
    return " ".join(map(str, found))


@task
def carvana2017(rng: Team) -> Case:
    gold, answers = [], []
    for _ in range(12):
        start = rng.randint(1, 60)
        gold.append(set(range(start, start + 25)))
        answers.append(some(rng, gold[-1], range(1, 90)))
    gold[0] = set()
    rows = [[(f"car_{i:02}.jpg", runs(one)) for i, one in enumerate(side)] for side in (gold, answers)]
    return (
        {"truth.csv": csv_of("img,rle_mask", rows[0])},
        {"submission.csv": csv_of("img,rle_mask", shuffled(rng, rows[1]))},
        {"dice": mean_dice(gold, answers)},
    )


@task
def higgs2014(rng: Team) -> Case:
    gold = [("s" if i % 4 == 0 else "b", round(rng.uniform(0.1, 3), 3)) for i in range(48)]
    answers = [noisy(rng, label, ["b", "s"]) for label, _ in gold]
    ranks = shuffled(rng, list(range(1, 49)))
    selected = [row for row, answer in zip(gold, answers, strict=True) if answer == "s"]
    signal = sum(weight for label, weight in selected if label == "s")
    background = sum(weight for label, weight in selected if label == "b") + 10
    ams = np.sqrt(2 * ((signal + background) * np.log1p(signal / background) - signal))
    sent = [(350000 + i, rank, answer) for i, (rank, answer) in enumerate(zip(ranks, answers, strict=True))]
    return (
        {"solution.csv": csv_of("EventId,Class,Weight", [(350000 + i, *row) for i, row in enumerate(gold)])},
        {"submission.csv": csv_of("EventId,RankOrder,Class", shuffled(rng, sent))},
        {"ams": float(ams)},
    )


@task
def aptos2019(rng: Team) -> Case:
    grades, clinics = [0, 1, 2, 3, 4], ["north", "south", "west"]
    gold = [*grades, *(rng.choice(grades) for _ in range(40))]
    answers = [noisy(rng, grade, grades) for grade in gold]
    spread = [clinics[i % 3] for i in range(45)]
    rows = [(f"{i:012x}", grade, clinic) for i, (grade, clinic) in enumerate(zip(gold, spread, strict=True))]
    return (
        {"solution.csv": csv_of("id_code,diagnosis,clinic", rows)},
        {
            "submission.csv": csv_of(
                "id_code,diagnosis", shuffled(rng, [(f"{i:012x}", one) for i, one in enumerate(answers)])
            )
        },
        {
            "kappa": float(sk.cohen_kappa_score(gold, answers, labels=grades, weights="quadratic")),
            "mcc": float(sk.matthews_corrcoef(gold, answers)),
            "balanced_accuracy": float(sk.balanced_accuracy_score(gold, answers)),
            "accuracy_by_clinic": mean_over(spread, gold, answers, sk.accuracy_score),
        },
    )
