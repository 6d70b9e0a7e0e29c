"""All tasks with real engines on tiny checkpoints, against plain loops with the libraries themselves."""

import copy
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import transformers

from clpsych2025 import a1, a2, b, c, engines, organiser, reference
from clpsych2025 import submission as reader
from gen_bundle.resources import resource
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import read_submission
from tests import tiny_models
from tests.punkt import punkt as punkt
from tests.scoring_programs.clpsych2025.cases import OPTIONS, TASKS, answer, post, write_files
from tests.scoring_programs.packed import run_program

pytestmark = [
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
    request = {"tasks": TASKS, "options": OPTIONS, "source": str(DATA / "dev"), "out": str(folder)}
    organiser.prepare(request)
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
    submission = read_submission(reader, write_files(folder, content), manifest, Problems())
    results = [module.score(gold, submission, options) for module in MODULES.values()]
    return {name: metric.value for result in results for name, metric in result.metrics.items()}


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


def texts_of(gold_folder: Path) -> dict[str, Any]:
    return dict(json.loads((gold_folder / "gold.json").read_text(encoding="utf-8")))


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


def test_published_equals_a_plain_loop(
    gold_folder: Path, answers: dict[str, Any], loops: Loops, tmp_path: Path
) -> None:
    rows: dict[str, list[float]] = {}

    def add(name: str, value: float) -> None:
        rows.setdefault(name, []).append(value)

    for name, gold in texts_of(gold_folder).items():
        for suffix, states in (
            ("", STATES),
            ("_adaptive", ("adaptive",)),
            ("_maladaptive", ("maladaptive",)),
        ):
            e = [span["text"].strip() for state in states for span in gold["timeline_level"][f"{state}_spans"]]
            h = [span for state in states for span in spans(answers[name], state)]
            if e:
                recall = mean(loops.best(e, h, 1)) if h else 0.0
                add(f"a1_recall{suffix}", recall)
                add(f"a1_weighted_recall{suffix}", recall * min(1, loops.tokens(e) / max(1, loops.tokens(h))))
        cases: list[tuple[str, str | None, str, list[str] | None]] = [
            ("c", gold["timeline_level"]["summary"], answers[name]["timeline_level"]["summary"], None)
        ]
        for key, given in gold["post_level"].items():
            mine = answers[name]["post_level"][key]
            found_evidence = [span.strip() for state in STATES for span in mine[f"{state}_evidence"]]
            cases.append(("b", given["summary"], mine["summary"], found_evidence))
        for task, expert, submitted, evidence in cases:
            g_all, s_all = split(expert), split(submitted)
            if not g_all:
                continue
            table = [[loops.probability("contradiction", g, s) for g in g_all] for s in s_all]
            add(f"{task}_mean_consistency", mean([1 - p for row in table for p in row]) if table else 0.0)
            add(f"{task}_max_contradiction", mean([max(row) for row in table]) if table else 1.0)
            if evidence is not None:
                support = [max(loops.probability("entailment", e, s) for e in evidence) for s in s_all if evidence]
                add("b_max_entailment", mean(support) if support else 0.0)
    found = scores(gold_folder, answers, tmp_path, PROFILES["published"])
    assert len(rows) == 6 + 3 + 2
    for metric, values in rows.items():
        assert found[metric] == pytest.approx(mean(values), abs=2e-5), metric


def oracle(gold_folder: Path) -> dict[str, Any]:
    """The gold as a submission."""
    content = {}
    for name, gold in texts_of(gold_folder).items():
        evidence = {
            f"{state}_evidence": [span["text"] for span in gold["timeline_level"][f"{state}_spans"]] for state in STATES
        }
        posts = {
            key: post(summary=given["summary"] or "", wellbeing_score=given["wellbeing_score"])
            for key, given in gold["post_level"].items()
        }
        next(iter(posts.values())).update(evidence)
        content[name] = answer(posts, summary=gold["timeline_level"]["summary"])
    return content


def test_an_oracle_has_recall_1_error_0_and_f1_1(gold_folder: Path, tmp_path: Path) -> None:
    found = scores(gold_folder, oracle(gold_folder), tmp_path, PROFILES["published"])
    recalls = [name for name in found if name.startswith("a1_")]
    assert [found[name] for name in recalls] == [pytest.approx(1, abs=1e-6)] * 6
    assert [found[name] for name in found if name.startswith("a2_mse")] == [0] * 4
    assert found["a2_macro_f1"] == 1


@pytest.mark.parametrize("profile", PROFILES)
def test_order_and_batch_size_change_nothing(
    gold_folder: Path, answers: dict[str, Any], profile: str, tmp_path: Path
) -> None:
    straight = scores(gold_folder, answers, tmp_path / "straight", PROFILES[profile])
    chance = random.Random(0)
    gold = shuffled(texts_of(gold_folder), chance)
    for timeline in gold.values():
        timeline["post_level"] = shuffled(timeline["post_level"], chance)
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "gold.json").write_text(json.dumps(gold), encoding="utf-8")
    content = shuffled(copy.deepcopy(answers), chance)
    for timeline in content.values():
        timeline["post_level"] = shuffled(timeline["post_level"], chance)
    options = {**PROFILES[profile], "batch_tokens": 64}
    assert scores(tmp_path / "gold", content, tmp_path / "shuffled", options) == pytest.approx(straight, abs=1e-6)


