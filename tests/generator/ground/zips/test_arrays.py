"""Equal arrays have equal digests, in whatever file they are; others have not."""

import gzip
import io
import random
import struct
import sys
from collections.abc import Callable
from typing import Any, Literal

import nibabel
import numpy as np
import pytest
from PIL import Image

from gen_bundle.ground.zips.arrays import array_digests
from tests.scoring_programs.declared.arrays_as_files import nifti as written

Values = Any
DRAW = np.random.default_rng(3)
LABELS = DRAW.integers(0, 3, (7, 9)).astype("u1")
MEASURED = DRAW.normal(size=(6, 5, 4)).astype("f4")


def npy(values: Values, kind: str = "", order: Literal["C", "F"] = "C") -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(values, kind or values.dtype, order=order))
    return buffer.getvalue()


def npz(values: Values) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, masks=values, more=np.zeros(30))
    return buffer.getvalue()


def png(values: Values) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(values).save(buffer, "png")
    return buffer.getvalue()


def nifti(values: Values, mark: str) -> bytes:
    """A volume as nifti1.h has it."""
    header = bytearray(352)
    struct.pack_into(f"{mark}i", header, 0, 348)
    sizes = [*values.shape, *[1] * (7 - values.ndim)]
    struct.pack_into(f"{mark}8h", header, 40, values.ndim, *sizes)
    struct.pack_into(f"{mark}2h", header, 70, {"u1": 2, "f4": 16}[values.dtype.str[1:]], 8 * values.itemsize)
    struct.pack_into(f"{mark}f", header, 108, 352)
    header[344:348] = b"n+1\0"
    volume: bytes = values.astype(values.dtype.newbyteorder(mark)).tobytes("F")
    return bytes(header) + volume


FILES: dict[str, Callable[[Values], bytes]] = {
    "npy": npy,
    "npy of another type": lambda values: npy(values, ">f8"),
    "npy by columns": lambda values: npy(values, order="F"),
    "npy with an axis more": lambda values: npy(values[None]),
    "npz": npz,
    "nifti": lambda values: nifti(values, "<"),
    "nifti of another machine": lambda values: nifti(values, ">"),
    "compressed": lambda values: gzip.compress(nifti(values, "<")),
    "nifti of version 2": lambda values: written(values, nibabel.Nifti2Image),
}
OF_LABELS: dict[str, Callable[[Values], bytes]] = {
    "png": png,
    "png in black and white": lambda values: png(values * 127),
    "nifti that is scaled": lambda values: written(9 - values, scl_slope=-1, scl_inter=9),
    "half floats": lambda values: npy(values, "f2"),
    "numbered otherwise": lambda values: npy(values * 10 + 7),
}


@pytest.fixture(params=[True, False], ids=["with numpy", "without numpy"], autouse=True)
def has_numpy(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.parametrize("name", [*FILES, *OF_LABELS])
def test_equal_arrays_have_equal_digests(name: str, has_numpy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = [LABELS] if name in OF_LABELS else [LABELS, MEASURED]
    written = [({**FILES, **OF_LABELS}[name](values), npy(values)) for values in arrays]
    other = npy(LABELS.T), npy(MEASURED + 1e-3)
    if not has_numpy:
        monkeypatch.setitem(sys.modules, "numpy", None)
    for one, plain in written:
        assert array_digests(one) == array_digests(plain) != set()
        assert array_digests(one).isdisjoint(array_digests(other[0]) | array_digests(other[1]))


def test_what_says_nothing_has_no_digest(has_numpy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = [npy(np.zeros((50, 50))), npy(np.array([0, 1, 0])), npy(np.array(["a", "b"] * 20)), b"", b"\x93NUMPY"]
    draw = random.Random(1)
    broken = [data[: draw.randrange(len(data))] for data in (npy(LABELS), png(LABELS), nifti(LABELS, "<"), npz(LABELS))]
    if not has_numpy:
        monkeypatch.setitem(sys.modules, "numpy", None)
    assert [array_digests(data) for data in [*empty, *broken]] == [set()] * 9
