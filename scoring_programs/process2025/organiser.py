"""The verbs for the organisers of PROCESS alone: preparing gold, template, what is secret, the final ranking."""

import csv
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from process2025 import reference
from process2025.reference import CLASS, GOLD, RELEASED, phase_rows
from process2025.submission import EXPECTED_NAME, ID, NAME, PREFIX, SUFFIXES, TEMPLATE_TEAM, column_names
from scoring_kit.board import (
    TEAM,
    RankingView,
    Scores,
    Standing,
    board,
    read_scores,
    standing,
    written_scores,
)
from scoring_kit.csv_reading import read_table
from scoring_kit.errors import OrganiserError, Problems
from scoring_kit.organiser import Request, Secrets, Warned, read_reference, serve, write_empty_table
from scoring_kit.program import Program
from scoring_kit.ranking import HIDDEN, shown_records, tie_notes, with_report, with_unscored
from scoring_kit.results import TaskResult, share
from scoring_kit.team_results import TeamResults, score_all


def prepare(request: Request) -> Warned:
    """Validate the organiser's gold.csv and copy it, or make it of dem-info.csv as the challenge released it."""
    source, target = Path(request["source"]), Path(request["out"]) / GOLD.file
    form, warnings = GOLD, []
    if (source / RELEASED.file).is_file():
        form = RELEASED
        if (source / GOLD.file).is_file():
            raise OrganiserError(f"{source}: holds {GOLD.file} and {RELEASED.file}. Expected: one or the other.")
    gold = reference.read(source, request["tasks"], request["options"], form)
    if form is RELEASED:
        warnings += _make_gold(source / RELEASED.file, target)
    else:
        shutil.copyfile(source / GOLD.file, target)
    unknown = gold.mmse.count(None)
    if unknown:
        warnings.append(
            f"{form.file}: {unknown} of {len(gold.ids)} speakers have no {form.mmse} and are left out of the RMSE."
        )
    return {"warnings": warnings}


def _make_gold(path: Path, target: Path) -> list[str]:
    """Write the speakers of a valid dem-info.csv to `target` in the form of gold.csv, their cells unchanged.

    Returns a warning where training speakers were left out.
    """
    table = read_table(path.read_text(encoding="utf-8-sig"), path.name, Problems())
    names = {RELEASED.id: GOLD.id, CLASS: CLASS, RELEASED.mmse: GOLD.mmse}
    at = {new: table.header.index(old) for old, new in names.items() if old in table.header}
    rows, left_out = phase_rows(table)
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(at)
        for _, cells in rows:
            writer.writerow([cells[i].strip() for i in at.values()])
    if not left_out:
        return []
    return [f"{path.name}: {left_out} of {left_out + len(rows)} speakers are not development speakers and not scored."]


def template(request: Request) -> dict[str, Any]:
    """Write a file with every speaker and no answer, which enters no task."""
    path = Path(request["out"]) / f"{PREFIX}{TEMPLATE_TEAM}.csv"
    write_empty_table(path, [ID, *column_names(SUFFIXES)], read_reference(reference.read, request).ids)
    return {}


def secrets(request: Request) -> Secrets:
    """Return the classes and MMSE scores of the speakers."""
    return {"files": [{"name": GOLD.file, "key": [GOLD.id], "columns": [CLASS, GOLD.mmse]}]}


F1, RMSE, S = "f1", "rmse", "s"
BOARD_F1 = "macro_f1"
PLACES = 2


