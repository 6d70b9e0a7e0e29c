"""The examples of docs/any-file.md, as they stand there: built and dry-run, and their values computed another way."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from gen_bundle.declaration.source import parse_value
from gen_bundle.ground.resources import REAL_TASKS
from scoring_kit.errors import SubmissionError
from tests.docs.pages import BLOCK, DOCS, run_here
from tests.scoring_programs.declared.arrays_as_files import nifti, npz, png
from tests.scoring_programs.declared.declaring import csv_of, options_of, score
from tests.sweeps import sweep

Files = dict[str, str | bytes]
Case = tuple[Files, Files, dict[str, float]]
"""The gold, a submission, and the value of each column."""
Array = NDArray[Any]

EXAMPLES: dict[str, dict[str, str]] = defaultdict(dict)
"""Name → file → text."""
PAGE = (DOCS / "any-file.md").read_text(encoding="utf-8")
for _, title, text in BLOCK.findall(PAGE):
    if title:
        example, _, file = title.partition("/")
        EXAMPLES[example][file] = text

BESIDE = {"terms": {"is_a.tsv": "kinase\tenzyme\nenzyme\tprotein\nkinase\tbinder\nbinder\tprotein\nchannel\tprotein\n"}}
"""What an example's text says lies beside bundle.yaml."""


def images() -> Case:
    """Two photographs with noise, of which the first has no colours."""
    rng = np.random.default_rng(1)
    gold: dict[str, Array] = {"a": rng.integers(0, 256, (20, 22)), "b": rng.integers(0, 256, (21, 20, 3))}
    said = {name: np.clip(one + rng.normal(0, 25, one.shape), 0, 255) for name, one in gold.items()}
    golds, saids = ({name: one.astype("u1") for name, one in side.items()} for side in (gold, said))
    pairs = [(golds[name][4:-4, 4:-4] / 1.0, saids[name][4:-4, 4:-4] / 1.0) for name in gold]
    psnr = [20 * np.log10(255 * np.sqrt(one.size) / np.linalg.norm(one - other)) for one, other in pairs]
    values = {"psnr": float(np.mean(psnr)), "ssim": float(np.mean([ssim(*pair) for pair in pairs]))}
    return (
        {f"{name}_hr.png": png(one) for name, one in golds.items()},
        {f"{name}.png": png(one) for name, one in saids.items()},
        values,
    )


def ssim(one: Array, other: Array) -> float:
    """Wang et al. (2004), formula 13, from the weighted values of each window."""
    if one.ndim == 3:
        return float(np.mean([ssim(one[..., i], other[..., i]) for i in range(3)]))
    bell = np.exp(-(np.arange(-5, 6) ** 2) / (2 * 1.5**2))
    weights = np.outer(bell, bell).ravel()
    found = []
    windows = (sliding_window_view(image, (11, 11)).reshape(-1, 121) for image in (one, other))
    for left, right in zip(*windows, strict=True):
        means = np.average([left, right], axis=1, weights=weights)
        (a, ab), (_, b) = np.cov([left, right], aweights=weights, ddof=0)
        luminance = (2 * means.prod() + 6.5025) / ((means**2).sum() + 6.5025)
        found.append(luminance * (2 * ab + 58.5225) / (a + b + 58.5225))
    return float(np.mean(found))


