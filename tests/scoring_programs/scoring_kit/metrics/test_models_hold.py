"""What the engines promise whatever comes in: odd and long texts, the same numbers in any order and batch, caches."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

import torch

from scoring_kit.metrics import bertscore, nli
from scoring_kit.metrics.bertscore import BertScoreOptions, BertScorer
from scoring_kit.metrics.nli import NliModel, NliOptions
from scoring_kit.models import device
from scoring_kit.models.cache import VectorStore
from tests import tiny_models

pytestmark = pytest.mark.models

ODD = {
    "nothing": "",
    "blanks": " \n\t\u00a0\u3000",
    "5,000 words": "s " * 5000,
    "emoji": "😀👩‍👩‍👧🏽🫠",
    "zero width": "\u200b\u200c\u200d\ufeff",
    "right to left": "\u202eمرحبا بالعالم שלום\u202c",
    "half characters": "tired \ud800 and \udc00\ud83d",
    "null bytes": "a\x00day\x00",
    "controls": "\x01\x1b[31m\x7f\x85",
    "special tokens": "[CLS] [SEP] [PAD] [MASK] [UNK] <s> </s> <pad> <mask>",
    "one long word": "a" * 5000,
    "combining": "e" + "\u0301" * 300,
    "planes": "\U0001f9ff\U000e0001\U0010ffff",
}
WORDS = st.sampled_from(["I feel", "tired", "today", "my sister", "a long day", "sleep", "the noise", "nothing at all"])
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=9).map(" ".join), min_size=1, max_size=8)


def scorer(model: str = tiny_models.DEBERTA_ENCODER, **more: Any) -> BertScorer:
    return BertScorer(BertScoreOptions(model, num_layers=2, rescale=False, device="cpu", **more))


def classifier(model: str = tiny_models.DEBERTA_V2_NLI, **more: Any) -> NliModel:
    return NliModel(NliOptions(model, device="cpu", **more))


@pytest.mark.parametrize("odd", list(ODD.values()), ids=list(ODD))
@pytest.mark.parametrize("model", tiny_models.ENCODERS, ids=lambda path: Path(path).name)
def test_odd_texts_get_finite_scores(model: str, odd: str) -> None:
    scores = scorer(model).score([odd, "a day"], ["a long day", odd])
    for values in (scores.precision, scores.recall, scores.f1):
        assert np.isfinite(values).all()
        assert (np.abs(values) <= 1 + 1e-5).all()
    assert scorer(model).token_counts([odd])[0] >= 0


@pytest.mark.parametrize("odd", list(ODD.values()), ids=list(ODD))
@pytest.mark.parametrize(
    "model", [tiny_models.DEBERTA_V2_NLI, tiny_models.ROBERTA_NLI], ids=lambda path: Path(path).name
)
def test_odd_texts_get_probabilities(model: str, odd: str) -> None:
    rows = classifier(model).probabilities([(odd, "a day"), ("a day", odd), (odd, odd)])
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-6)
    assert (rows >= 0).all()


def test_ten_thousand_copies_of_a_span_are_embedded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    embedded = _counted(monkeypatch)
    scores = scorer().score(["a long day", "sleep"] * 5000, ["a day", "the noise"])
    assert sum(embedded) == 4
    assert scores.f1.shape == (10_000, 2)
    assert len(np.unique(scores.f1, axis=0)) == 2


def test_three_thousand_sentences_are_classified_in_bounded_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    classified = _counted(monkeypatch)
    pairs = [("my sister feels tired", f"a long day number {n}") for n in range(3000)]
    assert classifier().probabilities(pairs + pairs).shape == (6000, 3)
    assert sum(classified) == 3000
    assert max(classified) < 100


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many sequences each batch holds."""
    sizes: list[int] = []
    pad: Callable[..., Any] = device.padded

    def counted(sequences: list[Any], *rest: Any) -> Any:
        sizes.append(len(sequences))
        return pad(sequences, *rest)

    monkeypatch.setattr(device, "padded", counted)
    return sizes


def test_vectors_kept_in_a_file_give_the_same_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"a long day {'of noise ' * n}" for n in range(9)]
    in_memory = scorer().score(texts, texts[::2]).f1
    monkeypatch.setattr(bertscore, "VectorStore", lambda: VectorStore(in_memory=2000))
    assert np.array_equal(scorer().score(texts, texts[::2]).f1, in_memory)


@settings(max_examples=10)
@given(predicted=TEXTS, gold=TEXTS, seed=st.integers(0, 999), budget=st.sampled_from([1, 40, 300, 4096]))
def test_order_and_batches_change_no_score(predicted: list[str], gold: list[str], seed: int, budget: int) -> None:
    scores = scorer().score(predicted, gold)
    order = list(range(len(predicted)))
    random.Random(seed).shuffle(order)
    other = scorer(batch_tokens=budget)
    other.encode_all(random.Random(seed).sample(gold, 1))
    shuffled = other.score([predicted[i] for i in order], gold)
    np.testing.assert_allclose(shuffled.f1, scores.f1[order], atol=1e-6)
    np.testing.assert_allclose(shuffled.recall, scores.recall[order], atol=1e-6)


