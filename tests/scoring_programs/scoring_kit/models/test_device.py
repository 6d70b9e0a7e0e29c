from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from scoring_kit.errors import OrganiserError
from scoring_kit.models.device import Placement, inference, place, usable_threads

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@pytest.fixture(autouse=True)
def no_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


@pytest.mark.parametrize(
    ("quota", "threads"),
    [
        ("max 100000", CORES),
        ("100000 100000", 1),
        ("150000 100000", 1),
        ("50000 100000", 1),
        ("1600000 100000", min(16, CORES)),
        ("", CORES),
        ("nonsense", CORES),
    ],
)
def test_threads_follow_the_containers_quota(tmp_path: Path, quota: str, threads: int) -> None:
    (tmp_path / "cpu.max").write_text(quota + "\n", encoding="ascii")
    assert usable_threads(tmp_path) == threads


@pytest.mark.parametrize(("quota", "threads"), [("-1", CORES), ("100000", 1), ("30000", 1)])
def test_threads_follow_the_quota_of_an_older_kernel(tmp_path: Path, quota: str, threads: int) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(quota, encoding="ascii")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000", encoding="ascii")
    assert usable_threads(tmp_path) == threads


@pytest.mark.parametrize(("asked", "threads"), [("3", 3), ("3,2", 3), ("0", CORES), ("many", CORES)])
def test_the_environment_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, threads: int) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert usable_threads(tmp_path) == threads


@pytest.mark.models
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"device": "gpu"}, "options.device"),
        ({"precision": "fp16"}, "options.precision"),
        ({"batch_tokens": 0}, "options.batch_tokens"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], named: str) -> None:
    pytest.importorskip("torch")
    with pytest.raises(OrganiserError, match=named):
        place(**options)


@pytest.mark.models
def test_a_gpu_that_is_not_there_is_not_replaced_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(OrganiserError, match="no GPU"):
        place("cuda")
    assert place("auto").device == "cpu"


@pytest.mark.models
def test_a_cpu_run_sets_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    try:
        place("cpu")
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


@pytest.mark.models
def test_a_gpu_that_is_too_small_is_the_organisers_to_mend() -> None:
    torch = pytest.importorskip("torch")
    with (
        pytest.raises(OrganiserError, match=r"options\.batch_tokens: a batch of 512 tokens"),
        inference(Placement("cuda", "fp32", 512)),
    ):
        raise torch.OutOfMemoryError("CUDA out of memory")


@pytest.mark.models
def test_a_gpu_run_keeps_the_whole_mantissa(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    torch.set_float32_matmul_precision("high")
    try:
        assert place("auto").device == "cuda"
        assert torch.get_float32_matmul_precision() == "highest"
        assert not torch.backends.cudnn.allow_tf32
    finally:
        torch.set_float32_matmul_precision("highest")
