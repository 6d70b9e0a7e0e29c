"""competition.yaml against what Codabench's unpacker and serializers accept."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gen_bundle.build.package.phase_data import PhaseData, PreparedGold
from gen_bundle.build.package.resolve import Resolved, resolve
from gen_bundle.build.platforms.codabench import SUBMISSION_RULES, competition_document, yaml_text
from gen_bundle.codabench.settings import RULES
from gen_bundle.declaration.model import SubmissionRule
from tests.generator.competition import small_competition


def without_data(competition: Resolved) -> list[PhaseData]:
    gold = PreparedGold(Path(), references={}, secrets=[], elsewhere=[], warnings=())
    return [PhaseData(phase, gold, {}, {}, {}, {}, {}, ()) for phase in competition.declaration.phases]


def rendered(folder: Path, *overrides: str) -> Mapping[str, Any]:
    competition = resolve(folder, overrides=overrides)
    document: Mapping[str, Any] = yaml.safe_load(
        yaml_text(competition_document(competition, without_data(competition)))
    )
    return document


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small_competition(tmp_path)


@pytest.mark.parametrize(("ours", "theirs"), SUBMISSION_RULES.items())
def test_submission_rules(folder: Path, ours: str, theirs: str) -> None:
    assert rendered(folder, f"submission_rule={ours}")["leaderboards"][0]["submission_rule"] == theirs


def test_every_rule_of_the_platform_can_be_declared() -> None:
    assert sorted(SUBMISSION_RULES.values()) == sorted(RULES)
    assert set(SUBMISSION_RULES) == set(get_args(SubmissionRule))


def test_the_leaderboards_title_and_whether_it_is_hidden(folder: Path) -> None:
    (plain,) = rendered(folder)["leaderboards"]
    (changed,) = rendered(folder, "leaderboard={title: Test results, hidden: true}")["leaderboards"]
    assert (plain["title"], plain.get("hidden", False)) == ("Results", False)
    assert changed == {**plain, "title": "Test results", "hidden": True}


@pytest.mark.parametrize(("ours", "theirs"), [("auto", True), ("approve", False)])
def test_registration(folder: Path, ours: str, theirs: bool) -> None:
    assert rendered(folder, f"registration={ours}")["registration_auto_approve"] is theirs


@pytest.mark.parametrize(
    ("ours", "theirs", "values"),
    [
        ("name", "name", ["First", "Last"]),
        ("description", "description", ["Try.", "It counts."]),
        ("max_submissions_per_day", "max_submissions_per_day", [3, 0]),
        ("max_submissions", "max_submissions", [7, 0]),
        ("execution_time_limit", "execution_time_limit", [60, 6000]),
        ("auto_migrate", "auto_migrate_to_this_phase", [False, True]),
        ("hide_output", "hide_output", [True, False]),
        ("hide_prediction_output", "hide_prediction_output", [True, False]),
        ("hide_score_output", "hide_score_output", [True, False]),
    ],
)
def test_every_setting_of_a_phase_is_written_under_codabenchs_name(
    folder: Path, ours: str, theirs: str, values: list[object]
) -> None:
    """Each phase has its own value, and one setting does not move another."""
    for first, last in (values, values[::-1]):
        if ours == "auto_migrate" and first:
            continue  # nothing can migrate to the first phase
        changed = rendered(folder, *(f"phases.{i}.{ours}={json.dumps(v)}" for i, v in enumerate((first, last))))
        before = rendered(folder)
        for phase, original, value in zip(changed["phases"], before["phases"], (first, last), strict=True):
            assert phase == {**original, theirs: value}
            assert type(phase[theirs]) is type(value)


def test_dates_survive_as_texts(folder: Path) -> None:
    end = rendered(folder, 'phases.test.end="2999-03-11 AoE"')["phases"][1]["end"]
    assert end == "2999-03-12 11:59:59"


def test_fact_sheet_flags_are_texts(folder: Path) -> None:
    question = "{type: select, title: Data used, choices: [only ours, more], required: true}"
    sheet = rendered(folder, f"fact_sheet.data={question}")["fact_sheet"]
    assert sheet["data"] == {
        "key": "data",
        "type": "select",
        "title": "Data used",
        "selection": ["only ours", "more"],
        "is_required": "true",
        "is_on_leaderboard": "false",
    }


def test_computed_columns_point_to_indexes(tmp_path: Path) -> None:
    def change(declaration: dict[str, Any]) -> None:
        declaration["tasks"][0]["columns"].append(
            {"key": "mean", "title": "Mean", "sort": "desc", "meaning": "m", "computation": "avg", "of": ["accuracy"]}
        )

    column = rendered(small_competition(tmp_path, change))["leaderboards"][0]["columns"][2]
    assert (column["computation"], column["computation_indexes"]) == ("avg", [1])


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=36))
def test_any_text_comes_through_yaml_as_itself(text: str) -> None:
    assert yaml.safe_load(yaml_text({"title": text})) == {"title": text}
