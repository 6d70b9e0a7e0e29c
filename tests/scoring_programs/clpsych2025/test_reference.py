"""Prepared gold: read strictly, every mistake at once, nothing of its content in a message."""

import json
from pathlib import Path
from typing import Any

import pytest

from clpsych2025 import reference
from scoring_kit.errors import OrganiserError
from tests.scoring_programs.clpsych2025.cases import OPTIONS, TASKS, gold_json

SECRET = "canary"


def write(folder: Path, content: object) -> Path:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "gold.json").write_text(text, encoding="utf-8")
    return folder


def good() -> dict[str, Any]:
    return gold_json(
        {
            "t1": {
                "summary": f"{SECRET} one. {SECRET} two.",
                "adaptive": [f" {SECRET} calm ", " "],
                "posts": {"p1": (f"{SECRET} post.", 5), "p2": (None, None)},
            }
        }
    )


def messages(folder: Path, content: object, tasks: tuple[str, ...] = TASKS, profile: str = "published") -> list[str]:
    write(folder, content)
    with pytest.raises(OrganiserError) as caught:
        reference.read(folder, tasks, {**OPTIONS, "profile": profile})
    assert SECRET not in str(caught.value)
    return caught.value.messages


def test_good_gold_is_read_as_it_stands(tmp_path: Path) -> None:
    content = good()
    content["t1"]["post_level"]["p1"]["summary_sents"] = [" One. ", "Two."]
    gold = reference.read(write(tmp_path, content), TASKS, OPTIONS)
    timeline = gold.timelines["t1"]
    assert timeline.spans == {"adaptive": (f"{SECRET} calm",), "maladaptive": ()}
    assert timeline.summary == reference.Summary(f"{SECRET} one. {SECRET} two.", None)
    assert timeline.posts["p1"] == reference.GoldPost(reference.Summary(f"{SECRET} post.", ("One.", "Two.")), 5)
    assert timeline.posts["p2"] == reference.GoldPost(reference.Summary("", None), None)
    assert [timeline.posts[name].summary.given for name in ("p1", "p2")] == [True, False]
    assert reference.manifest(gold, TASKS) == {"timelines": {"t1": ["p1", "p2"]}}


def test_empty_sentence_lists_mean_that_there_is_no_summary(tmp_path: Path) -> None:
    content = good()
    content["t1"]["post_level"]["p2"]["summary_sents"] = []
    gold = reference.read(write(tmp_path, content), TASKS, OPTIONS)
    assert not gold.timelines["t1"].posts["p2"].summary.given


NO_SCORE = "post p1, wellbeing_score: not a well-being score."
NO_SENTENCES = "post p1, summary_sents: not a list of sentences."
MISTAKES: dict[str, tuple[str, Any, str]] = {
    "no timeline level": ("timeline_level", None, "timeline_level: missing."),
    "a list as posts": ("post_level", [], "post_level: is a list."),
    "no posts": ("post_level", {}, "post_level: holds no post."),
    "a number as post": ("post_level/p1", 3, "post p1: is a number."),
    "a fraction": ("post_level/p1/wellbeing_score", 4.5, NO_SCORE),
    "out of range": ("post_level/p1/wellbeing_score", 11, NO_SCORE),
    "a boolean": ("post_level/p1/wellbeing_score", True, NO_SCORE),
    "NaN": ("post_level/p1/wellbeing_score", float("nan"), NO_SCORE),
    "a score as string": ("post_level/p1/wellbeing_score", SECRET, NO_SCORE),
    "a list as summary": ("timeline_level/summary", [SECRET], "timeline_level, summary: is a list."),
    "a string as sentences": ("post_level/p1/summary_sents", SECRET, NO_SENTENCES),
    "a blank sentence": ("post_level/p1/summary_sents", [" "], NO_SENTENCES),
    "a string as span": (
        "timeline_level/adaptive_spans",
        [{"text": "a"}, SECRET],
        "timeline_level, adaptive_spans[1]: has no text.",
    ),
    "a string as spans": (
        "timeline_level/maladaptive_spans",
        SECRET,
        "timeline_level, maladaptive_spans: is a string.",
    ),
    "no spans": ("timeline_level/adaptive_spans", [], "timeline_level: has no evidence span."),
}


@pytest.mark.parametrize(("place", "value", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named(tmp_path: Path, place: str, value: Any, message: str) -> None:
    content = good()
    holder, key = held(content["t1"], place)
    holder[key] = value
    (found,) = messages(tmp_path, content)
    assert found.startswith(f"gold.json, timeline t1, {message}")


def held(holder: Any, place: str) -> tuple[Any, str]:
    *outer, key = place.split("/")
    for name in outer:
        holder = holder[name]
    return holder, key


NEEDED = {
    "a1": ("timeline_level/adaptive_spans", "timeline_level, adaptive_spans: missing."),
    "a2": ("post_level/p1/wellbeing_score", "post p1, wellbeing_score: missing."),
    "b": ("post_level/p1/summary", "post p1, summary: missing."),
    "c": ("timeline_level/summary", "timeline_level, summary: missing."),
}


@pytest.mark.parametrize("task", TASKS)
def test_only_what_a_task_needs_must_be_there(tmp_path: Path, task: str) -> None:
    place, message = NEEDED[task]
    content = good()
    holder, key = held(content["t1"], place)
    del holder[key]
    found = messages(tmp_path, content, tasks=(task,))
    assert found[0].startswith(f"gold.json, timeline t1, {message}")
    others = tuple(other for other in TASKS if other != task)
    assert reference.read(tmp_path, others, OPTIONS).timelines.keys() == {"t1"}


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    content = good()
    content["t1"]["post_level"]["p1"] = {"summary": 3, "wellbeing_score": 0}
    content["t2"] = []
    found = messages(tmp_path, content)
    assert [message.split(": ")[0] for message in found] == [
        "gold.json, timeline t1, post p1, summary",
        "gold.json, timeline t1, post p1, wellbeing_score",
        "gold.json, timeline t2",
    ]


def test_a_timeline_without_spans_can_be_scored_as_run(tmp_path: Path) -> None:
    content = good()
    content["t1"]["timeline_level"]["adaptive_spans"] = []
    options = {**OPTIONS, "profile": "as-run"}
    assert reference.read(write(tmp_path, content), TASKS, options).timelines["t1"].spans == {
        "adaptive": (),
        "maladaptive": (),
    }


def test_a_timeline_without_scores_cannot_be_scored_as_run(tmp_path: Path) -> None:
    content = good()
    content["t1"]["post_level"]["p1"]["wellbeing_score"] = None
    expected = "gold.json, timeline t1, post_level: has no well-being score. Expected: at least one in every timeline"
    assert messages(tmp_path, content, profile="as-run") == [f"{expected} under profile as-run."]
    assert reference.read(tmp_path, TASKS, OPTIONS).timelines["t1"].posts["p1"].wellbeing is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "gold.json:1:2: not valid JSON"),
        ("[]", "gold.json: is a list."),
        ("{}", "gold.json: holds no timeline."),
        ('{"t": {}, "t": {}}', "gold.json: the key 't' occurs more than once."),
    ],
)
def test_a_file_that_is_no_gold_is_refused(tmp_path: Path, content: str, message: str) -> None:
    assert messages(tmp_path, content)[0].startswith(message)


def test_wrong_options_are_refused_before_anything_is_scored(tmp_path: Path) -> None:
    with pytest.raises(OrganiserError, match=r"options\.profile: not a valid value"):
        reference.read(write(tmp_path, good()), TASKS, {**OPTIONS, "profile": "official"})
