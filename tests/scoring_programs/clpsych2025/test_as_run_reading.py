"""Reading a submission under profile `as-run`: as forgiving as the organisers' program, refused where that stops."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from clpsych2025.submission import PostAnswer
from scoring_kit.errors import Problems
from tests.scoring_programs.clpsych2025.cases import answer, manifest, post, read

EXPECTED = manifest({"t1": ["p1"]}, profile="as-run")


def read_post(folder: Path, fields: dict[str, Any]) -> tuple[PostAnswer | None, Problems]:
    submission, problems = read(folder, {"t1": answer({"p1": fields})}, EXPECTED)
    return submission.timelines["t1"].posts["p1"] if submission else None, problems


EVIDENCE = {
    "a list": (["a", " b "], ("a", " b ")),
    "blank spans are kept": (["", " "], ("", " ")),
    "a list written as a string": ("['a', \"b\"]", ("a", "b")),
    "an empty list written as a string": ("[]", ()),
    "a tuple written as a string": ("('a', 'b')", ()),
    "a dict written as a string": ("{'a': 'b'}", ()),
    "a set written as a string": ("{'a'}", ()),
    "prose": ("I feel calm", ()),
    "an empty string": ("", ()),
    "JSON with null": ("[null]", ()),
    "NUL": ("['a\0']", ()),
    "a bad escape": (r"['\d']", (r"\d",)),
    "half a character": ("'\ud800'", ()),
    "a number of many digits": ("[" + "9" * 5000 + "]", ()),
}


@pytest.mark.parametrize(("value", "spans"), EVIDENCE.values(), ids=EVIDENCE)
def test_evidence(tmp_path: Path, value: object, spans: tuple[str, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, _ = read_post(tmp_path, post(adaptive_evidence=value))
    assert found is not None
    assert found.evidence["adaptive"] == spans


CRASHES: dict[str, tuple[dict[str, Any], str]] = {
    "null as evidence": ({"adaptive_evidence": None}, "adaptive_evidence: is null"),
    "a number as evidence": ({"maladaptive_evidence": 3}, "maladaptive_evidence: is a number"),
    "an object as evidence": ({"maladaptive_evidence": {"a": 1}}, "maladaptive_evidence: is an object"),
    "null in the list": ({"adaptive_evidence": ["a", None]}, "adaptive_evidence[1]: is null"),
    "a number in a list written as a string": ({"adaptive_evidence": "['a', 1]"}, "adaptive_evidence[1]: is a number"),
    "a very long string": (
        {"adaptive_evidence": "[" + "1," * 500_001 + "]"},
        "adaptive_evidence: is one string of more",
    ),
    "null as summary": ({"summary": None}, "summary: is null"),
    "a list as summary": ({"summary": ["a"]}, "summary: is a list"),
    "NaN": ({"wellbeing_score": float("nan")}, 'wellbeing_score: "nan" cannot be scored'),
    "infinity": ({"wellbeing_score": float("inf")}, 'wellbeing_score: "inf" cannot be scored'),
    "a number whose square is none": ({"wellbeing_score": 1e200}, 'wellbeing_score: "1e+200" cannot be scored'),
    "a whole number beyond all floats": ({"wellbeing_score": 10**400}, "wellbeing_score: "),
    "a fraction sign": ({"wellbeing_score": "½"}, 'wellbeing_score: the string "½" cannot be scored'),
    "a superscript": ({"wellbeing_score": "²"}, 'wellbeing_score: the string "²" cannot be scored'),
    "very many digits": ({"wellbeing_score": "9" * 400}, "wellbeing_score: the string"),
}


@pytest.mark.parametrize(("fields", "message"), CRASHES.values(), ids=CRASHES)
def test_where_the_organisers_program_stops_the_submission_is_refused(
    tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    found, problems = read_post(tmp_path, post(**fields))
    assert found is None
    (error,) = problems.errors
    assert error.startswith(f"Team_1.json, timeline t1, post p1, {message}")


SCORES: dict[str, tuple[Any, float | None]] = {
    "a number": (5, 5),
    "a fraction": (5.5, 5.5),
    "true": (True, 1),
    "false": (False, 0),
    "out of range": (-3, -3),
    "digits": (" 7 ", 7),
    "Arabic-Indic digits": ("٣", 3),
    "a fraction as a string": ("5.5", None),
    "a negative string": ("-3", None),
    "a word": ("seven", None),
    "an empty string": ("", None),
    "a list": ([5], None),
    "an object": ({"score": 5}, None),
    "null": (None, None),
}


@pytest.mark.parametrize(("value", "score"), SCORES.values(), ids=SCORES)
def test_wellbeing(tmp_path: Path, value: object, score: float | None) -> None:
    found, _ = read_post(tmp_path, post(wellbeing_score=value))
    assert found is not None
    assert found.wellbeing == score


def test_missing_post_fields_are_empty(tmp_path: Path) -> None:
    found, problems = read_post(tmp_path, {})
    assert found == PostAnswer({"adaptive": (), "maladaptive": ()}, "", None)
    assert problems.warned == 0


@pytest.mark.parametrize("value", [None, ["a"], 3, {}])
def test_a_timeline_summary_that_is_no_string_is_empty(tmp_path: Path, value: object) -> None:
    submission, problems = read(tmp_path, {"t1": answer({"p1": {}}, summary=value)}, EXPECTED)
    assert submission is not None
    assert submission.timelines["t1"].summary == ""
    assert problems.warned == 1


MISSING: dict[str, tuple[Any, str]] = {
    "the timeline": ({"t2": answer({"p1": {}})}, "timeline t1: is missing"),
    "the timeline's level": ({"t1": {"post_level": {"p1": {}}}}, "timeline t1, timeline_level: is missing"),
    "the timeline's summary": (
        {"t1": {"timeline_level": {}, "post_level": {"p1": {}}}},
        "timeline t1, timeline_level, summary: the field is missing",
    ),
    "the post": ({"t1": answer({"p2": {}})}, "timeline t1, post p1: is missing"),
}


@pytest.mark.parametrize(("content", "message"), MISSING.values(), ids=MISSING)
def test_what_is_missing_stops(tmp_path: Path, content: object, message: str) -> None:
    submission, problems = read(tmp_path, content, EXPECTED)
    assert submission is None
    assert [error.startswith(f"Team_1.json, {message}") for error in problems.errors] == [True]


def test_of_a_repeated_key_the_last_value_holds(tmp_path: Path) -> None:
    content = json.dumps({"t1": answer({"p1": post()})}).replace(
        '"wellbeing_score": null', '"wellbeing_score": 3, "wellbeing_score": 4'
    )
    submission, problems = read(tmp_path, content, EXPECTED)
    assert submission is not None
    assert submission.timelines["t1"].posts["p1"].wellbeing == 4
    assert problems.warnings == [
        'Team_1.json, timeline t1, post p1: the key "wellbeing_score" occurs more than once; the last value is used.'
    ]
