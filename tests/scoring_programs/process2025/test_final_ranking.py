"""The rules of PROCESS: combined score and invitations."""

import itertools
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gen_bundle.build.package.programs import program_description
from gen_bundle.build.package.resolve import resolve
from gen_bundle.ground.resources import resource
from process2025.organiser import combined_scores, invitations, rank, team_name
from scoring_kit.board import shared_ranks
from scoring_kit.errors import OrganiserError, Problems
from tests.scoring_programs.framed import write_files
from tests.scoring_programs.process2025.gold import CLASSES, GOLD, answers

TEAMS = "ABCDEFG"
Values = Mapping[str, tuple[int | None, int | None]]

# F1 and RMSE in hundredths; few values, so that there are ties.
values = st.dictionaries(
    st.sampled_from(TEAMS),
    st.tuples(
        st.none() | st.integers(0, 5).map(lambda n: 20 * n), st.none() | st.integers(0, 5).map(lambda n: 100 * n)
    ),
    min_size=1,
)


def scores(given_values: Values) -> dict[str, dict[str, float | None]]:
    return {
        team: {"f1": None if f1 is None else f1 / 100, "rmse": None if rmse is None else rmse / 100}
        for team, (f1, rmse) in given_values.items()
    }


def exact_s(given_values: Values) -> dict[str, Fraction]:
    """S as the challenge writes it, in fractions."""
    f1_sum = sum(f1 for f1, _ in given_values.values() if f1 is not None)
    rmse_sum = sum(rmse for _, rmse in given_values.values() if rmse is not None)
    result = {}
    for team, (f1, rmse) in given_values.items():
        classification = Fraction(f1, f1_sum) if f1 is not None and f1_sum else Fraction(0)
        regression = Fraction(0)
        if rmse is not None:
            regression = 1 - (Fraction(rmse, rmse_sum) if rmse_sum else Fraction(0))
        result[team] = classification + regression
    return result


@pytest.mark.slow
@settings(max_examples=40)
@given(values)
def test_the_combined_score(given_values: Values) -> None:
    assert combined_scores(scores(given_values)) == pytest.approx(
        {team: float(s) for team, s in exact_s(given_values).items()}
    )


def in_order(ranks: Mapping[str, int]) -> list[str]:
    return sorted(ranks, key=lambda team: (ranks[team], team))


