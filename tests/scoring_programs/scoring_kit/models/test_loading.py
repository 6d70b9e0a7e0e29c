"""Weights as a `pytorch_model.bin`, which is all that some models on the hub have."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from scoring_kit.errors import OrganiserError
from tests import tiny_models

pytestmark = pytest.mark.models

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


def as_bin(source: str, folder: Path, state: Any = None) -> str:
    """A copy of a model whose weights are a pickle: its own, or what is given."""
    from safetensors.torch import load_file

    shutil.copytree(source, folder)
    weights = folder / "model.safetensors"
    torch.save(load_file(weights) if state is None else state, folder / "pytorch_model.bin")
    weights.unlink()
    return str(folder)


def test_a_classifier_gives_the_same_probabilities(tmp_path: Path) -> None:
    from scoring_kit.metrics.nli import NliModel, NliOptions

    pairs = [("It rained all day.", "The day was wet."), ("Nobody came.", "It was a long, long day for us.")]
    one, other = (
        NliModel(NliOptions(model, device="cpu")).probabilities(pairs)
        for model in (tiny_models.ROBERTA_NLI, as_bin(tiny_models.ROBERTA_NLI, tmp_path / "bin"))
    )
    assert (one == other).all()


def test_an_encoder_gives_the_same_scores(tmp_path: Path) -> None:
    """In the form of deberta-xlarge-mnli: the weights as a pickle, the vocabulary as vocab.json and merges.txt."""
    from scoring_kit.metrics.bertscore import BertScoreOptions, BertScorer

    copy = as_bin(tiny_models.DEBERTA_ENCODER, tmp_path / "bin")
    assert not (Path(copy) / "tokenizer.json").exists()
    texts = ["i feel hopeless", "the weather is nice today"]
    scores = []
    for model in (tiny_models.DEBERTA_ENCODER, copy):
        scorer = BertScorer(BertScoreOptions(model, num_layers=1, rescale=False, device="cpu"))
        scorer.encode_all(texts)
        scores.append(scorer.score(texts, texts[:1]).f1)
    assert (scores[0] == scores[1]).all()


class Command:
    """Unpickled in full it would write a file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return Path.write_text, (self.target, "run")


def test_a_pickle_that_runs_code_is_refused_and_runs_nothing(tmp_path: Path) -> None:
    from scoring_kit.metrics.nli import NliModel, NliOptions

    harm = tmp_path / "harm"
    copy = as_bin(tiny_models.ROBERTA_NLI, tmp_path / "bin", {"weight": Command(harm)})
    with pytest.raises(OrganiserError, match="cannot be loaded"):
        NliModel(NliOptions(copy, device="cpu")).probabilities([("a", "b")])
    assert not harm.exists()
    torch.load(Path(copy) / "pytorch_model.bin", weights_only=False)
    assert harm.read_text() == "run"