def volumes() -> Case:
    """Three organs, of which one was not found."""
    rng = np.random.default_rng(2)
    sites, spacings = {"c1": "Ghent", "c2": "Ghent", "c3": "Lier"}, {"c1": "1 1 2.5", "c2": "2 1 1", "c3": "1 1 1"}
    golds = {name: np.zeros((9, 8, 7), "u1") for name in sites}
    for i, one in enumerate(golds.values()):
        one[2 : 6 + i, 1:6, 1:5] = 1
    saids = {name: np.roll(one, 1, axis=1) * np.uint8(rng.random(one.shape) < 0.8) for name, one in golds.items()}
    saids["c3"] *= 0
    dice, distance = {}, {}
    for name, gold in golds.items():
        true, said = ({tuple(place) for place in np.argwhere(side).tolist()} for side in (gold, saids[name]))
        dice[name] = 2 * len(true & said) / (len(true) + len(said))
        if not said:
            distance[name] = 400.0
            continue
        sizes = np.array(spacings[name].split(), float)
        between = cdist(border(true) * sizes, border(said) * sizes)
        distance[name] = float(np.percentile([*between.min(axis=1), *between.min(axis=0)], 95))
    values = {
        "dice": sum(dice.values()) / 3,
        "hd95": sum(distance.values()) / 3,
        "hd95_by_site": ((distance["c1"] + distance["c2"]) / 2 + distance["c3"]) / 2,
    }
    rows = [(name, sites[name], spacings[name]) for name in golds]
    gold_files: Files = {f"{name}_gt.nii.gz": nifti(one) for name, one in golds.items()}
    return (
        {**gold_files, "cases.csv": csv_of("case,site,spacing", rows)},
        {f"{name}.nii.gz": nifti(one) for name, one in saids.items()},
        values,
    )


def border(voxels: set[tuple[int, ...]]) -> Array:
    """The voxels of which one of the six neighbours is outside."""
    steps = np.vstack([np.eye(3, dtype=int), -np.eye(3, dtype=int)])
    outer = [one for one in voxels if not {tuple(place) for place in np.add(one, steps).tolist()} <= voxels]
    return np.array(outer)


def depth() -> Case:
    """Four rooms, one of which has no pixel that was measured."""
    rng = np.random.default_rng(3)
    scenes = {"s1": ("hall", 1), "s2": ("hall", 3), "s3": ("attic", 2), "s4": ("attic", 9)}
    golds = {name: rng.uniform(1, 9, (5, 6)) * (rng.random((5, 6)) < 0.7) for name in scenes}
    golds["s4"] *= 0
    saids = {name: rng.uniform(0.7, 1.4, (5, 6)) * np.where(one, one, 1) for name, one in golds.items()}
    counted = {}
    for name, gold in golds.items():
        flags = [int(max(a / b, b / a) < 1.25) for a, b in zip(gold.ravel(), saids[name].ravel(), strict=True) if a]
        counted[name] = (sum(flags), len(flags))
    values = {
        "near": share(counted, dict.fromkeys(scenes, 1)),
        "near_by_kind": (share(counted, {"s1": 1, "s2": 1}) + share(counted, {"s3": 1})) / 2,
        "near_weighted": share(counted, {name: weight for name, (_, weight) in scenes.items()}),
    }
    gold_files: Files = {f"{name}.npz": npz(metres=one) for name, one in golds.items()}
    rows = [(name, *of_scene) for name, of_scene in scenes.items()]
    return (
        {**gold_files, "scenes.csv": csv_of("scene,kind,importance", rows)},
        {f"{name}.npz": npz(metres=one) for name, one in saids.items()},
        values,
    )


def share(counted: Mapping[str, tuple[int, int]], weights: Mapping[str, int]) -> float:
    right, all_pixels = (sum(counted[name][i] * weight for name, weight in weights.items()) for i in (0, 1))
    return right / all_pixels


def terms() -> Case:
    """Terms with all above them, from the powers of the matrix of arrows."""
    names = ["kinase", "enzyme", "binder", "channel", "protein"]
    arrows = np.eye(5, dtype=int)
    for line in BESIDE["terms"]["is_a.tsv"].splitlines():
        low, high = map(names.index, line.split("\t"))
        arrows[low, high] = 1
    reached = np.linalg.matrix_power(arrows, 5) > 0
    rng = random.Random(4)
    rows = {side: {f"p{i}": rng.sample(names, rng.randint(1, 3)) for i in range(30)} for side in ("gold", "said")}
    rows["said"]["p7"] = []
    flags = {
        side: np.array([reached[[*map(names.index, one)]].any(axis=0) for one in of_side.values()])
        for side, of_side in rows.items()
    }
    value = 2 * (flags["gold"] & flags["said"]).sum() / (flags["gold"].sum() + flags["said"].sum())
    gold, said = (
        csv_of("protein,terms", [(key, "|".join(one)) for key, one in side.items()]) for side in rows.values()
    )
    return {"gold.csv": gold}, {"predictions.csv": said}, {"f1": float(value)}


