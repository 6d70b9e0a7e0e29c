"""gen-bundle rank --report: what is in the folder, that it says what the statistics say, and that it compiles."""

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gen_bundle.after.report.content import figure
from gen_bundle.after.report.write import PREAMBLE, LatexTable, _numbered, _set, _text
from gen_bundle.build.render import drawing
from gen_bundle.build.render.drawing import fonts_for, missing_note
from tests.generator.after.report.shared_task import rank, shared_task, submissions
from tests.sweeps import sweep

pytestmark = pytest.mark.slow  # whichever test is the first makes the report

FORMULA, BOLD, SLOW = "=Formula ☃ é ß ÷ „x“", "<b>Bold $x$ | `c` & 中文_队", "50 % & #1_$x^2$ {~} \\"
TEAMS = {"Ahead": 0.95, FORMULA: 0.85, BOLD: 0.6, SLOW: 0.4, "Quiet": 0.7, "Gone": 0.75}
BASE = "Majority"
KEYS = {"name", "column", "title", "sort", "unit", "units", "resamples", "seed", "without", "winner", "not_ranked"}
KEYS |= {"teams", "pairs", "stability"}
SHOWN = ["Ahead", FORMULA, BOLD, SLOW]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of four teams, one with hidden figures, one hidden, a baseline and one that cannot be scored."""
    work = tmp_path_factory.mktemp("report")
    competition = shared_task(work, 80, tasks=2)
    teams = submissions(competition, {**TEAMS, BASE: 0.1})
    (teams / "Torn.zip").write_bytes(b"no zip")
    view = ("--baseline", BASE, "--hide-figures", "Quiet", "--hide", "Gone")
    done = rank(competition, teams, "--report", work / "report", "--resamples", 1000, "--seed", 5, *view)
    assert done.exit_code == 1, done.output
    assert "not scored: Torn" in done.stderr
    return work / "report"


def task(folder: Path) -> dict[str, Any]:
    tasks = json.loads((folder / "report.json").read_text())["tasks"]
    found: dict[str, Any] = tasks["classification"]
    return found


def test_the_files_of_a_report(folder: Path) -> None:
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    kinds = [
        f"{task}-{kind}.{form}"
        for task in ("classification", "again")
        for kind in ("scores", "ranks", "pairs")
        for form in ("svg", "pdf")
    ]
    assert files == {
        *("report.html", "report.json", "report.tex", "ranking.csv", "pairwise.csv"),
        *("units/classification.npz", "units/again.npz"),
        *(f"figures/{name}" for name in kinds),
    }
    assert not list(folder.parent.glob(".report*")), "nothing is left of the writing"


def test_report_json_has_the_keys_of_its_contract(folder: Path) -> None:
    report = json.loads((folder / "report.json").read_text())
    assert list(report) == ["version", "signature", "tasks"]
    assert report["version"].startswith("gen-bundle ")
    assert report["signature"].startswith("competition:my-task|tasks:classification+again|")
    assert set(report["tasks"]) == {"classification", "again"}
    for one in report["tasks"].values():
        assert set(one) == KEYS
        assert all(
            set(t) == {"team", "score", "low", "high", "why", "rank", "rank_low", "rank_high", "group"}
            for t in one["teams"]
        )
        assert all(set(p) == {"a", "b", "difference", "low", "high", "why", "p", "p_holm"} for p in one["pairs"])
        assert set(one["winner"]) == {"teams", "next", "ahead", "alike", "optimism"}
        assert set(one["stability"]) == {"tau_mean", "wins"}
    first = report["tasks"]["classification"]
    assert [first[key] for key in ("column", "unit", "units", "resamples", "seed")] == ["macro_f1", "text", 80, 1000, 5]
    assert [first[key] for key in ("title", "sort", "without", "not_ranked")] == ["Macro F1", "desc", None, []]


def test_the_figures_fit_each_other(folder: Path) -> None:
    one = task(folder)
    teams = {team["team"]: team for team in one["teams"]}
    assert list(teams) == [*SHOWN, BASE, "Quiet"]
    assert [teams[name]["rank"] for name in SHOWN] == [1, 2, 5, 6], "hidden teams hold their ranks"
    for name in SHOWN:
        team = teams[name]
        if name != "Ahead":
            assert 0 <= team["low"] <= team["score"] <= team["high"] <= 1
        assert 1 <= team["rank_low"] <= team["rank"] <= team["rank_high"] <= 6
    assert teams[SHOWN[0]]["group"] == 1
    assert teams["Ahead"]["low"] is teams["Ahead"]["high"] is None, "many resamples have no error at all"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "No interval for Ahead: More than 2.5 %" in page
    assert teams["Ahead"]["why"].startswith("More than 2.5 %")
    assert teams[FORMULA]["why"] is None
    assert "Significant differences (below 0.05) are marked" in page
    assert teams[SLOW]["group"] > 1
    assert len(one["pairs"]) == 10
    for pair in one["pairs"]:
        assert pair["difference"] == teams[pair["a"]]["score"] - teams[pair["b"]]["score"]
        assert pair["low"] <= pair["difference"] <= pair["high"]
        assert 1 / 1001 <= pair["p"] <= pair["p_holm"] <= 1
    assert 0 < one["stability"]["tau_mean"] <= 1
    assert set(one["stability"]["wins"]) == set(SHOWN)
    assert 0.9 < sum(one["stability"]["wins"].values()) <= 1


def test_the_report_says_first_who_won(folder: Path) -> None:
    winner = task(folder)["winner"]
    scores = {team["team"]: team["score"] for team in task(folder)["teams"]}
    assert (winner["teams"], winner["next"]) == (["Ahead"], [FORMULA])
    assert winner["ahead"] == scores["Ahead"] - scores[FORMULA]
    assert set(winner["alike"]) <= {FORMULA, BOLD, SLOW}
    assert 0 <= winner["optimism"] < 0.1
    page, latex = (folder / "report.html").read_text(encoding="utf-8"), (folder / "report.tex").read_text()
    said = f"Ahead has the best Macro F1, {scores['Ahead']:.4f}, {winner['ahead']:.4f} ahead of"
    assert page.index("In short") < page.index(said) < page.index("<h2>Results</h2>")
    assert said in latex
    assert f"looks {winner['optimism']:.4f} too good" in page
    assert "would have found in 8 of 10 test sets" in page


def test_a_baseline_has_an_interval_and_no_rank(folder: Path) -> None:
    team = next(team for team in task(folder)["teams"] if team["team"] == BASE)
    assert team["low"] < team["score"] < team["high"]
    assert [team[key] for key in ("rank", "rank_low", "rank_high", "group")] == [None] * 4


def test_hidden_figures_are_nowhere_and_hidden_teams_are_not_named(folder: Path) -> None:
    quiet = next(team for team in task(folder)["teams"] if team["team"] == "Quiet")
    assert set(quiet.values()) == {"Quiet", None}
    for path in folder.iterdir():
        if path.is_file():
            assert "Gone" not in path.read_text(), path.name
    for file in ("pairwise.csv", "figures/classification-ranks.svg", "figures/classification-scores.svg"):
        assert "Quiet" not in (folder / file).read_text()
    assert "Quiet" in (folder / "report.html").read_text()


def test_the_tables_say_what_report_json_says(folder: Path) -> None:
    with (folder / "ranking.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["task"] == "classification"]
    one = task(folder)
    assert [row["team"] for row in rows] == [t["team"].replace("=Formula", "'=Formula") for t in one["teams"]]
    for row, team in zip(rows, one["teams"], strict=True):
        for key in ("rank", "score", "low", "high", "rank_low", "rank_high", "group"):
            assert row[key] == ("" if team[key] is None else str(team[key]))
    with (folder / "pairwise.csv").open(encoding="utf-8", newline="") as file:
        pairs = [row for row in csv.DictReader(file) if row["task"] == "classification"]
    assert [float(row["p_holm"]) for row in pairs] == [pair["p_holm"] for pair in one["pairs"]]
    assert not any(cell.startswith(("=", "@")) for row in [*rows, *pairs] for cell in row.values())


def test_the_page_has_everything_in_its_order(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    sections = re.findall(r'<section id="(\w+)"', page)
    assert " ".join(sections) == "summary results counted pairs stability robustness overall groups methods checklist"
    text = re.sub(r"<[^>]+>", " ", page)
    for expected in (
        "Torn: Torn.zip: cannot be read as a zip",
        "80 texts",
        "1,000 resamples",
        "competition:my-task|tasks:classification+again|version:",
        "without a rank, not counted",
        "share of texts with the better value",
        "by Accuracy",
        "with the baselines ranked",
        "Holm&#39;s method",
        "To be added by the organisers.",
        "--resamples 1000 --seed 5",
        "matplotlib ",
    ):
        assert expected in text, expected
    assert "<b>Bold" not in page
    assert "&lt;b&gt;Bold $x$ | `c` &amp; 中文_队" in page


def test_the_page_loads_nothing(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "default-src &#39;none&#39;" in page
    assert "<script" not in page
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page.replace('xlink:href="#', 'href="#'))


def test_per_unit_results_are_kept_for_the_organisers(folder: Path) -> None:
    with np.load(folder / "units" / "classification.npz") as kept:
        assert str(kept["unit"]) == "text"
        assert len(kept["names"]) == 80
        teams = kept["teams"].tolist()
        right = kept[f"{teams.index('Ahead')}.accuracy.sums"]
    assert right.shape == (80, 2)
    accuracy = json.loads((folder / "report.json").read_text())
    assert accuracy
    assert 0.8 < right[:, 0].sum() / right[:, 1].sum() < 1


@pytest.mark.parametrize("engine", sweep(["pdflatex", "lualatex"], ["pdflatex"]))
def test_the_document_compiles_and_fits_its_columns(folder: Path, tmp_path: Path, engine: str) -> None:
    if shutil.which(engine) is None:
        pytest.skip("no LaTeX here: tests/install-latex")
    copied = shutil.copytree(folder, tmp_path / "report")
    log = compiled(copied, engine, times=2)
    assert "LaTeX Warning: Reference" not in log
    assert "LaTeX Warning: Citation" not in log
    assert too_wide(log) == []
    assert (copied / "report.pdf").read_bytes().startswith(b"%PDF")
    source = (copied / "report.tex").read_text(encoding="utf-8")
    for expected in (
        r"\toprule",
        r"\caption{Classification: results (80 texts, ",
        r"\label{tab:classification-results}",
        r"\cite{efron}",
    ):
        assert expected in source, expected
    assert r"50 \% \& \#1\_\$x\textasciicircum{}2\$" in source


@pytest.mark.parametrize("engine", sweep(["pdflatex", "lualatex"], ["pdflatex"]))
def test_tables_of_any_size_fit(tmp_path: Path, engine: str) -> None:
    """Long names without a blank, other scripts, many columns, and more rows than a page has."""
    if shutil.which(engine) is None:
        pytest.skip("no LaTeX here: tests/install-latex")
    names = [
        "W" * 70,
        "Mümmelmann & Söhne 中文队 " * 4,
        "team_with_a_very_long_name_" * 3,
        *(f"Team {i}" for i in range(90)),
    ]
    header = ["Team", *(f"without {word}" for word in ("submissions", "Überschriftenzeile" * 3, "x") * 6)]
    rows = [[name, *("0.8123 (0.7123 to 0.9123)" for _ in header[1:])] for name in names]
    body = "\n".join(_set(LatexTable("wide", "A caption_with % signs.", header, rows)))
    measures = r"\typeout{measures: \the\textwidth, \the\textheight, \the\columnsep}"
    document = rf"{PREAMBLE}\begin{{document}}{measures}{body}\end{{document}}"
    (tmp_path / "report.tex").write_text(document, encoding="utf-8")
    log = compiled(tmp_path, engine, times=1)
    assert too_wide(log) == []
    found = re.search(r"measures: ([\d.]+)pt, ([\d.]+)pt, ([\d.]+)pt", log)
    assert found
    centimetres = [float(points) * 2.54 / 72.27 for points in found.groups()]
    assert centimetres == pytest.approx([16.0, 24.7, 0.6], abs=0.01), "ACL's"
    assert body.count(r"\label{tab:wide}") == 1
    assert body.count("Team 89 &") == body.count("Team 1 &") > 1


def compiled(folder: Path, engine: str, times: int) -> str:
    """The log of a document that was compiled so many times: references want two."""
    for _ in range(times):
        arguments = [engine, "-halt-on-error", "-interaction=nonstopmode", "report.tex"]
        done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
        assert done.returncode == 0, done.stdout[-3000:]
    return (folder / "report.log").read_text(errors="replace")


def too_wide(log: str) -> list[str]:
    """The boxes that stick out by more than five points."""
    return [line for line in re.findall(r"Overfull .hbox \(.*", log) if float(line.split("(")[1].split("pt")[0]) > 5]


@pytest.mark.parametrize(
    ("value", "shown"), [(0.25, "0.250"), (-0.25, "−0.250"), (-0.0004, "0.000"), (0.0, "0.000"), (None, "")]
)
def test_a_minus_stands_before_numbers_below_zero_alone(value: float | None, shown: str) -> None:
    assert figure(value, 3) == shown
    assert _text(figure(-1.5, 1)) == "$-$1.5"


def test_letters_are_set_in_a_font_that_has_them() -> None:
    assert _text("Plain & Söhne") == r"Plain \& Söhne"
    assert _text("Команда") == r"\script{DejaVu Sans}{Команда}{}\allowbreak{}"
    assert _text("عرب") == r"\scriptrl{DejaVu Sans}{عرب}{}\allowbreak{}"
    assert missing_note(["Plain", "Ж é"]) is None


def test_a_script_without_a_font_is_noted_and_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    """With matplotlib's own fonts alone, of which one has a box for every letter."""
    from matplotlib.font_manager import fontManager

    own = [font for font in fontManager.ttflist if "mpl-data" in font.fname]
    assert any("Last" in font.name for font in own)
    monkeypatch.setattr(fontManager, "ttflist", own)
    for cached in (drawing._font, drawing._installed):
        monkeypatch.setattr(drawing, cached.__name__, cached.__wrapped__)
    assert fonts_for("北é") == {"北": None, "é": "DejaVu Sans"}
    note = missing_note(["Ж", "北京 & 北"])
    assert note is not None
    assert note.startswith(
        "No installed font has the letters 北京: the figures have boxes in their place, and report.tex"
    )
    text = _text("北京 NLP")
    assert text == r"\script{Noto Sans}{北\allowbreak 京}{}\allowbreak{} NLP"
    numbered = _numbered(f"{text} & {_text('Ж')} & {text}")
    assert re.findall(r"\{(\d+)\}", numbered) == ["1", "2", "1"]
    assert "U+" not in numbered
