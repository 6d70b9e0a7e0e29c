"""BERTScore against the bert-score library itself, and against numbers that the library gave."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

import transformers

from scoring_kit.metrics.bertscore import BertScoreOptions, Scores, load_bert_scorer
from tests import tiny_models

pytestmark = [
    pytest.mark.models,
    # The library imports transformers itself, whose DeBERTa still uses what torch will drop.
    pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The given NumPy array is not writable:UserWarning"),
]

TRANSFORMERS_4 = transformers.__version__.startswith("4.")
CANDIDATES = ["I feel tired today.", "a long day", "nothing at all, again and again", "😀 مرحبا ½ e\u0301", "sleep"]
REFERENCES = ["I felt tired", "my family", "the noise since last winter"]

WORDS = st.sampled_from(
    ["I", "feel", "tired", "a long day", "sleep", "the noise", "nothing", "[SEP]", "½", "😀", "مرحبا", "é", "\u200b"]
)
# Unassigned and private characters are left out: what is dropped as a control character differs there between the
# library's Python tokenizer for BERT and the compiled one.
ODD = st.text(st.characters(exclude_categories=["Cs", "Cn", "Co"]), min_size=1, max_size=8)
SPANS = st.lists(st.one_of(WORDS, ODD), min_size=1, max_size=12).map(" ".join).map(str.strip).filter(bool)

# F of CANDIDATES against REFERENCES, layer 2, not rescaled, as bert-score 0.3.13 gave it under transformers 4.57.6.
F_OF_THE_LIBRARY = {
    tiny_models.DEBERTA_ENCODER: [
        [0.847242, 0.653280, 0.631216],
        [0.623542, 0.588281, 0.648272],
        [0.527470, 0.472660, 0.553001],
        [0.572617, 0.695152, 0.549138],
        [0.596119, 0.478747, 0.562499],
    ],
    tiny_models.ROBERTA_ENCODER: [
        [0.949943, 0.888910, 0.831549],
        [0.871799, 0.874653, 0.879302],
        [0.872685, 0.891451, 0.880820],
        [0.835737, 0.850760, 0.836201],
        [0.736281, 0.750293, 0.722765],
    ],
    tiny_models.BERT_ENCODER: [
        [0.926418, 0.843723, 0.848499],
        [0.899462, 0.917946, 0.809089],
        [0.884374, 0.853352, 0.865713],
        [0.889816, 0.886689, 0.888627],
        [0.712561, 0.834907, 0.613996],
    ],
}


def options(model: str, **more: Any) -> BertScoreOptions:
    return BertScoreOptions(model, num_layers=tiny_models.LAYER, baseline=tiny_models.BASELINE, **more)


def of_the_library(model: str, rescale: bool = False) -> Any:
    """bert-score's own scorer, as the organisers of CLPsych 2025 call it."""
    from bert_score import BERTScorer

    return BERTScorer(
        model_type=model,
        num_layers=tiny_models.LAYER,
        lang="en",
        rescale_with_baseline=rescale,
        baseline_path=tiny_models.BASELINE if rescale else None,
        device="cpu",
    )


@pytest.fixture(scope="module", params=tiny_models.ENCODERS, ids=lambda path: Path(path).name)
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def libraries() -> dict[str, Any]:
    if not TRANSFORMERS_4:
        pytest.skip("bert-score 0.3.13 alone does not give its numbers under transformers 5")
    return {model: of_the_library(model) for model in tiny_models.ENCODERS}


def library_scores(library: Any, candidates: list[str], references: list[str]) -> np.ndarray:
    """P, R, F of each pair, each in a call of its own, so that nothing is padded: shape (3, candidates, references)."""
    rows = [[[float(x) for x in library.score([c], [r])] for r in references] for c in candidates]
    return np.array(rows).transpose(2, 0, 1)


def as_array(scores: Scores) -> np.ndarray:
    return np.stack([scores.precision, scores.recall, scores.f1])


@settings(max_examples=25)
@given(st.lists(SPANS, min_size=1, max_size=3), st.lists(SPANS, min_size=1, max_size=2))
def test_any_texts_score_as_in_the_library(
    model: str, libraries: dict[str, Any], candidates: list[str], references: list[str]
) -> None:
    scores = load_bert_scorer(options(model)).score(candidates, references)
    theirs = library_scores(libraries[model], candidates, references)
    np.testing.assert_allclose(scores.f1, theirs[2], atol=5e-6)
    both_have_content = theirs[2] != 0
    np.testing.assert_allclose(scores.precision[both_have_content], theirs[0][both_have_content], atol=5e-6)
    np.testing.assert_allclose(scores.recall[both_have_content], theirs[1][both_have_content], atol=5e-6)


