"""The forms of a ranking."""

import csv
import io
import json

import pytest

from gen_bundle.render.rankings import FORMATS, Ranking, Table

RANKING = Ranking(
    result={
        "teams": [
            {"team": "A & B_1", "f1": 0.5, "tied": ["x", "y"], "rank": 1},
            {"team": "C|D", "f1": None, "tied": [], "rank": None},
        ],
        "invited": {"joint": None},
    },
    tables=[
        Table("50 % better", ["Rank", "Team", "F1"], [["1=", "A & B_1", "0.5000"], ["12", "C|D", ""]]),
        Table("Empty", ["Rank", "Team"], []),
    ],
    notes=["a note"],
)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (
            "text",
            "50 % better\n===========\nRank  Team         F1\n  1=  A & B_1  0.5000\n  12  C|D\n\n"
            "Empty\n=====\nRank  Team\n",
        ),
        (
            "markdown",
            "## 50 % better\n\n| Rank | Team | F1 |\n| --- | --- | --- |\n| 1= | A & B_1 | 0.5000 |\n"
            "| 12 | C\\|D |  |\n\n## Empty\n\n| Rank | Team |\n| --- | --- |\n",
        ),
        ("csv", "team,f1,tied,rank\nA & B_1,0.5,x y,1\nC|D,,,\n"),
    ],
)
def test_forms(form: str, expected: str) -> None:
    assert FORMATS[form](RANKING) == expected


def test_latex_escapes_what_it_would_read_as_a_command() -> None:
    printed = FORMATS["latex"](RANKING)
    assert r"1= & A \& B\_1 & 0.5000 \\" in printed
    assert r"\caption{50 \% better}" in printed
    assert r"\begin{tabular}{rlr}" in printed
    assert printed.count(r"\begin{table}") == printed.count(r"\end{table}") == 2


def test_json_is_the_result() -> None:
    assert json.loads(FORMATS["json"](RANKING)) == RANKING.result


def test_csv_can_be_read_again() -> None:
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"](RANKING))))
    assert [row["team"] for row in rows] == ["A & B_1", "C|D"]
