"""What a phase shows of a run, at each level of details, through the packed program."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.package.programs import program_members
from gen_bundle.build.package.resolve import resolve
from scoring_kit.outputs import write_outputs
from scoring_kit.program import Program, ScoreColumn
from scoring_kit.results import Metric, TaskResult
from scoring_kit.results_page.page import RunFacts
from tests.scoring_programs.packed import Outcome, run_unit
from tests.scoring_programs.scoring_kit.test_frame import Case

SCORER = """
from scoring_kit.results import Bar, BarChart, Metric, TaskResult

def score(reference, submission, options):
    f1 = Metric(2 / 3, 30)
    metrics = {
        "macro_f1": f1, "accuracy": Metric(0.123456, 30), "same": f1, "other": Metric(0.987654, 30),
        "rare": Metric(0.5555, 30, items=2), "unanswered": Metric(7, 40, of_submission=True),
    }
    return TaskResult(metrics, figures=[BarChart("By text", [Bar("a", 0.25, 9), Bar("b", 0.75, 2)], "higher", "x")])
"""
NOTHING: Mapping[str, object] = {}
NO_VARIABLES: Mapping[str, str] = {}
HIDDEN = {"value": None, "rows": None}


def run(
    tmp_path: Path,
    phase: Mapping[str, object] = NOTHING,
    environment: Mapping[str, str] = NO_VARIABLES,
    *,
    scorer: str = SCORER,
    columns: Mapping[str, object] = NOTHING,
) -> Outcome:
    """Score a submission to the test phase, whose declaration is changed so, and that of the columns."""
    case = Case(tmp_path)
    (case.folder / "my_task" / "classification.py").write_text(scorer, encoding="utf-8")
    overrides = [f"phases.test.{key}={value}" for key, value in {"score_decimals": "null", **phase}.items()]
    overrides += [f"tasks.classification.columns.{key}={value}" for key, value in columns.items()]
    competition = resolve(case.folder, overrides=tuple(overrides))
    chosen = next(one for one in competition.declaration.phases if one.id == "test")
    members = program_members(competition, competition.parts[0], chosen, baselines={"majority": {"macro_f1": 0.5}})
    outcome = run_unit(tmp_path, members, case.reference, case.submission, {"SOURCE_DATE_EPOCH": "0", **environment})
    assert outcome.exit_code == 0, outcome.stderr
    return outcome


def metrics(outcome: Outcome) -> dict[str, Any]:
    return dict(outcome.details["tasks"]["classification"])


def test_a_phase_with_secret_gold_shows_the_headline(tmp_path: Path) -> None:
    outcome = run(tmp_path)
    assert outcome.scores == {"macro_f1": 2 / 3, "accuracy": 0.123456}
    assert metrics(outcome) == {
        "macro_f1": {"value": 2 / 3, "rows": None},
        "accuracy": {"value": 0.123456, "rows": None},
        "same": {"value": 2 / 3, "rows": None},
        "other": HIDDEN,
        "rare": HIDDEN,
        "unanswered": {"value": 7, "rows": 40},
    }
    page = outcome.page or ""
    assert "0.6667" in page
    assert "0.1667 better than majority" in page.lower()
    assert "1 January 1970, 00:00 UTC" in page
    assert "By text" not in page
    assert "0.9877" not in page
    assert "unanswered" in page


def test_none_shows_the_board_alone(tmp_path: Path) -> None:
    outcome = run(tmp_path, {"details": "none"})
    assert metrics(outcome)["unanswered"] == HIDDEN
    assert metrics(outcome)["accuracy"] == {"value": 0.123456, "rows": None}
    assert "0.1235" in (outcome.page or "")
    assert "unanswered" not in (outcome.page or "")


@pytest.mark.parametrize("phase", [{"details": "full"}, {"gold": "public"}], ids=["asked for", "public gold"])
def test_full_withholds_what_has_few_items(tmp_path: Path, phase: dict[str, str]) -> None:
    outcome = run(tmp_path, phase)
    assert metrics(outcome)["other"] == {"value": 0.987654, "rows": 30}
    assert metrics(outcome)["rare"] == HIDDEN
    assert "By text" in (outcome.page or "")
    assert "0.75" not in (outcome.page or "")


@pytest.mark.parametrize("hidden", ["hide_output", "hide_score_output"])
def test_a_phase_with_hidden_output_shows_no_score_anywhere(tmp_path: Path, hidden: str) -> None:
    outcome = run(tmp_path, {hidden: "true"})
    assert outcome.scores == {"macro_f1": 2 / 3, "accuracy": 0.123456}, "the platform needs them"
    for text in (outcome.page or "", outcome.stdout):
        assert "scores of this phase are not shown here" in text
        assert not any(told in text for told in ("0.66", "0.12", "0.16", "Macro"))
    assert "0.6667" in (run(tmp_path / "told", {hidden: "true", "details": "headline"}).page or "")


@pytest.mark.parametrize("phase", [{"details": "none"}, {"details": "full"}, {"hide_score_output": "true"}])
def test_a_column_beyond_its_worst_value_is_exact_in_the_details(tmp_path: Path, phase: dict[str, str]) -> None:
    outcome = run(tmp_path, phase, scorer=SCORER.replace("0.123456", "-0.123456"))
    assert outcome.scores["accuracy"] == 0
    assert metrics(outcome)["accuracy"]["value"] == -0.123456


@pytest.mark.parametrize(("hidden", "value"), [({"hide_output": "true"}, 0.123456), ({}, None)])
def test_a_hidden_column_is_in_the_details_where_only_organisers_open_them(
    tmp_path: Path, hidden: dict[str, str], value: float | None
) -> None:
    outcome = run(tmp_path, {**hidden, "details": "headline"}, columns={"accuracy.hidden": True})
    assert metrics(outcome)["accuracy"]["value"] == value
    assert "0.1235" not in (outcome.page or "")
    assert metrics(outcome)["other"] == HIDDEN


def test_the_page_names_a_log_only_where_participants_have_it(tmp_path: Path) -> None:
    quoting = SCORER.replace("return TaskResult(metrics,", "return TaskResult(metrics, warnings=['odd: \"x\"'],")
    assert "its log quotes them" in (run(tmp_path / "open", scorer=quoting).page or "")
    hidden = run(tmp_path / "hidden", {"hide_output": "true"}, scorer=quoting).page or ""
    assert "Values of the submission are left out here." in hidden
    assert "log" not in hidden.partition("</style>")[2]


def test_no_number_has_more_decimals_than_the_phase_allows(tmp_path: Path) -> None:
    outcome = run(tmp_path, {"details": "full", "score_decimals": 2})
    assert outcome.scores == {"macro_f1": 0.67, "accuracy": 0.12}
    assert metrics(outcome)["other"]["value"] == 0.99
    assert "0.6700" in (outcome.page or "")
    for text in (outcome.page or "", outcome.stdout):
        assert not any(exact in text for exact in ("0.667", "0.6667", "0.123", "0.988"))


def test_organisers_see_more_where_they_run_it_themselves(tmp_path: Path) -> None:
    hidden = {"details": "none", "hide_output": "true", "score_decimals": 3}
    full = run(tmp_path / "full", hidden, {"SCORING_DETAILS": "full"})
    assert metrics(full)["other"] == {"value": 0.988, "rows": 30}
    assert metrics(full)["rare"] == HIDDEN
    everything = run(tmp_path / "all", hidden, {"SCORING_DETAILS": "all"})
    assert metrics(everything)["rare"] == {"value": round(0.5555, 3), "rows": 30}
    assert "0.75" in (everything.page or "")
    assert full.scores == everything.scores == {"macro_f1": 0.667, "accuracy": 0.123}


def test_an_unknown_level_is_the_organisers(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="SCORING_DETAILS=more: no such level"):
        run(tmp_path, NOTHING, {"SCORING_DETAILS": "more"})


def test_the_digest_of_the_reference_data_confirms_no_guess(tmp_path: Path) -> None:
    """Sixteen bits tell gold data apart, but of many guesses some have the same digest."""
    assert len(run(tmp_path).details["signature"].split("reference:")[1]) == 4


def test_the_same_run_gives_the_same_files(tmp_path: Path) -> None:
    one, other = run(tmp_path / "a"), run(tmp_path / "b")
    assert (one.page, one.details, one.scores) == (other.page, other.details, other.scores)


@pytest.mark.parametrize("hidden", [False, True])
def test_computed_columns_are_among_the_details(tmp_path: Path, hidden: bool) -> None:
    def column(key: str, **more: Any) -> ScoreColumn:
        return ScoreColumn(key, "one", key, "desc", 4, None if more else 0.0, key, **more)

    mean = column("mean", computation="avg", of=("a", "b"), hidden=hidden)
    columns = (column("a"), column("b"), mean, column("place", computation="avg_rank", of=("a",)))
    program = Program("c", "p", "T", "1", "joint", ("one",), ("one",), {"one": "One"}, {}, columns, 5)
    results = {"one": TaskResult({"a": Metric(0.2, 9), "b": Metric(0.3, 9)})}
    scores = write_outputs(tmp_path, program, results, RunFacts("s", datetime(2026, 1, 1, tzinfo=UTC), "x.zip", []))
    details = json.loads((tmp_path / "details.json").read_text(encoding="utf-8"))["tasks"]["one"]
    assert scores == {"a": 0.2, "b": 0.3}
    assert details.get("mean") == (None if hidden else {"value": 0.25, "rows": None})
    assert "place" not in details
