"""The default ranking: one for each task by its first column, ties as declared."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen_bundle.codabench.board import Board
from gen_bundle.codabench.competition import Column as BoardColumn
from gen_bundle.codabench.competition import Leaderboard
from scoring_kit.board import RankingView, Scores, read_scores, shared_ranks, standing, task_standing
from scoring_kit.errors import OrganiserError
from scoring_kit.program import Program, ScoreColumn
from scoring_kit.ranking import rank, shown_records
from tests.scoring_programs.clarity2026.gold import DEV, PERFECT
from tests.scoring_programs.framed import Files, write_files

NO_COLUMNS: Sequence[str] = ()
KEYS = ("f1", "accuracy", "error")


def program(
    folder: Path, tasks: Sequence[str] = ("main", "other"), tie_break: Sequence[str] | None = NO_COLUMNS
) -> str:
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
        "tie_break": tie_break,
        "columns": [
            vars(ScoreColumn(key, task, key.title(), sort, 2, worst, "")) for key, task, sort, worst in columns
        ],
    }
    (folder / "program.json").write_text(json.dumps(description), encoding="utf-8")
    return str(folder / "program.json")


def ranked(folder: Path, table: str, **view: Sequence[str]) -> Mapping[str, Any]:
    (folder / "scores.csv").write_text(table, encoding="utf-8")
    return rank({"program": program(folder), "scores": str(folder / "scores.csv"), **view})


NOT_RANKED = ["Main task: not ranked, without F1: C.", "Other task: not ranked, without Error: D."]
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
    assert answer["notes"] == [
        "Main task: B and D share rank 2.",
        NOT_RANKED[0],
        "Other task: B and C share rank 1.",
        NOT_RANKED[1],
    ]


@pytest.mark.parametrize(
    ("tie_break", "main", "other"),
    [
        (None, ["1 A", "2 D", "3 B", "4 E"], ["1= B", "1= C", "3 A", "4 E"]),
        (["accuracy"], ["1 A", "2 D", "3 B", "4 E"], ["1 B", "2 C", "3 A", "4 E"]),
        (["error"], ["1 A", "2 B", "3 D", "4 E"], ["1= B", "1= C", "3 A", "4 E"]),
        ([], ["1 A", "2= B", "2= D", "4 E"], ["1= B", "1= C", "3 A", "4 E"]),
    ],
)
def test_what_orders_equal_scores(
    tmp_path: Path, tie_break: list[str] | None, main: list[str], other: list[str]
) -> None:
    (tmp_path / "scores.csv").write_text(TABLE, encoding="utf-8")
    request = {"program": program(tmp_path, tie_break=tie_break), "scores": str(tmp_path / "scores.csv")}
    tables = rank(request)["tables"]
    assert [[" ".join(row[:2]) for row in table["rows"]] for table in tables] == [main, other]


@given(
    st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=8),
    st.sampled_from([None, (), ("b",), ("c", "b")]),
)
def test_ranks_are_those_of_the_board(values: list[tuple[int, ...]], tie_break: tuple[str, ...] | None) -> None:
    """The first column descends, the second ascends; rows that are equal in all columns have no order of their own."""
    keys, sorts = ("a", "b", "c"), ("desc", "asc", "desc")
    described = list(zip(keys, sorts, strict=True))
    columns = tuple(ScoreColumn(key, "t", key, sort, 2, 0.0, key) for key, sort in described)
    of_kit = Program("c", "c", "C", "1", "joint", ("t",), ("t",), {"t": "T"}, {}, columns, 5, tie_break=tie_break)
    shown = tuple(BoardColumn(i, key, key, sort) for i, (key, sort) in enumerate(described))
    board = Board(Leaderboard(shown, 0, "Force_Latest_Multiple", tie_break=tie_break))
    scores: Scores = {str(team): dict(zip(keys, map(float, own), strict=True)) for team, own in enumerate(values)}
    for team, own in scores.items():
        entry = board.submit(team, team)
        board.finish(entry)
        board.upload(entry, own)
    there = {row.entry.name: row.rank for row in board.rows()}
    here = task_standing(of_kit, columns[0], scores, RankingView()).ranks
    if tie_break is None:  # the platform numbers rows through
        alike: dict[tuple[int, ...], int] = {}
        for team, place in sorted(there.items(), key=lambda one: one[1]):
            there[team] = alike.setdefault(values[int(team)], place)
    assert here == there


def test_of_a_hidden_team_nothing_is_shown(tmp_path: Path) -> None:
    answer = ranked(tmp_path, TABLE, hide=["B"])
    assert answer["tables"][0]["rows"] == [
        ["1", "A", "0.70", "0.10"],
        ["2", "D", "0.50", "0.90"],
        ["4", "E", "0.10", "0.10"],
    ]
    assert [record["team"] for record in answer["teams"]] == ["D", "A", "C", "E"]
    assert '"B"' not in json.dumps(answer)
    assert answer["notes"] == NOT_RANKED


def test_a_team_with_hidden_figures_keeps_its_name_alone(tmp_path: Path) -> None:
    answer = ranked(tmp_path, TABLE, hide_figures=["B"])
    assert answer["tables"][0]["rows"] == [
        ["1", "A", "0.70", "0.10"],
        ["2", "D", "0.50", "0.90"],
        ["4", "E", "0.10", "0.10"],
        ["", "B", "", ""],
    ]
    assert answer["teams"][-1] == {"team": "B", **dict.fromkeys([*KEYS, "main_rank", "other_rank", "tied"])}
    assert answer["notes"] == NOT_RANKED


@pytest.mark.parametrize("option", ["hide", "hide_figures"])
def test_a_team_without_figures_takes_no_part_in_a_shown_tie(tmp_path: Path, option: str) -> None:
    table = "team,f1,accuracy,error\nA,0.5,0,1\nB,0.5,0,1\nC,0.5,0,2\nD,0.4,0,2\n"
    answer = ranked(tmp_path, table, **{option: ["B"]})
    last = [["", "B"]] if option == "hide_figures" else []
    assert answer["notes"] == ["Main task: A and C share rank 1.", "Other task: C and D share rank 3."]
    assert [row[:2] for row in answer["tables"][0]["rows"]] == [["1=", "A"], ["1=", "C"], ["4", "D"], *last]
    assert [row[:2] for row in answer["tables"][1]["rows"]] == [["1", "A"], ["3=", "C"], ["3=", "D"], *last]
    assert [record["tied"] for record in answer["teams"]][:3] == [["main"], ["main", "other"], ["other"]]
    assert standing({"A": 0.5, "B": 0.5, "C": 0.5}, True, RankingView(hide=["B"])).tied == {"A", "C"}


def test_a_baseline_is_where_its_score_puts_it_without_a_rank(tmp_path: Path) -> None:
    answer = ranked(tmp_path, TABLE, baselines=["B", "A"])
    assert [row[:3] for row in answer["tables"][0]["rows"]] == [
        ["", "A", "0.70"],
        ["", "B", "0.50"],
        ["1", "D", "0.50"],
        ["2", "E", "0.10"],
    ]
    records = {record["team"]: record for record in answer["teams"]}
    assert (records["B"]["f1"], records["B"]["main_rank"], records["B"]["tied"]) == (0.5, None, [])
    assert answer["notes"] == NOT_RANKED


def test_a_row_without_figures_is_shown(tmp_path: Path) -> None:
    answer = ranked(tmp_path, "team,f1,accuracy,error\nA,0.5,0.5,\nQuiet,,,\nB,,,1\n")
    assert [row[:2] for row in answer["tables"][0]["rows"]] == [["1", "A"], ["", "Quiet"]]
    assert [row[:2] for row in answer["tables"][1]["rows"]] == [["1", "B"], ["", "Quiet"]]


@pytest.mark.parametrize(
    ("option", "name"), [("--hide", "hide"), ("--hide-figures", "hide_figures"), ("--baseline", "baselines")]
)
def test_a_team_that_is_not_there_is_named(tmp_path: Path, option: str, name: str) -> None:
    with pytest.raises(OrganiserError, match=rf"{option} X: no such team. Expected one of A, B, C, D, E."):
        ranked(tmp_path, TABLE, **{name: ["X"]})


def test_a_task_that_nobody_entered_is_said(tmp_path: Path) -> None:
    answer = ranked(tmp_path, "team,f1,accuracy\nA,0.5,0.5\n")
    assert answer["tables"][1]["rows"] == []
    assert answer["notes"] == ["Other task: no team entered it."]


def test_the_last_bits_of_a_sum_decide_no_rank() -> None:
    """Both are 47/90: a mean of three F1 that were summed in different orders."""
    values = {"A": 0.5222222222222221, "B": 0.5222222222222223, "C": 0.522222222}
    assert shared_ranks(values, descending=True) == {"A": 1, "B": 1, "C": 3}
    assert shared_ranks(values, descending=False) == {"A": 2, "B": 2, "C": 1}


NAMES = st.sets(st.sampled_from("ABCDEF"))


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from("ABCDEF"), st.none() | st.integers(0, 3).map(float)), NAMES, NAMES, NAMES)
def test_what_a_table_shows_of_each_team(
    values: dict[str, float | None], hide: set[str], figures: set[str], baselines: set[str]
) -> None:
    """Whatever an unseen team's value is, its own cells and the marks of shared ranks stay the same."""
    view = RankingView(hide, figures, baselines)
    lines = standing(values, True, view).rows
    assert {team for team, _ in lines} == set(values) - hide
    competing = {team: value for team, value in values.items() if team not in baselines and value is not None}
    for team, place in lines:
        seen = team in competing and team not in figures
        alone = [t for t in competing if competing[t] == values[team] and t not in hide | figures] == [team]
        assert (place == "") == (not seen)
        if seen:
            assert place.endswith("=") == (not alone)
            assert int(place.rstrip("=")) == 1 + sum(v > competing[team] for v in competing.values())
    for record in shown_records([{"team": team, "f1": 1.0} for team in values], view):
        assert record["team"] not in hide
        assert (record["f1"] is None) == (record["team"] in figures)


