"""Reading a submission under profile `published`: strict, every problem named with timeline, post and field."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scoring_programs.clpsych2025.cases import answer, manifest, post, read, read_folder, write_files

EXPECTED = {"t1": ["p1", "p2"], "t2": ["p3"]}
GOOD: dict[str, Any] = {"t1": answer({"p1": post(), "p2": post()}), "t2": answer({"p3": post()})}


def with_post(**fields: Any) -> dict[str, Any]:
    """A submission whose post p1 of t1 has these fields."""
    return {**GOOD, "t1": answer({"p1": post(**fields), "p2": post()})}


def test_a_good_submission_is_read_as_it_stands(tmp_path: Path) -> None:
    content = {
        "t1": answer(
            {
                "p1": post(
                    adaptive_evidence=[" calm ", ""], maladaptive_evidence=["alone"], summary="S", wellbeing_score=5
                ),
                "p2": post(adaptive_evidence=None, summary=None),
            },
            summary=None,
        ),
        "t2": answer({"p3": post(wellbeing_score=6.5)}, summary="All."),
    }
    submission, problems = read(tmp_path, content, manifest(EXPECTED))
    assert submission is not None
    assert problems.warnings == []
    assert submission.entered == {"a1", "a2", "b", "c"}
    first, second = submission.timelines["t1"].posts.values()
    assert first.evidence == {"adaptive": (" calm ", ""), "maladaptive": ("alone",)}
    assert first.spans == ["calm", "alone"]
    assert (first.summary, first.wellbeing) == ("S", 5.0)
    assert (second.evidence["adaptive"], second.summary, second.wellbeing) == ((), "", None)
    assert [submission.timelines[name].summary for name in EXPECTED] == ["", "All."]
    assert submission.timelines["t1"].spans("adaptive") == ["calm"]


@pytest.mark.parametrize("score", [1, 5.0, 10, None])
def test_what_is_a_score_is_taken(tmp_path: Path, score: float | None) -> None:
    submission, _ = read(tmp_path, with_post(wellbeing_score=score), manifest(EXPECTED))
    assert submission is not None
    assert submission.timelines["t1"].posts["p1"].wellbeing == score


A_SCORE = "A number from 1 to 10, or null is expected."
A_LIST = "A list of strings is expected, [] for none."
PAIRS = "Text that can be encoded as UTF-8 is expected: the escapes \\ud800 to \\udfff only in pairs."
FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "a boolean": ({"wellbeing_score": True}, f"wellbeing_score: is a boolean. {A_SCORE}"),
    "a string": ({"wellbeing_score": "5"}, f"wellbeing_score: is a string. {A_SCORE}"),
    "a list": ({"wellbeing_score": [5]}, f"wellbeing_score: is a list. {A_SCORE}"),
    "0": ({"wellbeing_score": 0}, f'wellbeing_score: "0" is out of range. {A_SCORE}'),
    "-0.0": ({"wellbeing_score": -0.0}, f'wellbeing_score: "-0.0" is out of range. {A_SCORE}'),
    "10.01": ({"wellbeing_score": 10.01}, f'wellbeing_score: "10.01" is out of range. {A_SCORE}'),
    "NaN": ({"wellbeing_score": float("nan")}, f"wellbeing_score: is not a finite number (nan). {A_SCORE}"),
    "-Infinity": ({"wellbeing_score": float("-inf")}, f"wellbeing_score: is not a finite number (-inf). {A_SCORE}"),
    "4000 digits": ({"wellbeing_score": 10**4000}, f'wellbeing_score: "1{"0" * 59}…" is out of range. {A_SCORE}'),
    "evidence as a string": ({"adaptive_evidence": "a span"}, f"adaptive_evidence: is a string. {A_LIST}"),
    "evidence as an object": ({"adaptive_evidence": {}}, f"adaptive_evidence: is an object. {A_LIST}"),
    "a null span": ({"maladaptive_evidence": ["a", None]}, "maladaptive_evidence[1]: is null. A string is expected."),
    "a number as span": ({"maladaptive_evidence": [7]}, "maladaptive_evidence[0]: is a number. A string is expected."),
    "a list as summary": ({"summary": ["a"]}, "summary: is a list. A string is expected."),
    "half a character": ({"summary": "\ud800"}, f"summary: contains half of a surrogate pair. {PAIRS}"),
}


@pytest.mark.parametrize(("fields", "message"), FIELDS.values(), ids=FIELDS)
def test_a_wrong_field_is_refused(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    submission, problems = read(tmp_path, with_post(**fields), manifest(EXPECTED))
    assert submission is None
    assert problems.errors == [f"Team_1.json, timeline t1, post p1, {message}"]


def test_every_field_must_be_there(tmp_path: Path) -> None:
    _, problems = read(tmp_path, {**GOOD, "t2": answer({"p3": {}})}, manifest(EXPECTED))
    assert problems.errors == [
        f"Team_1.json, timeline t2, post p3, {field}: the field is missing. Expected: the field, even if it is empty."
        for field in ("adaptive_evidence", "maladaptive_evidence", "summary", "wellbeing_score")
    ]


def test_every_problem_is_found_in_one_reading(tmp_path: Path) -> None:
    content = {
        "t1": {"timeline_level": {}, "post_level": {"p1": post(wellbeing_score=11, summary=1), "p3": post()}},
        "t9": answer({}),
    }
    submission, problems = read(tmp_path, content, manifest(EXPECTED))
    assert submission is None
    where = [message.split(": ")[0] for message in problems.errors]
    assert where == [
        "Team_1.json, timeline t1, timeline_level, summary",
        "Team_1.json, timeline t1, post p1, summary",
        "Team_1.json, timeline t1, post p1, wellbeing_score",
        "Team_1.json, timeline t1, post p2",
        "Team_1.json, timeline t2",
    ]
    assert problems.warnings == [
        'Team_1.json: the timeline "t9" is not expected and is ignored.',
        'Team_1.json, timeline t1: the post "p3" is not expected and is ignored.',
    ]


STRUCTURES: dict[str, tuple[Any, str]] = {
    "a list": ([], "Team_1.json: is a list. One object with an entry for every timeline is expected."),
    "null": (None, "Team_1.json: is null. One object with an entry for every timeline is expected."),
    "a timeline that is a list": (
        {**GOOD, "t1": []},
        "Team_1.json, timeline t1: is a list. An object with `timeline_level` and `post_level` is expected.",
    ),
    "a timeline without posts": (
        {**GOOD, "t1": {"timeline_level": {"summary": ""}}},
        "Team_1.json, timeline t1, post_level: is missing. An entry for every timeline, level and post is expected.",
    ),
    "posts as a list": (
        {**GOOD, "t1": {"timeline_level": {"summary": ""}, "post_level": [post()]}},
        "Team_1.json, timeline t1, post_level: is a list. An object with an entry for every post is expected.",
    ),
    "a post that is null": (
        {**GOOD, "t2": answer({"p3": None})},
        "Team_1.json, timeline t2, post p3: is null. An object with the fields adaptive_evidence, "
        "maladaptive_evidence, summary, wellbeing_score is expected.",
    ),
}


@pytest.mark.parametrize(("content", "message"), STRUCTURES.values(), ids=STRUCTURES)
def test_a_wrong_structure_is_refused(tmp_path: Path, content: Any, message: str) -> None:
    submission, problems = read(tmp_path, content, manifest(EXPECTED))
    assert submission is None
    assert problems.errors == [message]


def test_a_repeated_key_is_refused_at_every_level(tmp_path: Path) -> None:
    content = json.dumps(GOOD)
    content = content.replace('"summary": ""', '"summary": "", "summary": "x"', 2).replace('{"t1"', '{"t2": {}, "t1"')
    submission, problems = read(tmp_path, content, manifest(EXPECTED))
    assert submission is None
    assert problems.errors == [
        f"{where}: the key {key} occurs more than once. Expected: each key once."
        for where, key in (
            ("Team_1.json", '"t2"'),
            ("Team_1.json, timeline t1, timeline_level", '"summary"'),
            ("Team_1.json, timeline t1, post p1", '"summary"'),
        )
    ]


def test_extra_fields_are_ignored_with_a_warning(tmp_path: Path) -> None:
    content = with_post(note="x")
    content["t1"]["model"] = "m"
    content["t1"]["timeline_level"]["wellbeing_score"] = 3
    submission, problems = read(tmp_path, content, manifest(EXPECTED))
    assert submission is not None
    assert problems.warnings == [
        'Team_1.json, timeline t1: the field "model" is not expected and is ignored.',
        'Team_1.json, timeline t1, timeline_level: the field "wellbeing_score" is not expected and is ignored.',
        'Team_1.json, timeline t1, post p1: the field "note" is not expected and is ignored.',
    ]


NAMES = {
    "Team_1.json": 0,
    "Swapped_team_2.json": 1,
    "results.json": 1,
    "_2.json": 1,
    "TEAM_X.JSON": 0,
    "folder/Team_1.json": 1,
}


@pytest.mark.parametrize(("name", "warned"), NAMES.items())
def test_a_name_of_another_form_is_remarked_on(tmp_path: Path, name: str, warned: int) -> None:
    write_files(tmp_path / "res", GOOD)
    target = tmp_path / "res" / name
    target.parent.mkdir(exist_ok=True)
    (tmp_path / "res" / "Team_1.json").rename(target)
    submission, problems = read_folder(tmp_path / "res", manifest(EXPECTED))
    assert submission is not None
    assert problems.warned == warned


def test_exactly_one_json_file_is_expected(tmp_path: Path) -> None:
    write_files(tmp_path, GOOD)
    (tmp_path / "Team_2.json").write_text("{}")
    (tmp_path / "readme.txt").write_text("hello")
    submission, problems = read_folder(tmp_path, manifest(EXPECTED))
    assert submission is None
    assert problems.errors == [
        'submission: holds 2 JSON files: "Team_1.json", "Team_2.json". '
        "Exactly one is expected, named TEAM_SubmissionID.json."
    ]
    assert problems.warnings == ['"readme.txt": ignored: only the JSON file is read.']


def test_a_submission_without_a_json_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "answers.txt").write_text("hello")
    _, problems = read_folder(tmp_path, manifest(EXPECTED))
    assert problems.errors == [
        'submission: holds no JSON file; found "answers.txt". Exactly one is expected, named TEAM_SubmissionID.json.'
    ]


NAMES_AS_SHOWN = {
    "T\nsignature: forged.json": "T\\nsignature: forged.json",
    "T\x1b[31m_1.json": "T\\x1b[31m_1.json",
    'T"_1.json': "T'_1.json",
}


@pytest.mark.parametrize(("name", "as_shown"), NAMES_AS_SHOWN.items())
def test_a_name_forges_no_line_and_no_quotes(tmp_path: Path, name: str, as_shown: str) -> None:
    write_files(tmp_path, {**GOOD, "t3": {}, "t2": None}).joinpath("Team_1.json").rename(tmp_path / name)
    _, problems = read_folder(tmp_path, manifest(EXPECTED))
    assert problems.errors[0].startswith(f"{as_shown}, timeline t2: is null.")
    assert problems.warnings[-1] == f'{as_shown}: the timeline "t3" is not expected and is ignored.'
    (tmp_path / name).write_text("[")
    _, problems = read_folder(tmp_path, manifest(EXPECTED))
    assert problems.errors[0].startswith(f"{as_shown}:1:2: not valid JSON")
