"""Gold arrays are found in whatever file participants get; those of one value, and others, are not."""

from pathlib import Path

import numpy as np
import pytest

from tests.generator.check.drafts import delete, new, packed, public, secret, write
from tests.generator.ground.zips.test_arrays import LABELS, npy
from tests.scoring_programs.declared.arrays_as_files import nifti, npz, png


@pytest.mark.parametrize(
    ("name", "data", "is_found"),
    [
        ("mask.npy", npy(LABELS, "<f8"), True),
        ("all.npz", npz(masks=LABELS), True),
        ("mask.png", png(LABELS * 127), True),
        ("mask.nii.gz", nifti(LABELS), True),
        ("more.zip", packed({"a/more.bin": png(LABELS)}), True),
        ("empty.npy", npy(LABELS * 0), False),
        ("other.npy", npy(LABELS.T), False),
    ],
    ids=["floats", "npz", "png", "nii.gz", "zip", "zeros", "turned"],
)
@pytest.mark.parametrize("gold", [npy(LABELS), npz(masks=LABELS), nifti(LABELS)], ids=["npy", "npz", "nii.gz"])
def test_gold_arrays_are_found(name: str, data: bytes, is_found: bool, gold: bytes, tmp_path: Path) -> None:
    draft = new(
        delete("ref/truth.txt"),
        write("ref/gold.bin", gold),
        write("ref/empty.npy", npy(np.zeros((7, 9)))),
        secret({"name": "*"}),
        public(name, data),
    )
    assert draft.check(tmp_path).leaks == is_found
