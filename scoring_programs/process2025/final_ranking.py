"""The final ranking of PROCESS: two task rankings, the combined score S, and who is invited to submit a paper.

Source: PROCESS Grand Challenge at ICASSP 2025, "Evaluation", ranking rules. What they leave open is decided so: sums
run over participants, each with its best result; a team that is invited by both tasks keeps the place of its better
rank, or the one in classification where the ranks are equal, and the next team of the other list takes the place set
free; where results are equal, the alphabetical order of the teams decides who is invited, and a note says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from process2025.submission import EXPECTED_NAME, NAME
from scoring_kit.errors import Problems
from scoring_kit.program import Program
from scoring_kit.ranking import (
    TEAM,
    Scores,
    check_hidden,
    printed,
    read_scores,
    score_all,
    shared_ranks,
    shown_name,
    shown_record,
    tie_notes,
    tied,
)
from scoring_kit.results import TaskResult

F1, RMSE, S = "f1", "rmse", "s"
PLACES = 2


@dataclass(frozen=True)
class Invitations:
    """Who is invited: up to two teams by each task, best first, and one by the combined score."""

    classification: Sequence[str]
    regression: Sequence[str]
    joint: str | None


def rank(request: Mapping[str, Any]) -> dict[str, Any]:
    """The final ranking; the request and the answer are those of `scoring_kit.ranking.rank`, with `invited` besides."""
    if request.get("scores"):
        scores = read_scores(Path(request["scores"]), [F1, RMSE])
        _check_range(scores, Path(request["scores"]).name)
    else:
        results = score_all(request, Program.read(Path(request["program"])), team_name)
        scores = {
            team: {F1: _metric(own, "classification", "macro_f1"), RMSE: _metric(own, "regression", "rmse")}
            for team, own in results.items()
        }
    hide: Collection[str] = request["hide"]
    check_hidden(hide, scores)
    return _answer(scores, hide)


def _answer(scores: Scores, hide: Collection[str]) -> dict[str, Any]:
    combined = combined_scores(scores)
    ranks = {
        F1: shared_ranks({team: values[F1] for team, values in scores.items()}, descending=True),
        RMSE: shared_ranks({team: values[RMSE] for team, values in scores.items()}, descending=False),
        S: shared_ranks(combined, descending=True),
    }
    invited = invitations(ranks[F1], ranks[RMSE], ranks[S])
    by = dict.fromkeys(invited.classification, "classification") | dict.fromkeys(invited.regression, "regression")
    if invited.joint is not None:
        by[invited.joint] = "joint"
    records = [
        {
            TEAM: team,
            **scores[team],
            S: combined[team],
            **{f"{name}_rank": ranks[name].get(team) for name in (F1, RMSE, S)},
            "tied": [name for name in (F1, RMSE, S) if team in tied(ranks[name], hide)],
            "invited_by": by.get(team),
        }
        for team, _ in printed(ranks[S], hide)
    ]
    return {
        "teams": [shown_record(record, hide) for record in records],
        "invited": {
            "classification": [shown_name(team, hide) for team in invited.classification],
            "regression": [shown_name(team, hide) for team in invited.regression],
            "joint": None if invited.joint is None else shown_name(invited.joint, hide),
        },
        "tables": _tables(scores, combined, ranks, invited, hide),
        "notes": _notes(ranks, hide),
    }


def combined_scores(scores: Scores) -> dict[str, float]:
    """S of every team: F1 / sum of all F1 + 1 - RMSE / sum of all RMSE.

    The term of a task that a team did not enter is 0, and so is the F1 term where all F1 are 0; where all RMSE are 0,
    the RMSE term of those who entered is 1.
    """
    f1_sum = sum(values[F1] or 0.0 for values in scores.values())
    rmse_sum = sum(values[RMSE] or 0.0 for values in scores.values())

    def f1_term(f1: float | None) -> float:
        return f1 / f1_sum if f1 else 0.0

    def rmse_term(rmse: float | None) -> float:
        if rmse is None:
            return 0.0
        return 1 - rmse / rmse_sum if rmse_sum else 1.0

    return {team: f1_term(values[F1]) + rmse_term(values[RMSE]) for team, values in scores.items()}


def invitations(by_f1: Mapping[str, int], by_rmse: Mapping[str, int], by_s: Mapping[str, int]) -> Invitations:
    """Who is invited, by the ranks in classification, in regression and of the combined score.

    A team without a result in either task is not invited.
    """
    classification = sorted(by_f1, key=lambda team: (by_f1[team], team))
    regression = sorted(by_rmse, key=lambda team: (by_rmse[team], team))
    while twice := set(classification[:PLACES]) & set(regression[:PLACES]):
        team = min(twice)
        (regression if by_f1[team] <= by_rmse[team] else classification).remove(team)
    taken = {*classification[:PLACES], *regression[:PLACES]}
    joint = min({*by_f1, *by_rmse} - taken, key=lambda team: (by_s[team], team), default=None)
    return Invitations(classification[:PLACES], regression[:PLACES], joint)


def team_name(stem: str, names: Sequence[str], problems: Problems) -> str | None:
    """The team of a submission: what follows `PROCESS_submission_` in the name of its file."""
    matches = [match["team"] for match in map(NAME.fullmatch, names) if match]
    if len(matches) == 1:
        team: str = matches[0]
        return team
    problems.error(stem, f"holds {len(matches)} files whose names follow the rule", f"one file {EXPECTED_NAME}")
    return None


def _metric(results: Mapping[str, TaskResult], task: str, name: str) -> float | None:
    """A team's metric as it was computed, not as the board shows it; None where it did not enter the task."""
    return results[task].metrics[name].value if task in results else None