def trees() -> Case:
    """Chains of words; what is wrong in the answer is made so: a head, a relation, and a word that is cut in two."""
    gold: Files = {}
    for text, number in (("one", 3), ("two", 2)):
        gold[f"{text}.conllu"] = "# a comment\n" + "\n".join(conllu(range(6)) for _ in range(number))
    said = dict(gold)
    wrong_head = conllu(range(6)).replace("\t4\tdep", "\t3\tdep")
    wrong_relation = conllu(range(6)).replace("\t2\tdep", "\t2\tobj")
    cut = conllu(range(7), {5: "w", 6: "ord5"})
    said["two.conllu"] = "\n".join([wrong_head, wrong_relation])
    said["one.conllu"] = "\n".join([cut, conllu(range(6)), conllu(range(6))])
    return gold, said, {"las": 2 * (30 - 3) / (30 + 31)}


def conllu(places: range, forms: Mapping[int, str] | None = None) -> str:
    """A sentence whose words each have the word before as head."""
    given = forms or {}
    rows = [(i + 1, given.get(i, f"word{i}"), "_", "_", "_", "_", i, "dep", "_", "_") for i in places]
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def boxes() -> Case:
    """Boxes of whole pixels, whose overlaps are counted pixel by pixel; precision and recall at every threshold."""
    rng = random.Random(5)
    gold: dict[str, list[tuple[Any, ...]]] = {}
    said: dict[str, list[tuple[Any, ...]]] = {}
    scores = iter(rng.sample(range(1, 1000), 400))
    for i in range(8):
        gold[f"i{i}"] = [(rng.choice(["car", "person"]), *drawn_box(rng)) for _ in range(rng.randint(1, 5))]
        near = [
            (kind, next(scores) / 1000, x, y, right + rng.randint(0, 4), low + rng.randint(0, 3))
            for kind, x, y, right, low in gold[f"i{i}"]
        ]
        far = [(rng.choice(["car", "person"]), next(scores) / 1000, *drawn_box(rng)) for _ in range(3)]
        said[f"i{i}"] = rng.sample(near + far, len(near) + 3)
    said["i0"] = []
    values = {}
    for key, least in (("ap50", 0.5), ("ap75", 0.75)):
        values[key] = sum(swept_ap(gold, said, kind, least) for kind in ("car", "person")) / 2
    return lines(gold), lines(said), values


def drawn_box(rng: random.Random) -> tuple[int, int, int, int]:
    left, top = rng.randint(0, 30), rng.randint(0, 30)
    return left, top, left + rng.randint(4, 15), top + rng.randint(4, 15)


def lines(rows: Mapping[str, list[tuple[Any, ...]]]) -> Files:
    return {f"{name}.txt": "".join(" ".join(map(str, row)) + "\n" for row in of) for name, of in rows.items()}


def pixels(box: tuple[int, ...]) -> set[tuple[int, int]]:
    return {(x, y) for x in range(box[0], box[2]) for y in range(box[1], box[3])}


def swept_ap(gold: Mapping[str, Any], said: Mapping[str, Any], kind: str, least: float) -> float:
    """The mean over the recalls that there are of the best precision from there on, by trying every score."""
    points = []
    for threshold in sorted({row[1] for rows in said.values() for row in rows if row[0] == kind}):
        right = shown = number = 0
        for name, rows in gold.items():
            left = [pixels(row[1:]) for row in rows if row[0] == kind]
            number += len(left)
            kept = [row for row in said[name] if row[0] == kind and row[1] >= threshold]
            shown += len(kept)
            for row in sorted(kept, key=lambda row: row[1], reverse=True):
                own = pixels(row[2:])
                overlaps = [len(own & one) / len(own | one) for one in left]
                if overlaps and max(overlaps) >= least:
                    left.pop(overlaps.index(max(overlaps)))
                    right += 1
        points.append((right / number, right / shown))
    recalls = [(i + 1) / number for i in range(number)]
    return sum(max((p for r, p in points if r >= recall - 1e-9), default=0.0) for recall in recalls) / number


