"""The board as it is printed: whole numbers and names on any terminal, and in logs."""

import pytest
from rich.cells import cell_len

from gen_bundle.cli import dry_run
from gen_bundle.dry_run.report import BoardRow, Results

NAMES = ("lexical-rule", "lead-sentence", "a-very-long-name-of-a-team-from-a-university")
KEYS = [f"a_metric_with_a_long_name_{number}" for number in range(16)]


def board(tasks: bool) -> Results:
    cells = [{key: f"0.{rank}{number:03}" for number, key in enumerate(KEYS)} for rank in (1, 2, 3)]
    rows = [
        BoardRow("test", rank, name, shown, {"one": shown, "two": shown} if tasks else None)
        for rank, (name, shown) in enumerate(zip(NAMES, cells, strict=True), start=1)
    ]
    return Results("process", board=rows)


@pytest.mark.parametrize("tasks", [False, True])
@pytest.mark.parametrize("width", [None, 80, 100, 1000])
def test_nothing_is_cut(
    width: int | None, tasks: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if width is not None:
        monkeypatch.setattr("gen_bundle.cli.messages.is_terminal", lambda: True)
        monkeypatch.setenv("COLUMNS", str(width))
    dry_run.show(board(tasks), board_to_stderr=True)
    printed = capsys.readouterr().err
    words = printed.split()
    assert {*NAMES, *KEYS} <= set(words)
    for rank in (1, 2, 3):
        assert [f"0.{rank}{number:03}" in words for number in range(16)] == [True] * 16
    assert max(map(len, printed.splitlines())) <= (width or 200)


@pytest.mark.parametrize("width", [50, 80, 120])
def test_the_board_stays_the_same_way_round(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        BoardRow("test", rank, name, {f"metric_{number}": f"0.{rank}{number}" for number in range(10)}, None)
        for rank, name in enumerate(["lexical-rule", "lead-sentence", "鳥の名前を数える"], start=1)
    ]
    monkeypatch.setattr("gen_bundle.cli.messages.is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    dry_run.show(Results("process", board=rows), board_to_stderr=True)
    lines = capsys.readouterr().err.splitlines()
    assert max(map(cell_len, lines)) <= width
    tables = [line for line in lines if line.startswith("phase test")]
    for row in rows:
        printed = [line.split("│")[1:-1] for line in lines if row.submission in line]
        assert len(printed) == len(tables)
        assert {line[0].strip() for line in printed} == {str(row.rank)}
        assert [cell.strip() for line in printed for cell in line[2:]] == [*row.cells.values()]
