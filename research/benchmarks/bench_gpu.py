"""Both engines on a GPU, in the shapes of the real models with random weights: speed, and equality with the CPU.

For each precision and budget of tokens: tokens a second, and which share of the rate at which this GPU multiplies large
matrices of the same type the whole engine reaches, tokenising and copying included. Only operations of linear layers
count, so that the true share is some percent higher. Where no GPU is at hand it says so.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from research.benchmarks.generated import long_texts
from research.benchmarks.measuring import encoder_tokens
from research.benchmarks.wide_models import make_wide_classifier, make_wide_encoder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PRECISIONS = ("fp32", "bf16")
LINEAR_OPERATIONS = 24 * 1024**2
"""Of a token in a layer of width h: 4 h² multiply-adds for the projections of the attention, 8 h² for the rest."""
BUDGETS = (4_096, 16_384, 65_536)


@dataclass(frozen=True)
class Workload:
    """How much is run; less of everything tries the benchmark itself on a machine without a GPU.

    Attributes:
        device: `cuda`, or `cpu` to try the benchmark.
        texts: long texts for each engine.
        compared: of them those that are also run on the CPU.
        layers: of either model.
        matrix: rows and columns of the matrices whose product is the measure.
        budgets: values of `batch_tokens`.
    """

    device: str = "cuda"
    texts: int = 2_000
    compared: int = 24
    layers: int = 24
    matrix: int = 8_192
    budgets: Sequence[int] = BUDGETS


Run = Callable[[Sequence[str]], "NDArray[np.floating]"]
"""Puts texts through a model and gives numbers that depend on every one of them."""

Engine = Callable[[str, str, int | None], Run]
"""Called with device, precision and budget; the weights are read in the first run."""


def main() -> None:
    """Measure both engines on the GPU, where there is one."""
    if find_spec("torch") is None:
        print("needs the models' packages: make test-scoring installs them")
        return
    import torch

    if not torch.cuda.is_available():
        print("skipped: torch finds no GPU here")
        return
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    measure(Workload())


def measure(work: Workload) -> None:
    """Print everything for a workload."""
    warnings.simplefilter("ignore")
    texts = long_texts(work.texts)
    rates = {precision: matrix_rate(work, precision) for precision in PRECISIONS}
    for precision, rate in rates.items():
        print(f"matrix product of {work.matrix} x {work.matrix}, {precision}: {rate / 1e12:.2f} TFLOP/s")
    with tempfile.TemporaryDirectory() as folder:
        encoder = str(make_wide_encoder(Path(folder, "encoder"), work.layers))
        classifier = str(make_wide_classifier(Path(folder, "classifier"), work.layers))
        for name, engine in (("A.1", spans(encoder, work.layers)), ("B and C", pairs(classifier))):
            print(f"-- {name}, {work.layers} layers, {len(texts):,} texts")
            for precision in PRECISIONS:
                _speed(engine, texts, precision, rates[precision], work)
            _equality(engine, texts[: work.compared], work)


def matrix_rate(work: Workload, precision: str) -> float:
    """Floating-point operations a second in a product of two large matrices, the best of five."""
    import torch

    from scoring_kit.models.device import place

    placement = place(work.device, precision)  # sets torch up as the engines do: no TF32
    one = torch.randn(work.matrix, work.matrix, device=work.device).to(placement.dtype)
    best = float("inf")
    for _ in range(6):  # the first one also loads the library
        started = time.perf_counter()
        (one @ one)[0, 0].item()
        best = min(best, time.perf_counter() - started)
    return 2 * work.matrix**3 / best


def spans(model: str, layers: int) -> Engine:
    """BERTScore's engine: F1 of every text with the first one."""

    def engine(device: str, precision: str, budget: int | None) -> Run:
        from scoring_kit.metrics.bertscore import BertScoreOptions, BertScorer

        options = BertScoreOptions(
            model, num_layers=layers, rescale=False, device=device, precision=precision, batch_tokens=budget
        )
        scorer = BertScorer(options)

        def run(texts: Sequence[str]) -> NDArray[np.floating]:
            scorer.encode_all(texts)
            return scorer.score(texts, texts[:1]).f1

        return run

    return engine


def pairs(model: str) -> Engine:
    """The NLI engine: the probabilities of pairs of a text and half of the next."""

    def engine(device: str, precision: str, budget: int | None) -> Run:
        from scoring_kit.metrics.nli import NliModel, NliOptions

        nli = NliModel(NliOptions(model, device=device, precision=precision, batch_tokens=budget))
        return lambda texts: nli.probabilities([(one, two[: len(two) // 2]) for one, two in pairwise(texts)])

    return engine


def _speed(engine: Engine, texts: Sequence[str], precision: str, rate: float, work: Workload) -> None:
    first, others = texts[:2], texts[2:]
    for budget in work.budgets:
        run = engine(work.device, precision, budget)
        run(first)  # reads the weights
        with encoder_tokens() as tokens:
            started = time.perf_counter()
            run(others)
            seconds = time.perf_counter() - started
        share = sum(tokens) * work.layers * LINEAR_OPERATIONS / seconds / rate
        print(
            f"{precision}, budget {budget:>6,}: {sum(tokens) / seconds:>9,.0f} tokens/s, {seconds:.1f} s, "
            f"{share:.0%} of the matrix rate",
            flush=True,
        )


def _equality(engine: Engine, texts: Sequence[str], work: Workload) -> None:
    expected = engine("cpu", "fp32", None)(texts)
    for precision in PRECISIONS:
        difference = abs(engine(work.device, precision, None)(texts) - expected).max()
        print(f"{precision}: largest difference from the CPU in fp32 {difference:.1e}", flush=True)
