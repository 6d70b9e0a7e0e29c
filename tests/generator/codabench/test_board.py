import contextlib
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen_bundle.codabench.board import Board, NoBoardError, RefusedError, Submitted, shown_text, stored_value
from gen_bundle.codabench.competition import Column, Leaderboard
from gen_bundle.codabench.runnable import read_competition
from gen_bundle.codabench.versions import DIFFERENCES, NEWEST, Differences, PlatformVersion
from gen_bundle.codabench.worker import JobFailedError, WorkerCrashError, read_scores
from tests.generator.dry_run.bundles import Bundle
from tests.shared import shared_path


def recorded() -> list[dict[str, Any]]:
    lines = shared_path("corpus/codabench/scores.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def upload(board: Board, entry: Submitted, text: str, folder: Path) -> object:
    """What one upload answers: the HTTP status, or why it was never sent."""
    (folder / "scores.json").write_text(text)
    try:
        scores = read_scores(folder)
    except JobFailedError:
        board.fail(entry)
        return "not JSON"
    except WorkerCrashError:
        board.finish(entry)
        return "not sent"
    board.finish(entry)
    try:
        board.upload(entry, scores)
    except RefusedError:
        return 500
    return 200


def stored(entry: Submitted) -> list[list[str]]:
    scores = sorted(entry.scores, key=lambda score: score.column.index or 0)
    return [[score.column.key, str(score.value)] for score in scores]


def shown(board: Board, entries: list[Submitted], owners: list[str]) -> dict[str, Any]:
    try:
        rows = board.rows()
    except NoBoardError:
        return {"http": 500}
    return {
        "http": 200,
        "rows": [
            {
                "rank": row.rank,
                "user": owners[entries.index(row.entry)],
                "submission": entries.index(row.entry),
                "scores": [
                    [column.key, text, *([entry.task] if entry.task else [])] for entry, column, text in row.cells
                ],
            }
            for row in rows
        ],
    }


@pytest.mark.parametrize("case", recorded(), ids=lambda case: case["id"])
def test_recorded_uploads_and_boards(case: dict[str, Any], tmp_path: Path) -> None:
    bundle = Bundle(top={"leaderboards": [case["leaderboard"]]}).write(tmp_path / "bundle")
    board = Board(read_competition(bundle).leaderboard, DIFFERENCES[PlatformVersion.V1_25])
    tasks = [f"task{number}" for number in range(case["tasks"])] if case["tasks"] > 1 else []
    entries, owners = [], []
    for number, (submission, expected) in enumerate(zip(case["submissions"], case["uploads"], strict=True)):
        entry = board.submit(str(number), submission["user"], tasks)
        entries.append(entry)
        owners.append(submission["user"])
        if tasks:
            http: object = [
                upload(board, child, text, tmp_path)
                for child, text in zip(entry.children, submission["scores_json"], strict=True)
            ]
        else:
            http = upload(board, entry, submission["scores_json"], tmp_path)
        if submission.get("added_by_hand"):
            board.add_by_hand(entry)
        assert http == expected["http"]
        assert ([stored(child) for child in entry.children] if tasks else stored(entry)) == expected["stored"]
        if "parent_stored" in expected:
            assert stored(entry) == expected["parent_stored"]
        on_board = [child.on_board for child in entry.children] if tasks else entry.on_board
        assert on_board == expected["on_leaderboard"]
    assert shown(board, entries, owners) == case["board"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1.0000000000"),
        (True, "1.0000000000"),
        ("0.5", "0.5000000000"),
        ("1e-3", "0.0010000000"),
        (" 0.5 ", "0.5000000000"),
        ("٣", "3.0000000000"),
        (0.00048828125, "0.0004882813"),  # a tie goes away from zero, as PostgreSQL rounds
        (-0.00048828125, "-0.0004882813"),
        (-1e-12, "0E-10"),
        (10**10 - 1, "9999999999.0000000000"),
    ],
)
def test_values_that_are_stored(value: object, text: str) -> None:
    assert str(stored_value("a", value)) == text


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "nan",
        "inf",
        "1e1000001",
        "0,5",
        [],
        [0, [1], 0],
        {},
        1e10,
        -1e10,
        10**400,
        "1e10",
        "9999999999.99999999999",
    ],
)
def test_values_that_the_server_refuses(value: object) -> None:
    with pytest.raises(RefusedError, match="'a' is "):
        stored_value("a", value)


@pytest.mark.slow
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=9),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=5,
    )
)
def test_any_scores_are_stored_or_refused(scores: object) -> None:
    board = Board(Leaderboard((Column(0, "a", "A"), Column(1, "b", "B", "asc")), 0, "Force_Best"))
    entry = board.submit("x", "ann")
    board.finish(entry)
    try:
        board.upload(entry, scores)
    except RefusedError:
        assert not entry.on_board
        return
    assert [row.rank for row in board.rows()] == [1]


A, B = Column(0, "a", "A"), Column(1, "b", "B", "asc")
LOWER = Column(0, "a", "A", "asc")
HIDDEN = Column(1, "b", "B", hidden=True)


def played(
    leaderboard: Leaderboard, *uploads: tuple[str, object], tasks: int = 1, version: Differences = DIFFERENCES[NEWEST]
) -> Board:
    """A board after these uploads; with several tasks an upload is a list of scores, one for each."""
    board = Board(leaderboard, version)
    for owner, scores in uploads:
        entry = board.submit(owner, owner, [f"task{n}" for n in range(tasks)] if tasks > 1 else [])
        for part, told in zip(entry.children or [entry], scores if isinstance(scores, list) else [scores], strict=True):
            board.finish(part)
            with contextlib.suppress(RefusedError):
                board.upload(part, told)
    return board


