"""Tasks B and C against a table worked by hand and against an independent, plain implementation."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clpsych2025 import b, c
from clpsych2025.reference import ClpsychReference, GoldPost, GoldTimeline, Summary
from clpsych2025.submission import ClpsychSubmission, PostAnswer, TimelineAnswer
from scoring_kit.results import BarChart
from tests.scoring_programs.clpsych2025.cases import AS_RUN, OPTIONS
from tests.scoring_programs.clpsych2025.fake_models import LetterClassifier, letters

NOTHING: Mapping[str, tuple[str, ...]] = {"adaptive": (), "maladaptive": ()}


def sentences(text: str) -> list[str]:
    return [part.strip() for part in text.split(".") if part.strip()]


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> LetterClassifier:
    """The real one, and Punkt, have tests of their own; here a sentence ends at a full stop."""
    fake = LetterClassifier()
    for module in ("b", "c"):
        monkeypatch.setattr(f"clpsych2025.{module}.nli_model", lambda options: fake)
    monkeypatch.setattr("scoring_kit.metrics.sentences.split_sentences", sentences)
    monkeypatch.setattr("scoring_kit.metrics.sentences.punkt_digest", lambda: "none")
    return fake


def gold(*timelines: tuple[str | None, list[str | None]]) -> ClpsychReference:
    """Timelines t0 … as (timeline summary, post summaries)."""
    return ClpsychReference(
        {
            f"t{t}": GoldTimeline(
                Summary(summary or "", None),
                NOTHING,
                {f"p{p}": GoldPost(Summary(text or "", None), None) for p, text in enumerate(posts)},
            )
            for t, (summary, posts) in enumerate(timelines)
        }
    )


def answers(*timelines: tuple[str, list[tuple[str, list[str]]]]) -> ClpsychSubmission:
    """Timelines t0 … as (timeline summary, [(post summary, evidence)])."""
    return ClpsychSubmission(
        {
            f"t{t}": TimelineAnswer(
                summary,
                {
                    f"p{p}": PostAnswer({"adaptive": tuple(spans[::2]), "maladaptive": tuple(spans[1::2])}, text, None)
                    for p, (text, spans) in enumerate(posts)
                },
            )
            for t, (summary, posts) in enumerate(timelines)
        },
        frozenset({"b", "c"}),
    )


def values(metrics: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: metric.value for name, metric in metrics.items()}


def test_published_post_without_a_submitted_summary(model: LetterClassifier) -> None:
    result = b.score(gold((None, ["a. b"])), answers(("", [(" ", ["span"])])), OPTIONS)
    assert values(result.metrics) == {"b_mean_consistency": 0, "b_max_contradiction": 1, "b_max_entailment": 0}
    assert model.calls == []
    assert result.libraries == ()


def test_b_pools_posts_and_c_averages_timelines() -> None:
    reference = gold(("ab", ["ab", "ab"]), ("cd", ["cd"]))
    submission = answers(("xx", [("ab", []), ("xyz", [])]), ("cd", [("cd", [])]))
    same, other, longer = 1 - letters("ab", "ab")[2], 1 - letters("ab", "xx")[2], 1 - letters("ab", "xyz")[2]
    post = b.score(reference, submission, OPTIONS).metrics["b_mean_consistency"]
    timeline = c.score(reference, submission, OPTIONS).metrics["c_mean_consistency"]
    assert post.value == pytest.approx((same + longer + same) / 3)
    assert timeline.value == pytest.approx((other + same) / 2)
    assert (post.rows, timeline.rows) == (3, 2)


def test_all_pairs_of_a_task_are_classified_in_one_call(model: LetterClassifier) -> None:
    reference, submission = gold(("ab", ["a. b", "c"])), answers(("x. y", [("m. n", ["s"]), ("o", [])]))
    b.score(reference, submission, OPTIONS)
    c.score(reference, submission, OPTIONS)
    assert [len(call) for call in model.calls] == [4 + 1 + 2, 2]


def test_the_bars_are_means_over_a_timelines_posts() -> None:
    reference, submission = (
        gold((None, ["ab", "ab"]), (None, ["c"])),
        answers(("", [("ab", []), ("", [])]), ("", [("", [])])),
    )
    (chart,) = b.score(reference, submission, OPTIONS).figures
    assert isinstance(chart, BarChart)
    same = 1 - letters("ab", "ab")[2]
    assert [(bar.label, bar.value, bar.items) for bar in chart.bars] == [
        ("t0", pytest.approx(same / 2), 2),
        ("t1", 0, 1),
    ]


text = st.text("abc. ", max_size=8)
post_cases = st.lists(st.tuples(text, text, st.lists(text, max_size=3)), min_size=1, max_size=4)


def posts_of(cases: list[tuple[str, str, list[str]]]) -> tuple[ClpsychReference, ClpsychSubmission]:
    """Gold and answers of one timeline, a post for each case."""
    return gold((None, [case[0] for case in cases])), answers(("", [(case[1], case[2]) for case in cases]))


@pytest.mark.slow
@settings(max_examples=40)
@given(post_cases)
def test_published_b_equals_a_plain_implementation(cases: list[tuple[str, str, list[str]]]) -> None:
    consistency, contradiction, entailment = [], [], []
    for gold_text, summary, evidence in cases:
        g_all, s_all, e_all = sentences(gold_text), sentences(summary), [e.strip() for e in evidence if e.strip()]
        if not gold_text.strip():
            continue
        if not s_all or not g_all:
            consistency.append(0.0)
            contradiction.append(1.0)
        else:
            pairs = [1 - letters(g, s)[2] for s in s_all for g in g_all]
            consistency.append(sum(pairs) / (len(s_all) * len(g_all)))
            contradiction.append(sum(max(letters(g, s)[2] for g in g_all) for s in s_all) / len(s_all))
        if not s_all or not e_all:
            entailment.append(0.0)
        else:
            entailment.append(sum(max(letters(e, s)[0] for e in e_all) for s in s_all) / len(s_all))
    metrics = b.score(*posts_of(cases), OPTIONS).metrics
    expected = {"b_mean_consistency": consistency, "b_max_contradiction": contradiction, "b_max_entailment": entailment}
    for name, rows in expected.items():
        assert metrics[name].value == (pytest.approx(sum(rows) / len(rows)) if rows else None)


@pytest.mark.slow
@settings(max_examples=40)
@given(post_cases)
def test_as_run_b_equals_a_plain_implementation(cases: list[tuple[str, str, list[str]]]) -> None:
    rows: dict[str, list[float]] = {}
    for gold_text, summary, evidence in cases:
        g_all, s_all = sentences(gold_text), sentences(summary)
        if not gold_text.strip():
            continue
        for suffix, premises in (("gold", g_all), ("evidence", evidence)):
            if suffix == "evidence" and not (premises and s_all):
                continue
            pairs = [letters(premise, s) for premise in premises for s in s_all]
            contradictions = [pair[2] for pair in pairs]
            mean = 1 - sum(contradictions) / len(contradictions) if pairs else 0.0
            rows.setdefault(f"post_mean_consistency_{suffix}", []).append(mean)
            rows.setdefault(f"post_max_contradiction_{suffix}", []).append(max(contradictions, default=1.0))
            rows.setdefault(f"post_max_entailment_{suffix}", []).append(max((pair[0] for pair in pairs), default=0.0))
    metrics = b.score(*posts_of(cases), AS_RUN).metrics
    for name in [name for name in metrics if name.startswith("post_")]:
        found = rows.get(name, [])
        assert metrics[name].rows == len(found)
        assert metrics[name].value == (pytest.approx(sum(found) / len(found)) if found else None)
    assert metrics["b_max_entailment"] == metrics["post_max_entailment_evidence"]


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(st.tuples(text, text), min_size=1, max_size=4))
def test_c_equals_a_plain_implementation(cases: list[tuple[str, str]]) -> None:
    consistency, mean_of_max, largest, entailed = [], [], [], []
    for gold_text, summary in cases:
        g_all, s_all = sentences(gold_text), sentences(summary)
        if not gold_text.strip():
            continue
        table = [[letters(g, s) for g in g_all] for s in s_all if g_all]
        flat = [pair for row in table for pair in row]
        consistency.append(sum(1 - pair[2] for pair in flat) / len(flat) if flat else 0.0)
        mean_of_max.append(sum(max(pair[2] for pair in row) for row in table) / len(table) if flat else 1.0)
        largest.append(max((pair[2] for pair in flat), default=1.0))
        entailed.append(max((pair[0] for pair in flat), default=0.0))
    reference, submission = gold(*((g, []) for g, _ in cases)), answers(*((s, []) for _, s in cases))
    expected = {
        "c_mean_consistency": consistency,
        "c_max_contradiction": mean_of_max,
        "timeline_mean_consistency_gold": consistency,
        "timeline_max_contradiction_gold": largest,
        "timeline_max_entailment_gold": entailed,
    }
    metrics = {**c.score(reference, submission, AS_RUN).metrics, **c.score(reference, submission, OPTIONS).metrics}
    for name, rows in expected.items():
        assert metrics[name].value == (pytest.approx(sum(rows) / len(rows)) if rows else None)
