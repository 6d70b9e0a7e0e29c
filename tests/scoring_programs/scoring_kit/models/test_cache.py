"""What other runs left in a cache folder is used if it is right, and never believed if it is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("safetensors")

from gen_bundle.ground.resources import resource
from scoring_kit.errors import OrganiserError
from scoring_kit.models.cache import ArrayCache, digest

pytestmark = pytest.mark.models

MODEL = {"model": "m@1", "layer": 2}


def filled(folder: Path, texts: int = 40) -> dict[bytes, np.ndarray]:
    arrays = {digest(f"text {i}"): np.full((i % 5 + 1, 3), i, dtype=np.float32) for i in range(texts)}
    ArrayCache(str(folder), "embeddings", MODEL).write(arrays, arrays.__getitem__)
    return arrays


def content(folder: Path, **changed: object) -> dict[bytes, np.ndarray]:
    wanted = [digest(f"text {i}") for i in range(50)]
    cache = ArrayCache(str(folder), "embeddings", {**MODEL, **changed})
    return dict(cache.read(wanted))


def same(left: dict[bytes, np.ndarray], right: dict[bytes, np.ndarray]) -> bool:
    return left.keys() == right.keys() and all(np.array_equal(left[key], right[key]) for key in left)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    arrays = filled(tmp_path / "made" / "anew")
    assert same(content(tmp_path / "made" / "anew"), arrays)


def test_later_arrays_join_earlier_ones(tmp_path: Path) -> None:
    arrays = filled(tmp_path)
    more = {digest("text 45"): np.zeros((1, 3), dtype=np.float32)}
    ArrayCache(str(tmp_path), "embeddings", MODEL).write(more, more.__getitem__)
    assert same(content(tmp_path), {**arrays, **more})


@pytest.mark.parametrize("changed", [{"layer": 3}, {"model": "m@2"}, {"precision": "bf16"}])
def test_another_model_or_layer_finds_nothing(tmp_path: Path, changed: dict[str, object]) -> None:
    filled(tmp_path)
    assert content(tmp_path, **changed) == {}


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[:-1],
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole + b"\0",
        lambda whole: whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:],
        lambda whole: b"\0" * len(whole),
        lambda whole: b"\x80\x04\x95 a pickle would begin like this",
    ],
    ids=["empty", "cut", "half", "longer", "one bit", "zeros", "foreign"],
)
def test_a_damaged_or_foreign_file_counts_as_absent_and_is_written_anew(tmp_path: Path, damage: object) -> None:
    arrays = filled(tmp_path)
    assert callable(damage)
    for file in tmp_path.iterdir():
        file.write_bytes(damage(file.read_bytes()))
    assert content(tmp_path) == {}
    assert same(filled(tmp_path), arrays)
    assert same(content(tmp_path), arrays)


def test_a_file_moved_from_another_models_place_is_not_believed(tmp_path: Path) -> None:
    filled(tmp_path / "one")
    other = {**MODEL, "layer": 3}
    arrays = {digest(f"text {i}"): np.ones((1, 3), dtype=np.float32) for i in range(40)}
    ArrayCache(str(tmp_path / "two"), "embeddings", other).write(arrays, arrays.__getitem__)
    for ours, theirs in zip(sorted((tmp_path / "one").iterdir()), sorted((tmp_path / "two").iterdir()), strict=True):
        ours.write_bytes(theirs.read_bytes())
    assert content(tmp_path / "one") == {}


def test_arrays_of_another_width_or_not_finite_are_not_believed(tmp_path: Path) -> None:
    filled(tmp_path)
    assert dict(ArrayCache(str(tmp_path), "embeddings", MODEL, width=4).read([digest("text 1")])) == {}
    bad = {digest("text 1"): np.full((1, 3), np.nan, dtype=np.float32)}
    cache = ArrayCache(str(tmp_path / "bad"), "embeddings", MODEL)
    cache.write(bad, bad.__getitem__)
    assert dict(cache.read(bad)) == {}


def test_two_texts_in_another_order_have_another_key() -> None:
    assert len({digest("a", "b"), digest("b", "a"), digest("ab"), digest("ab", ""), digest("", "ab")}) == 5


WRITER = """
import sys
import numpy as np
from scoring_kit.models.cache import ArrayCache, digest
folder, offset = sys.argv[1], int(sys.argv[2])
arrays = {digest(f"text {i}"): np.full((2, 3), i, dtype=np.float32) for i in range(offset, 50, 4)}
for _ in range(20):
    ArrayCache(folder, "embeddings", {"model": "m@1", "layer": 2}).write(arrays, arrays.__getitem__)
"""


def test_processes_that_write_at_the_same_time_leave_whole_files(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(resource("scoring_programs"))}
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen([*command, str(offset)], env=environment) for offset in range(4)]
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
    found = content(tmp_path)
    assert found
    assert all((found[digest(f"text {i}")] == i).all() for i in range(50) if digest(f"text {i}") in found)
    assert not [file.name for file in tmp_path.iterdir() if file.name.startswith(".")]


def test_a_folder_that_cannot_be_made_is_the_organisers_to_mend(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OrganiserError, match=r"options\.cache"):
        ArrayCache(str(tmp_path / "file" / "folder"), "embeddings", MODEL)
