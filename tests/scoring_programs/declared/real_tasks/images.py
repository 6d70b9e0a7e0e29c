"""Tasks of images and volumes: segmentation, boxes, landmarks, tracks, restored photographs, depth."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.spatial.distance import cdist
from sklearn import metrics as sk

from tests.scoring_programs.declared.arrays_as_files import nifti, png_of
from tests.scoring_programs.declared.real_tasks.making import Case, Team, csv_of, near, noisy, task

Array = Any
KINDS = {1: 0, 3: 2}
"""Number of colours → the kind of a PNG."""


def arrays(rng: Team) -> np.random.Generator:
    return np.random.default_rng(rng.getrandbits(32))


def answered(rng: Team, draw: np.random.Generator, gold: Array, values: Sequence[int]) -> Array:
    """An array in answer to one of these values."""
    if rng.manner == "perfect":
        return gold
    if rng.manner == "constant":
        return np.full_like(gold, values[0])
    drawn = draw.choice(values, gold.shape).astype(gold.dtype)
    return np.where(draw.random(gold.shape) < 0.8, gold, drawn) if rng.manner == "mixed" else drawn


def png(image: Array) -> bytes:
    """A PNG of greys or colours, of as many bits as the array's numbers have."""
    rows = image.astype(image.dtype.newbyteorder(">"))
    colours = 1 if image.ndim == 2 else image.shape[2]
    return png_of(8 * image.itemsize, KINDS[colours], [row.tobytes() for row in rows], image.shape[1])


def palette(image: Array) -> bytes:
    return png_of(8, 3, [row.tobytes() for row in image], image.shape[1])


@task
def kits19(rng: Team) -> Case:
    draw = arrays(rng)
    gold = {f"002{at}": draw.integers(0, 3, (4, 5, 3)).astype("u1") for at in range(10, 15)}
    gold["00214"][gold["00214"] == 2] = 1
    answers = {case: answered(rng, draw, mask, [0, 1, 2]) for case, mask in gold.items()}
    found = {}
    for name, lowest in (("kidney", 1), ("tumour", 2)):
        each = []
        for case, mask in gold.items():
            sides = [side.ravel().tolist() for side in (mask >= lowest, answers[case] >= lowest)]
            each.append(float(sk.f1_score(*sides, zero_division=1.0)))
        found[name] = sum(each) / len(each)
    return (
        {f"case_{case}/segmentation.nii.gz": nifti(mask) for case, mask in gold.items()},
        {f"prediction_{case}.nii.gz": nifti(mask) for case, mask in answers.items()},
        {**found, "composite": (found["kidney"] + found["tumour"]) / 2},
    )


@task
def isic2018_1(rng: Team) -> Case:
    draw = arrays(rng)
    gold = {f"ISIC_00122{at}": (draw.integers(0, 2, (9, 7)) * 255).astype("u1") for at in range(36, 44)}
    answers = {image: answered(rng, draw, mask, [0, 255]) for image, mask in gold.items()}
    pairs = [(gold[image].ravel() == 255, answers[image].ravel() == 255) for image in gold]
    jaccard = [float(sk.jaccard_score(*pair)) for pair in pairs]
    return (
        {f"{image}_segmentation.png": png(mask) for image, mask in gold.items()},
        {f"{image}_segmentation.png": png(mask) for image, mask in answers.items()},
        {
            "threshold_jaccard": float(np.mean([one if one >= 0.65 else 0 for one in jaccard])),
            "jaccard": float(np.mean(jaccard)),
            "dice": float(np.mean([sk.f1_score(*pair) for pair in pairs])),
        },
    )


VOC = """background aeroplane bicycle bird boat bottle bus car cat chair cow diningtable dog horse motorbike person
pottedplant sheep sofa train tvmonitor"""


@task
def voc2012_segmentation(rng: Team) -> Case:
    draw, classes = arrays(rng), list(range(21))
    gold = {f"2008_0000{at}": draw.choice([*classes, 255], (9, 12)).astype("u1") for at in range(12, 17)}
    answers = {image: answered(rng, draw, mask % 255, classes) for image, mask in gold.items()}
    right, given = (np.concatenate([side[image].ravel() for image in gold]) for side in (gold, answers))
    table = sk.confusion_matrix(right[right < 255], given[right < 255], labels=classes)
    ious = 100 * table.diagonal() / (table.sum(0) + table.sum(1) - table.diagonal())
    return (
        {f"{image}.png": palette(mask) for image, mask in gold.items()},
        {f"results/VOC2012/Segmentation/comp6_test_cls/{image}.png": palette(mask) for image, mask in answers.items()},
        {**dict(zip(VOC.split(), ious.tolist(), strict=True)), "mean_iou": float(ious.mean())},
    )


