"""Files of arrays: what their heads say, the numbers as they are stored, and what is wrong with damaged ones."""

import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest

from declared.answers import ArrayFile
from declared.arrays import check_numbers, read_array
from scoring_kit.base.array_files import write_arrays
from scoring_kit.base.array_heads import KINDS, Head, format_of, read_head
from scoring_kit.base.field_types import Field, FieldError, ordered
from tests.scoring_programs.declared.arrays_as_files import nifti, npy, npz, png, png_of

RNG = np.random.default_rng(5)
CUBE = RNG.integers(0, 90, (3, 4, 5)).astype("i2")
GREY, COLOUR = RNG.integers(0, 255, (4, 6)).astype("u1"), RNG.integers(0, 255, (4, 6, 3)).astype("u1")
ROWS = [bytes([0b00011011, 0b11100100]), bytes([0b01010101, 0b00001111])]
"""Of 16 values of one bit, 8 of two or 4 of four, each from the highest bits on."""


def unpacked(depth: int) -> Any:
    bits = np.unpackbits(np.frombuffer(b"".join(ROWS), "u1")).reshape(2, -1, depth)
    return bits @ (2 ** np.arange(depth)[::-1])


def written(name: str, content: bytes, folder: Path, member: str | None = None) -> ArrayFile:
    path = folder / name
    path.write_bytes(content)
    own = format_of(name) or ""
    return ArrayFile(path, name, own, member, read_head(path, own, member))