def stable_lists(by_f1: Mapping[str, int], by_rmse: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """The invitations by brute force over all ways to take teams out of one list or the other.

    The smallest set is meant such that nobody is invited twice and everybody taken out of a list is invited by the
    other one, in which the rank is better.
    """
    orders = [in_order(by_f1), in_order(by_rmse)]
    both = sorted(set(by_f1) & set(by_rmse))
    for size in range(len(both) + 1):
        for taken in itertools.combinations(both, size):
            out = ({t for t in taken if by_f1[t] > by_rmse[t]}, {t for t in taken if by_f1[t] <= by_rmse[t]})
            lists = [[t for t in order if t not in gone][:2] for order, gone in zip(orders, out, strict=True)]
            kept = [set(lists[1]), set(lists[0])]
            if not set(lists[0]) & set(lists[1]) and all(gone <= there for gone, there in zip(out, kept, strict=True)):
                return lists[0], lists[1]
    raise AssertionError("there is always a stable pair of lists")


@pytest.mark.slow
@given(values)
def test_invitations(given_values: Values) -> None:
    by_f1 = shared_ranks({team: f1 for team, (f1, _) in given_values.items()}, descending=True)
    by_rmse = shared_ranks({team: rmse for team, (_, rmse) in given_values.items()}, descending=False)
    exact = exact_s(given_values)
    by_s = {team: 1 + sum(other > s for other in exact.values()) for team, s in exact.items()}
    invited = invitations(by_f1, by_rmse, by_s)
    assert (list(invited["classification"]), list(invited["regression"])) == stable_lists(by_f1, by_rmse)
    entered = {team for team, results in given_values.items() if results != (None, None)}
    rest = entered - {*invited["classification"], *invited["regression"]}
    best = min(rest, key=lambda team: (-exact[team], team), default=None)
    assert list(invited["joint"]) == ([] if best is None else [best])


def ranked(tmp_path: Path, table: str, **view: Sequence[str]) -> Mapping[str, Any]:
    (tmp_path / "scores.csv").write_text(table, encoding="utf-8")
    return dict(rank({"program": "", "scores": str(tmp_path / "scores.csv"), **view}))


@pytest.mark.parametrize(
    ("table", "invited"),
    [
        # Nobody twice.
        ("A,.9,5\nB,.8,6\nC,.1,1\nD,.2,2\nE,.7,3\n", (["A", "B"], ["C", "D"], "E")),
        # A is first in classification and second in regression: classification, and C comes up in regression.
        ("A,.9,2\nB,.8,9\nC,.1,3\nD,.2,1\nE,.7,4\n", (["A", "B"], ["D", "C"], "E")),
        # B is second in classification and first in regression: regression, and C comes up in classification.
        ("A,.9,9\nB,.8,1\nC,.7,8\nD,.1,2\nE,.2,3\n", (["A", "C"], ["B", "D"], "E")),
        # Equal ranks: classification.
        ("A,.9,1\nB,.8,9\nC,.1,2\nD,.2,3\nE,.3,4\n", (["A", "B"], ["C", "D"], "E")),
        # The one who comes up is invited by the other task, too: C is second in regression and third in classification.
        ("A,.9,9\nB,.8,1\nC,.7,2\nD,.6,8\nE,.1,7\n", (["A", "D"], ["B", "C"], "E")),
        # Both on both lists: A and B lead both, with equal ranks: classification; C and D come up.
        ("A,.9,1\nB,.8,2\nC,.1,3\nD,.2,4\nE,.3,5\n", (["A", "B"], ["C", "D"], "E")),
        # Who has no result at all is not invited.
        ("A,.9,1\nB,,\n", (["A"], [], None)),
    ],
)
def test_worked_invitations(tmp_path: Path, table: str, invited: tuple[list[str], list[str], str | None]) -> None:
    classification, regression, joint = invited
    expected = {"classification": classification, "regression": regression, "joint": joint}
    assert ranked(tmp_path, "team,f1,rmse\n" + table)["invited"] == expected


def test_the_answer_as_a_whole(tmp_path: Path) -> None:
    answer = ranked(tmp_path, "team,f1,rmse\nA,0.5,2\nB,0.5,\nC,,2\n")
    assert answer["teams"][0] == {
        "team": "A",
        "f1": 0.5,
        "rmse": 2.0,
        "s": 1.0,
        "f1_rank": 1,
        "rmse_rank": 1,
        "s_rank": 1,
        "tied": ["f1", "rmse"],
        "invited_by": "classification",
    }
    assert [record["team"] for record in answer["teams"]] == ["A", "B", "C"]
    assert [record["s"] for record in answer["teams"]] == [1.0, 0.5, 0.5]
    assert answer["tables"][0] == {
        "title": "Classification",
        "header": ["Rank", "Team", "Macro F1", "Invitation"],
        "rows": [["1=", "A", "0.5000", "invited"], ["1=", "B", "0.5000", "invited"]],
    }
    assert [note.split(".")[0] for note in answer["notes"]] == [
        "Classification: A and B share rank 1",
        "Regression: A and C share rank 1",
        "Combined score: B and C share rank 2",
    ]


TABLE = "team,f1,rmse\nSecret,0.7123,2\nB,0.5,\nC,,2.25\n"


def test_a_hidden_team(tmp_path: Path) -> None:
    answer = ranked(tmp_path, TABLE, hide=["Secret"])
    assert answer["invited"] == {"classification": ["B"], "regression": ["C"], "joint": None}
    assert {record["team"] for record in answer["teams"]} == {"B", "C"}
    text = json.dumps(answer)
    assert "Secret" not in text
    assert "0.7123" not in text
    assert "(hidden)" not in text
    assert "hidden team may be worked out" in answer["notes"][-1]


def test_a_team_with_hidden_figures(tmp_path: Path) -> None:
    answer = ranked(tmp_path, TABLE, hide_figures=["Secret"])
    assert answer["invited"]["classification"] == ["(hidden)", "B"]
    assert answer["teams"][-1] == {**dict.fromkeys(answer["teams"][0]), "team": "Secret"}
    assert answer["tables"][0]["rows"][-1] == ["", "Secret", "", ""]
    assert "0.7123" not in json.dumps(answer)


def test_a_baseline_counts_neither_in_sums_nor_in_invitations(tmp_path: Path) -> None:
    """Without it the sums are 1 and 4: S of A is 0.6 / 1 + 1 - 1 / 4, of B 0.4 / 1 + 1 - 3 / 4."""
    answer = ranked(tmp_path, "team,f1,rmse\nBase,0.9,0.5\nA,0.6,1\nB,0.4,3\n", baselines=["Base"])
    records = {record["team"]: record for record in answer["teams"]}
    assert {team: records[team]["s"] for team in "AB"} == pytest.approx({"A": 1.35, "B": 0.65})
    assert [records["A"][f"{name}_rank"] for name in ("f1", "rmse", "s")] == [1, 1, 1]
    assert (records["Base"]["f1"], records["Base"]["f1_rank"], records["Base"]["invited_by"]) == (0.9, None, None)
    assert answer["tables"][0]["rows"][0] == ["", "Base", "0.9000", ""]
    assert answer["invited"] == {"classification": ["A", "B"], "regression": [], "joint": None}


def test_the_published_best_results(tmp_path: Path) -> None:
    """PROCESS, ICASSP 2025: the best F1 and RMSE, and the best baseline, which is never invited."""
    table = "team,f1,rmse\nF1-1,0.6961,\nF1-2,0.6492,\nF1-3,0.6415,\nR-1,,2.4592\nR-2,,2.5405\nBaseline,0.55,2.985\n"
    answer = ranked(tmp_path, table, baselines=["Baseline"])
    invited = answer["invited"]
    assert (invited["classification"], invited["regression"]) == (["F1-1", "F1-2"], ["R-1", "R-2"])
    assert invited["joint"] == "F1-3"
    with_baseline = ranked(tmp_path, table)["invited"]
    assert with_baseline["joint"] == "Baseline"


def test_a_table_with_the_boards_columns(tmp_path: Path) -> None:
    table = "team,macro_f1,macro_precision,macro_recall,rmse\nA,0.5,0.6,0.4,2\nB,0.25,0.2,0.3,\n"
    assert [(r["team"], r["f1"], r["rmse"]) for r in ranked(tmp_path, table)["teams"]] == [
        ("A", 0.5, 2.0),
        ("B", 0.25, None),
    ]


def test_a_team_without_any_result_is_shown(tmp_path: Path) -> None:
    tables = ranked(tmp_path, "team,f1,rmse\nA,0.5,\nQuiet,,\n")["tables"]
    assert tables[0]["rows"] == [["1", "A", "0.5000", "invited"], ["", "Quiet", "", ""]]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("A,-0.5,2\n", "scores.csv (A): f1 is out of range."),
        ("A,1.001,2\n", "scores.csv (A): f1 is out of range."),
        ("A,0.5,-0.5\n", "scores.csv (A): rmse is negative."),
    ],
)
def test_faults_of_a_table(tmp_path: Path, table: str, message: str) -> None:
    with pytest.raises(OrganiserError) as caught:
        ranked(tmp_path, "team,f1,rmse\n" + table)
    assert caught.value.messages[0].startswith(message)