@task
def kitti_depth(rng: Team) -> Case:
    draw = arrays(rng)
    gold = {f"{at:010}": draw.integers(256, 20000, (6, 8)).astype("u2") for at in range(5)}
    answers = {image: answered(rng, draw, depth, list(range(200, 25000, 7))) for image, depth in gold.items()}
    for depth in gold.values():
        depth[draw.random(depth.shape) < 0.3] = 0
    answers = {image: np.maximum(depth, 1) for image, depth in answers.items()}
    rows = []
    for image, depth in gold.items():
        pairs = [(d / 256, a / 256) for d, a in zip(depth.flat, answers[image].flat, strict=True) if d]
        n = len(pairs)
        logs = [float(np.log(d) - np.log(a)) for d, a in pairs]
        spread = sum(one**2 for one in logs) / n - (sum(logs) / n) ** 2
        squared, absolute = sum(((a - d) / d) ** 2 for d, a in pairs), sum(abs(a / d - 1) for d, a in pairs)
        inverse = sum((1000 / a - 1000 / d) ** 2 for d, a in pairs)
        rows.append((100 * max(spread, 0) ** 0.5, 100 * squared / n, 100 * absolute / n, (inverse / n) ** 0.5))
    means = np.mean(rows, axis=0).tolist()
    return (
        {f"{image}.png": png(depth) for image, depth in gold.items()},
        {f"{image}.png": png(depth) for image, depth in answers.items()},
        dict(zip(("silog", "sq_rel", "abs_rel", "irmse"), means, strict=True)),
    )


@task
def ntire2020_dehazing(rng: Team) -> Case:
    draw = arrays(rng)
    gold = {str(at): draw.integers(0, 256, (10, 12, 3)).astype("u1") for at in range(51, 55)}
    answers = {image: answered(rng, draw, photograph, range(256)) for image, photograph in gold.items()}
    psnr, ssim = [], []
    for image, photograph in gold.items():
        one, other = photograph.astype(float), answers[image].astype(float)
        error = np.mean((one - other) ** 2)
        psnr.append(20 * np.log10(255) - 10 * np.log10(error) if error else 100.0)
        windows = [sliding_window_view(side, (7, 7, 1)).reshape(-1, 49) for side in (one, other)]
        each = []
        for x, y in zip(*windows, strict=True):
            (xx, xy), (_, yy) = np.cov(x, y)
            light = (2 * x.mean() * y.mean() + 6.5025) / (x.mean() ** 2 + y.mean() ** 2 + 6.5025)
            each.append(light * (2 * xy + 58.5225) / (xx + yy + 58.5225))
        ssim.append(np.mean(each))
    return (
        {f"{image}.png": png(photograph) for image, photograph in gold.items()},
        {f"{image}.png": png(photograph) for image, photograph in answers.items()},
        {"psnr": float(np.mean(psnr)), "ssim": float(np.mean(ssim))},
    )