def shuffled(mapping: Mapping[str, Any], chance: random.Random) -> dict[str, Any]:
    items = list(mapping.items())
    chance.shuffle(items)
    return dict(items)


def test_a_run_loads_each_model_once() -> None:
    options = PROFILES["published"]
    assert engines.nli_model(options) is engines.nli_model(copy.deepcopy(options))
    assert engines.bert_scorer(options) is engines.bert_scorer(copy.deepcopy(options))


HOSTILE = {
    "a span of 5,000 words": {"adaptive_evidence": ["a " * 5000]},
    "emoji": {"adaptive_evidence": ["😀🫠👩‍👩‍👧"], "summary": "😀"},
    "zero-width characters": {"maladaptive_evidence": ["\u200b\u200d"], "summary": "\u200b"},
    "right to left": {"adaptive_evidence": ["\u202eאני מרגיש טוב\u202c"], "summary": "אני מרגיש טוב."},
    "10,000 duplicated spans": {"maladaptive_evidence": ["I feel alone"] * 10_000},
    "a NUL escape": {"adaptive_evidence": ["a\0b"], "summary": "\0"},
    "typed special tokens": {"adaptive_evidence": ["[CLS] [SEP]", "[SEP]"], "summary": "[SEP] </s>"},
}


@pytest.mark.parametrize("fields", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("profile", PROFILES)
def test_odd_texts_have_finite_scores(gold_folder: Path, fields: Any, profile: str, tmp_path: Path) -> None:
    content = json.loads(json.dumps(oracle(gold_folder)))
    for timeline in content.values():
        first = next(iter(timeline["post_level"]))
        timeline["post_level"][first] = post(**fields)
    found = scores(gold_folder, content, tmp_path, PROFILES[profile])
    assert all(value is None or abs(value) < 100 for value in found.values())


def test_a_summary_of_3000_sentences(gold_folder: Path, tmp_path: Path) -> None:
    content = json.loads(json.dumps(oracle(gold_folder)))
    first = next(iter(content.values()))
    first["timeline_level"]["summary"] = " ".join(f"On day {day} I was calm." for day in range(3000))
    found = scores(gold_folder, content, tmp_path, PROFILES["published"])
    assert found["c_mean_consistency"] is not None
    assert 0 < found["c_mean_consistency"] < 1


def test_the_packed_joint_program_scores_with_models_and_shows_no_gold(
    gold_folder: Path, answers: dict[str, Any], tmp_path: Path
) -> None:
    options = {f"{group}.{key}": value for group, fields in MODELS.items() for key, value in fields.items()}
    outcome = run_program(
        tmp_path,
        "clpsych2025",
        gold_folder,
        write_files(tmp_path / "res", answers),
        options={**options, "device": "cpu"},
    )
    assert outcome.exit_code == 0, outcome.stderr
    everything = f"{outcome.stdout}{outcome.stderr}{json.dumps(outcome.details)}{outcome.page}"
    public = "".join(path.read_text(encoding="utf-8") for path in (DATA / "public" / "dev").iterdir())
    for gold in texts_of(gold_folder).values():
        for text in [gold["timeline_level"]["summary"], *(one["summary"] for one in gold["post_level"].values())]:
            assert text is None or (text not in everything and text not in public)
        for state in STATES:
            assert not any(span["text"] in everything for span in gold["timeline_level"][f"{state}_spans"])
    for part in ("bertscore.num_layers:2", "nli.revision:", "profile:published", "torch:", "transformers:"):
        assert part in outcome.details["signature"]
    expected = scores(gold_folder, answers, tmp_path / "again", PROFILES["published"])
    for column, value in outcome.scores.items():
        assert expected[column] is not None
        assert value == pytest.approx(max(0.0, expected[column] or 0.0), abs=1e-6)
