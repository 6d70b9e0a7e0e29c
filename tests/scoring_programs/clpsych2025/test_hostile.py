"""Submissions made to break a scoring program: refused with a message or scored, never a traceback."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clpsych2025 import a1, a2, b, c
from clpsych2025.reference import ClpsychReference, GoldPost, GoldTimeline, Summary
from clpsych2025.submission import ClpsychSubmission
from tests.scoring_programs.clpsych2025.cases import OPTIONS, answer, manifest, post, read
from tests.scoring_programs.clpsych2025.fake_models import LetterClassifier, WordScorer

IDS = {"t1": ["p1", "p2"]}
GOLD = ClpsychReference(
    {
        "t1": GoldTimeline(
            Summary("gold of the timeline", ("gold of the timeline",)),
            {"adaptive": ("gold calm",), "maladaptive": ("gold alone",)},
            {"p1": GoldPost(Summary("gold of p1", ("gold of p1",)), 3), "p2": GoldPost(Summary("", None), 8)},
        )
    }
)


@pytest.fixture(autouse=True)
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clpsych2025.a1.bert_scorer", lambda options: WordScorer())
    for module in ("b", "c"):
        monkeypatch.setattr(f"clpsych2025.{module}.nli_model", lambda options: LetterClassifier())
    monkeypatch.setattr("scoring_kit.metrics.sentences.split_sentences", str.splitlines)
    monkeypatch.setattr("scoring_kit.metrics.sentences.punkt_digest", lambda: "none")


def scored(submission: ClpsychSubmission, profile: str) -> dict[str, float | None]:
    options = {**OPTIONS, "profile": profile}
    metrics = {}
    for task in (a1, a2, b, c):
        metrics.update(task.score(GOLD, submission, options).metrics)
    return {name: metric.value for name, metric in metrics.items()}


def outcome(folder: Path, content: object, profile: str = "published", **options: Any) -> dict[str, float | None] | str:
    """The scores, or the first message of the refusal."""
    submission, problems = read(folder, content, manifest(IDS, profile, **options))
    if submission is not None:
        return scored(submission, profile)
    return problems.errors[0]


def with_post(summary: str = "", **fields: Any) -> dict[str, Any]:
    return {"t1": answer({"p1": post(**fields), "p2": post()}, summary=summary)}


def test_the_size_limit_is_an_option(tmp_path: Path) -> None:
    content = with_post("a" * 200_000)
    assert outcome(tmp_path, content, max_submission_mb=0.1) == (
        "Team_1.json: is 0.2 MB in size. Expected: at most 0.1 MB."
    )
    assert isinstance(outcome(tmp_path, content, max_submission_mb=0.5), dict)


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
keys = st.text(max_size=3)
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3))
spans = st.lists(st.text(max_size=6), max_size=3)
posts = st.fixed_dictionaries(
    {
        "adaptive_evidence": spans | values,
        "maladaptive_evidence": spans | st.just("['a']") | values,
        "summary": st.text(max_size=6) | values,
        "wellbeing_score": st.floats(0, 11) | st.integers(0, 11) | values,
    }
)
wholes = st.fixed_dictionaries(
    {
        "t1": st.fixed_dictionaries(
            {
                "timeline_level": st.fixed_dictionaries({"summary": st.text(max_size=6)}) | values,
                "post_level": st.fixed_dictionaries({"p1": posts, "p2": posts}) | values,
            }
        )
        | values
    }
)


@pytest.mark.slow
@given(content=values | wholes, profile=st.sampled_from(["published", "as-run"]))
def test_no_json_ends_in_a_traceback(content: object, profile: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("any")
    result = outcome(folder, json.dumps(content), profile)
    assert result
    if isinstance(result, str):
        assert result.startswith("Team_1.json")


@pytest.mark.slow
@given(content=st.binary(max_size=60) | st.text(max_size=30), profile=st.sampled_from(["published", "as-run"]))
def test_no_bytes_end_in_a_traceback(
    content: str | bytes, profile: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert str(outcome(tmp_path_factory.mktemp("any"), content, profile)).startswith("Team_1.json")