def rank(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the final ranking: two task rankings, the combined score S, and who is invited to submit a paper.

    The request and the answer are those of `scoring_kit.ranking.rank`, with `invited` besides. Source: PROCESS Grand
    Challenge at ICASSP 2025, "Evaluation", ranking rules. What they leave open is decided so: sums run over
    participants, each with its best result; a team that is invited by both tasks keeps the place of its better rank, or
    the one in classification where the ranks are equal, and the next team of the other list takes the place set free;
    where results are equal, the alphabetical order of the teams decides who is invited, and a note says so.
    """
    scored: TeamResults | None = None
    if request.get("scores"):
        scores = _read_scores(Path(request["scores"]))
        view = RankingView.of(request, scores)
    else:
        scored = score_all(request, Program.read(Path(request["program"])), team_name)
        scores = {}
        for team, own in scored.results.items():
            scores[team] = {F1: _metric(own, "classification", "macro_f1"), RMSE: _metric(own, "regression", "rmse")}
        view = RankingView.of(request, scored.teams)
    answer = with_unscored(_answer(scores, view), scored, view)
    if request.get("report"):
        program = Program.read(Path(request["program"]))
        if scored is None:
            written = {team: {**own, BOARD_F1: own[F1]} for team, own in scores.items()}
        else:
            written = written_scores(program, scored)
        answer = with_report(answer, request, program, board(program, written, view.baselines), scored)
    return answer


def _answer(scores: Scores, view: RankingView) -> dict[str, Any]:
    combined = combined_scores(scores, view.baselines)
    by = {
        F1: standing(_values(F1, scores), True, view),
        RMSE: standing(_values(RMSE, scores), False, view),
        S: standing(combined, True, view),
    }
    invited = invitations(by[F1].ranks, by[RMSE].ranks, by[S].ranks)
    invited_by: dict[str, str] = {}
    for kind, teams in reversed(invited.items()):
        invited_by |= dict.fromkeys(teams, kind)
    records = []
    for team, _ in by[S].rows:
        record: dict[str, Any] = {TEAM: team, **scores[team], S: combined[team]}
        tied = []
        for name, own in by.items():
            record[f"{name}_rank"] = own.ranks.get(team)
            if team in own.tied:
                tied.append(name)
        record["tied"] = tied
        record["invited_by"] = invited_by.get(team)
        records.append(record)
    shown = {}
    for kind, teams in invited.items():
        shown[kind] = _shown(teams, view)
    return {
        "teams": shown_records(records, view),
        "invited": {**shown, "joint": next(iter(shown["joint"]), None)},
        "tables": _tables(scores, combined, by, invited, view),
        "notes": _notes(by, view),
    }


def _values(name: str, scores: Scores) -> dict[str, float | None]:
    """The teams of a task's table: those that entered it, and those that entered neither."""
    values = {}
    for team, own in scores.items():
        if own[name] is not None or (own[F1] is None and own[RMSE] is None):
            values[team] = own[name]
    return values


def _shown(teams: Sequence[str], view: RankingView) -> list[str]:
    """Those who are invited, as far as they are shown: an invitation says something of a team's figures."""
    hidden = dict.fromkeys(view.hide_figures, HIDDEN)
    return [hidden.get(team, team) for team in teams if team not in view.hide]


def combined_scores(scores: Scores, baselines: Collection[str] = ()) -> dict[str, float]:
    """S of every team: F1 / sum of all F1 + 1 - RMSE / sum of all RMSE; the sums are without the baselines.

    The term of a task that a team did not enter is 0, and so is the F1 term where all F1 are 0; where all RMSE are 0,
    the RMSE term of those who entered is 1.
    """
    f1_sum = rmse_sum = 0.0
    for team, own in scores.items():
        if team not in baselines:
            f1_sum += own[F1] or 0.0
            rmse_sum += own[RMSE] or 0.0
    combined = {}
    for team, own in scores.items():
        combined[team] = share(own[F1] or 0.0, f1_sum)
        if (rmse := own[RMSE]) is not None:
            combined[team] += 1 - share(rmse, rmse_sum)
    return combined


def invitations(
    by_f1: Mapping[str, int], by_rmse: Mapping[str, int], by_s: Mapping[str, int]
) -> dict[str, Sequence[str]]:
    """Who is invited, by the ranks in classification, in regression and of the combined score.

    Up to two teams by each task, best first, and at most one as `joint`, by the combined score. A team without a
    result in either task is not invited.
    """
    classification = sorted(by_f1, key=lambda team: (by_f1[team], team))
    regression = sorted(by_rmse, key=lambda team: (by_rmse[team], team))
    while twice := set(classification[:PLACES]) & set(regression[:PLACES]):
        team = min(twice)
        if by_f1[team] <= by_rmse[team]:
            regression.remove(team)
        else:
            classification.remove(team)
    taken = {*classification[:PLACES], *regression[:PLACES]}
    others = sorted({*by_f1, *by_rmse} - taken, key=lambda team: (by_s[team], team))
    return {"classification": classification[:PLACES], "regression": regression[:PLACES], "joint": others[:1]}


def team_name(stem: str, names: Sequence[str], problems: Problems) -> str | None:
    """Return the team of a submission: what follows `PROCESS_submission_` in the name of its file."""
    matches = [match["team"] for name in names if (match := NAME.fullmatch(name))]
    if len(matches) == 1:
        team: str = matches[0]
        return team
    problems.error(stem, f"holds {len(matches)} files whose names follow the rule", f"one file {EXPECTED_NAME}")
    return None


def _metric(results: Mapping[str, TaskResult], task: str, name: str) -> float | None:
    """A team's metric as it was computed, not as the board shows it; None where it did not enter the task."""
    return results[task].metrics[name].value if task in results else None


def _read_scores(path: Path) -> Scores:
    """A table with `f1` and `rmse`, or the board's columns: F1 is called `macro_f1` there."""
    given = read_scores(path, [F1, RMSE], also=[BOARD_F1, "macro_precision", "macro_recall"])
    scores: Scores = {}
    problems = Problems()
    for team, own in given.items():
        values = scores[team] = {F1: own[F1], RMSE: own[RMSE]}
        if values[F1] is None:
            values[F1] = own[BOARD_F1]
        if not 0 <= (values[F1] or 0) <= 1:
            problems.error(f"{path.name} ({team})", f"{F1} is out of range", "a number from 0 to 1")
        if (values[RMSE] or 0) < 0:
            problems.error(f"{path.name} ({team})", f"{RMSE} is negative", "a number from 0")
    problems.stop_organisers_if_any()
    return scores


def _notes(by: Mapping[str, Standing], view: RankingView) -> list[str]:
    titles = {F1: "Classification", RMSE: "Regression", S: "Combined score"}
    order = " Where it decides an invitation, the teams' alphabetical order was taken."
    notes = [f"{titles[name]}: {note}{order}" for name in titles for note in tie_notes(by[name])]
    if view.unseen:
        notes.append("The figures of a hidden team may be worked out from the S of the others; think before showing S.")
    return notes


def _tables(
    scores: Scores,
    combined: Mapping[str, float],
    by: Mapping[str, Standing],
    invited: Mapping[str, Sequence[str]],
    view: RankingView,
) -> list[dict[str, Any]]:
    def table(title: str, name: str, heads: Mapping[str, str], is_invited: Sequence[str]) -> dict[str, Any]:
        rows = []
        for team, place in by[name].rows:
            cells = [""] * (len(heads) + 1)
            if team not in view.unseen:
                figures = {**scores[team], S: combined[team]}
                for at, head in enumerate(heads):
                    if (value := figures[head]) is not None:
                        cells[at] = f"{value:.4f}"
                if team in is_invited:
                    cells[-1] = "invited"
            rows.append([place, team, *cells])
        return {"title": title, "header": ["Rank", "Team", *heads.values(), "Invitation"], "rows": rows}

    return [
        table("Classification", F1, {F1: "Macro F1"}, invited["classification"]),
        table("Regression", RMSE, {RMSE: "RMSE"}, invited["regression"]),
        table("Combined", S, {F1: "Macro F1", RMSE: "RMSE", S: "S"}, invited["joint"]),
    ]


if __name__ == "__main__":
    raise SystemExit(serve(globals()))
