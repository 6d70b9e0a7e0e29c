"""Probabilities against a plain loop, one pair a forward, as the organisers of CLPsych 2025 ran it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

import transformers

from scoring_kit.errors import OrganiserError
from scoring_kit.metrics.nli import LABELS, NliModel, NliOptions, load_nli_model
from scoring_kit.models.loading import locate
from tests import tiny_models

pytestmark = [
    pytest.mark.models,
    # The plain loop imports transformers itself, whose DeBERTa still uses what torch will drop.
    pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning"),
]

TRANSFORMERS_4 = transformers.__version__.startswith("4.")
PAIRS = [
    ("I feel tired today.", "I felt tired."),
    ("My sister called.", "Nobody called, and it was hard."),
    ("", "sleep"),
    ("½ a day  and\u00a0more", "😀 مرحبا e\u0301"),
    ("a [SEP] b", "a day"),
    ("the noise " * 40, "sleep " * 3),
    ("sleep", "the noise, again and again, " * 40),
]
# Entailment, neutral, contradiction of PAIRS by the plain loop under transformers 4.57.6.
OF_THE_LOOP = {
    tiny_models.DEBERTA_V2_NLI: [
        [0.208940, 0.410366, 0.380694],
        [0.221140, 0.400950, 0.377909],
        [0.217353, 0.502838, 0.279810],
        [0.241757, 0.378477, 0.379767],
        [0.242763, 0.419181, 0.338055],
        [0.305312, 0.309465, 0.385223],
        [0.286063, 0.355553, 0.358384],
    ],
    tiny_models.ROBERTA_NLI: [
        [0.239517, 0.375280, 0.385203],
        [0.229719, 0.406538, 0.363743],
        [0.212353, 0.569326, 0.218321],
        [0.228024, 0.375774, 0.396203],
        [0.205905, 0.415096, 0.378999],
        [0.256955, 0.313503, 0.429541],
        [0.223807, 0.498348, 0.277845],
    ],
}
NATURAL_ORDER = {  # the two models name the labels in opposite orders
    tiny_models.DEBERTA_V2_NLI: [0, 1, 2],
    tiny_models.ROBERTA_NLI: [2, 1, 0],
}
# The DeBERTa-v2 model's tokenizer declares 48; the RoBERTa model's declares nothing, and it has 128 positions.
LONGEST = {tiny_models.DEBERTA_V2_NLI: 48, tiny_models.ROBERTA_NLI: 128}


SENTENCES = st.lists(
    st.one_of(
        st.sampled_from(["I", "feel", "tired", "today", "my", "sister", "the noise", "½", "😀", "\u200b", "[SEP]"]),
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6),
    ),
    max_size=12,
).map(" ".join)


@pytest.fixture(scope="module", params=list(NATURAL_ORDER), ids=lambda path: Path(path).name)
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def one_by_one(model: str, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    """Ids alone, no padding, no batch; columns brought to the order of LABELS by hand."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    classifier = AutoModelForSequenceClassification.from_pretrained(model, dtype=torch.float32).eval()
    rows = []
    for premise, hypothesis in pairs:
        ids = tokenizer(
            premise, hypothesis, truncation="longest_first", max_length=LONGEST[model], return_tensors="pt"
        )["input_ids"]
        with torch.no_grad():
            rows.append(classifier(ids).logits[0].softmax(-1).tolist())
    order = NATURAL_ORDER[model]
    return np.array(rows)[:, [order.index(label) for label in range(3)]]


def copied(source: str, to: Path, **config: Any) -> str:
    """A copy of a model with other entries in its config.json."""
    shutil.copytree(source, to)
    file = to / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **config}), encoding="utf-8")
    return str(to)


@settings(max_examples=15)
@given(pairs=st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=6))
def test_probabilities_are_those_of_one_pair_at_a_time(model: str, pairs: list[tuple[str, str]]) -> None:
    ours = load_nli_model(NliOptions(model)).probabilities(pairs)
    if model != tiny_models.DEBERTA_V2_NLI or TRANSFORMERS_4:  # version 5 alone drops the tokenizer's normaliser
        np.testing.assert_allclose(ours, one_by_one(model, pairs), atol=1e-6)
    np.testing.assert_allclose(ours.sum(axis=1), 1, atol=1e-6)


def test_numbers_are_those_that_the_loop_gave(model: str) -> None:
    np.testing.assert_allclose(load_nli_model(NliOptions(model)).probabilities(PAIRS), OF_THE_LOOP[model], atol=1e-6)


def test_repeated_pairs_get_the_same_row(model: str) -> None:
    rows = NliModel(NliOptions(model)).probabilities([PAIRS[0], PAIRS[1], PAIRS[0]])
    assert rows[0].tolist() == rows[2].tolist() != rows[1].tolist()