@settings(max_examples=10)
@given(premises=TEXTS, hypotheses=TEXTS, seed=st.integers(0, 999), budget=st.sampled_from([1, 40, 300, 4096]))
def test_order_and_batches_change_no_probability(
    premises: list[str], hypotheses: list[str], seed: int, budget: int
) -> None:
    pairs = [(premise, hypothesis) for premise in premises for hypothesis in hypotheses]
    rows = classifier().probabilities(pairs)
    order = list(range(len(pairs)))
    random.Random(seed).shuffle(order)
    shuffled = classifier(batch_tokens=budget).probabilities([pairs[i] for i in order])
    np.testing.assert_allclose(shuffled, rows[order], atol=1e-6)


def test_threads_change_no_score_and_a_second_run_nothing_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"my sister feels tired after a long day {'of noise ' * n}" for n in range(12)]
    before = torch.get_num_threads()
    results = []
    try:
        for threads in ("1", "2", "1"):
            monkeypatch.setenv("OMP_NUM_THREADS", threads)
            results.append(
                (
                    scorer().score(texts, texts[::2]).f1,
                    classifier().probabilities(list(zip(texts, texts[::-1], strict=True))),
                )
            )
    finally:
        torch.set_num_threads(before)
    for one, two, again in zip(*results, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-6)
        assert np.array_equal(one, again)


def test_bf16_is_near_and_not_the_same() -> None:
    exact, fast = scorer(), scorer(precision="bf16")
    difference = np.abs(exact.score(["a long day"], ["a day"]).f1 - fast.score(["a long day"], ["a day"]).f1).max()
    assert 0 < difference < 0.05
    assert fast.signature()["precision"] == "bf16"
    rows = classifier(precision="bf16").probabilities([("a long day", "a day")])
    assert rows == pytest.approx(classifier().probabilities([("a long day", "a day")]), abs=0.05)


def _no_model(*_arguments: object) -> NoReturn:
    pytest.fail("the model was loaded although nothing needed it")


def test_no_text_needs_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bertscore, "load_encoder", _no_model)
    monkeypatch.setattr(nli, "load_classifier", _no_model)
    assert scorer().score([], []).f1.shape == (0, 0)
    assert scorer().token_counts(["a day"]) == [2]
    assert classifier().probabilities([]).shape == (0, 3)


def test_a_warm_cache_gives_the_same_and_needs_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gold = ["a long day", "the noise", "\u200b"]
    pairs = [("a day", "sleep"), ("the noise", "a day")]
    cache = str(tmp_path / "cache")

    def run() -> tuple[Any, Any]:
        spans = scorer(cache=cache)
        spans.encode_all([], lasting=gold)
        return spans.score(gold, gold).f1, classifier(cache=cache).probabilities(pairs)

    cold = run()
    monkeypatch.setattr(bertscore, "load_encoder", _no_model)
    monkeypatch.setattr(nli, "load_classifier", _no_model)
    warm = run()
    assert all(np.array_equal(first, second) for first, second in zip(cold, warm, strict=True))


def test_only_lasting_texts_are_kept(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    scorer(cache=str(cache)).encode_all(["a predicted span", "another"])
    assert list(cache.iterdir()) == []
    scorer(cache=str(cache)).encode_all(["a predicted span"], lasting=["a gold span"])
    assert len(list(cache.iterdir())) == 1


def test_a_cache_of_another_layer_or_damaged_changes_no_number(tmp_path: Path) -> None:
    gold = ["a long day", "the noise"]
    expected = scorer().score(gold, gold).f1
    for layer in (1, 2):
        options = BertScoreOptions(
            tiny_models.DEBERTA_ENCODER, num_layers=layer, rescale=False, device="cpu", cache=str(tmp_path)
        )
        BertScorer(options).encode_all([], lasting=gold)
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes()[:-3])
    spans = scorer(cache=str(tmp_path))
    spans.encode_all([], lasting=gold)
    np.testing.assert_allclose(spans.score(gold, gold).f1, expected, atol=1e-6)


def test_nothing_that_is_said_holds_a_text(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring_kit.models.loading.FIRST_AFTER", 0.0)
    monkeypatch.setattr("scoring_kit.models.loading.EVERY", 0.0)
    scorer().score(["zebra " * n for n in range(1, 60)], ["zebra"])
    classifier().probabilities([("zebra", "zebra " * n) for n in range(1, 60)])
    out, err = capfd.readouterr()
    assert out == ""
    assert "Embedding texts: " in err
    assert "Classifying sentence pairs: " in err
    assert "zebra" not in err
