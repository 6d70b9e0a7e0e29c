"""The organisers' raw timeline files become gold; every mistake in them is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from clpsych2025.gold_files import gold_of, prepare
from clpsych2025.reference import read_gold
from scoring_kit.errors import OrganiserError

RAW: dict[str, Any] = {
    "timeline_id": "t1",
    "timeline_summary": "All of it.",
    "posts": [
        {
            "post_id": "p1",
            "post": "I am calm. I am alone. I walked.",
            "Post Summary": "Mixed.",
            "Well-being": 6.0,
            "evidence": {
                "adaptive-state": {
                    "B-S": {"Category": "self-care", "highlighted_evidence": "I walked"},
                    "A": {"Category": "calm", "highlighted_evidence": " I am calm "},
                },
                "maladaptive-state": {"A": {"Category": "lonely", "highlighted_evidence": "I am alone"}},
            },
        },
        {"post_id": "p2", "post": "Hello.", "Post Summary": None, "Well-being": None, "evidence": {}},
        {"post_id": "p3"},
        {
            "post_id": "p4",
            "post": "I walked again, and I walked",
            "evidence": {
                "adaptive-state": {
                    "A": None,
                    "B-S": {"highlighted_evidence": "I walked"},
                    "C-S": {"Category": None, "highlighted_evidence": " "},
                    "D": {"Category": "x", "highlighted_evidence": None},
                },
                "maladaptive-state": None,
            },
        },
    ],
}


def write(folder: Path, **files: Any) -> list[Path]:
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return sorted(folder.iterdir())


def messages(paths: list[Path]) -> list[str]:
    with pytest.raises(OrganiserError) as caught:
        gold_of(paths)
    return caught.value.messages


def test_spans_are_collated_in_the_order_of_posts_and_elements(tmp_path: Path) -> None:
    gold, warnings = gold_of(write(tmp_path, t1=RAW))
    assert gold == {
        "t1": {
            "timeline_level": {
                "summary": "All of it.",
                "adaptive_spans": [
                    {"text": "I walked", "element": "B-S", "subcategory": "self-care"},
                    {"text": " I am calm ", "element": "A", "subcategory": "calm"},
                    {"text": "I walked", "element": "B-S", "subcategory": None},
                ],
                "maladaptive_spans": [{"text": "I am alone", "element": "A", "subcategory": "lonely"}],
                "post_ids": ["p1", "p2", "p3", "p4"],
            },
            "post_level": {
                "p1": {"summary": "Mixed.", "wellbeing_score": 6},
                "p2": {"summary": None, "wellbeing_score": None},
                "p3": {"summary": None, "wellbeing_score": None},
                "p4": {"summary": None, "wellbeing_score": None},
            },
        }
    }
    assert warnings == []


def test_a_key_that_is_nearly_right_is_named_and_other_keys_are_ignored(tmp_path: Path) -> None:
    element = {"category": "calm", "Highlighted evidence": "I am calm"}
    post = {"post_id": "p1", "date": "today", "Well_Being": 3, "evidence": {"adaptive": {}, "maladaptve-state": {}}}
    other = {"post_id": "p2", "evidence": {"adaptive-state": {"A": element}}}
    raw = {"timeline_id": "t1", "Timeline Summary": "x", "posts": [post, other], "source": "here"}
    with pytest.raises(OrganiserError) as caught:
        gold_of(write(tmp_path, t1=raw))
    place = "t1.json, timeline t1, posts[{}], post {}"
    assert caught.value.messages == [
        "t1.json: unknown key 'Timeline Summary'. Expected: 'timeline_summary'.",
        "t1.json, timeline t1, posts[0]: unknown key 'Well_Being'. Expected: 'Well-being'.",
        f"{place.format(0, 'p1')}, evidence: unknown key 'maladaptve-state'. Expected: 'maladaptive-state'.",
        f"{place.format(1, 'p2')}, evidence, adaptive-state, A: "
        "unknown key 'Highlighted evidence'. Expected: 'highlighted_evidence'.",
    ]


@pytest.mark.parametrize("anything", ["3", "NaN", "true", "[1]", '{"a": 1, "a": 2}', '"text"'])
def test_fields_that_no_score_depends_on_may_hold_anything(tmp_path: Path, anything: str) -> None:
    """Also twice, and under a name that is nearly right."""
    junk = ", ".join(f'"{key}": {anything}' for key in ("Category", "category", "note", "note"))
    element = f'{{"highlighted_evidence": "I walked", {junk}}}'
    post = (
        f'{{"post_id": "p1", "post": {anything}, "Post": 1, "date": {anything}, "date": {anything},'
        f' "Post Summary": "S", "Well-being": 6,'
        f' "evidence": {{"adaptive-state": {{"A": {element}}}, "source": {anything}}}}}'
    )
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    out.mkdir()
    (source / "t1.json").write_text(
        f'{{"timeline_id": "t1", "timeline_summary": "S", "annotator": {anything}, "posts": [{post}]}}',
        encoding="utf-8",
    )
    prepare(source, out)
    gold = read_gold(out, ["a1", "a2", "b", "c"], "published").timelines["t1"]
    assert gold.spans == {"adaptive": ("I walked",), "maladaptive": ()}
    assert gold.posts["p1"].wellbeing == 6


def test_what_only_looks_wrong_is_a_warning(tmp_path: Path) -> None:
    evidence = {"adaptive-state": {"Presence": 3, "A": {"highlighted_evidence": "I was calm"}}}
    raw = {**RAW, "posts": [{"post_id": "p1", "post": "I am calm.", "evidence": evidence}]}
    _, warnings = gold_of(write(tmp_path, t1=raw))
    place = "t1.json, timeline t1, posts[0], post p1, evidence, adaptive-state"
    assert warnings == [
        f"{place}, Presence: is a number, not an element with its evidence; ignored.",
        f"{place}, A: the highlighted evidence is not a verbatim part of the post.",
    ]


POST = "t1.json, timeline t1, posts[0], post p1"
MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "a fraction as score": ({"Well-being": 4.5}, f"{POST}, Well-being: not a well-being score."),
    "a string as score": ({"Well-being": "6"}, f"{POST}, Well-being: not a well-being score."),
    "a list as summary": ({"Post Summary": []}, f"{POST}, Post Summary: is a list."),
    "a list as evidence": ({"evidence": []}, f"{POST}, evidence: is a list."),
    "a list as state": ({"evidence": {"adaptive-state": []}}, f"{POST}, evidence, adaptive-state: is a list."),
    "a list as highlight": (
        {"evidence": {"adaptive-state": {"A": {"highlighted_evidence": ["a"]}}}},
        f"{POST}, evidence, adaptive-state, A, highlighted_evidence: is a list.",
    ),
    "no id": ({"post_id": None}, "t1.json, timeline t1, posts[0], post_id: missing or not a text."),
    "a number as id": ({"post_id": 7}, "t1.json, timeline t1, posts[0], post_id: missing or not a text."),
}


@pytest.mark.parametrize(("fields", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_post_is_named(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    raw = {**RAW, "posts": [{**RAW["posts"][0], **fields}, *RAW["posts"][1:]]}
    (found,) = messages(write(tmp_path, t1=raw))
    assert found.startswith(message)


def test_mistakes_of_all_files_are_named_at_once(tmp_path: Path) -> None:
    repeated = {**RAW, "posts": [RAW["posts"][1], RAW["posts"][1]]}
    found = messages(
        write(
            tmp_path,
            a="{",
            b=[],
            c={**RAW, "timeline_id": ""},
            d={**repeated, "timeline_id": "t2"},
            e={**RAW, "timeline_summary": 3},
            f=RAW,
            g={"timeline_id": "t3", "posts": []},
            h='{"timeline_id": "t4", "timeline_id": "t5", "posts": [3]}',
        )
    )
    assert [message.split(". Expected")[0] for message in found] == [
        "a.json:1:2: not valid JSON (Expecting property name enclosed in double quotes)",
        "b.json: is a list",
        "c.json, timeline_id: missing or not a text",
        "d.json, timeline t2, posts[1], post p2: the timeline holds another post of this id",
        "e.json, timeline t1, timeline_summary: is a number",
        "f.json, timeline t1: another file holds the same timeline",
        "g.json, timeline t3, posts: missing, empty or not a list",
        "h.json: the key 'timeline_id' occurs more than once",
        "h.json, timeline t5, posts[0]: is a number",
    ]
