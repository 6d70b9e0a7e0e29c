"""The GPU's benchmark, tried on the CPU: it says why it is skipped, and measures what it promises."""

import re

import pytest

pytestmark = pytest.mark.models

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


def test_without_a_gpu_it_says_that_it_is_skipped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.benchmarks import bench_gpu

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    bench_gpu.main()
    assert capsys.readouterr().out == "skipped: torch finds no GPU here\n"


@pytest.mark.slow
def test_it_measures_both_engines_in_both_precisions(capsys: pytest.CaptureFixture[str]) -> None:
    from tests.benchmarks.bench_gpu import Workload, measure

    measure(Workload(device="cpu", texts=5, compared=3, layers=1, matrix=64, budgets=(512,)))
    told = capsys.readouterr().out
    assert (
        len(re.findall(r"^(fp32|bf16), budget +512: +[\d,]+ tokens/s, [\d.]+ s, \d+% of the matrix rate$", told, re.M))
        == 4
    )
    differences = [
        float(text) for text in re.findall(r"^fp32: largest difference from the CPU in fp32 (\S+)$", told, re.M)
    ]
    assert differences == [0.0, 0.0]
    differences = [
        float(text) for text in re.findall(r"^bf16: largest difference from the CPU in fp32 (\S+)$", told, re.M)
    ]
    assert len(differences) == 2
    assert all(0 < difference < 0.05 for difference in differences)