def boxes_overlap(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Intersection and union of two boxes, from the lengths that they share in each direction."""
    shared = [max(0.0, min(one[i] + one[i + 2], other[i] + other[i + 2]) - max(one[i], other[i])) for i in (0, 1)]
    both = shared[0] * shared[1]
    return both, one[2] * one[3] + other[2] * other[3] - both


def precision_at_recalls(images: Sequence[Any], category: int, least: float) -> float:
    """Average precision of a category: at each of 101 recalls the best precision that reaches it."""
    found: list[tuple[float, bool]] = []
    there = 0
    for things, boxes in images:
        own = [thing for thing in things if thing["category_id"] == category]
        there += sum(not thing["iscrowd"] for thing in own)
        taken: set[int] = set()
        for box in sorted((box for box in boxes if box["category_id"] == category), key=lambda box: -box["score"]):
            possible = []
            for thing in own:
                both, either = boxes_overlap(box["bbox"], thing["bbox"])
                overlap = both / (box["bbox"][2] * box["bbox"][3] if thing["iscrowd"] else either)
                if thing["id"] not in taken and overlap >= least:
                    possible.append((1 - thing["iscrowd"], overlap, thing["id"]))
            if not possible:
                found.append((box["score"], False))
            elif max(possible)[0]:
                taken.add(max(possible)[2])
                found.append((box["score"], True))
    found.sort(key=lambda one: -one[0])
    hits = np.cumsum([hit for _, hit in found])
    points = [(hit / there, hit / n) for n, hit in enumerate(hits.tolist(), 1)]
    asked = np.linspace(0, 1, 101).tolist()  # which are not quite the hundredths
    return sum(max([precision for recall, precision in points if recall >= one], default=0) for one in asked) / 101


@task
def coco2017_boxes(rng: Team) -> Case:
    categories = [1, 3, 18]
    images = [397133, 37777, 252219, 87038, 174482, 403385]
    things: list[dict[str, Any]] = []
    sent: list[dict[str, Any]] = []
    for image in images[:-1]:  # in the last there is nothing
        for _ in range(6):
            bbox = [rng.randint(0, 60), rng.randint(0, 60), rng.randint(10, 40), rng.randint(10, 40)]
            crowd = int(len(things) % 9 == 8)
            thing = {"image_id": image, "category_id": rng.choice(categories), "bbox": bbox, "iscrowd": crowd}
            things.append({"id": len(things) + 1, **thing, "area": bbox[2] * bbox[3], "segmentation": []})
    for one in things:
        for _ in range(1 if rng.manner == "perfect" else 3):
            answer = [near(rng, side, 3, 5, 60) for side in one["bbox"]]
            category = noisy(rng, one["category_id"], categories)
            score = len(sent) / 1000 if rng.manner == "constant" else round(rng.random(), 6)
            sent.append({"image_id": one["image_id"], "category_id": category, "bbox": answer, "score": score})
    if rng.manner != "perfect":
        sent.append({"image_id": images[-1], "category_id": 1, "bbox": [1.0, 2.0, 3.5, 4.0], "score": 0.5})
    by_image = [[[one for one in side if one["image_id"] == image] for side in (things, sent)] for image in images]
    each = {}
    for least in np.linspace(0.5, 0.95, 10):
        each[round(least, 2)] = np.mean([precision_at_recalls(by_image, one, least) for one in categories])
    gold = {"images": [{"id": image} for image in images], "annotations": things}
    return (
        {"instances_test2017.json": json.dumps(gold), "images.csv": csv_of("image_id", [[one] for one in images])},
        {"detections_test-dev2017_mine_results.json": json.dumps(sent)},
        {"ap": float(np.mean(list(each.values()))), "ap50": float(each[0.5]), "ap75": float(each[0.75])},
    )


def pts(points: Array) -> str:
    lines = [f"{x:.3f} {y:.3f}\n" for x, y in points]
    return f"version: 1\nn_points:  {len(lines)}\n{{\n{''.join(lines)}}}\n"


@task
def ibug_300w(rng: Team) -> Case:
    draw = arrays(rng)
    gold = {f"indoor_00{at}": draw.uniform(50, 400, (68, 2)).round(3) for at in range(1, 7)}
    spread = {"mixed": 20, "random": 90, "perfect": 0, "constant": 0}[rng.manner]
    answers = {}
    for image, points in gold.items():
        answers[image] = (points + draw.normal(0, spread * draw.random() + 1e-9, points.shape)).round(3)
        if rng.manner == "constant":
            answers[image] = np.zeros_like(points)
    errors = []
    for image, points in gold.items():
        errors.append(np.mean(cdist(points, answers[image]).diagonal()) / cdist(points, points)[36, 45])
    within = np.clip(0.08 - np.array(errors), 0, None)
    return (
        {f"{image}.pts": pts(points) for image, points in gold.items()},
        {f"{image}.pts": pts(points) for image, points in answers.items()},
        {
            "nme": float(np.mean(errors)),
            "auc": float(np.mean(within) / 0.08),
            "failures": float(np.mean(np.array(errors) > 0.08)),
        },
    )


@task
def got10k(rng: Team) -> Case:
    gold_files, sent = {}, {}
    overlaps = []
    for video in (f"GOT-10k_Test_00000{at}" for at in range(1, 5)):
        gold, boxes = [], []
        for frame in range(8):
            box = [round(rng.uniform(-5, 90), 4) for _ in range(2)] + [round(rng.uniform(5, 40), 4) for _ in range(2)]
            gold.append((*box, rng.choice([0, 3, 8, 8]), 100, 80))
            boxes.append([near(rng, side, 4, 0, 90) if frame else side for side in box])
        gold_files[f"{video}/groundtruth.txt"] = csv_of("x,y,w,h,cover,width,height", gold).partition("\n")[2]
        sent[f"{video}/{video}_001.txt"] = csv_of("x,y,w,h", boxes).partition("\n")[2]
        for right, answer in zip(gold[1:], boxes[1:], strict=True):
            within = []
            for side in (np.array(right), np.array(answer)):
                corner = side[:2].clip(0, [100, 80])
                within.append([*corner, *np.minimum(side[2:4], [100, 80] - corner)])
            both, either = boxes_overlap(*within)
            if right[4] > 0:
                overlaps.append(both / either if either else 0.0)
    return (
        gold_files,
        sent,
        {
            "ao": float(np.mean(overlaps)),
            "sr50": float(np.mean(np.array(overlaps) > 0.5)),
            "sr75": float(np.mean(np.array(overlaps) > 0.75)),
        },
    )
