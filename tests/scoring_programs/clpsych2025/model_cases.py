"""Gold, answers and options for the tests of CLPsych 2025 with real engines on tiny checkpoints."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clpsych2025 import a1, a2, b, c, organiser, reference
from clpsych2025 import submission as reader
from gen_bundle.ground.resources import resource
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.organiser import Request
from scoring_kit.submission_files import read_submission
from tests import tiny_models
from tests.scoring_programs.clpsych2025.cases import OPTIONS, TASKS, post, write_files

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
PROFILES = {profile: {**OPTIONS, **MODELS, "profile": profile} for profile in ("published", "as-run")}
MODULES = {"a1": a1, "a2": a2, "b": b, "c": c}
STATES = ("adaptive", "maladaptive")
TIMELINES = 3  # of the synthetic ones: enough for every case


@pytest.fixture(scope="module")
def gold_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three prepared timelines."""
    folder = tmp_path_factory.mktemp("gold")
    source, out = str(DATA / "dev"), str(folder)
    organiser.prepare(Request(tasks=TASKS, all_tasks=TASKS, layout="joint", options=OPTIONS, source=source, out=out))
    everything = json.loads((folder / "gold.json").read_text(encoding="utf-8"))
    some = dict(list(everything.items())[:TIMELINES])
    (folder / "gold.json").write_text(json.dumps(some), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def answers(gold_folder: Path) -> dict[str, Any]:
    """The better baseline's answers to these timelines, with a post and a summary left empty."""
    content = json.loads(next((DATA / "baselines" / "dev" / "lexical-rule").iterdir()).read_text(encoding="utf-8"))
    gold = json.loads((gold_folder / "gold.json").read_text(encoding="utf-8"))
    some: dict[str, Any] = {name: content[name] for name in gold}
    first, second, _ = some.values()
    next(iter(first["post_level"].values())).update(post())
    second["timeline_level"]["summary"] = ""
    return some


def scores(
    gold_folder: Path, content: Mapping[str, Any], folder: Path, options: Mapping[str, Any]
) -> dict[str, float | None]:
    """Every metric of all tasks."""
    gold = reference.read(gold_folder, TASKS, options)
    manifest = Manifest("clpsych2025", TASKS, TASKS, "joint", options, reference.manifest(gold, TASKS))
    submission, _ = read_submission(reader, write_files(folder, content), manifest, Problems())
    results = [module.score(gold, submission, options) for module in MODULES.values()]
    return {name: metric.value for result in results for name, metric in result.metrics.items()}


def texts_of(gold_folder: Path) -> dict[str, Any]:
    return dict(json.loads((gold_folder / "gold.json").read_text(encoding="utf-8")))