@pytest.mark.parametrize(
    "labels",
    [
        ["neutral", "entailment", "contradiction"],
        ("Neutral", "ENTAILMENT", "Contradiction"),
        {"LABEL_0": "neutral", "LABEL_1": "entailment", "LABEL_2": "contradiction"},
        {"label_2": "contradiction", "label_1": "entailment", "label_0": "neutral"},
    ],
)
def test_generic_labels_mean_what_the_option_says(labels: Mapping[str, str] | Sequence[str], tmp_path: Path) -> None:
    named = copied(
        tiny_models.GENERIC_LABELS_NLI,
        tmp_path / "named",
        id2label={"0": "neutral", "1": "entailment", "2": "contradiction"},
    )
    told = NliModel(NliOptions(tiny_models.GENERIC_LABELS_NLI, labels=labels)).probabilities(PAIRS)
    assert told.tolist() == NliModel(NliOptions(named)).probabilities(PAIRS).tolist()


OTHERS = {"LABEL_0": "entailment", "LABEL_1": "neutral", "LABEL_2": "contradiction"}


@pytest.mark.parametrize(
    ("model", "labels", "said"),
    [
        (tiny_models.GENERIC_LABELS_NLI, None, "LABEL_0, LABEL_1, LABEL_2"),
        (tiny_models.GENERIC_LABELS_NLI, ["entailment", "neutral"], "mapped to entailment, neutral"),
        (tiny_models.GENERIC_LABELS_NLI, ["entailment", "neutral", "entailment"], "each once"),
        (tiny_models.GENERIC_LABELS_NLI, {"LABEL_0": "entailment"}, "mapped to entailment, label_1, label_2"),
        (tiny_models.ROBERTA_NLI, OTHERS, "has no label label_0, label_1, label_2"),
        (tiny_models.ROBERTA_NLI, ["entailment", "neutral", "contradiction"], "Leave the option out"),
    ],
)
def test_labels_that_are_not_the_three_of_the_model_are_refused(model: str, labels: Any, said: str) -> None:
    with pytest.raises(OrganiserError, match=said):
        NliModel(NliOptions(model, labels=labels))


def test_a_model_with_two_labels_is_refused(tmp_path: Path) -> None:
    two = copied(tiny_models.ROBERTA_NLI, tmp_path / "two", id2label={"0": "entailment", "1": "not_entailment"})
    with pytest.raises(OrganiserError, match="not_entailment"):
        NliModel(NliOptions(two))


def test_weights_saved_in_half_precision_are_used_in_full(tmp_path: Path) -> None:
    labels = ["neutral", "entailment", "contradiction"]
    half = NliModel(NliOptions(tiny_models.GENERIC_LABELS_NLI, labels=labels))
    from transformers import AutoModelForSequenceClassification

    full = AutoModelForSequenceClassification.from_pretrained(tiny_models.GENERIC_LABELS_NLI).float()
    shutil.copytree(tiny_models.GENERIC_LABELS_NLI, tmp_path / "full")
    full.save_pretrained(tmp_path / "full")
    same = NliModel(NliOptions(str(tmp_path / "full"), labels=labels))
    assert half.probabilities(PAIRS).tolist() == same.probabilities(PAIRS).tolist()


def test_a_model_with_token_types_is_called_without_them(tmp_path: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoTokenizer, BertForSequenceClassification

    folder = copied(tiny_models.BERT_ENCODER, tmp_path / "bert", id2label=dict(enumerate(LABELS)))
    torch.manual_seed(3)
    classifier = BertForSequenceClassification(AutoConfig.from_pretrained(folder)).eval()
    classifier.save_pretrained(folder)
    arguments = AutoTokenizer.from_pretrained(folder)(*PAIRS[0], return_tensors="pt")
    with torch.no_grad():
        ids_alone = classifier(arguments["input_ids"]).logits[0].softmax(-1)
        with_types = classifier(**arguments).logits[0].softmax(-1)
    (ours,) = NliModel(NliOptions(folder)).probabilities([PAIRS[0]])
    assert ours.tolist() == pytest.approx(ids_alone.tolist(), abs=1e-6)
    assert ours.tolist() != pytest.approx(with_types.tolist(), abs=1e-4)


def test_the_signature_names_what_the_numbers_depend_on() -> None:
    assert NliModel(NliOptions(tiny_models.ROBERTA_NLI)).signature() == {
        "model": "roberta-nli",
        "revision": locate("nli.model", tiny_models.ROBERTA_NLI, None).version(),
        "labels": ["contradiction", "neutral", "entailment"],
        "precision": "fp32",
    }
