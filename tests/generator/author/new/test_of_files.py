"""Competitions whose answers are files: recipes of them, and folders of masks in every format and under usual names."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gen_bundle.author.new.of_files import is_of_arrays, masks_of, new_of_masks, new_of_recipe
from gen_bundle.author.new.project import Place, yaml_text
from gen_bundle.cli.new import OF_FILES
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import MADE_UP
from tests.generator.author.new.making import bundled, scores
from tests.scoring_programs.declared.arrays_as_files import nifti, npy, npz, png, png_of
from tests.sweeps import sweep

pytestmark = pytest.mark.usefixtures("kept_organisers")
DRAW = np.random.default_rng(5)
FLAT = DRAW.integers(0, 3, (6, 9)).astype("u1")
CUBE = DRAW.integers(0, 3, (4, 5, 6)).astype("i2")
WRITERS: dict[str, tuple[Callable[[Any], bytes], Any]] = {
    "{case}.png": (png, FLAT),
    "{case}_mask.png": (lambda one: png(one * 120), FLAT),
    "{case}/mask.npy": (npy, CUBE),
    "labels/{case}.npz": (lambda one: npz(image=np.ones(3), gts=one), CUBE),
    "{case}/{case}_seg.nii.gz": (nifti, CUBE),
    "{case}.nii": (partial(nifti, packed=False), CUBE + 1),
}


def written(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def golds(folder: Path, pattern: str, start: int) -> Path:
    write, array = WRITERS[pattern]
    names = [pattern.replace("{case}", f"p{start + i}") for i in range(3)]
    return written(folder, {name: write(np.roll(array, i + start)) for i, name in enumerate(names)})


@pytest.mark.slow
@pytest.mark.parametrize("pattern", sweep(WRITERS, ["{case}_mask.png"]))
def test_a_folder_of_masks_is_a_segmentation_task(pattern: str, tmp_path: Path) -> None:
    folders = {phase: golds(tmp_path / phase, pattern, 5 * at) for at, phase in enumerate(("dev", "test"))}
    written(folders["test"], {"p5_image.jpg": b"of the case", "__MACOSX/._p5.png": b"junk"})
    assert all(map(is_of_arrays, folders.values()))
    found = {phase: masks_of(folder) for phase, folder in folders.items()}
    assert found["test"].pattern == pattern
    assert list(found["test"].files) == ["p5", "p6", "p7"]
    array = WRITERS[pattern][1]
    expected = {0, *(np.unique(array) * (120 if "_mask" in pattern else 1)).tolist()}
    assert set(found["test"].values) == expected
    folder = new_of_masks(Place("made", tmp_path), found)
    bundled(folder)
    bundled(folder, data=folder / "example")


def test_images_beside_masks_are_left_out_and_stored_numbers_count(tmp_path: Path) -> None:
    greys = png_of(2, 0, [bytes([0b00011011])] * 2, 4)
    files = {f"{i}.png": png(FLAT + i) for i in range(3)} | {f"{i}_label.png": greys for i in range(3)}
    found = masks_of(written(tmp_path, files))
    assert (found.pattern, list(found.values), list(found.files)) == ("{case}_label.png", [0, 1, 2, 3], ["0", "1", "2"])


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.npy": npy(np.arange(90) / 7)}, "hold 90 different numbers, so that they are no masks"),
        ({"a.npy": npy(FLAT * 0)}, "its masks hold 0 alone"),
        ({"a.npy": npy(FLAT), "b.png": png(FLAT)}, "holds npy, png. Expected masks of one format"),
        ({"a.npy": npy(FLAT), "x/y/b.npy": npy(FLAT)}, r"its files are called \{case\}.npy, x/y/\{case\}.npy"),
        ({"a.npz": npz(x=FLAT, y=FLAT)}, "a.npz: holds x, y. Expected one of them: --answer NAME"),
        ({"a.npy": npy(FLAT)[:90], "b.npy": npy(FLAT)}, "a.npy: is cut off: it has 90 bytes of"),
        ({"a.png": png(np.dstack([FLAT] * 3))}, "holds colours. Expected greys, or a palette"),
    ],
)
def test_what_is_no_folder_of_masks_is_said(files: dict[str, bytes], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        masks_of(written(tmp_path, files))


@pytest.mark.slow
@pytest.mark.parametrize("recipe", OF_FILES)
def test_recipes_of_files_build_and_are_scored(recipe: str, tmp_path: Path) -> None:
    folder = new_of_recipe(Place("made", tmp_path), recipe)
    found = scores(bundled(folder).path)
    expected = {"segmentation": ["dice", "iou", "hd95"], "files": ["f1"]}[recipe]
    assert {tuple(one) for one in found.values()} == {tuple(expected)}
    assert all(0 < one[expected[0]] < 1 for one in found.values())
    bundled(folder, data=folder / "example")


def test_the_distance_of_outlines_is_that_of_all_pairs() -> None:
    spec = importlib.util.spec_from_file_location("recipe", MADE_UP / "segmentation" / "metrics.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def outline(mask: Any) -> Any:
        places = list(np.argwhere(mask))
        inside = {tuple(place) for place in places}
        steps = np.vstack([np.eye(mask.ndim, dtype=int), -np.eye(mask.ndim, dtype=int)])
        return np.array([place for place in places if not inside >= {tuple(place + step) for step in steps}])

    for seed in range(4):
        draw = np.random.default_rng(seed)
        gold, answer = (draw.integers(0, 2, (5, 6, 4)[: 2 + seed % 2]) for _ in range(2))
        distances = cdist(outline(gold == 1), outline(answer == 1))
        expected = np.percentile(np.concatenate([distances.min(axis=1), distances.min(axis=0)]), 95)
        assert module.hd95({"mask": gold}, {"mask": answer}, [1, 9]) == pytest.approx(expected)
    empty, some = {"mask": np.zeros((3, 3))}, {"mask": np.ones((3, 3))}
    assert module.hd95(empty, empty, [1]) is None
    assert np.isnan(module.hd95(empty, some, [1]))


def test_a_long_sentence_is_written_in_no_time() -> None:
    assert yaml_text("word " * 40 + "!") == '"' + "word " * 40 + '!"'
