"""All tasks with real engines on tiny checkpoints, against plain loops with the libraries themselves."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import transformers

from tests import tiny_models
from tests.punkt import punkt as punkt
from tests.scoring_programs.clpsych2025.model_cases import MARKS, PROFILES, STATES, scores, texts_of
from tests.scoring_programs.clpsych2025.model_cases import answers as answers
from tests.scoring_programs.clpsych2025.model_cases import gold_folder as gold_folder

pytestmark = MARKS


class Loops:
    """The libraries as anyone would call them: one gold span a call, one pair a forward, texts as they come."""

    def __init__(self) -> None:
        from bert_score import BERTScorer
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self.scorer = BERTScorer(
            model_type=tiny_models.DEBERTA_ENCODER,
            num_layers=tiny_models.LAYER,
            lang="en",
            rescale_with_baseline=True,
            baseline_path=tiny_models.BASELINE,
            device="cpu",
        )
        self.counter = AutoTokenizer.from_pretrained(tiny_models.DEBERTA_ENCODER)
        self.nli = AutoModelForSequenceClassification.from_pretrained(tiny_models.DEBERTA_V2_NLI).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(tiny_models.DEBERTA_V2_NLI)
        self.label = {name: index for index, name in self.nli.config.id2label.items()}

    def best(self, gold: list[str], predicted: list[str], measure: int) -> list[float]:
        """The best P, R or F (0, 1, 2) of each gold span."""
        return [float(self.scorer.score(predicted, [span] * len(predicted))[measure].max()) for span in gold]

    def tokens(self, spans: list[str]) -> int:
        return sum(len(self.counter(span)["input_ids"]) - 2 for span in spans)

    def probability(self, label: str, premise: str, hypothesis: str) -> float:
        import torch

        encoded = self.tokenizer(premise, hypothesis, truncation=True, return_tensors="pt")
        with torch.inference_mode():
            return float(self.nli(encoded["input_ids"]).logits.softmax(-1)[0, self.label[label]])


@pytest.fixture(scope="module")
def loops() -> Loops:
    if not transformers.__version__.startswith("4."):
        pytest.skip("bert-score 0.3.13 alone does not give its numbers under transformers 5")
    return Loops()


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def split(text: str | None) -> list[str]:
    from nltk import sent_tokenize

    return [sentence.strip() for sentence in sent_tokenize(text or "") if sentence.strip()]


def spans(answer: Mapping[str, Any], state: str) -> list[str]:
    return [
        span.strip() for post in answer["post_level"].values() for span in post[f"{state}_evidence"] if span.strip()
    ]


def test_as_run_equals_the_organisers_way(
    gold_folder: Path, answers: dict[str, Any], loops: Loops, tmp_path: Path
) -> None:
    rows: dict[str, list[float]] = {}

    def add(name: str, value: float) -> None:
        rows.setdefault(name, []).append(value)

    for name, gold in texts_of(gold_folder).items():
        for state in STATES:
            of_gold = [span["text"].strip() for span in gold["timeline_level"][f"{state}_spans"]]
            predicted = spans(answers[name], state)
            recall = mean(loops.best(of_gold, predicted, 2)) if predicted else 0.0
            n_gold, n_pred = loops.tokens(of_gold), loops.tokens(predicted)
            for suffix in ("", f"_{state}"):
                add(f"bertscore_recall{suffix}", recall)
                add(f"bertscore_weighted_recall{suffix}", recall * (n_gold / n_pred if n_gold < n_pred else 1))
        cases: list[tuple[str, str | None, str, list[str] | None]] = [
            ("timeline", gold["timeline_level"]["summary"], answers[name]["timeline_level"]["summary"], None)
        ]
        for key, given in gold["post_level"].items():
            mine = answers[name]["post_level"][key]
            cases.append(
                ("post", given["summary"], mine["summary"], mine["adaptive_evidence"] + mine["maladaptive_evidence"])
            )
        for level, expert, submitted, evidence in cases:
            hypotheses = split(submitted)
            for source, premises in (("gold", split(expert)), ("evidence", evidence)):
                if not premises or (source == "evidence" and not (hypotheses and expert)):
                    continue
                pairs = [(p, h) for p in premises for h in hypotheses]
                contradictions = [loops.probability("contradiction", *pair) for pair in pairs]
                entailments = [loops.probability("entailment", *pair) for pair in pairs]
                add(f"{level}_mean_consistency_{source}", 1 - mean(contradictions) if pairs else 0.0)
                add(f"{level}_max_contradiction_{source}", max(contradictions, default=1.0))
                add(f"{level}_max_entailment_{source}", max(entailments, default=0.0))
    found = scores(gold_folder, answers, tmp_path, PROFILES["as-run"])
    assert len(rows) == 6 + 6 + 3
    for metric, values in rows.items():
        assert found[metric] == pytest.approx(mean(values), abs=2e-5), metric
    assert found["a1_recall"] == found["bertscore_recall"]
    assert found["b_max_entailment"] == found["post_max_entailment_evidence"]


# What transformers 4.57.6 gave for these timelines and answers; every other supported version must give the same.
RECORDED = {
    "published": {
        "a1_recall": 0.917788,
        "a1_weighted_recall": 0.917788,
        "a1_recall_adaptive": 0.902482,
        "a1_weighted_recall_adaptive": 0.847597,
        "a1_recall_maladaptive": 0.860602,
        "a1_weighted_recall_maladaptive": 0.860602,
        "b_mean_consistency": 0.596894,
        "b_max_contradiction": 0.403106,
        "b_max_entailment": 0.221800,
        "c_mean_consistency": 0.421828,
        "c_max_contradiction": 0.587814,
    },
    "as-run": {
        "bertscore_recall": 0.850729,
        "bertscore_weighted_recall": 0.824770,
        "post_max_entailment_gold": 0.242362,
        "post_max_contradiction_gold": 0.414978,
        "post_mean_consistency_evidence": 0.633723,
        "post_max_entailment_evidence": 0.267434,
        "timeline_mean_consistency_gold": 0.421828,
        "timeline_max_contradiction_gold": 0.600556,
    },
}


@pytest.mark.parametrize("profile", PROFILES)
def test_every_version_of_transformers_gives_the_recorded_scores(
    gold_folder: Path, answers: dict[str, Any], profile: str, tmp_path: Path
) -> None:
    found = scores(gold_folder, answers, tmp_path, PROFILES[profile])
    assert {name: found[name] for name in RECORDED[profile]} == pytest.approx(RECORDED[profile], abs=2e-5)