def test_the_ends_of_both_ranges_are_scores(tmp_path: Path) -> None:
    best, worst = ranked(tmp_path, "team,f1,rmse\nA,1,0\nB,0,\n")["teams"]
    assert (best["f1"], best["rmse"], best["s"]) == (1.0, 0.0, 2.0)
    assert (worst["f1"], worst["rmse"], worst["s"]) == (0.0, None, 0.0)


def teams_of(
    tmp_path: Path, submissions: Mapping[str, str], without: str = "", *overrides: str
) -> dict[str, Mapping[str, Any]]:
    """Team → its record in the ranking of submissions to a board without one column."""
    competition = resolve(resource("bundles") / "process2025", overrides=overrides)
    description = program_description(competition, competition.tasks)
    columns = [column for column in description["columns"] if column["key"] != without]
    files = {f"all/PROCESS_submission_{team}_Town.csv": text for team, text in submissions.items()}
    write_files(
        tmp_path, {"program.json": json.dumps({**description, "columns": columns}), "ref/gold.csv": GOLD, **files}
    )
    request = {"program": tmp_path / "program.json", "submissions": tmp_path / "all", "reference": tmp_path / "ref"}
    return {record["team"].removesuffix("_Town"): record for record in rank({**request, "hide": []})["teams"]}


def test_submissions_are_ranked_by_their_metrics_whatever_the_board_shows(tmp_path: Path) -> None:
    """Without the column macro_f1, and with a `worst` that both RMSE lie beyond."""
    good = answers({"Model1_class": CLASSES, "Model1_MMSE": (28, 24, 16, 29)})
    bad = answers({"Model1_class": ("HC", "HC", "HC", "HC"), "Model1_MMSE": (27, 23, 15, 29)})
    beyond = "tasks.regression.columns.rmse.worst=1"
    teams = teams_of(tmp_path, {"Good": good, "Bad": bad}, "macro_f1", beyond)
    assert {team: (record["f1"], record["rmse"]) for team, record in teams.items()} == {
        "Good": (1.0, pytest.approx(2.0)),
        "Bad": (pytest.approx(2 / 9), pytest.approx(3.0)),
    }


def test_the_empty_template_moves_nobody_in_the_joint_ranking(tmp_path: Path) -> None:
    both = answers({"Model1_class": CLASSES, "Model1_MMSE": (28, 24, 16, 29)})
    teams = teams_of(tmp_path, {"Both": both, "Classes": answers({"Model1_class": CLASSES}), "Nothing": answers({})})
    # Both are perfect in classification (1 of a sum of 2); only one team is in the sum of the regression.
    assert {team: (record["rmse_rank"], record["s"]) for team, record in teams.items()} == {
        "Both": (1, 0.5 + 1 - 1),
        "Classes": (None, 0.5),
        "Nothing": (None, 0.0),
    }
    assert teams["Nothing"]["f1_rank"] is None
    assert teams["Nothing"]["invited_by"] is None


@pytest.mark.parametrize(
    ("names", "team"),
    [
        (["PROCESS_submission_Lab_Town.csv"], "Lab_Town"),
        (["notes.txt", "PROCESS_submission_Lab_Town.csv"], "Lab_Town"),
        (["answers.csv"], None),
        (["PROCESS_submission_A_B.csv", "PROCESS_submission_C_D.csv"], None),
    ],
)
def test_the_team_of_a_submission(names: list[str], team: str | None) -> None:
    problems = Problems()
    assert team_name("entry", names, problems) == team
    assert problems.found == (team is None)
