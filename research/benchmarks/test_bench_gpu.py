"""The GPU's benchmark, tried on the CPU: it says why it is skipped, and measures what it promises."""

import re

import pytest

pytestmark = pytest.mark.models

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


def test_without_a_gpu_it_says_that_it_is_skipped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from research.benchmarks import bench_gpu

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    bench_gpu.main()
    assert capsys.readouterr().out == "skipped: torch finds no GPU here\n"


@pytest.mark.slow
def test_it_measures_both_engines_in_both_precisions(capsys: pytest.CaptureFixture[str]) -> None:
    from research.benchmarks.bench_gpu import Workload, measure

    measure(Workload(device="cpu", texts=5, compared=3, layers=1, matrix=64, budgets=(512,)))
    told = capsys.readouterr().out
    speeds = re.findall(r"(fp32|bf16), budget +512: +[\d,]+ tokens/s, [\d.]+ s, \d+% of the matrix rate\n", told)
    assert speeds == ["fp32", "bf16"] * 2
    differences = re.findall(r"(fp32|bf16): largest difference from the CPU in fp32 (\S+)\n", told)
    assert [precision for precision, _ in differences] == ["fp32", "bf16"] * 2
    assert [float(value) for precision, value in differences if precision == "fp32"] == [0.0, 0.0]
    assert all(0 < float(value) < 0.05 for precision, value in differences if precision == "bf16")
