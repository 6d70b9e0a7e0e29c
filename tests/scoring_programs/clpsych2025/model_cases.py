"""Options for the tests of CLPsych 2025 with real engines on tiny checkpoints."""

from typing import Any

import pytest

from gen_bundle.ground.resources import resource
from tests import tiny_models
from tests.scoring_programs.clpsych2025.cases import OPTIONS

MARKS = [
    pytest.mark.models,
    pytest.mark.usefixtures("punkt"),
    # The plain loops import transformers themselves, whose DeBERTa still uses what torch will drop.
    pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The given NumPy array is not writable:UserWarning"),
]
DATA = resource("bundles") / "clpsych2025" / "data"
MODELS: dict[str, Any] = {
    "bertscore": {
        **OPTIONS["bertscore"],
        "model": tiny_models.DEBERTA_ENCODER,
        "num_layers": tiny_models.LAYER,
        "baseline": tiny_models.BASELINE,
    },
    "nli": {**OPTIONS["nli"], "model": tiny_models.DEBERTA_V2_NLI},
}
