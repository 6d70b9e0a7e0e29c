"""Competitions whose answers are files, built whole: template, kit, validator, and what is found of the gold."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gen_bundle.author.new.project import Place, new_package
from gen_bundle.ground.errors import UserError
from tests.generator.after.report.declared_task import declared_task
from tests.generator.build.looking import built, edit, kit_of, members
from tests.scoring_programs.declared.arrays_as_files import nifti, npy, npz, png
from tests.sweeps import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers")]

RNG = np.random.default_rng(3)
MASKS = {f"case{i}": RNG.integers(0, 3, (6, 7)).astype("u1") for i in range(4)}
CUBES = {name: np.dstack([one, one]) for name, one in MASKS.items()}
WRITERS: dict[str, tuple[Callable[[Any], bytes], dict[str, Any]]] = {
    "png": (png, MASKS),
    "npy": (npy, CUBES),
    "npz": (lambda one: npz(mask=one), CUBES),
    "nii": (partial(nifti, packed=False), CUBES),
    "nii.gz": (nifti, CUBES),
}
COLUMNS: list[dict[str, Any]] = [
    {"key": "dice", "metric": "dice"},
    {"key": "pooled", "metric": {"name": "iou", "average": "pooled"}},
]


def competition(folder: Path, suffix: str, values: list[int]) -> Path:
    """A segmentation task with a folder for each case, its gold and a baseline that is not quite right."""
    field: dict[str, Any] = {
        "field": "mask",
        "type": "array",
        "values": values,
        "required": True,
        "meaning": "The organ.",
    }
    submission = {"file": "{case}/mask." + suffix, "key": "case", "fields": [field]}
    made = declared_task(folder, submission, COLUMNS, reference={"file": "{case}_gold." + suffix})
    write, golds = WRITERS[suffix]
    for name, gold in golds.items():
        for place, one in (
            (f"test/{name}_gold.{suffix}", gold),
            (f"baselines/test/base/{name}/mask.{suffix}", gold[::-1]),
        ):
            (made / "data" / place).parent.mkdir(parents=True, exist_ok=True)
            (made / "data" / place).write_bytes(write(np.ascontiguousarray(one)))
    return made


@pytest.mark.parametrize("suffix", sweep(WRITERS, ["png", "nii.gz"]))
def test_a_segmentation_task_is_built_in_every_format(suffix: str, tmp_path: Path) -> None:
    folder = competition(tmp_path / "task", suffix, [0, 1, 2])
    one = built(folder)
    kit = kit_of(one.path, tmp_path / "kit")
    form = (kit / "FORMAT.md").read_text(encoding="utf-8")
    assert "an array of `0`, `1`, `2`, of the shape that it has in `template/`" in form
    assert f"case-1/mask.{suffix}" in form
    assert "| Field | Type |" not in form
    assert all((kit / f"template/{name}/mask.{suffix}").is_file() for name in MASKS)
    for sent, said in (
        ("template", "is valid. The numbers of its arrays are looked at when"),
        ("examples/valid.zip", "is valid"),
    ):
        command = [sys.executable, "-I", "-S", str(kit / "validate.pyz"), str(kit / sent)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert said in done.stdout
    assert {"cut-off.zip", "missing-file.zip", "other-file.zip"} <= {file.name for file in kit.rglob("*.zip")}
    assert not [note for note in one.notes if "file of bytes" in note]
    program = members(members(one.path)["scoring_programs/test-joint.zip"])
    assert json.loads(program["program.json"])["secrets"] == [{"name": f"*_gold.{suffix}"}]


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("again.nii", partial(nifti, packed=False)),
        ("train.npz", lambda one: npz(image=np.ones((9, 9)), labels=one)),
        ("seen.npy", lambda one: npy(one.astype("f4") * 60)),
    ],
)
def test_gold_is_found_in_other_files(name: str, write: Callable[[Any], bytes], tmp_path: Path) -> None:
    folder = competition(tmp_path / "task", "nii.gz", [0, 1, 2])
    (folder / "data/public").mkdir()
    (folder / "data/public" / name).write_bytes(write(CUBES["case1"]))
    with pytest.raises(UserError, match=r"has the array of the reference file case1_gold\.nii\.gz"):
        built(folder)


def test_a_file_of_one_line_is_found_by_its_bytes(tmp_path: Path) -> None:
    notes = {"a": "the patient is well again\n", "b": "MKTAYIAKQRQISFVKSHFSRQ", "c": "0 1 1 0 1 0 0 1 1 1 0 1 0 0"}
    field = {"field": "note", "type": "file", "required": True, "meaning": "A report."}
    made = declared_task(
        tmp_path / "task",
        {"file": "{case}.json", "key": "case", "fields": [field]},
        [{"key": "m", "metric": "metrics.py:same", "sort": "desc", "worst": 0}],
        reference={"file": "{case}.json"},
    )
    (made / "metrics.py").write_text("def same(gold, predicted):\n    return 1.0\n")
    (made / "data/test").mkdir(parents=True)
    (made / "data/public").mkdir()
    for name, note in {**notes, "short": "3"}.items():
        (made / f"data/test/{name}.json").write_text(note)
    (made / "data/public/other.json").write_text("3")
    built(made)
    for name, note in notes.items():
        (made / f"data/public/sample-{name}.txt").write_text(note)
    told = built(made, force=True).errors
    for name in notes:
        assert any(f"sample-{name}.txt is the reference file {name}.json" in line for line in told), told


def test_a_template_that_is_no_answer_needs_a_baseline(tmp_path: Path) -> None:
    folder = competition(tmp_path / "task", "npy", [1, 2, 3])
    for path in (folder / "data").rglob("*.npy"):
        path.write_bytes(npy(np.load(path) + 1))
    assert any("the template is no valid submission" in note for note in built(folder).notes)
    for path in sorted((folder / "data/baselines").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    with pytest.raises(UserError, match="The kit needs a valid example: put one into data/baselines/test/NAME/"):
        built(folder)


def test_a_package_may_take_files_that_are_no_text(tmp_path: Path) -> None:
    folder = new_package(Place("pictures", tmp_path))
    line = '    (Path(request["out"]) / "mask.png").write_bytes(b"\\x89PNG" + bytes(9000))\n'
    edit(next(folder.glob("*/organiser.py")), "    return {}\n", f"{line}    return {{}}\n")
    assert (kit_of(built(folder).path, tmp_path / "kit") / "template/mask.png").is_file()
