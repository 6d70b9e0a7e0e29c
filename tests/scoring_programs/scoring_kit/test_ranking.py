"""The default ranking: one for each task by its first column, ties sharing a rank."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring_kit.errors import OrganiserError
from scoring_kit.ranking import printed, rank, read_scores, shared_ranks, shown_record, tied
from tests.scoring_programs.clarity2026.gold import DEV, PERFECT
from tests.scoring_programs.framed import Files, write_files

KEYS = ("f1", "accuracy", "error")


def program(folder: Path, tasks: Sequence[str] = ("main", "other")) -> str:
    """program.json of a competition with two tasks; the second ascends."""
    columns = [("f1", "main", "desc", 0), ("accuracy", "main", "desc", 0), ("error", "other", "asc", 100)]
    description = {
        "competition": "c",
        "package": "c",
        "title": "C",
        "version": "1",
        "layout": "joint",
        "tasks": tasks,
        "all_tasks": ["main", "other"],
        "task_names": {"main": "Main task", "other": "Other task"},
        "options": {},
        "details_min_items": 5,
        "columns": [
            {
                "key": key,
                "task": task,
                "title": key.title(),
                "sort": sort,
                "precision": 2,
                "worst": worst,
                "meaning": "",
            }
            for key, task, sort, worst in columns
        ],
    }
    (folder / "program.json").write_text(json.dumps(description), encoding="utf-8")
    return str(folder / "program.json")


def ranked(folder: Path, table: str, hide: Sequence[str] = ()) -> Mapping[str, Any]:
    (folder / "scores.csv").write_text(table, encoding="utf-8")
    return rank({"program": program(folder), "scores": str(folder / "scores.csv"), "hide": list(hide)})


TABLE = "team,f1,accuracy,error\nD,0.5,0.9,\nA,0.7,0.1,3\nB,0.5,0.2,2.5\nC,,,2.5\nE,0.1,0.1,9\n"


def test_a_ranking_for_each_task_with_shared_ranks(tmp_path: Path) -> None:
    answer = ranked(tmp_path, TABLE)
    assert answer["tables"] == [
        {
            "title": "Main task",
            "header": ["Rank", "Team", "F1", "Accuracy"],
            "rows": [
                ["1", "A", "0.70", "0.10"],
                ["2=", "B", "0.50", "0.20"],
                ["2=", "D", "0.50", "0.90"],
                ["4", "E", "0.10", "0.10"],
            ],
        },
        {
            "title": "Other task",
            "header": ["Rank", "Team", "Error"],
            "rows": [["1=", "B", "2.50"], ["1=", "C", "2.50"], ["3", "A", "3.00"], ["4", "E", "9.00"]],
        },
    ]
    teams = {record["team"]: record for record in answer["teams"]}
    assert teams["B"] == {
        "team": "B",
        "f1": 0.5,
        "accuracy": 0.2,
        "error": 2.5,
        "main_rank": 2,
        "other_rank": 1,
        "tied": ["main", "other"],
    }
    assert (teams["C"]["f1"], teams["C"]["main_rank"], teams["C"]["other_rank"]) == (None, None, 1)
    assert answer["notes"] == ["Main task: B and D share rank 2.", "Other task: B and C share rank 1."]


def test_a_hidden_team_keeps_its_row_alone(tmp_path: Path) -> None:
    answer = ranked(tmp_path, TABLE, hide=["B"])
    assert answer["tables"][0]["rows"] == [
        ["1", "A", "0.70", "0.10"],
        ["2", "D", "0.50", "0.90"],
        ["4", "E", "0.10", "0.10"],
        ["", "(hidden)", "", ""],
    ]
    assert answer["teams"][-1] == {
        "team": "(hidden)",
        **dict.fromkeys([*KEYS, "main_rank", "other_rank", "tied"]),
    }
    assert '"B"' not in json.dumps(answer)
    assert answer["notes"] == []


def test_a_hidden_team_takes_no_part_in_a_shown_tie(tmp_path: Path) -> None:
    answer = ranked(tmp_path, "team,f1,accuracy,error\nA,0.5,0,1\nB,0.5,0,1\nC,0.5,0,2\nD,0.4,0,2\n", hide=["B"])
    assert answer["notes"] == ["Main task: A and C share rank 1.", "Other task: C and D share rank 3."]
    assert [row[:2] for row in answer["tables"][0]["rows"]] == [["1=", "A"], ["1=", "C"], ["4", "D"], ["", "(hidden)"]]
    assert [row[:2] for row in answer["tables"][1]["rows"]] == [["1", "A"], ["3=", "C"], ["3=", "D"], ["", "(hidden)"]]
    assert [record["tied"] for record in answer["teams"]] == [["main"], ["main", "other"], ["other"], None]
    assert tied({"A": 1, "B": 1, "C": 1}, ["B"]) == {"A", "C"}


def test_an_unknown_team_cannot_be_hidden(tmp_path: Path) -> None:
    with pytest.raises(OrganiserError, match=r"--hide X: no such team. Expected one of A, B, C, D, E."):
        ranked(tmp_path, TABLE, hide=["X"])


def test_a_task_that_nobody_entered_is_said(tmp_path: Path) -> None:
    answer = ranked(tmp_path, "team,f1,accuracy\nA,0.5,0.5\n")
    assert answer["tables"][1]["rows"] == []
    assert answer["notes"] == ["Other task: no team entered it."]


@given(st.dictionaries(st.text(max_size=3), st.none() | st.integers(0, 4).map(float), max_size=8), st.booleans())
def test_a_rank_is_one_more_than_the_number_of_better_teams(values: dict[str, float | None], descending: bool) -> None:
    ranks = shared_ranks(values, descending)
    assert set(ranks) == {team for team, value in values.items() if value is not None}
    for team, place in ranks.items():
        own = values[team]
        assert own is not None
        better = [v for v in values.values() if v is not None and (v > own if descending else v < own)]
        assert place == len(better) + 1
        equal = [other for other in ranks if values[other] == own]
        assert (team in tied(ranks, [])) == (len(equal) > 1)


def test_the_last_bits_of_a_sum_decide_no_rank() -> None:
    """Both are 47/90: a mean of three F1 that were summed in different orders."""
    values = {"A": 0.5222222222222221, "B": 0.5222222222222223, "C": 0.522222222}
    assert shared_ranks(values, descending=True) == {"A": 1, "B": 1, "C": 3}
    assert shared_ranks(values, descending=False) == {"A": 2, "B": 2, "C": 1}


@given(st.dictionaries(st.sampled_from("ABCDEF"), st.integers(0, 3).map(float)), st.sets(st.sampled_from("ABCDEF")))
def test_what_is_printed_of_a_hidden_team_tells_nothing(values: dict[str, float | None], hide: set[str]) -> None:
    """Whatever a hidden team's value is, its own cells and the marks of shared ranks stay the same."""
    ranks = shared_ranks(values, descending=True)
    lines = printed(ranks, hide)
    assert [team for team, _ in lines[len(ranks) - len(hide & set(ranks)) :]] == sorted(
        hide & set(ranks), key=lambda team: (ranks[team], team)
    )
    for team, place in lines:
        alone = [other for other in values if values[other] == values[team] and other not in hide] == [team]
        assert (place == "") == (team in hide)
        if team not in hide:
            assert place.endswith("=") == (not alone)
    for team in hide & set(values):
        assert set(shown_record({"team": team, "f1": 1.0}, hide).values()) == {"(hidden)", None}