@pytest.mark.slow
@given(st.lists(st.tuples(st.none() | st.integers(-3, 3), st.none() | st.integers(-3, 3)), min_size=1, max_size=8))
def test_order_with_ties_and_gaps(pairs: list[tuple[int | None, int | None]]) -> None:
    """Descending: gaps first; then ascending: gaps last; then the earlier one."""
    scores = [{key: value for key, value in zip("ab", pair, strict=True) if value is not None} for pair in pairs]
    uploads = ((str(number), one) for number, one in enumerate(scores))
    board = played(Leaderboard((A, B), 0, "Force_Latest_Multiple"), *uploads)

    def place(number: int) -> tuple[float, float, int]:
        a, b = pairs[number]
        return (-a if a is not None else -math.inf, b if b is not None else math.inf, number)

    expected = sorted(range(len(pairs)), key=place)
    assert [int(row.entry.name) for row in board.rows()] == expected


def listed(board: Board) -> list[tuple[str, list[str]]]:
    return [(row.entry.name, [text for _, _, text in row.cells]) for row in board.rows()]


def test_last_finishing_child_alone_stays_with_force_last() -> None:
    board = played(Leaderboard((A,), 0, "Force_Last"), ("ann", [{"a": 1}, {"a": 2}]), tasks=2)
    assert listed(board) == [("ann", ["2.0"])]


@pytest.mark.parametrize(("column", "cells"), [(A, ["2.0", "1.0"]), (LOWER, ["1.0"])], ids=["desc", "asc"])
def test_best_of_several_tasks(column: Column, cells: list[str]) -> None:
    """Descending the parent's sum wins and all tasks stay; ascending a single child wins."""
    board = played(Leaderboard((column,), 0, "Force_Best"), ("ann", [{"a": 1}, {"a": 2}]), tasks=2)
    assert listed(board) == [("ann", cells)]


def test_a_finished_submission_without_score_counts_as_the_best_when_descending() -> None:
    board = played(Leaderboard((A,), 0, "Force_Best"), ("ann", {}), ("ann", {"a": 1}))
    assert listed(board) == [("ann", [])]


def test_a_failed_submission_is_never_the_best() -> None:
    board = Board(Leaderboard((A,), 0, "Force_Best"))
    board.fail(board.submit("bad", "ann"))
    entry = board.submit("good", "ann")
    board.finish(entry)
    board.upload(entry, {"a": 1})
    assert listed(board) == [("good", ["1.0"])]


def test_hidden_columns_break_no_ties_but_a_hidden_primary_sorts() -> None:
    tied = [("ann", {"a": 1, "b": 1}), ("bob", {"a": 1, "b": 2})]
    assert [name for name, _ in listed(played(Leaderboard((A, HIDDEN), 0, "Force_Latest_Multiple"), *tied))] == [
        "ann",
        "bob",
    ]
    board = played(Leaderboard((A, HIDDEN), 1, "Force_Latest_Multiple"), *tied)
    assert listed(board) == [("bob", ["1.0"]), ("ann", ["1.0"])]


@pytest.mark.parametrize(
    ("column", "scores"),
    [
        (Column(2, "m", "M", computation="avg", inputs=(0, 1)), {"a": 1, "b": 3, "m": 9}),
        (Column(2, "m", "M", computation="avg"), {"a": 1}),
    ],
    ids=["computed key after its inputs", "computed from nothing"],
)
def test_uploads_that_break_at_computed_columns(column: Column, scores: dict[str, int]) -> None:
    board = Board(Leaderboard((A, B, column), 0, "Force_Latest_Multiple"))
    entry = board.submit("x", "ann")
    board.finish(entry)
    with pytest.raises(RefusedError):
        board.upload(entry, scores)
    assert (board.rows(), [str(score.column.key) for score in entry.scores][:1]) == ([], ["a"])


@pytest.mark.parametrize(("computation", "text"), [("avg", "2.0"), ("sum", "6.0"), ("min", "1.0"), ("max", "3.0")])
def test_computations(computation: str, text: str) -> None:
    column = Column(3, "m", "M", computation=computation, inputs=(0, 1, 2))
    columns = (A, B, Column(2, "c", "C"), column)
    board = played(Leaderboard(columns, 0, "Force_Latest_Multiple"), ("ann", {"a": 1, "b": 2, "c": 3}))
    assert listed(board)[0][1][-1] == text


@pytest.mark.parametrize(
    ("scores", "doubts"),
    [
        ({"a": 1, "b": 1}, []),
        ({"a": 1}, ["no score for b: shown as n/a."]),
        ({"b": 1}, ["no score for a: shown as n/a. The row comes first, before every score."]),
        ({"a": 1, "b": 1, "m": 1}, ["the scorer writes m, which the platform computes; leave it out"]),
        ({"a": 1, "b": 1, "other": 1}, []),
    ],
)
def test_doubts(scores: dict[str, object], doubts: list[str]) -> None:
    computed = Column(2, "m", "M", computation="avg", inputs=(0,))
    assert Leaderboard((A, B, computed)).doubts(scores) == doubts


def test_a_row_without_what_the_primary_column_is_computed_from_stands_on_top() -> None:
    mean = Column(2, "m", "M", computation="avg", inputs=(0, 1))
    board = Leaderboard((A, B, mean), primary_index=2)
    assert board.doubts({}) == ["no score for a, b: shown as n/a. The row comes first, before every score."]
    assert board.doubts({"a": 1}) == ["no score for b: shown as n/a."]


def test_zeros_are_not_padded() -> None:
    assert [shown_text(stored_value("a", 0.5), precision) for precision in (4, 0, -1)] == ["0.5", "0.0", "0.0"]
