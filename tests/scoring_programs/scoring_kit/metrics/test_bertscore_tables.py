from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("bert_score")

from scoring_kit.errors import OrganiserError
from scoring_kit.metrics.bertscore import BertScoreOptions, BertScorer, default_layer, read_baseline
from scoring_kit.models.loading import ModelFiles
from tests import tiny_models
from tests.hub import put_in_hub_cache

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")]

OFFICIAL = "microsoft/deberta-xlarge-mnli"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def of_hub(name: str) -> ModelFiles:
    return ModelFiles(name, COMMIT, Path("anywhere"))


FOLDER = ModelFiles(OFFICIAL, None, Path("microsoft/deberta-xlarge-mnli"))


def test_the_table_of_layers_is_the_librarys() -> None:
    from bert_score.utils import model2layers

    assert all(default_layer(of_hub(name)) == layer for name, layer in model2layers.items())
    assert default_layer(of_hub(OFFICIAL)) == 40


@pytest.mark.parametrize("files", [of_hub("someone/tiny"), FOLDER])
def test_a_model_that_the_library_does_not_know_needs_a_layer(files: ModelFiles) -> None:
    with pytest.raises(OrganiserError, match=r"options\.bertscore\.num_layers"):
        default_layer(files)


def test_the_baseline_of_a_hub_model_is_the_librarys() -> None:
    baseline = read_baseline(of_hub(OFFICIAL), 40, None)
    assert (baseline.precision, baseline.recall, baseline.f1) == (0.5169066, 0.5170288, 0.5150192)


@pytest.mark.parametrize("files", [of_hub("someone/tiny"), FOLDER])
def test_without_a_baseline_nothing_is_left_unrescaled_silently(files: ModelFiles) -> None:
    with pytest.raises(OrganiserError, match=r"rescale to false"):
        read_baseline(files, 2, None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("LAYER,P,R,F\n0,0.1,0.1,0.1\n", "no row for layer 2"),
        ("", "no row for layer 2"),
        ("LAYER\tP\tR\tF\n2\t0.1\t0.1\t0.1\n", "comma-separated"),
        ("LAYER,P,R\n2,0.1,0.1\n", "comma-separated"),
        ("LAYER,P,R,F\n2,0.1,x,0.1\n", "comma-separated"),
        ("LAYER,P,R,F\n2,0.1,1.0,0.1\n", "below 1"),
        ("LAYER,P,R,F\n2,nan,0.1,0.1\n", "below 1"),
    ],
)
def test_a_baseline_file_that_cannot_be_used_is_named(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "own.tsv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(OrganiserError, match=f"own.tsv.*{said}"):
        read_baseline(FOLDER, 2, str(file))


def test_a_baseline_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OrganiserError, match="cannot be read"):
        read_baseline(FOLDER, 2, str(tmp_path / "none.tsv"))


def test_a_hub_model_needs_neither_layer_nor_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_hub_cache(monkeypatch, tmp_path, OFFICIAL, COMMIT, tiny_models.DEBERTA_ENCODER)
    signature = BertScorer(BertScoreOptions(OFFICIAL)).signature()
    assert (signature["model"], signature["revision"], signature["num_layers"]) == (OFFICIAL, COMMIT, 40)
    assert len(str(signature["baseline"])) == 64


def test_more_layers_than_the_model_has_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = BertScorer(BertScoreOptions(tiny_models.BERT_ENCODER, num_layers=4, rescale=False))
    with pytest.raises(OrganiserError, match="not between 1 and 3"):
        scorer.encode_all(["a day"])