SOUND: dict[str, tuple[str, bytes, Any, str | None]] = {
    **{f"npy {kind}": ("a.npy", npy(CUBE.astype(kind)), CUBE.astype(kind), None) for kind in KINDS},
    "npy big-endian": ("a.npy", npy(CUBE.astype(">f4")), CUBE.astype("f4"), None),
    "npy Fortran": ("a.npy", npy(np.asfortranarray(CUBE)), CUBE, None),
    "npy scalar": ("a.npy", npy(np.float64(3)), np.array(3.0), None),
    "npy empty": ("a.npy", npy(np.zeros((0, 3))), np.zeros((0, 3)), None),
    "npz only member": ("a.npz", npz(segs=CUBE), CUBE, None),
    "npz named member": ("a.npz", npz(img=CUBE, segs=GREY), GREY, "segs"),
    "png grey": ("a.PNG", png(GREY), GREY, None),
    "png 16 bits": ("a.png", png(GREY.astype("u2") * 257), GREY.astype("u2") * 257, None),
    "png colour": ("a.png", png(COLOUR), COLOUR, None),
    "png with alpha": ("a.png", png(np.dstack([COLOUR, GREY])), np.dstack([COLOUR, GREY]), None),
    **{f"png grey of {n}": ("a.png", png_of(n, 0, ROWS, 16 // n), unpacked(n), None) for n in (1, 2, 4)},
    **{f"png palette of {n}": ("a.png", png_of(n, 3, ROWS, 16 // n), unpacked(n), None) for n in (1, 2, 4)},
    "nii": ("a.nii", nifti(CUBE, packed=False), CUBE, None),
    "nii.gz": ("a.nii.gz", nifti(CUBE), CUBE, None),
    "nii big-endian": ("a.nii.gz", nifti(CUBE.astype(">i2")), CUBE, None),
    "nii 2": ("a.nii.gz", nifti(CUBE, nibabel.Nifti2Image), CUBE, None),
    "nii scaled": ("a.nii.gz", nifti(CUBE, scl_slope=0.5, scl_inter=3), CUBE * 0.5 + 3, None),
    "nii 2 scaled": ("a.nii.gz", nifti(CUBE, nibabel.Nifti2Image, scl_slope=2, scl_inter=0), CUBE * 2.0, None),
    "nii slope 0": ("a.nii.gz", nifti(CUBE, scl_slope=0, scl_inter=3), CUBE, None),
    "nii slope not finite": ("a.nii.gz", nifti(CUBE, scl_slope=np.inf, scl_inter=0), CUBE, None),
}


@pytest.mark.parametrize("case", SOUND)
def test_numbers_are_read_as_they_are_stored(case: str, tmp_path: Path) -> None:
    name, content, expected, member = SOUND[case]
    file = written(name, content, tmp_path, member)
    assert file.head.shape == expected.shape
    found = read_array(file)
    assert found.tolist() == expected.tolist()
    assert found.dtype.isnative
    assert found.dtype == file.head.kind or "scaled" in case


DAMAGED: dict[str, tuple[str, bytes, str | None, str]] = {
    "other file": ("a.npy", b"id,label\n" * 9, None, "is no .npy file"),
    "nothing": ("a.nii", b"", None, "is no readable .nii file"),
    "objects": ("a.npy", npy(np.array(["a"])), None, "holds something else than numbers"),
    "records": ("a.npy", npy(np.zeros(2, [("x", "f4")])), None, "holds something else than numbers"),
    "complex": ("a.npy", npy(np.zeros(2, "c8")), None, "holds something else than numbers"),
    "cut npy": ("a.npy", npy(CUBE)[:-1], None, "is cut off: it has 247 bytes of 248"),
    "shape below 0": ("a.npy", npy(CUBE).replace(b"(3, 4, 5)", b"(3, 4,-5)"), None, "has no sound shape"),
    "cut npz": ("a.npz", npz(a=CUBE)[:-30], None, "is no readable .npz file"),
    "several": ("a.npz", npz(a=CUBE, b=CUBE), None, "holds a, b"),
    "other member": ("a.npz", npz(a=CUBE), "segs", "has no segs; it holds a"),
    "16-bit colour": ("a.png", png_of(16, 2, [bytes(12)], 2), None, "has colours of 16 bits"),
    "cut png": ("a.png", png(GREY)[:-5], None, "is cut off"),
    "JPEG": ("a.png", b"\xff\xd8\xff\xe0" + bytes(99), None, "is no .png file"),
    "cut nii": ("a.nii", nifti(CUBE, packed=False)[:-2], None, "is cut off"),
    "no gzip": ("a.nii.gz", nifti(CUBE, packed=False), None, "is no readable .nii.gz file (Not a gzipped file"),
    "half of a pair": ("a.nii.gz", nifti(CUBE, magic=b"ni1"), None, "has no sound NIfTI head"),
    "colours": ("a.nii.gz", nifti(CUBE, datatype=128), None, "holds something else than numbers"),
    "intercept": ("a.nii.gz", nifti(CUBE, scl_slope=2, scl_inter=np.nan), None, "has an intercept that is not finite"),
    "too large": ("a.nii.gz", nifti(CUBE, dim=[3, 30000, 30000, 2, 1, 1, 1, 1]), None, "holds 3.6 GB"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_heads_say_what_is_wrong(case: str, tmp_path: Path) -> None:
    name, content, member, rule = DAMAGED[case]
    with pytest.raises(FieldError) as raised:
        written(name, content, tmp_path, member)
    assert raised.value.rule.startswith(rule)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.nii.gz", nifti(RNG.integers(0, 99, (20, 20, 20)).astype("u1"))[:-900]),
        ("a.png", png(GREY).replace(b"IDAT\x78", b"IDAT\x79")),
    ],
)
def test_damage_behind_the_head_is_found_when_read(name: str, content: bytes, tmp_path: Path) -> None:
    with pytest.raises(FieldError, match="cannot be read"):
        read_array(written(name, content, tmp_path))


@pytest.mark.parametrize(
    ("values", "array", "fault"),
    [
        (["0", "1"], np.array([0, 1, 1], "u1"), None),
        (["0", "1"], np.array([False, True]), None),
        (["0", "0.5"], np.array([0.5, 0], "f4"), None),
        (["0", "1"], np.array([0, 3]), "mask has the value 3"),
        (None, np.array([0, np.nan]), "mask has numbers that are not finite"),
        (["0"], np.array([0, np.inf], "f2"), "mask has numbers that are not finite"),
    ],
)
def test_values_are_looked_at(values: list[str] | None, array: Any, fault: str | None) -> None:
    field = Field("mask", "array", values=ordered(values))
    if fault is None:
        check_numbers(field, array)
        return
    with pytest.raises(FieldError) as raised:
        check_numbers(field, array)
    assert raised.value.rule == fault


@pytest.mark.parametrize("name", ["a.npy", "a.nii", "a.nii.gz", "a.npz"])
def test_a_head_takes_no_memory_of_the_numbers(name: str, tmp_path: Path) -> None:
    large = np.zeros((200, 200, 200), "u1")
    made: dict[str, Callable[[Any], bytes]] = {"a.npy": npy, "a.nii": partial(nifti, packed=False), "a.nii.gz": nifti}
    content = made[name](large) if name in made else npz(a=large)
    (tmp_path / name).write_bytes(content)
    tracemalloc.start()
    read_head(tmp_path / name, format_of(name) or "")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 500_000


def test_empty_arrays_of_a_template_are_small(tmp_path: Path) -> None:
    write_arrays(tmp_path / "m.npz", "npz", {"m": (Head((1000, 1000), "u1"), b"")})
    assert (tmp_path / "m.npz").stat().st_size < 10_000
    with np.load(tmp_path / "m.npz") as found:
        assert found["m"].tolist() == np.zeros((1000, 1000), "u1").tolist()
