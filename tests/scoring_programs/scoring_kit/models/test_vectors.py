from __future__ import annotations

import tempfile
from typing import NoReturn

import numpy as np
import pytest

from scoring_kit.models.cache import VectorStore


@pytest.mark.parametrize("in_memory", [0, 100, 10**6])
def test_every_array_comes_back_whether_it_fitted_in_memory_or_not(in_memory: int) -> None:
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=(rows, 5)).astype(np.float32) for rows in (1, 7, 2, 30, 1)]
    store = VectorStore(in_memory)
    readers = [store.keep(array) for array in arrays]
    del store
    for reader, array in reversed(list(zip(readers, arrays, strict=True))):
        np.testing.assert_array_equal(reader(), array)
        np.testing.assert_array_equal(reader(), array)


def test_where_no_file_can_be_written_memory_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_arguments: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    array = np.ones((2, 2), dtype=np.float32)
    assert VectorStore(0).keep(array)() is array