def _check_range(scores: Scores, file: str) -> None:
    problems = Problems()
    for team, values in scores.items():
        if not 0 <= (values[F1] or 0) <= 1:
            problems.error(f"{file} ({team})", f"{F1} is out of range", "a number from 0 to 1")
        if (values[RMSE] or 0) < 0:
            problems.error(f"{file} ({team})", f"{RMSE} is negative", "a number from 0")
    if problems.found:
        raise problems.organiser_error()


def _notes(ranks: Mapping[str, Mapping[str, int]], hide: Collection[str]) -> list[str]:
    titles = {F1: "Classification", RMSE: "Regression", S: "Combined score"}
    order = " Where it decides an invitation, the teams' alphabetical order was taken."
    notes = [f"{titles[name]}: {note}{order}" for name in titles for note in tie_notes(ranks[name], hide)]
    if hide:
        notes.append("The figures of a hidden team may be worked out from the S of the others; think before showing S.")
    return notes


def _tables(
    scores: Scores,
    combined: Mapping[str, float],
    ranks: Mapping[str, Mapping[str, int]],
    invited: Invitations,
    hide: Collection[str],
) -> list[dict[str, Any]]:
    def figure(value: float | None, team: str) -> str:
        return "" if value is None or team in hide else f"{value:.4f}"

    def table(title: str, by: str, heads: Mapping[str, str], is_invited: Collection[str | None]) -> dict[str, Any]:
        rows = []
        for team, place in printed(ranks[by], hide):
            values = {**scores[team], S: combined[team]}
            figures = [figure(values[name], team) for name in heads]
            rows.append([place, shown_name(team, hide), *figures, "invited" if team in is_invited else ""])
        return {"title": title, "header": ["Rank", "Team", *heads.values(), "Invitation"], "rows": rows}

    return [
        table("Classification", F1, {F1: "Macro F1"}, invited.classification),
        table("Regression", RMSE, {RMSE: "RMSE"}, invited.regression),
        table("Combined", S, {F1: "Macro F1", RMSE: "RMSE", S: "S"}, [invited.joint]),
    ]
