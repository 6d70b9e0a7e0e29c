"""Boards with an `avg_rank` column, as Codabench's `ranking.py` computes it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from gen_bundle.codabench.competition import Column, Leaderboard
from gen_bundle.codabench.versions import DIFFERENCES, PlatformVersion
from tests.generator.codabench.test_board import played

OLDER, NEWER = PlatformVersion
ACC = Column(1, "acc", "Accuracy")
F1 = Column(2, "f1", "F1")
LOSS = Column(3, "loss", "Loss", sorting="asc")
RANK = Column(0, "rank", "Rank", sorting="asc", computation="avg_rank", inputs=(1, 2))


def board(columns: Sequence[Column], rows: Sequence[Mapping[str, float]], primary: int = 0) -> dict[str, str]:
    """The shown rank of each row, best first; rows are called a, b, c …"""
    made = played(Leaderboard(tuple(columns), primary, "Force_Latest_Multiple"), *zip("abcdef", rows, strict=False))
    return {row.entry.name: made.cells(row, {})["rank"] for row in made.rows()}


def test_the_platforms_own_example() -> None:
    shown = board([RANK, ACC, F1], [{"acc": 0.9, "f1": 0.8}, {"acc": 0.7, "f1": 0.95}, {"acc": 0.8, "f1": 0.7}])
    assert list(shown.items()) == [("a", "1.5"), ("b", "2.0"), ("c", "2.5")]


def test_ties_share_the_mean_of_their_places_and_are_those_of_shown_scores() -> None:
    of_acc = replace(RANK, inputs=(1,))
    assert board([of_acc, ACC], [{"acc": 0.5}, {"acc": 0.901}, {"acc": 0.899}]) == {"b": "1.5", "c": "1.5", "a": "3.0"}


def test_a_missing_score_has_the_rank_of_the_last_row() -> None:
    shown = board([RANK, ACC, F1], [{"acc": 0.9}, {"acc": 0.8, "f1": 0.1}, {"f1": 0.2}, {}])
    # of acc: 1, 2, 4, 4; of f1: 4, 2, 1, 4; the row without any score has none, and comes last
    assert list(shown.items()) == [("b", "2.0"), ("a", "2.5"), ("c", "2.5"), ("d", "n/a")]


@pytest.mark.parametrize("sorting", ["asc", "desc"])
def test_equal_ranks_go_to_the_earlier_submission_and_none_to_the_end(sorting: str) -> None:
    column = replace(RANK, sorting=sorting, inputs=(1,))
    shown = board([column, ACC, F1], [{}, {"acc": 0.5, "f1": 0.1}, {"acc": 0.5, "f1": 0.9}])
    assert list(shown) == ["b", "c", "a"]


def test_descending_puts_the_worst_first() -> None:
    column = replace(RANK, sorting="desc", inputs=(1,))
    assert list(board([column, ACC], [{"acc": 0.9}, {"acc": 0.1}])) == ["b", "a"]


def test_each_column_is_ranked_in_its_own_direction() -> None:
    column = replace(RANK, inputs=(1, 3))
    rows = [{"acc": 0.9, "loss": 0.1}, {"acc": 0.8, "loss": 0.2}]
    assert board([column, ACC, LOSS], rows) == {"a": "1.0", "b": "2.0"}


def test_hidden_columns_other_ranks_and_columns_without_scores_take_no_part() -> None:
    rows = [{"acc": 0.9, "f1": 0.1}, {"acc": 0.8, "f1": 0.2}]
    assert board([RANK, ACC, replace(F1, hidden=True)], rows) == {"a": "1.0", "b": "2.0"}
    assert board([replace(RANK, inputs=(1, 3)), ACC, F1, LOSS], rows) == {"a": "1.0", "b": "2.0"}
    other = Column(4, "other", "Other", sorting="asc", computation="avg_rank", inputs=(2,))
    assert board([replace(RANK, inputs=(1, 4)), ACC, F1, other], rows) == {"a": "1.0", "b": "2.0"}
    assert board([replace(RANK, inputs=()), ACC], rows) == {"a": "n/a", "b": "n/a"}
    hidden = replace(RANK, inputs=(2,))
    assert board([hidden, ACC, replace(F1, hidden=True)], rows) == {"a": "n/a", "b": "n/a"}


def test_a_rank_that_is_not_primary_breaks_no_ties_and_has_its_own_precision() -> None:
    rank = replace(RANK, index=4, precision=0)
    # equal in acc; f1 decides, against the rank, which would put b first by loss
    rows = [{"acc": 0.5, "f1": 0.9, "loss": 9}, {"acc": 0.5, "f1": 0.1, "loss": 1}, {"acc": 0.4, "f1": 0.5, "loss": 5}]
    shown = board([replace(rank, inputs=(1, 2, 3)), ACC, F1, LOSS], rows, primary=1)
    assert list(shown.items()) == [("a", "2.0"), ("b", "2.0"), ("c", "2.0")]


def test_scores_of_several_tasks_are_added_and_each_task_shows_the_rank() -> None:
    leaderboard = Leaderboard((replace(RANK, inputs=(1,)), ACC), 0, "Force_Latest_Multiple")
    uploads = ("a", [{"acc": 0.9}, {"acc": 0.1}]), ("b", [{"acc": 0.6}, {"acc": 0.6}])
    made = played(leaderboard, *uploads, tasks=2)
    rows = made.rows()
    assert [row.entry.name for row in rows] == ["b", "a"]
    assert made.cells_by_task(rows[0]) == {
        "task0": {"rank": "1.0", "acc": "0.6"},
        "task1": {"rank": "1.0", "acc": "0.6"},
    }


def test_a_score_that_a_scorer_writes_for_the_rank_is_shown_and_sorted_by() -> None:
    column = replace(RANK, inputs=(1,))
    assert board([column, ACC], [{"acc": 0.9, "rank": 7}, {"acc": 0.1, "rank": 3}]) == {"b": "3.0", "a": "7.0"}


@pytest.mark.parametrize("version", PlatformVersion)
@pytest.mark.parametrize(
    ("primary", "first"),
    [(ACC, {OLDER: "b", NEWER: "b"}), (F1, {OLDER: "b", NEWER: "a"})],
    ids=["no primary score", "no other score"],
)
def test_where_a_missing_score_comes_first(
    version: PlatformVersion, primary: Column, first: Mapping[PlatformVersion, str]
) -> None:
    leaderboard = Leaderboard((ACC, F1), primary.index or 0, "Force_Latest_Multiple")
    uploads = ("a", {"acc": 0.5, "f1": 0.5}), ("b", {"f1": 0.5})
    made = played(leaderboard, *uploads, version=DIFFERENCES[version])
    assert made.rows()[0].entry.name == first[version]


def test_switches_of_what_no_known_release_does() -> None:
    newer = replace(DIFFERENCES[NEWER], missing_leads=False, best_prefers_missing=False, parent_may_fail=True)
    uploads = ("ann", {"acc": 0.5, "f1": 0.5}), ("ann", {"f1": 0.9})
    made = played(Leaderboard((ACC, F1), 1, "Force_Best"), *uploads, version=newer)
    assert made.rows()[0].cells[0][2] == "0.5"
    whole = made.submit("tasks", "bob", ["one", "two"])
    for child in whole.children:
        made.fail(child)
    assert (whole.ended, whole.finished) == (True, False)
