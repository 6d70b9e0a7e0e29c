"""Average ranks in a ranking are those of the platform's board; resampled ones follow their definition."""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from gen_bundle.codabench.board import Board
from gen_bundle.codabench.competition import Column as BoardColumn
from gen_bundle.codabench.competition import Leaderboard
from scoring_kit.board import Scores, board
from scoring_kit.program import Program, ScoreColumn
from scoring_kit.resampling.draws import Part, TeamColumn, over
from scoring_kit.resampling.significance import p_values
from scoring_kit.units import Array
from tests.scoring_programs.scoring_kit.resampling.made_up import mean_of

RANK = ScoreColumn("rank", "main", "Mean rank", "asc", 2, None, "", "avg_rank", ("f1", "error"))
F1 = ScoreColumn("f1", "main", "F1", "desc", 2, 0.0, "")
ERROR = ScoreColumn("error", "other", "Error", "asc", 1, 100.0, "")


def program(precision: int = 2) -> Program:
    columns = (ScoreColumn(**{**RANK.__dict__, "precision": precision}), F1, ERROR)
    names = {"main": "Main", "other": "Other"}
    return Program("c", "c", "C", "1", "joint", ("main", "other"), ("main", "other"), names, {}, columns, 5)


def ranks_on_the_board(precision: int, rows: Mapping[str, Mapping[str, float]]) -> dict[str, float | None]:
    """What the twin of the platform shows."""
    columns = [
        BoardColumn(0, "rank", "Mean rank", "asc", precision, computation="avg_rank", inputs=(1, 2)),
        BoardColumn(1, "f1", "F1", "desc", F1.precision),
        BoardColumn(2, "error", "Error", "asc", ERROR.precision),
    ]
    made = Board(Leaderboard(tuple(columns), 0, "Force_Latest_Multiple"))
    for team, scores in rows.items():
        entry = made.submit(team, team)
        made.finish(entry)
        made.upload(entry, dict(scores))
    return {row.entry.name: float(made.cells(row, {})["rank"]) for row in made.rows()}


@pytest.mark.slow
@given(
    st.lists(st.tuples(*[st.none() | st.floats(0, 1).map(lambda x: x**2)] * 2), min_size=1, max_size=7),
    st.integers(0, 3),
)
def test_average_ranks_are_those_of_the_board(
    rows: Sequence[tuple[float | None, float | None]], precision: int
) -> None:
    """A scorer writes the `worst` of a task that a team does not enter; a file without any answer is refused."""
    given_scores = {f"T{i}": {"f1": f1, "error": error} for i, (f1, error) in enumerate(rows)}
    written = {
        team: {
            key: worst if value is None else value
            for key, worst in (("f1", 0.0), ("error", 100.0))
            for value in [own[key]]
        }
        for team, own in given_scores.items()
        if any(value is not None for value in own.values())
    }
    found = board(program(precision), given_scores)
    assert {team: found[team]["rank"] for team in written} == ranks_on_the_board(precision, written)
    assert all(found[team]["rank"] is None for team in given_scores.keys() - written.keys())


def test_equal_shown_scores_tie_and_a_baseline_counts_for_no_other_team() -> None:
    scores: Scores = {
        "A": {"f1": 0.901, "error": 3.0},
        "B": {"f1": 0.899, "error": 1.0},
        "Base": {"f1": 0.95, "error": 2.0},
    }
    assert {team: own["rank"] for team, own in board(program(), scores).items()} == {"A": 2.75, "B": 1.75, "Base": 1.5}
    of_two = board(program(), scores, ["Base"])
    assert {team: own["rank"] for team, own in of_two.items()} == {"A": 1.75, "B": 1.25, "Base": 1.5}


def team(values: Array, errors: Array, competes: bool) -> TeamColumn:
    return TeamColumn(RANK, [Part(F1, mean_of(values)), Part(ERROR, mean_of(errors))], competes)


def definition(shown: Array, competing: Sequence[bool]) -> list[float]:
    """Mean ranks of rows of shown (F1, error)."""
    found = []
    for place in range(len(shown)):
        among = [i for i in range(len(shown)) if competing[i] or i == place]
        ranks = [
            rankdata(column[among])[among.index(place)] for column in (-shown[:, 0].round(2), shown[:, 1].round(1))
        ]
        found.append(round(float(np.mean(ranks)), 2))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("competing", [(True,) * 4, (True, True, False, True)])
def test_resampled_average_ranks_and_their_tests(competing: tuple[bool, ...]) -> None:
    random = np.random.default_rng(4)
    values, errors = random.random((4, 5)), 3 * random.random((4, 5))
    teams = [team(*one) for one in zip(values, errors, competing, strict=True)]
    counts = random.multinomial(5, np.full(5, 1 / 5), size=20).astype(float)
    expected = [definition(np.column_stack([values @ row, errors @ row]) / 5, competing) for row in counts]
    assert over(teams, counts)[0].T.tolist() == expected
    every = np.array(list(product([0, 1], repeat=5)))  # all exchanges of two teams
    found = p_values(teams, 5, 5_000, 1)
    observed = definition(np.column_stack([values, errors]).reshape(4, 2, 5).mean(axis=2), competing)
    for (a, b), p in found.items():
        extreme = 0
        for mask in every:
            mixed = np.stack([values, errors], axis=1)
            mixed[[a, b]] = np.where(mask, mixed[[b, a]], mixed[[a, b]])
            ranks = definition(mixed.mean(axis=2), competing)
            extreme += abs(ranks[a] - ranks[b]) >= abs(observed[a] - observed[b]) - 1e-9
        assert p == pytest.approx(extreme / len(every), abs=0.02)
