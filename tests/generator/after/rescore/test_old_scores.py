"""Old scores from a file: of a site, or of a table."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.generator.after.rescore.given import OPTIONS, TEAMS, bundles, content, rescored, submissions
from tests.generator.after.rescore.test_submissions import record
from tests.generator.dry_run.bundles import Bundle, write_zip

Changes = list[tuple[str, str, float | None, float | None, int | None, int | None]]
EXPECTED: Changes = [
    ("ant", "acc", 1.0, 0.75, 1, 1),
    ("bee", "acc", 0.5, 0.75, 3, 1),
    ("cat", "acc", 0.25, 0.0, 4, 4),
    ("dog", "acc", 0.75, 0.5, 2, 3),
]


def changes(out: Path) -> Changes:
    return [tuple(change.values()) for change in content(out)["changes"]]


def table(folder: Path, text: str) -> Path:
    (folder / "scores.csv").write_text(text)
    return folder / "scores.csv"


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What scores all teams again, which only the first test does: the last argument is the folder of the results."""
    work = tmp_path_factory.mktemp("given")
    _, new = bundles(work)
    return [new, "--submissions", submissions(work), *OPTIONS, "--out", work / "out"]


@pytest.mark.slow
def test_a_table(tmp_path: Path, given: list[Any]) -> None:
    file = table(tmp_path, "submission,note,acc\nant,x,1.0\nbee,,0.5\ncat,,0.25\ndog,,0.75\neel,,\n")
    done = rescored(*given, "--scores", file)
    assert done.exit_code == 1, done.output
    assert changes(given[-1]) == EXPECTED


@pytest.mark.slow
def test_a_table_is_right_as_far_as_it_has_digits(tmp_path: Path, given: list[Any]) -> None:
    done = rescored(*given, "--scores", table(tmp_path, "submission,acc\nant,0.8\nbee,0.8\ncat,0.00\ndog,0.50004\n"))
    assert [change[0] for change in changes(given[-1])] == ["dog"]
    assert "Not compared, because only one side has them: eel." in done.stderr


@pytest.mark.slow
def test_what_a_site_stored(tmp_path: Path) -> None:
    _, new = bundles(tmp_path)
    phase = tmp_path / "0-test"
    old = {"ant": 1.0, "bee": 0.5, "cat": 0.25, "dog": 0.75}
    records = []
    for number, (team, predictions) in enumerate(TEAMS.items()):
        file = f"{'submissions' if team in old else 'other'}/{team}/2030-01-0{number + 1}/x.zip"
        write_zip(phase / file, {"pred.txt": predictions})
        scores = {"acc": old[team]} if team in old else {}
        records.append(record(number, file, "Finished" if team in old else "Failed", scores=scores))
    (phase / "submissions.json").write_text(json.dumps(records))
    rescored(new, "--submissions", phase, *OPTIONS, "--scores", phase / "submissions.json", "--out", tmp_path / "out")
    assert [(name.split("/")[0], *rest) for name, *rest in changes(tmp_path / "out")] == EXPECTED


@pytest.mark.slow
def test_a_site_that_has_stored_none(tmp_path: Path, given: list[Any]) -> None:
    (tmp_path / "s.json").write_text("[]")
    done = rescored(*given, "--scores", tmp_path / "s.json")
    assert "acc has no old scores: not compared." in done.stderr
    assert "Not compared, because only one side has them: ant, bee, cat, dog, eel." in done.stderr
    assert changes(given[-1]) == []


COMPUTED: dict[str, Any] = {
    "columns": (
        {"title": "Mean", "key": "mean", "index": 0, "computation": "avg", "computation_indexes": ["1"]},
        {"title": "Accuracy", "key": "acc", "index": 1},
    )
}


@pytest.mark.slow
def test_computed_columns_are_computed_again(tmp_path: Path) -> None:
    old, new = bundles(tmp_path, **COMPUTED)
    teams = submissions(tmp_path, {"bee": "1 0 0 0"})
    more = ["--out", tmp_path / "out"]
    for source in (["--against", old], ["--scores", table(tmp_path, "submission,mean,acc\nbee,0.5,0.5\n")]):
        rescored(new, "--submissions", teams, *OPTIONS, *source, *more)
        assert sorted(changes(tmp_path / "out")) == [
            ("bee", "acc", 0.5, 0.75, 1, 1),
            ("bee", "mean", 0.5, 0.75, 1, 1),
        ]


@pytest.mark.slow
def test_columns_of_one_side_are_said(tmp_path: Path) -> None:
    old = Bundle(columns=({"title": "Other", "key": "other", "index": 0},)).write(tmp_path / "old")
    new = Bundle().write(tmp_path / "new")
    more = ["--against", old, "--out", tmp_path / "out"]
    done = rescored(new, "--submissions", submissions(tmp_path, {"ant": "1 0 1 1"}), *OPTIONS, *more)
    assert "acc has no old scores: not compared." in done.stderr
    assert "other is no longer a column: not compared." in done.stderr


STORED = '[{"id": 1, "file": "a/ant/1/x", "parent": null, "status": "Finished", "scores": %s}]'


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("s.csv", "team,acc\nant,1\n", "line 1: has the columns team, acc"),
        ("s.csv", "submission,acc\nant,high\nant,1\n", "line 2, acc: 'high'. Expected a number"),
        ("s.csv", "submission,acc\nant,1\nant,1\n", "line 3: ant comes twice"),
        ("s.csv", "submission,acc\nbee,1\nant,nan\n", "line 3, acc: 'nan'. Expected a number"),
        ("s.csv", "submission,acc\nant,-inf\n", "line 2, acc: '-inf'. Expected a number"),
        ("s.csv", "submission,acc\nant,1e999999999\n", "line 2, acc: '1e999999999'. Expected a number"),
        ("s.csv", 'submission,acc\nant,"1\nbee,1\n', "line 2: unexpected end of data"),
        ("s.csv", "submission,acc\nbee,1\nant,0,5\n", "line 3: 3 cells. Expected 2"),
        ("s.csv", "submission,acc,acc\nbee,1,0\n", "line 1: acc: twice"),
        ("s.csv", "", "line 1: has the columns (none)"),
        ("s.csv", "submission,acc\n ,1\n", "line 2: no submission"),
        ("s.json", "{}", "not a file of scores"),
        ("s.json", "[1]", "not a file of scores"),
        ("s.json", STORED % "[1]", "not a file of scores"),
        ("s.json", "nothing", "not a file of scores"),
        ("s.json", STORED % '{"acc": NaN}', "not a file of scores"),
        ("s.csv", None, "cannot be read"),
    ],
)
def test_files_that_are_something_else(
    tmp_path: Path, given: list[Any], name: str, text: str | None, words: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    done = rescored(*given, "--scores", tmp_path / name)
    assert done.exit_code == 2
    assert words in done.stderr
    assert "Traceback" not in done.output