@given(st.lists(SPANS, min_size=1, max_size=9), SPANS, st.integers(2, 4))
@settings(max_examples=25)
def test_the_librarys_padding_can_be_reproduced(
    model: str, libraries: dict[str, Any], candidates: list[str], reference: str, batch: int
) -> None:
    scores = load_bert_scorer(options(model)).score(candidates, [reference], library_batch=batch)
    theirs = libraries[model].score(candidates, [reference] * len(candidates), batch_size=batch)
    np.testing.assert_allclose(scores.f1[:, 0], theirs[2].numpy(), atol=5e-6)


def test_numbers_are_those_that_the_library_gave(model: str) -> None:
    """Under transformers 5, where the library itself fails, this stands for it."""
    scores = load_bert_scorer(options(model)).score(CANDIDATES, REFERENCES)
    np.testing.assert_allclose(scores.f1, F_OF_THE_LIBRARY[model], atol=2e-6)


def test_rescaled_scores_are_the_librarys(model: str, libraries: dict[str, Any]) -> None:
    scorer = load_bert_scorer(options(model))
    ours = as_array(scorer.rescale(scorer.score(CANDIDATES, REFERENCES)))
    theirs = library_scores(of_the_library(model, rescale=True), CANDIDATES, REFERENCES)
    np.testing.assert_allclose(ours, theirs, atol=5e-6)


def test_without_rescaling_scores_stay_as_they_are(model: str) -> None:
    scorer = load_bert_scorer(options(model, rescale=False))
    scores = scorer.score(CANDIDATES, REFERENCES)
    assert scorer.rescale(scores) is scores


def test_each_measure_is_rescaled_with_its_own_baseline() -> None:
    scorer = load_bert_scorer(options(tiny_models.BERT_ENCODER))
    raw = scorer.score(["a day"], ["a long day"])
    rescaled = scorer.rescale(raw)
    assert rescaled.precision[0, 0] == pytest.approx((raw.precision[0, 0] - 0.41) / 0.59)
    assert rescaled.recall[0, 0] == pytest.approx((raw.recall[0, 0] - 0.43) / 0.57)
    assert rescaled.f1[0, 0] == pytest.approx((raw.f1[0, 0] - 0.40) / 0.60)


@pytest.mark.parametrize("empty", ["", "\u200b", "[SEP]", "[CLS] [SEP] [SEP]"])
def test_a_text_of_nothing_but_special_tokens_scores_zero_before_rescaling(empty: str) -> None:
    scorer = load_bert_scorer(options(tiny_models.BERT_ENCODER))  # which drops zero-width characters
    for scores in (scorer.score([empty], ["a day"]), scorer.score(["a day"], [empty])):
        assert as_array(scores).tolist() == [[[0.0]]] * 3
        assert scorer.rescale(scores).f1[0, 0] == pytest.approx(-0.40 / 0.60)


def test_a_typed_separator_counts_in_no_mean_but_can_be_matched(libraries: dict[str, Any]) -> None:
    model = tiny_models.BERT_ENCODER
    candidates, references = ["a [SEP] day", "[CLS] a day"], ["my day", "a [SEP]"]
    ours = as_array(load_bert_scorer(options(model)).score(candidates, references))
    np.testing.assert_allclose(ours, library_scores(libraries[model], candidates, references), atol=2e-6)


def test_counted_tokens_are_without_specials_and_never_cut() -> None:
    scorer = load_bert_scorer(options(tiny_models.BERT_ENCODER))  # 64 tokens at most
    assert scorer.token_counts(["a day", "", "a " * 500, "a [SEP] day"]) == [2, 0, 500, 3]


def test_a_declared_limit_cuts_as_in_the_library(libraries: dict[str, Any]) -> None:
    for model in (tiny_models.BERT_ENCODER, tiny_models.ROBERTA_ENCODER):
        candidates, references = ["a day " * 500], ["my day " * 300 + "sleep"]
        ours = as_array(load_bert_scorer(options(model)).score(candidates, references))
        np.testing.assert_allclose(ours, library_scores(libraries[model], candidates, references), atol=5e-6)


def test_without_a_declared_limit_nothing_is_cut(libraries: dict[str, Any]) -> None:
    model = tiny_models.DEBERTA_ENCODER
    long, longer = "my long day " * 150, "my long day " * 150 + "sleep"
    scorer = load_bert_scorer(options(model))
    ours = as_array(scorer.score([long, longer], ["sleep"]))
    assert ours[2, 0, 0] != pytest.approx(ours[2, 1, 0], abs=1e-6)
    np.testing.assert_allclose(ours, library_scores(libraries[model], [long, longer], ["sleep"]), atol=5e-6)


def test_positions_that_the_model_does_not_have_are_never_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "no-limit-declared"
    shutil.copytree(tiny_models.BERT_ENCODER, folder)
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}', encoding="utf-8")
    scores = load_bert_scorer(options(str(folder))).score(["a day " * 500], ["sleep"])
    declared = load_bert_scorer(options(tiny_models.BERT_ENCODER)).score(["a day " * 500], ["sleep"])
    np.testing.assert_allclose(as_array(scores), as_array(declared), atol=1e-6)
