"""All tasks with real engines on tiny checkpoints: against the libraries themselves, and in the packed program."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import transformers

from clpsych2025 import a1, a2, b, c, engines, organiser, reference
from clpsych2025 import submission as reader
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.organiser import Request
from scoring_kit.submission_files import read_submission
from tests import tiny_models
from tests.punkt import punkt as punkt
from tests.scoring_programs.clpsych2025.cases import OPTIONS, TASKS, post, write_files
from tests.scoring_programs.clpsych2025.model_cases import DATA, MARKS, MODELS
from tests.scoring_programs.packed import Outcome, run_program

pytestmark = MARKS
PROFILES = {profile: {**OPTIONS, **MODELS, "profile": profile} for profile in ("published", "as-run")}
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
    results = [task.score(gold, submission, options) for task in (a1, a2, b, c)]
    return {name: metric.value for result in results for name, metric in result.metrics.items()}


def texts_of(gold_folder: Path) -> dict[str, Any]:
    return dict(json.loads((gold_folder / "gold.json").read_text(encoding="utf-8")))


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

    def best(self, gold: list[str], predicted: list[str]) -> list[float]:
        """The best F of each gold span."""
        return [float(self.scorer.score(predicted, [span] * len(predicted))[2].max()) for span in gold]

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
            recall = mean(loops.best(of_gold, predicted)) if predicted else 0.0
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


def test_a_run_loads_each_model_once() -> None:
    options = PROFILES["published"]
    assert engines.nli_model(options) is engines.nli_model(copy.deepcopy(options))
    assert engines.bert_scorer(options) is engines.bert_scorer(copy.deepcopy(options))


def packed(folder: Path, gold_folder: Path, content: object) -> Outcome:
    """A run of the packed joint program."""
    options = {f"{group}.{key}": value for group, fields in MODELS.items() for key, value in fields.items()}
    outcome = run_program(
        folder, "clpsych2025", gold_folder, write_files(folder / "res", content), options={**options, "device": "cpu"}
    )
    assert outcome.exit_code == 0, outcome.stderr
    return outcome


def test_the_packed_joint_program_scores_with_models(
    gold_folder: Path, answers: dict[str, Any], tmp_path: Path
) -> None:
    outcome = packed(tmp_path, gold_folder, answers)
    for part in ("bertscore.num_layers:2", "nli.revision:", "profile:published", "punkt:", "torch:", "transformers:"):
        assert part in outcome.details["signature"]
    expected = scores(gold_folder, answers, tmp_path / "again", PROFILES["published"])
    for column, value in outcome.scores.items():
        assert expected[column] is not None
        assert value == pytest.approx(max(0.0, expected[column] or 0.0), abs=1e-6)


def marked(value: Any, canary: str) -> Any:
    """The value with the canary in every text."""
    if isinstance(value, dict):
        return {key: marked(child, canary) for key, child in value.items()}
    if isinstance(value, list):
        return [marked(child, canary) for child in value]
    return f"{canary} {value}" if isinstance(value, str) else value


def test_no_output_shows_gold_and_the_page_no_submission(
    gold_folder: Path, answers: dict[str, Any], tmp_path: Path
) -> None:
    gold, own = "goldcanary7f3a", "owncanary9b1c"
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "gold.json").write_text(json.dumps(marked(texts_of(gold_folder), gold)), encoding="utf-8")
    left = packed(tmp_path, tmp_path / "gold", marked(answers, own))
    assert left.page is not None
    assert gold not in left.stdout + left.stderr + json.dumps(left.details) + left.page
    assert own not in left.page