CASES = {case.__name__: case for case in (images, volumes, depth, terms, trees, boxes)}


def test_there_is_a_case_for_each_example() -> None:
    assert list(EXAMPLES) == list(CASES)


def test_the_tasks_that_the_page_names_are_there() -> None:
    named = re.findall(
        r"`([a-z0-9-]+)`", PAGE.partition("`gen-bundle new my-task --like NAME`")[2].partition("\n\n")[0]
    )
    assert named
    assert all((REAL_TASKS / name).is_dir() for name in named)


def written(name: str, folder: Path) -> dict[str, Any]:
    """Write an example's files beside each other; returns what its declaration says."""
    for file, text in {**EXAMPLES[name], **BESIDE.get(name, {})}.items():
        (folder / file).write_text(text, encoding="utf-8")
    declared: dict[str, Any] = parse_value(EXAMPLES[name]["bundle.yaml"])
    return declared


@pytest.mark.parametrize("name", CASES)
def test_an_example_gives_the_values_of_another_computation(name: str, tmp_path: Path) -> None:
    options = options_of(written(name, tmp_path), tmp_path)
    gold, said, values = CASES[name]()
    found = score(options, gold, said, tmp_path / "scored")
    assert {key: found.value(key) for key in values} == pytest.approx(values, abs=1e-9)


def test_what_is_no_tree_is_refused(tmp_path: Path) -> None:
    options = options_of(written("trees", tmp_path), tmp_path)
    gold, said, _ = trees()
    circle = conllu(range(3)).replace("\t0\tdep", "\t3\tdep")
    wrong: dict[str, str | bytes] = {
        r"^one\.conllu:4: ends a sentence that is no tree": circle,
        r"^one\.conllu:1: 2 cells": "1\tword\n",
        r"^one\.conllu:1: 1 cells": b"\xff\xfe",
    }
    for i, (problem, content) in enumerate(wrong.items()):
        with pytest.raises(SubmissionError, match=problem):
            score(options, gold, {**said, "one.conllu": content}, tmp_path / f"scored{i}")


@pytest.mark.slow
@pytest.mark.usefixtures("runs_in_forks")
@pytest.mark.parametrize("name", sweep(CASES, ["terms"]))
def test_an_example_is_built_and_tried(name: str, tmp_path: Path) -> None:
    """As its page says: in place of what `gen-bundle new` wrote, with the files of a task that are made here."""
    assert run_here(["gen-bundle", "new", "my-task"], tmp_path).returncode == 0
    task = tmp_path / "my-task"
    begun = (task / "bundle.yaml").read_text(encoding="utf-8").partition("# Rows are matched")[0]
    written(name, task)
    (task / "bundle.yaml").write_text(begun + EXAMPLES[name]["bundle.yaml"], encoding="utf-8")
    shutil.rmtree(task / "data")
    gold, said, values = CASES[name]()
    for phase in ("dev", "test"):
        for place, files in ((f"data/{phase}", gold), (f"data/baselines/{phase}/near", said)):
            for file, content in files.items():
                (task / place).mkdir(parents=True, exist_ok=True)
                (task / place / file).write_bytes(content.encode() if isinstance(content, str) else content)
    tried = run_here(["gen-bundle", "try", "my-task", "--engine", "process"], tmp_path)
    assert tried.returncode == 0, tried.stdout + tried.stderr
    (scores,) = tmp_path.glob("my-task-try/dry-run/test/*/near/output/scores.json")
    found = json.loads(scores.read_text(encoding="utf-8"))
    assert {key: found[key] for key in values} == pytest.approx(values, abs=1e-4)