@pytest.mark.parametrize(
    ("table", "messages"),
    [
        ("team,f1\nA,x\nB,nan\nC,1\n", ['scores.csv:2 (f1): "x" is not a finite number.', "scores.csv:3 (f1)"]),
        (
            "team,f1\nA,1\nA,2\n,3\n",
            ['scores.csv:3: the team "A" already has a row.', "scores.csv:4: team is empty."],
        ),
        ("name,f1\nA,1\n", ["scores.csv:1: has the columns name, f1. Expected: team, f1, accuracy, error."]),
        ("team,f2\nA,1\n", ["scores.csv:1: has the columns team, f2."]),
        ("team,f1\n", ["scores.csv: has no rows."]),
        ("team,f1\nA\n", ["scores.csv:2: has 1 cells."]),
    ],
)
def test_faults_of_a_table_of_scores(tmp_path: Path, table: str, messages: list[str]) -> None:
    (tmp_path / "scores.csv").write_text(table, encoding="utf-8")
    with pytest.raises(OrganiserError) as caught:
        read_scores(tmp_path / "scores.csv", KEYS)
    for message in messages:
        assert any(told.startswith(message) for told in caught.value.messages), caught.value.messages


def test_the_faults_of_a_long_table_are_counted(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("team,f1\n" + "".join(f"T{i},x\n" for i in range(60)), encoding="utf-8")
    with pytest.raises(OrganiserError, match=r"… and 10 more\.$"):
        read_scores(tmp_path / "scores.csv", KEYS)


def test_a_missing_table_of_scores(tmp_path: Path) -> None:
    with pytest.raises(OrganiserError, match=r"no such file. Expected a CSV table with the columns team, f1, accuracy"):
        read_scores(tmp_path / "scores.csv", KEYS)


def clarity(tmp_path: Path, submissions: Files, *overrides: str) -> Mapping[str, Any]:
    """Rank submissions to CLARITY, whose rule is the default one."""
    from gen_bundle.package.programs import program_description
    from gen_bundle.package.resolve import Unit, resolve
    from gen_bundle.resources import resource

    competition = resolve(resource("bundles") / "clarity2026", overrides=overrides)
    description = program_description(competition, Unit("all", "", competition.tasks))
    write_files(tmp_path, {"program.json": json.dumps(description), "ref/gold.csv": DEV})
    write_files(tmp_path / "all", submissions)
    request = {"program": str(tmp_path / "program.json"), "hide": []}
    return rank({**request, "submissions": str(tmp_path / "all"), "reference": str(tmp_path / "ref")})


def test_submissions_are_scored_like_on_the_platform(tmp_path: Path) -> None:
    only_clarity = "id,clarity_pred\n1,Clear Reply\n2,Ambivalent\n3,Ambivalent\n4,Non-Reply\n"
    answer = clarity(tmp_path, {"good/clarity/a.csv": PERFECT, "half.csv": only_clarity})
    assert answer["tables"][0]["rows"] == [["1=", "good", "1.0000"], ["1=", "half", "1.0000"]]
    assert answer["tables"][1]["rows"] == [["1", "good", "0.4444", "0.4444", "1.0000"]]


def test_beyond_the_worst_value_submissions_are_equal_as_on_the_board(tmp_path: Path) -> None:
    """Macro F1 of A: (2/3 + 1/2 + 0)/3 = 7/18; of B, whose four answers are wrong, 0."""
    answers = {
        "A.csv": "id,clarity_pred\n1,Clear Reply\n2,Ambivalent\n3,Clear Reply\n4,Ambivalent\n",
        "B.csv": "id,clarity_pred\n1,Ambivalent\n2,Non-Reply\n3,Non-Reply\n4,Clear Reply\n",
    }
    worst = "tasks.clarity.columns.clarity_macro_f1.worst=0.75"
    assert clarity(tmp_path / "own", answers)["tables"][0]["rows"] == [["1", "A", "0.3889"], ["2", "B", "0.0000"]]
    assert clarity(tmp_path / "bounded", answers, worst)["tables"][0]["rows"] == [
        ["1=", "A", "0.7500"],
        ["1=", "B", "0.7500"],
    ]


def test_submissions_that_cannot_be_scored_are_all_named(tmp_path: Path) -> None:
    with pytest.raises(OrganiserError) as caught:
        clarity(tmp_path, {"good.csv": PERFECT, "bad.csv": "id\n", "worse.csv": "id,evasion_pred\n9,x\n"})
    assert [message.split(":")[0] for message in caught.value.messages] == [
        "team bad (bad.csv)",
        "team worse (worse.csv)",
        "team worse (worse.csv)",
    ]


def test_problems_of_a_submission_beyond_the_shown_ones_are_counted(tmp_path: Path) -> None:
    rows = "".join(f"x{number},Ambivalent\n" for number in range(60))
    with pytest.raises(OrganiserError) as caught:
        clarity(tmp_path, {"bad.csv": "id,clarity_pred\n" + rows})
    assert len(caught.value.messages) == 51
    assert caught.value.messages[-1] == "team bad (bad.csv): … and 11 more."


def test_a_column_without_a_metric_is_named(tmp_path: Path) -> None:
    with pytest.raises(OrganiserError, match=r"^tasks.clarity.columns.f1: the scoring program has no such metric."):
        clarity(tmp_path, {"good.csv": PERFECT}, "tasks.clarity.columns.clarity_macro_f1.key=f1")
