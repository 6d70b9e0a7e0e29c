"""The organiser's verbs: preparing gold, checking it, the empty template, what is secret."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from clpsych2025 import organiser
from gen_bundle.build.package.client import ScoringPackage
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import resource
from scoring_kit.errors import OrganiserError
from scoring_kit.organiser import Request
from tests.scoring_programs.clpsych2025.cases import OPTIONS, TASKS, gold_json, write_gold
from tests.scoring_programs.read_secrets import read_secrets
from tests.shared import FIXTURES

COMPLETE: dict[str, dict[str, Any]] = {
    "t1": {"summary": "All one.", "adaptive": ["calm"], "posts": {"p1": ("One.", 3), "p2": (None, None)}},
    "t2": {"summary": None, "maladaptive": ["alone"], "posts": {"p3": (None, 5), "p4": ("Four.", 8)}},
}


def request(folder: Path, **fields: Any) -> Request:
    asked = {
        "tasks": TASKS,
        "all_tasks": TASKS,
        "layout": "joint",
        "options": OPTIONS,
        "reference": str(folder),
        **fields,
    }
    return cast("Request", asked)


def check(folder: Path, **fields: Any) -> list[str]:
    return list(organiser.check_reference(request(folder, **fields))["warnings"])


def refusal(folder: Path, **fields: Any) -> list[str]:
    with pytest.raises(OrganiserError) as caught:
        organiser.check_reference(request(folder, **fields))
    return [message.split(". Expected")[0] for message in caught.value.messages]


def test_prepared_gold_is_passed_on_as_it_stands(tmp_path: Path) -> None:
    source, out = write_gold(tmp_path / "source", COMPLETE), tmp_path / "out"
    out.mkdir()
    answer = organiser.prepare(request(tmp_path, source=str(source), out=str(out)))
    assert answer == {"warnings": []}
    assert (out / "gold.json").read_bytes() == (source / "gold.json").read_bytes()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "holds no timeline"),
        ({"gold.json": "{}", "t1.json": "{}"}, "holds gold.json and other JSON files"),
        ({"gold.json": "{}"}, "gold.json: holds no timeline"),
        ({"t1.json": "{}"}, "t1.json, timeline_id: missing or not a text"),
    ],
)
def test_what_cannot_be_prepared_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    out.mkdir()
    for name, content in files.items():
        (source / name).write_text(content)
    with pytest.raises(OrganiserError, match=message):
        organiser.prepare(request(tmp_path, source=str(source), out=str(out)))


ENOUGH: dict[str, dict[str, Any]] = {
    f"t{t}": {
        "summary": "All one.",
        "adaptive": ["calm"],
        "maladaptive": ["alone"],
        "posts": {f"p{t}{score}": ("One.", score) for score in (3, 5, 8)},
    }
    for t in range(5)
}


def test_good_gold_brings_the_weakness_of_the_null_rule_and_unnamed_revisions_to_mind(tmp_path: Path) -> None:
    weakness, bertscore, nli = check(write_gold(tmp_path, ENOUGH))
    assert "one exact score in a timeline and nulls for all its other posts" in weakness
    assert bertscore.startswith("options.bertscore.revision is null")
    assert nli.startswith("options.nli.revision is null")
    assert check(tmp_path, tasks=["a2"]) == [weakness]


FEW_BEHIND: dict[str, tuple[list[str], dict[str, Any], str]] = {
    "spans": (["a1"], {"maladaptive": []}, "a1_recall_maladaptive (4), a1_weighted_recall_maladaptive (4)"),
    "scores": (["a2"], {"posts": {"p1": ("One.", 3), "p2": ("One.", 8)}}, "a2_mse_impaired (4)"),
    "scored posts": (["a2"], {"posts": {"p1": ("One.", 5)}}, "a2_mse_serious (4), a2_mse_minimal (4)"),
    "summaries of timelines": (["c"], {"summary": None}, "c_mean_consistency (4), c_max_contradiction (4)"),
}


@pytest.mark.parametrize(("tasks", "fields", "columns"), FEW_BEHIND.values(), ids=FEW_BEHIND)
def test_columns_with_few_gold_items_behind_them_are_named(
    tmp_path: Path, tasks: list[str], fields: dict[str, Any], columns: str
) -> None:
    warning, *_ = check(write_gold(tmp_path, {**ENOUGH, "t0": {**ENOUGH["t0"], **fields}}), tasks=tasks)
    assert warning.startswith(f"gold.json: fewer than 5 gold items are behind {columns}. ")


def test_the_few_summaries_of_posts_and_the_few_of_everything_are_named(tmp_path: Path) -> None:
    warning, *_ = check(write_gold(tmp_path, COMPLETE), tasks=["a2", "b"])
    assert "behind a2_mse (3), a2_macro_f1 (3), a2_mse_serious (1), a2_mse_impaired (1)," in warning
    assert "b_mean_consistency (2), b_max_contradiction (2), b_max_entailment (2). " in warning


def test_a_model_folder_needs_no_revision(tmp_path: Path) -> None:
    folders = {"bertscore": {**OPTIONS["bertscore"], "model": "/models/a"}, "nli": {**OPTIONS["nli"], "model": "/b"}}
    warnings = check(write_gold(tmp_path, COMPLETE), options={**OPTIONS, **folders})
    assert not [text for text in warnings if "revision" in text]


def test_a_baseline_that_no_build_has_packed_is_refused(tmp_path: Path) -> None:
    write_gold(tmp_path, COMPLETE)

    def options(baseline: str) -> dict[str, Any]:
        return {**OPTIONS, "bertscore": {**OPTIONS["bertscore"], "baseline": baseline}}

    assert refusal(tmp_path, options=options("typo.tsv")) == ["options.bertscore.baseline: no such file"]
    assert check(tmp_path, options=options("files/baseline.tsv"))


def test_a_named_revision_and_a_cache(tmp_path: Path) -> None:
    options = {
        **OPTIONS,
        "bertscore": {**OPTIONS["bertscore"], "revision": "abc"},
        "nli": {**OPTIONS["nli"], "revision": "def"},
        "cache": "folder",
    }
    (warning,) = check(write_gold(tmp_path, ENOUGH), options=options, tasks=["a1", "b", "c"])
    assert warning.startswith("options.cache is for work on one's own machine")


def test_columns_that_the_gold_leaves_undefined_are_the_organisers_error(tmp_path: Path) -> None:
    bare = {"t1": {"adaptive": ["calm"], "posts": {"p1": (None, 5)}}}
    assert refusal(write_gold(tmp_path, bare)) == [
        "gold.json: no timeline has maladaptive evidence, so a1_recall_maladaptive is undefined",
        "gold.json: no post has a well-being score from 1 to 4, so a2_mse_serious is undefined",
        "gold.json: no post has a well-being score from 7 to 10, so a2_mse_minimal is undefined",
        "gold.json: no post has a summary, so task b is undefined",
        "gold.json: no timeline has a summary, so task c is undefined",
    ]
    assert len(refusal(tmp_path, tasks=["a2"])) == 2


def test_as_run_needs_a_score_in_every_timeline_and_warns_of_missing_evidence(tmp_path: Path) -> None:
    options = {**OPTIONS, "profile": "as-run"}
    one_scored = {
        "t1": {"adaptive": ["calm"], "posts": {"p1": (None, None)}},
        "t2": {"adaptive": ["calm"], "maladaptive": ["alone"], "posts": {"p2": (None, 5)}},
    }
    write_gold(tmp_path, one_scored)
    assert refusal(tmp_path, options=options) == ["gold.json, timeline t1, post_level: has no well-being score"]
    (message,) = [text for text in check(tmp_path, options=options, tasks=["a1"]) if "evidence." in text]
    assert message.startswith("gold.json, timeline t1: has no maladaptive evidence.")
    assert not any("evidence." in text for text in check(tmp_path, options=options, tasks=["b"]))


def test_mistakes_of_options_and_gold_are_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "gold.json").write_text('{"t1": 3}')
    assert refusal(tmp_path, options={**OPTIONS, "profile": "x", "device": "y"}) == [
        "options.profile: not a valid value",
        "options.device: not a valid value",
        "gold.json, timeline t1: is a number",
    ]


def test_the_template_has_the_form_of_the_real_one(tmp_path: Path) -> None:
    real_file = FIXTURES / "clpsych2025_empty_test_submission.json"
    real = json.loads(real_file.read_text(encoding="utf-8"))
    same_ids: dict[str, dict[str, Any]] = {
        timeline: {"adaptive": ["a"], "posts": dict.fromkeys(entry["post_level"], (None, None))}
        for timeline, entry in real.items()
    }
    out = tmp_path / "out"
    out.mkdir()
    organiser.template(request(write_gold(tmp_path, same_ids), out=str(out)))
    (written,) = out.iterdir()
    assert written.name == "TEAM_SubmissionID.json"
    assert written.read_text(encoding="utf-8") == real_file.read_text(encoding="utf-8")


def test_secrets_are_spans_summaries_and_scores_by_post(tmp_path: Path) -> None:
    content = gold_json(COMPLETE)
    content["t2"]["post_level"]["p4"]["summary_sents"] = ["Four, split.", "Anew."]
    (tmp_path / "gold.json").write_text(json.dumps(content))
    found = read_secrets(tmp_path, organiser.secrets(request(tmp_path)))
    assert {*found.texts} >= {"calm", "all one.", "one.", "alone", "four."}
    assert {*found.labels} >= {(f"p{post}", "wellbeing_score", score) for post, score in ((1, "3"), (3, "5"), (4, "8"))}
    assert found.files == ["gold.json"]


def test_one_process_answers_call_after_call(tmp_path: Path) -> None:
    with ScoringPackage("clpsych2025", resource("scoring_programs")).opened() as one:
        with pytest.raises(UserError, match=r"gold\.json: missing in the reference data\."):
            one.call("manifest", request(tmp_path))
        write_gold(tmp_path, COMPLETE)
        assert one.call("manifest", request(tmp_path))["timelines"]["t1"] == ["p1", "p2"]
        assert one.process.stdin is not None
        one.process.stdin.close()
        assert one.process.wait(60) == 0
