"""A job on data of the size of CLPsych 2025's test set, one thread: two layers measured, all layers derived from them.

The derivation: the time of an encoder grows with its layers (the published models have 40 and 24 where two are run).
"""

from __future__ import annotations

import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path

from research.benchmarks.bench_models import our_pairs, our_spans
from research.benchmarks.generated import clpsych_test_set
from research.benchmarks.measuring import measured
from research.benchmarks.wide_models import LAYERS, make_wide_classifier, make_wide_encoder

REAL_LAYERS = {"A.1": 40, "B and C": 24}
LIMIT = 600
"""Seconds that a job has on Codabench's public queue."""


def main() -> None:
    """Print what was measured and what follows for the real depth."""
    if find_spec("torch") is None:
        print("needs the models' packages: make test-scoring installs them")
        return
    import torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    data = clpsych_test_set()
    print(f"{len(data)} timelines, {sum(len(timeline.posts) for timeline in data)} posts, 1 thread, fp32")
    derived = 0.0
    with tempfile.TemporaryDirectory() as folder:
        encoder = str(make_wide_encoder(Path(folder, "encoder")))
        classifier = str(make_wide_classifier(Path(folder, "classifier")))
        for what, run in (
            ("A.1", lambda: our_spans(data, encoder)),
            ("B and C", lambda: our_pairs(data, classifier)),
        ):
            _, cost = measured(run)
            whole = cost.cpu * REAL_LAYERS[what] / LAYERS
            derived += whole
            print(f"{what}: measured, {LAYERS} layers: {cost}")
            print(f"{what}: derived, {REAL_LAYERS[what]} layers: {whole:.0f} s CPU", flush=True)
    print(f"together, derived: {derived:.0f} s CPU of the {LIMIT} s that a job has")
