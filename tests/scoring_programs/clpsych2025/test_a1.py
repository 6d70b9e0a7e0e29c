"""Task A.1 against a table worked by hand and against an independent, plain implementation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clpsych2025 import a1
from clpsych2025.a1 import TimelineSpans
from clpsych2025.averages import metrics_of
from scoring_kit.errors import OrganiserError
from scoring_kit.results import BarChart
from tests.scoring_programs.clpsych2025.cases import AS_RUN, OPTIONS, gold_scores, scores
from tests.scoring_programs.clpsych2025.fake_models import BASELINE, WordScorer, overlap

Spans = dict[str, list[str]]


def timeline(name: str, gold: Spans, predicted: Spans) -> TimelineSpans:
    nothing: Spans = {"adaptive": [], "maladaptive": []}
    return TimelineSpans(name, {**nothing, **gold}, {**nothing, **predicted})


def rescaled(score: float) -> float:
    return (score - BASELINE) / (1 - BASELINE)


# gold, predicted, then recall and weighted recall of both self-states, adaptive, maladaptive (None: no row)
PUBLISHED = {
    "the gold itself": (
        {"adaptive": ["calm now"], "maladaptive": ["so alone"]},
        {"adaptive": ["calm now"], "maladaptive": ["so alone"]},
        [(1, 1), (1, 1), (1, 1)],
    ),
    "nothing submitted": ({"adaptive": ["calm now"]}, {}, [(0, 0), (0, 0), None]),
    "the self-states are matched across each other": (
        {"adaptive": ["calm now"], "maladaptive": ["so alone"]},
        {"maladaptive": ["so alone", "calm now"]},
        [(1, 1), (0, 0), (1, 0.5)],
    ),
    "half the words, below the baseline for the rest": (
        {"adaptive": ["calm now", "i walked"]},
        {"adaptive": ["calm again"]},
        [((rescaled(0.5) + rescaled(0)) / 2,) * 2, ((rescaled(0.5) + rescaled(0)) / 2,) * 2, None],
    ),
    "longer than gold": (
        {"adaptive": ["calm now"]},
        {"adaptive": ["calm now and for ever and a day"]},
        [(1, 0.25), (1, 0.25), None],
    ),
    "duplicated predictions weigh": (
        {"maladaptive": ["so alone"]},
        {"maladaptive": ["so alone"] * 4},
        [(1, 0.25), None, (1, 0.25)],
    ),
    "duplicated gold counts again": (
        {"adaptive": ["calm now", "calm now", "i walked"]},
        {"adaptive": ["calm now"]},
        [((2 + rescaled(0)) / 3,) * 2, ((2 + rescaled(0)) / 3,) * 2, None],
    ),
}


@pytest.mark.parametrize(("gold", "predicted", "expected"), PUBLISHED.values(), ids=PUBLISHED)
def test_published(gold: Spans, predicted: Spans, expected: list[tuple[float, float] | None]) -> None:
    rows = a1.published([timeline("t", gold, predicted)], WordScorer() if predicted else None)
    parts = ("both", "adaptive", "maladaptive")
    found = [(row.recall, row.weighted) for part in parts for row in rows[part]]
    assert found == [pytest.approx(pair) for pair in expected if pair is not None]
    assert [bool(rows[part]) for part in parts] == [pair is not None for pair in expected]


def test_as_run_refuses_at_what_the_organisers_program_stops_and_does_not_say_where() -> None:
    timelines = [timeline(name, {"adaptive": ["calm"]}, {"maladaptive": ["alone"]}) for name in ("t0", "t1")]
    with pytest.raises(OrganiserError) as caught:
        a1.as_run(timelines, WordScorer())
    (message,) = caught.value.messages
    assert "profile as-run" in message
    assert not any(word in message for word in ("t0", "t1", "adaptive", "2"))


def test_every_text_is_embedded_in_one_call_and_unanswered_timelines_in_none() -> None:
    scorer = WordScorer()
    timelines = [
        timeline("t0", {"adaptive": ["calm now"]}, {"adaptive": ["calm now", "alone", "alone"]}),
        timeline("t1", {"adaptive": ["i walked"]}, {}),
    ]
    a1.published(timelines, scorer)
    assert scorer.encoded == ["alone", "calm now", "calm now"]


@pytest.mark.parametrize("options", [OPTIONS, AS_RUN], ids=["published", "as-run"])
def test_no_span_needs_no_model(options: dict[str, object]) -> None:
    result = a1.score(gold_scores([5]), scores([5]), options)
    assert result.libraries == ()
    assert result.settings["bertscore.model"] == "m"


def test_metrics_are_means_with_their_rows_and_spans() -> None:
    timelines = [
        timeline("t0", {"adaptive": ["calm now", "i walked"]}, {"adaptive": ["calm now"]}),
        timeline("t1", {"adaptive": ["hope"], "maladaptive": ["so alone"]}, {}),
    ]
    metrics = metrics_of(a1.averages_of(a1.published(timelines, WordScorer()), "a1_"))
    counts = {name: (metric.value, metric.rows, metric.items) for name, metric in metrics.items() if "weig" not in name}
    recall = (1 + rescaled(0)) / 2 / 2
    assert counts == {
        "a1_recall": (pytest.approx(recall), 2, 4),
        "a1_recall_adaptive": (pytest.approx(recall), 2, 3),
        "a1_recall_maladaptive": (0, 1, 1),
    }


def test_a_timelines_bar_is_the_mean_of_its_rows() -> None:
    timelines = [
        timeline(name, {"adaptive": ["calm"], "maladaptive": ["alone"]}, {"adaptive": ["calm"]}) for name in "ab"
    ]
    chart = a1.recall_bars(a1.as_run(timelines, WordScorer())["both"])
    assert isinstance(chart, BarChart)
    assert [(bar.label, bar.value, bar.items) for bar in chart.bars] == [("a", 0.5, 2), ("b", 0.5, 2)]


words = st.sampled_from(["calm", "now", "alone", "so", "i", "walked", "home"])
span = st.lists(words, min_size=1, max_size=4).map(" ".join)
spans = st.lists(span, max_size=4)
states = st.fixed_dictionaries({"adaptive": spans, "maladaptive": spans})


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(st.tuples(states.filter(lambda gold: any(gold.values())), states), min_size=1, max_size=4))
def test_published_equals_a_plain_implementation(cases: list[tuple[Spans, Spans]]) -> None:
    timelines = [timeline(f"t{index}", gold, predicted) for index, (gold, predicted) in enumerate(cases)]
    metrics = metrics_of(a1.averages_of(a1.published(timelines, WordScorer()), "a1_"))
    parts = {"": ("adaptive", "maladaptive"), "_adaptive": ("adaptive",), "_maladaptive": ("maladaptive",)}
    for suffix, chosen in parts.items():
        recalls, weighted = [], []
        for gold, predicted in cases:
            e_all = [e for state in chosen for e in gold[state]]
            h_all = [h for state in chosen for h in predicted[state]]
            if not e_all:
                continue
            total = 0.0
            for e in e_all:
                total += max([rescaled(overlap(e, h)) for h in h_all]) if h_all else 0.0
            n_gold, n_pred = len(" ".join(e_all).split()), len(" ".join(h_all).split())
            recalls.append(total / len(e_all))
            weighted.append(recalls[-1] * (n_gold / n_pred if n_pred > n_gold else 1))
        for name, rows in (("recall", recalls), ("weighted_recall", weighted)):
            expected = pytest.approx(sum(rows) / len(rows), abs=1e-12) if rows else None
            assert metrics[f"a1_{name}{suffix}"].value == expected
            assert metrics[f"a1_{name}{suffix}"].rows == len(rows)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(st.tuples(states, states), min_size=1, max_size=4))
def test_as_run_equals_a_plain_implementation(cases: list[tuple[Spans, Spans]]) -> None:
    cases = [(gold, {state: predicted[state] if gold[state] else [] for state in gold}) for gold, predicted in cases]
    scorer = WordScorer()
    rows_of = a1.as_run([timeline(f"t{index}", *case) for index, case in enumerate(cases)], scorer)
    assert scorer.batches <= {64}
    metrics = metrics_of(a1.averages_of(rows_of, "bertscore_"))
    rows = []
    for gold, predicted in cases:
        for state in gold:
            best = [max((f1(h, e) for h in predicted[state]), default=0.0) for e in gold[state]]
            n_gold, n_pred = len(" ".join(gold[state]).split()), len(" ".join(predicted[state]).split())
            weight = n_gold / n_pred if n_gold < n_pred else 1
            rows.append((sum(best) / len(best) if best else 0.0, weight))
    assert metrics["bertscore_recall"].rows == len(rows) == 2 * len(cases)
    assert metrics["bertscore_recall"].value == pytest.approx(sum(recall for recall, _ in rows) / len(rows))
    expected = sum(recall * weight for recall, weight in rows) / len(rows)
    assert metrics["bertscore_weighted_recall"].value == pytest.approx(expected)


def f1(candidate: str, reference: str) -> float:
    precision, recall = overlap(candidate, reference), overlap(reference, candidate)
    return rescaled(2 * precision * recall / (precision + recall) if precision + recall else 0.0)
