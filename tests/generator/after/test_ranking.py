"""gen-bundle rank: from files to a printed ranking."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gen_bundle.build.render.rankings import Ranking, RankingTable, as_text
from gen_bundle.cli import root
from gen_bundle.ground.resources import resource
from tests.generator.author.new.making import made, sentiment
from tests.generator.competition import small_competition
from tests.yaml_text import loaded

DATA = resource("bundles") / "process2025" / "data"
pytestmark = pytest.mark.usefixtures("kept_organisers")


def command(*arguments: object) -> Result:
    return CliRunner().invoke(root, ["rank", *map(str, arguments)])


@pytest.fixture
def submissions(tmp_path: Path) -> Path:
    """The baselines of PROCESS, the good one also in an older, weaker version."""
    good, weak = (next((DATA / "baselines" / "test" / name).iterdir()) for name in ("good", "weak"))
    for day, source, name in (
        ("2025-01-01", weak, good.name),
        ("2025-01-02", good, good.name),
        ("2025-01-01", weak, weak.name),
    ):
        folder = tmp_path / "all" / day
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / name)
    return tmp_path / "all"


def test_submissions_of_process_by_its_own_rule(submissions: Path) -> None:
    done = command("process2025", "--submissions", submissions, "--data", DATA, "--phase", "test", "--json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert set(answer) == {"teams", "invited"}
    good, weak = answer["teams"]
    assert good["team"] == "Baseline-measures_Organisers"
    assert good["f1"] > weak["f1"]
    assert good["rmse"] < weak["rmse"]
    assert good["s"] == pytest.approx(
        good["f1"] / (good["f1"] + weak["f1"]) + 1 - good["rmse"] / (good["rmse"] + weak["rmse"])
    )
    assert answer["invited"] == {"classification": [good["team"], weak["team"]], "regression": [], "joint": None}


def test_two_files_of_a_team_outside_of_dated_folders(submissions: Path) -> None:
    for path in submissions.glob("*/*measures*"):
        shutil.copyfile(path, submissions / path.name)
    done = command("process2025", "--submissions", submissions, "--data", DATA, "--phase", "test")
    assert done.exit_code == 2
    assert "team Baseline-measures_Organisers: has 3 submissions" in done.stderr


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("text", "   1  A       0.7500  invited"),
        ("csv", "A,0.75,2.5,1.25,1,1,1,rmse,classification"),
        ("markdown", "| 1 | A | 0.7500 | invited |"),
        ("latex", r"1 & A & 0.7500 & invited \\"),
        ("json", '   "team": "A",'),
    ],
)
def test_a_table_of_scores_in_every_form(tmp_path: Path, form: str, line: str) -> None:
    """S of A: 0.75 / 1 + 1 - 2.5 / 5."""
    (tmp_path / "best.csv").write_text("team,f1,rmse\nA,0.75,2.5\nB&C,0.25,\nD,,2.5\n", encoding="utf-8")
    done = command("process2025", "--scores", tmp_path / "best.csv", "--format", form)
    assert done.exit_code == 0, done.output
    assert line in done.stdout.splitlines()
    assert "note: Regression: A and D share rank 1." in done.stderr


FORMS = ("text", "csv", "markdown", "latex", "json")


def test_a_team_without_a_value_in_the_ranking_column_is_named(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    keys = [column["key"] for column in loaded((folder / "bundle.yaml").read_bytes())["tasks"][0]["columns"]]
    table = tmp_path / "scores.csv"
    table.write_text(f"team,{keys[0]},{keys[1]}\nA,0.5,0.6\nB,0.4,0.5\nC,,0.9\nD,,0.1\n", encoding="utf-8")
    done = command(folder, "--scores", table, "--hide", "D")
    assert done.exit_code == 0, done.output
    assert re.search(r"note: .*: not ranked, without .*: C\.", done.stderr), done.stderr


@pytest.mark.parametrize("form", FORMS)
def test_a_hidden_team_is_not_named_and_of_hidden_figures_the_name_stays(tmp_path: Path, form: str) -> None:
    (tmp_path / "best.csv").write_text("team,f1,rmse\nQuiet,0.7123,2.5\nB,0.45,3\n", encoding="utf-8")
    for option in ("--hide", "--hide-figures"):
        done = command("process2025", "--scores", tmp_path / "best.csv", option, "Quiet", "--format", form)
        assert done.exit_code == 0
        assert "0.7123" not in done.stdout
        assert ("Quiet" in done.output) is (option == "--hide-figures")
        assert "hidden" not in done.stdout or option == "--hide-figures"


@pytest.mark.parametrize("form", FORMS)
def test_a_team_that_cannot_be_scored_is_listed_and_the_exit_status_is_1(submissions: Path, form: str) -> None:
    name = "PROCESS_submission_Late_Town.csv"
    (submissions / "2025-01-02" / name).write_text("id\n1\n", encoding="utf-8")
    (submissions / "2025-01-02" / "Torn.zip").write_bytes(b"no zip")
    done = command("process2025", "--submissions", submissions, "--data", DATA, "--phase", "test", "--format", form)
    assert done.exit_code == 1, done.output
    assert "Traceback" not in done.output
    for expected in ("Baseline-measures", "Late", "Torn"):
        assert expected in done.stdout
    assert [line for line in done.stderr.splitlines() if "not scored" in line] == [
        "not scored: Late_Town, Torn (--json has all reasons)"
    ]
    if form == "text":
        assert f"2025-01-02/{name}: " in done.stdout
    if form == "json":
        records = {record["team"]: record for record in json.loads(done.stdout)["teams"]}
        assert records["Late_Town"]["not_scored"][0].startswith(f"2025-01-02/{name}: ")
        assert records["Late_Town"]["f1"] is None
        assert records["Baseline-measures_Organisers"]["not_scored"] == []


@pytest.fixture
def own(tmp_path: Path) -> tuple[list[object], Path]:
    """What ranks a competition that `gen-bundle new` made, and submissions to it: its own baseline, as `Team-A`."""
    folder = small_competition(tmp_path)
    baselines = next((folder / "data" / "baselines").iterdir())
    shutil.copytree(next(baselines.iterdir()), tmp_path / "all" / "Team-A")
    return [folder, "--data", folder / "data", "--phase", baselines.name], tmp_path / "all"


def test_the_default_rule_serves_a_competition_of_ones_own(own: tuple[list[object], Path]) -> None:
    asked, submissions = own
    shutil.copytree(submissions / "Team-A", submissions / "Team-B")
    done = command(*asked, "--submissions", submissions)
    assert done.exit_code == 0, done.output
    assert [line.split()[:2] for line in done.stdout.splitlines()[3:]] == [["1=", "Team-A"], ["1=", "Team-B"]]


def test_a_name_that_is_not_utf_8_is_escaped(own: tuple[list[object], Path], tmp_path: Path) -> None:
    asked, submissions = own
    (submissions / "Team-A").rename(submissions / os.fsdecode(b"\xc9quipe"))
    done = command(*asked, "--submissions", submissions, "--report", tmp_path / "report", "--resamples", 100)
    assert done.exit_code == 0, done.output
    assert "\\udcc9quipe" in done.stdout
    assert "\\udcc9quipe" not in command(*asked, "--submissions", submissions, "--hide", "\\udcc9quipe").stdout
    nowhere = tmp_path / os.fsdecode(b"\xc9")
    assert f"{tmp_path}/\\udcc9: no such folder" in command(*asked, "--submissions", nowhere).stderr


def test_a_named_pipe_is_not_waited_for(own: tuple[list[object], Path]) -> None:
    asked, submissions = own
    os.mkfifo(submissions / "Team-B.zip")
    done = command(*asked, "--submissions", submissions)
    assert done.exit_code == 1
    assert "not scored: Team-B (" in done.stderr
    assert "Team-B.zip: cannot be read" in done.stdout
    assert "Team-A" in done.stdout


def test_the_data_in_an_organisers_own_folder(tmp_path: Path) -> None:
    folder = made(tmp_path, "gold.csv", sentiment(30))
    asked = (folder, "--submissions", folder / "data" / "baselines" / "test", "--phase", "test")
    done = command(*asked)
    assert done.exit_code == 0, done.output
    assert done.stdout == command(*asked, "--data", folder / "data").stdout
    assert "majority" in done.stdout


def test_submissions_of_a_separate_bundle(tmp_path: Path) -> None:
    """The line format, which only a bundle of one task reads; everybody says Clear Reply."""
    data = resource("bundles") / "clarity2026" / "data"
    rows = len((data / "dev" / "gold.csv").read_text(encoding="utf-8").splitlines()) - 1
    (tmp_path / "all" / "X").mkdir(parents=True)
    (tmp_path / "all" / "X" / "prediction").write_text("Clear Reply\n" * rows, encoding="utf-8")
    ask = ("clarity2026", "--submissions", tmp_path / "all", "--data", data, "--phase", "dev")
    assert command(*ask).exit_code == 2
    done = command(*ask, "--task", "clarity", "--json")
    assert done.exit_code == 0, done.output
    (record,) = json.loads(done.stdout)["teams"]
    assert set(record) == {"team", "clarity_macro_f1", "clarity_rank", "tied"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--submissions, --phase missing."),
        (["--phase", "test"], "--submissions missing. Expected --submissions and --phase, or --scores FILE."),
        (["--submissions", ".", "--phase", "test"], f"--data missing: the gold in {DATA / 'test'} is synthetic."),
        (["--scores", "s.csv", "--phase", "test"], "--scores does not go together with --phase."),
        (
            ["--submissions", ".", "--data", DATA, "--phase", "final"],
            "--phase final: no such phase. Expected one of dev, test.",
        ),
        (["--submissions", ".", "--data", "nowhere", "--phase", "test"], "--data nowhere: no such folder."),
        (["--submissions", "nowhere", "--data", DATA, "--phase", "test"], "nowhere: no such folder."),
        (["--submissions", "s.csv", "--data", DATA, "--phase", "test"], "s.csv: is a file. Expected a folder with"),
        (["--scores", "folder"], "folder: is a folder. Expected a CSV table"),
        (
            ["--scores", "nowhere.csv"],
            "nowhere.csv: no such file. Expected a CSV table with the columns team, f1, rmse.",
        ),
        (
            ["--scores", "s.csv", "--task", "all"],
            "--task all: no such task. Expected one of classification, regression.",
        ),
    ],
)
def test_wrong_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[object], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "s.csv").write_text("team\n")
    done = command("process2025", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.output


def test_wide_letters_keep_the_columns_of_a_table() -> None:
    rows = [["1", "中文队", "0.9"], ["2", "Ünï", "0.8"], ["10", "Plain", "0.7"]]
    text = as_text(Ranking({}, [RankingTable("T", ["Rank", "Team", "F1"], rows)], []))
    assert text.splitlines()[2:] == ["Rank  Team     F1", "   1  中文队  0.9", "   2  Ünï     0.8", "  10  Plain   0.7"]