@pytest.mark.parametrize(
    ("table", "messages"),
    [
        ("team,f1\nA,x\nB,nan\nC,1\n", ['scores.csv:2 (f1): "x" is not a finite number.', "scores.csv:3 (f1)"]),
        ("team,f1\nA,1\nA,2\n,3\n", ['scores.csv:3: the team "A" already has a row.', "scores.csv:4: team is empty."]),
        ("name,f1\nA,1\n", ["scores.csv:1: has the columns name, f1. Expected: team, f1, accuracy, error."]),
        ("team,f2\nA,1\n", ["scores.csv:1: has the columns team, f2."]),
        ("team,f1\n", ["scores.csv: has no rows."]),
    ],
)
def test_faults_of_a_table_of_scores(tmp_path: Path, table: str, messages: list[str]) -> None:
    (tmp_path / "scores.csv").write_text(table, encoding="utf-8")
    with pytest.raises(OrganiserError) as caught:
        read_scores(tmp_path / "scores.csv", KEYS)
    for message in messages:
        assert any(told.startswith(message) for told in caught.value.messages), caught.value.messages


def test_the_faults_of_a_long_table_are_counted(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("team,f1\n" + "".join(f"T{i},x{i}\n" for i in range(60)), encoding="utf-8")
    with pytest.raises(OrganiserError, match=r"… and 10 more\.$"):
        read_scores(tmp_path / "scores.csv", KEYS)


def test_a_missing_table_of_scores(tmp_path: Path) -> None:
    with pytest.raises(OrganiserError, match=r"no such file. Expected a CSV table with the columns team, f1, accuracy"):
        read_scores(tmp_path / "scores.csv", KEYS)


def clarity(tmp_path: Path, submissions: Files, *overrides: str) -> Mapping[str, Any]:
    """Rank submissions to CLARITY, whose rule is the default one."""
    from gen_bundle.build.package.programs import program_description
    from gen_bundle.build.package.resolve import resolve
    from gen_bundle.ground.resources import resource

    competition = resolve(resource("bundles") / "clarity2026", overrides=overrides)
    description = program_description(competition, competition.tasks)
    write_files(tmp_path, {"program.json": json.dumps(description), "ref/gold.csv": DEV})
    write_files(tmp_path / "all", submissions)
    request = {"program": str(tmp_path / "program.json"), "hide": []}
    return rank({**request, "submissions": str(tmp_path / "all"), "reference": str(tmp_path / "ref")})


def test_submissions_are_scored_like_on_the_platform(tmp_path: Path) -> None:
    only_clarity = "id,clarity_pred\n1,Clear Reply\n2,Ambivalent\n3,Ambivalent\n4,Non-Reply\n"
    answer = clarity(tmp_path, {"good/clarity/a.csv": PERFECT, "half.csv": only_clarity})
    assert answer["tables"][0]["rows"] == [["1", "good", "1.0000"], ["2", "half", "1.0000"]]
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


def test_a_submission_that_cannot_be_scored_is_listed_and_the_others_are_ranked(tmp_path: Path) -> None:
    faulty: Files = {"bad.csv": "id\n", "worse.csv": "id,evasion_pred\n9,x\n", "torn.zip": b"no zip"}
    answer = clarity(tmp_path, {"good.csv": PERFECT, **faulty})
    assert answer["tables"][0]["rows"] == [["1", "good", "1.0000"]]
    listed = answer["tables"][-1]
    assert (listed["title"], listed["header"]) == ("Not scored", ["Team", "Reason"])
    assert [(team, text.split(":")[0]) for team, text in listed["rows"]] == [
        ("bad", "bad.csv"),
        ("torn", "torn.zip"),
        ("worse", "worse.csv"),
        ("worse", "worse.csv"),
    ]


def test_three_reasons_of_a_team_are_in_the_table(tmp_path: Path) -> None:
    ids = "".join(f"1{',' * number}\n" for number in range(2, 82))
    answer = clarity(tmp_path, {"good.csv": PERFECT, "bad.csv": f"id,clarity_pred\n{ids}"})
    rows = [text for team, text in answer["tables"][-1]["rows"] if team == "bad"]
    (record,) = (one for one in answer["teams"] if one["team"] == "bad")
    assert rows[:3] == record["not_scored"][:3]
    assert len(record["not_scored"]) == 51
    assert record["not_scored"][-1] == "bad.csv: … and 31 more."
    assert rows[3:] == ["… and 78 more"]


def test_where_no_submission_can_be_scored_all_are_named(tmp_path: Path) -> None:
    with pytest.raises(OrganiserError) as caught:
        clarity(tmp_path, {"bad.csv": "id\n", "worse.csv": "id,evasion_pred\n9,x\n"})
    assert [message.split(":")[:2] for message in caught.value.messages] == [
        ["team bad", " bad.csv"],
        ["team worse", " worse.csv"],
        ["team worse", " worse.csv"],
    ]


MEAN = ScoreColumn("mean", "main", "Mean", "desc", 2, None, "", "avg", ("f1", "accuracy"))
MEAN_RANK = ScoreColumn("mean", "main", "Mean", "asc", 2, None, "", "avg_rank", ("f1", "error"))


@pytest.mark.parametrize(
    ("column", "table", "rows"),
    [
        # (0.5 + 0.9) / 2 and (0.7 + 0.1) / 2: the mean ranks, although A leads by F1.
        (MEAN, "team,f1,accuracy\nA,0.7,0.1\nB,0.5,0.9\n", [["1", "B", "0.70"], ["2", "A", "0.40"]]),
        # What is given is what the board shows.
        (MEAN, "team,mean,f1,accuracy\nA,0.9,0.7,0.1\nB,,0.5,0.9\n", [["1", "A", "0.90"], ["2", "B", "0.70"]]),
        # On the board a team without an accuracy has the column's worst, 0.
        (MEAN, "team,f1,accuracy\nA,0.7,\nB,,\n", [["1", "A", "0.35"], ["", "B", ""]]),
        (MEAN, "team,mean\nA,0.7\nB,0.8\n", [["1", "B", "0.80"], ["2", "A", "0.70"]]),
        # A is first by F1 and last by error; B second and first; C third and second
        (
            MEAN_RANK,
            "team,f1,error\nA,0.9,3\nB,0.8,1\nC,0.1,2\n",
            [["1", "B", "1.50"], ["2", "A", "2.00"], ["3", "C", "2.50"]],
        ),
    ],
)
def test_a_board_that_is_ranked_by_a_computed_column(
    tmp_path: Path, column: ScoreColumn, table: str, rows: list[list[str]]
) -> None:
    path = Path(program(tmp_path))
    description = json.loads(path.read_text())
    description["columns"].insert(0, vars(column))
    path.write_text(json.dumps(description))
    (tmp_path / "scores.csv").write_text(table, encoding="utf-8")
    answer = rank({"program": str(path), "scores": str(tmp_path / "scores.csv")})
    assert [row[:3] for row in answer["tables"][0]["rows"]] == rows
    assert answer["tables"][0]["header"] == ["Rank", "Team", "Mean", "F1", "Accuracy"]
    assert "mean" in answer["teams"][0]


def test_a_column_without_a_metric_is_named(tmp_path: Path) -> None:
    with pytest.raises(OrganiserError, match=r"^tasks.clarity.columns.f1: the scoring program has no such metric."):
        clarity(tmp_path, {"good.csv": PERFECT}, "tasks.clarity.columns.clarity_macro_f1.key=f1")
