"""Equal arrays have equal digests, in whatever file they are; others have not."""

import io
import random
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import nibabel
import numpy as np
import pytest

from gen_bundle.ground.zips.arrays import array_digests
from tests.scoring_programs.declared.arrays_as_files import nifti, npz, png

Values = Any
DRAW = np.random.default_rng(3)
LABELS = DRAW.integers(0, 3, (7, 9)).astype("u1")
MEASURED = DRAW.normal(size=(6, 5, 4)).astype("f4")


def npy(values: Values, kind: str = "", order: Literal["C", "F"] = "C") -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(values, kind or values.dtype, order=order))
    return buffer.getvalue()


def of_order(values: Values, mark: str) -> bytes:
    """A volume as a machine of this byte order writes it."""
    return nifti(values.astype(values.dtype.newbyteorder(mark)), packed=False)


FILES: dict[str, Callable[[Values], bytes]] = {
    "npy": npy,
    "npy of another type": lambda values: npy(values, ">f8"),
    "npy by columns": lambda values: npy(values, order="F"),
    "npy with an axis more": lambda values: npy(values[None]),
    "npz": lambda values: npz(masks=values, more=np.zeros(30)),
    "nifti": partial(of_order, mark="<"),
    "nifti of another machine": partial(of_order, mark=">"),
    "compressed": nifti,
    "nifti of version 2": lambda values: nifti(values, nibabel.Nifti2Image),
}
OF_LABELS: dict[str, Callable[[Values], bytes]] = {
    "png": png,
    "png in black and white": lambda values: png(values * 127),
    "nifti that is scaled": lambda values: nifti(9 - values, scl_slope=-1, scl_inter=9),
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
    broken = [
        data[: draw.randrange(len(data))]
        for data in (npy(LABELS), png(LABELS), of_order(LABELS, "<"), npz(masks=LABELS))
    ]
    if not has_numpy:
        monkeypatch.setitem(sys.modules, "numpy", None)
    assert [array_digests(data) for data in [*empty, *broken]] == [set()] * 9
