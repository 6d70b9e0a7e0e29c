"""The forms of a ranking."""

import csv
import html
import io
import json
import re

import pytest

from gen_bundle.build.render.rankings import FORMATS, Ranking, RankingTable

RANKING = Ranking(
    result={
        "teams": [
            {"team": "A & B_1", "f1": 0.5, "tied": ["x", "y"], "rank": 1},
            {"team": "C|D", "f1": None, "tied": [], "rank": None},
        ],
        "invited": {"joint": None},
    },
    tables=[
        RankingTable("50 % better", ["Rank", "Team", "F1"], [["1=", "A & B_1", "0.5000"], ["12", "C|D", ""]]),
        RankingTable("Empty", ["Rank", "Team"], []),
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


NAMES = {
    "formula": '=HYPERLINK("http://x")',
    "plus": "+1-2",
    "at": "@SUM(A1)",
    "blank and formula": " =1+1",
    "tab": "\t=1",
    "lines": "a\nb\r\nc",
    "escape": "\x1b[2Jgone\x9b2J",
    "direction": "\u202egnp.exe",
    "half": "\ud800",
}


def of_team(name: str, score: float = -0.5) -> Ranking:
    return Ranking(
        {"teams": [{"team": name, "f1": score, "tied": [name]}]},
        [RankingTable("All", ["Rank", "Team", "F1"], [["1", name, f"{score}"]])],
        [],
    )


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", NAMES.values(), ids=list(NAMES))
def test_a_team_name_steers_no_terminal_and_no_table(form: str, name: str) -> None:
    printed = FORMATS[form](of_team(name))
    assert all(character.isprintable() or character == "\n" for character in printed)
    assert printed.count("\n") == FORMATS[form](of_team("plain")).count("\n")


@pytest.mark.parametrize("sign", "=+@＝＋－＠")
def test_every_sign_that_begins_a_formula_is_kept_from_it(sign: str) -> None:
    """Spreadsheets take the full-width signs for the plain ones."""
    assert FORMATS["csv"](of_team(f"{sign}A1")).splitlines()[1] == f"'{sign}A1,-0.5,'{sign}A1"


@pytest.mark.parametrize("name", NAMES.values(), ids=list(NAMES))
def test_no_cell_of_a_csv_is_a_formula(name: str) -> None:
    (row,) = csv.DictReader(io.StringIO(FORMATS["csv"](of_team(name))))
    assert not any(cell.lstrip().startswith(("=", "+", "@")) for cell in row.values())
    assert row["f1"] == "-0.5", "a negative number stays a number"


def test_a_team_called_by_a_number_is_no_formula() -> None:
    assert FORMATS["csv"](of_team("-5")).splitlines()[1] == "-5,-0.5,-5"
    assert FORMATS["csv"](of_team("-5+2")).splitlines()[1] == "'-5+2,-0.5,'-5+2"


@pytest.mark.parametrize("ranking", [RANKING, *map(of_team, NAMES.values())], ids=["whole", *NAMES])
def test_json_is_the_result_exactly(ranking: Ranking) -> None:
    assert json.loads(FORMATS["json"](ranking)) == ranking.result


@pytest.mark.parametrize(
    "name", ["<img src=x onerror=1>", "*bold*", "_it_", "[l](http://x)", "`c`", "&lt;b&gt;", "a|b", "a\\|b", "~~x~~"]
)
def test_markdown_shows_a_name_as_it_is(name: str) -> None:
    from markdown_it import MarkdownIt

    page = MarkdownIt("gfm-like", {"linkify": False}).render(FORMATS["markdown"](of_team(name)))
    shown = re.findall(r"<td>(.*?)</td>", page)
    assert html.unescape(shown[1]) == name
