"""What scores mean on a board, and what is a change."""

import math
from collections.abc import Mapping, Sequence

import pytest

from gen_bundle.after.rescore.scoring_job import JobResult
from gen_bundle.after.rescore.standings import (
    BoardChanges,
    Side,
    SubmissionStanding,
    compare,
    plain_scores,
    standings,
)
from gen_bundle.after.rescore.submissions import SubmissionFile
from gen_bundle.codabench.competition import Column, Leaderboard
from tests.generator.after.rescore.given import NOWHERE

ONE = Leaderboard((Column(0, "acc", "Accuracy"),), submission_rule="Force_Latest_Multiple")
TWO = Leaderboard(
    (Column(0, "f1", "F1"), Column(1, "error", "Error", sorting="asc")), submission_rule="Force_Latest_Multiple"
)


def sent(*names: str, team: str = "", chosen: Sequence[bool] = ()) -> list[SubmissionFile]:
    known: Sequence[bool | None] = chosen or [None] * len(names)
    return [SubmissionFile(name, team or name, NOWHERE, chosen=one) for name, one in zip(names, known, strict=True)]


def scored(**values: object) -> JobResult:
    return JobResult("Finished", 0, values, "")


FAILED = JobResult("Failed", 1, None, "why")


def side(board: Leaderboard, results: Mapping[str, JobResult]) -> Side:
    return Side(board, ("main",), {}, {name: {"main": result} for name, result in results.items()}, ())


def test_a_phase_of_several_tasks() -> None:
    """Each program writes the other's column at its worst, which does not count."""
    results = {
        "ant": {"one": scored(f1=0.9, error=99), "two": scored(f1=0.0, error=2)},
        "bee": {"one": scored(f1=0.8, error=99), "two": FAILED},
        "cat": {"one": scored(f1=0.7, error=99)},  # the job of the other task got lost
    }
    given = Side(TWO, ("one", "two"), {"f1": "one", "error": "two"}, results, ())
    found = standings(given, sent("ant", "bee", "cat"))
    assert found == {
        "ant": SubmissionStanding({"f1": 0.9, "error": 2.0}, 1, failed=False),
        "bee": SubmissionStanding({"f1": 0.8}, 2, failed=True),
    }


def test_a_mean_rank_is_a_column_that_is_compared() -> None:
    columns = (
        Column(0, "mean", "Mean", sorting="asc", computation="avg_rank", inputs=(1,)),
        Column(1, "acc", "Accuracy"),
    )
    board = Leaderboard(columns, submission_rule="Force_Latest_Multiple")
    found = standings(side(board, {"ant": scored(acc=0.5), "bee": scored(acc=0.7)}), sent("ant", "bee"))
    assert {name: (one.values, one.rank) for name, one in found.items()} == {
        "ant": ({"acc": 0.5, "mean": 2.0}, 2),
        "bee": ({"acc": 0.7, "mean": 1.0}, 1),
    }


@pytest.mark.parametrize(
    ("rule", "chosen", "expected"),
    [
        ("Force_Last", (), [None, 1]),
        ("Force_Best", (), [1, None]),
        ("Force_Latest_Multiple", (), [1, 2]),
        ("Add_And_Delete", (), [None, 1]),
        ("Add_And_Delete", (True, False), [1, None]),
    ],
)
def test_which_of_a_team_is_on_the_board(rule: str, chosen: Sequence[bool], expected: list[int | None]) -> None:
    board = Leaderboard((Column(0, "acc", "Accuracy"),), submission_rule=rule)
    given = side(board, {"first": scored(acc=0.9), "second": scored(acc=0.5)})
    found = standings(given, sent("first", "second", team="ant", chosen=chosen))
    assert [found[name].rank for name in ("first", "second")] == expected


def test_equal_submissions_share_a_rank() -> None:
    scores = {"ant": (0.9, 1), "bee": (0.5, 2), "cat": (0.5, 2), "dog": (0.5, 3), "eel": (0.1, 1)}
    found = standings(side(TWO, {name: scored(f1=f1, error=e) for name, (f1, e) in scores.items()}), sent(*scores))
    assert {name: one.rank for name, one in found.items()} == {"ant": 1, "bee": 2, "cat": 2, "dog": 4, "eel": 5}


def test_scores_that_the_server_refuses() -> None:
    refused = scored(acc="high")
    found = standings(side(ONE, {"ant": refused, "bee": scored(acc=0.5)}), sent("ant", "bee"))
    assert found["ant"].failed
    assert not found["bee"].failed
    assert plain_scores(refused, ONE) is None
    assert plain_scores(FAILED, ONE) is None
    assert plain_scores(scored(acc=0.5, more=[1], note=2), ONE) == {"acc": 0.5, "note": 2}


def compared(
    old: Mapping[str, float | None], new: Mapping[str, float | None], allowed: float | None = None
) -> BoardChanges:
    before, after = (
        standings(
            side(ONE, {name: FAILED if acc is None else scored(acc=acc) for name, acc in one.items()}), sent(*one)
        )
        for one in (old, new)
    )
    limits = {} if allowed is None else {(name, "acc"): allowed for name in old}
    return compare(before, after, sorted({*old, *new}), ["acc"], limits)


def test_a_rank_that_moves_with_the_same_score_is_a_change() -> None:
    found = compared({"ant": 0.5, "bee": 0.4, "cat": 0.1}, {"ant": 0.5, "bee": 0.6, "cat": 0.1})
    assert [(one.submission, one.old, one.new, one.rank_old, one.rank_new) for one in found.changes] == [
        ("bee", 0.4, 0.6, 2, 1),
        ("ant", 0.5, 0.5, 1, 2),
    ]


def test_the_largest_change_is_first_in_the_units_of_its_column() -> None:
    old = {"ant": scored(f1=0.5, error=100), "bee": scored(f1=0.1, error=900), "cat": scored(f1=0.2, error=500)}
    new = {"ant": scored(f1=0.9, error=100), "bee": scored(f1=0.1, error=880), "cat": FAILED}
    before, after = (standings(side(TWO, one), sent("ant", "bee", "cat")) for one in (old, new))
    found = compare(before, after, ["ant", "bee", "cat"], ["f1", "error"], {})
    assert [(one.submission, one.column) for one in found.changes] == [
        ("cat", "error"),
        ("cat", "f1"),
        ("ant", "f1"),
        ("bee", "error"),
    ]
    assert [one.size for one in found.changes[:2]] == [math.inf] * 2
    assert found.fails_now == ["cat"]


@pytest.mark.parametrize(
    ("by", "allowed", "changes"), [(1e-7, None, 0), (2e-6, None, 1), (0.004, 0.005, 0), (0.006, 0.005, 1)]
)
def test_what_is_the_same(by: float, allowed: float | None, changes: int) -> None:
    assert len(compared({"ant": 0.5}, {"ant": 0.5 + by}, allowed).changes) == changes


def test_what_only_one_side_knows_is_not_compared() -> None:
    found = compared({"ant": 0.5, "old": 0.4}, {"ant": 0.5, "new": 0.4})
    assert found.uncompared == ["new", "old"]
    assert found.changes == []
    assert found.same
