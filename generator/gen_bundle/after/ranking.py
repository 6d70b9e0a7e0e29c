"""The final ranking over all participants of a competition, by the rule of its scoring package.

Of a foreign project nothing is scored: the scores are those that `gen-bundle fetch` found on the platform, or a table
of the organisers'. The platform's own rules say what the computed columns are and which column orders the teams.
"""

import csv
import json
import shlex
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from gen_bundle.after.score_table import read_score_table
from gen_bundle.build.foreign import ForeignProject, foreign_document, resolve_foreign
from gen_bundle.build.package.client import VerbProgress, find_package
from gen_bundle.build.package.libraries import site_here
from gen_bundle.build.package.phase_data import checked_reference
from gen_bundle.build.package.programs import write_program
from gen_bundle.build.package.resolve import Resolved, check_own_code, find_competition, resolve
from gen_bundle.build.platforms.codabench import yaml_text
from gen_bundle.build.render.rankings import Ranking, RankingTable
from gen_bundle.codabench.board import Board, NoBoardError, RefusedError, Submitted
from gen_bundle.codabench.competition import AVERAGE_RANK, Column, Leaderboard
from gen_bundle.codabench.reading import CompetitionYaml
from gen_bundle.declaration.model import DeclaredPhase
from gen_bundle.declaration.read import FILE, is_foreign
from gen_bundle.declaration.scoring import DECLARED
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.fetched import SUBMISSIONS, Record, chosen_on_board, read_fetched, read_records
from gen_bundle.ground.yaml_document import read_yaml

SEED = 0


@dataclass(frozen=True)
class RankRequest:
    """The ranking that is asked for: of a table of scores, or all submissions to a phase.

    Attributes:
        competition: name or folder of the competition.
        scores: a CSV table with a row for each team.
        submissions: a folder with the submissions of all teams.
        data: the competition's data, as for a build; without, those in its folder, unless they are synthetic.
        phase: the phase whose gold the submissions are scored against.
        task: the submissions are those of this task's bundle in layout `separate`.
        overrides: `key=value` for bundle.yaml, as for a build.
        hide: teams of which nothing is shown.
        hide_figures: teams of which the name alone is shown.
        baselines: systems that are shown without a rank, and do not count for other ranks.
        report: a folder to write the final report to; one that holds an earlier report is replaced.
        resamples: how many samples its statistics rest on; None: 10,000, or as many as the number of pairs needs.
        seed: of these samples.
    """

    competition: str
    scores: Path | None = None
    submissions: Path | None = None
    data: Path | None = None
    phase: str | None = None
    task: str | None = None
    overrides: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()
    hide_figures: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    report: Path | None = None
    resamples: int | None = None
    seed: int = SEED

    @property
    def shown(self) -> dict[str, Sequence[str]]:
        """Which teams are shown how, as the scoring kit takes it."""
        return {"hide": self.hide, "hide_figures": self.hide_figures, "baselines": self.baselines}

    @property
    def command(self) -> str:
        """The command line that asks for the same, without the teams that are hidden: it stands in the report."""
        options: Mapping[str, Sequence[object]] = {
            "--scores": [self.scores],
            "--submissions": [self.submissions],
            "--data": [self.data],
            "--phase": [self.phase],
            "--task": [self.task],
            "--set": self.overrides,
            "--baseline": self.baselines,
            "--report": [self.report],
            "--resamples": [self.resamples],
            "--seed": [self.seed],
        }
        words = ["gen-bundle", "rank", self.competition]
        for name, values in options.items():
            for value in values:
                if value is not None:
                    words += [name, str(value)]
        return shlex.join(words)


def rank(
    request: RankRequest,
    advance: Callable[[VerbProgress], None] = lambda _: None,
    announce: Callable[[str], None] = lambda _: None,
) -> Ranking:
    """Rank all teams of a competition, and write the report where one is asked for.

    Args:
        request: what is to be ranked.
        advance: is called with how far the scoring and the statistics are.
        announce: is called with a line on the code of the competition's folder that is about to run, and on how long
            that takes.

    Raises UserError where request or data are wrong, nothing can be scored, or the report cannot be made.

    >>> for team in rank(RankRequest("process2025", scores=Path("best.csv"))).result["teams"]:
    ...     print(team["team"], team["s"])
    """
    folder = find_competition(request.competition)
    if is_foreign(folder):
        return _rank_foreign(folder, request)
    _check(request)
    competition = _resolved(folder, request)
    check_own_code(competition, trust=True, announce=announce)
    fetched = read_fetched(request.submissions) if request.submissions else None
    with tempfile.TemporaryDirectory() as work, competition.opened(site_here(competition)) as opened:
        phase = _phase(competition, request)
        tasks = competition.tasks if phase is None else competition.tasks_of(phase)
        units = Path(work) / "units"
        given: dict[str, Any] = {
            "program": str(write_program(competition, tasks, Path(work)) / "program.json"),
            **request.shown,
        }
        if request.report:
            given["report"] = {"resamples": request.resamples, "seed": request.seed, "units": str(units)}
        if request.scores:
            given["scores"] = str(request.scores.resolve())
        elif request.submissions and phase:
            reference, _ = checked_reference(opened, tasks, phase.data_id, Path(work) / "reference")
            given |= {"submissions": str(request.submissions.resolve()), "reference": str(reference)}
            given["work"] = str(Path(work) / "submissions")
        notes: list[str] = []
        if fetched:
            given |= {"on_board": fetched.on_board, "late": fetched.late}
            notes += fetched.notes

        def tell(now: VerbProgress) -> None:
            if line := now.get("line"):
                announce(line)
            advance(now)

        answer = opened.ask("rank", given, tell)
        statistics = answer.pop("report", None)
        notes = [*answer.pop("notes"), *notes]
        ranking = Ranking(notes=notes, tables=_tables(answer), result=answer)
        if request.report:
            from gen_bundle.after.report.content import FinalReport, summary
            from gen_bundle.after.report.write import write_report
            from gen_bundle.build.render.drawing import missing_note

            report = FinalReport(
                competition.declaration, phase, ranking, statistics, request.baselines, request.command, fetched
            )
            if note := missing_note(report.teams):
                notes.append(note)
            write_report(report, units, request.report)
            told = []
            for task in report.tasks.values():
                if text := summary(task):
                    told.append(text)
            ranking = replace(ranking, summary=told)
    return ranking


def _tables(answer: dict[str, Any]) -> list[RankingTable]:
    """The tables of an answer to the verb `rank`, which are no longer in it."""
    return [RankingTable(**table) for table in answer.pop("tables")]


def _check(request: RankRequest) -> None:
    from_files = {"--submissions": request.submissions, "--data": request.data, "--phase": request.phase}
    given = [name for name, value in from_files.items() if value is not None]
    if request.scores is not None and given:
        raise UserError(f"--scores does not go together with {', '.join(given)}. Use it alone, or leave it out.")
    missing = [name for name in ("--submissions", "--phase") if name not in given]
    if request.scores is None and missing:
        raise UserError(f"{', '.join(missing)} missing. Expected --submissions and --phase, or --scores FILE.")
    if request.report is not None:
        from gen_bundle.after.report.write import check_folder, check_packages

        check_packages()
        check_folder(request.report)


def _resolved(folder: Path, request: RankRequest) -> Resolved:
    layout = "separate" if request.task else "joint"
    competition = resolve(folder, data=request.data, layout=layout, overrides=request.overrides)
    if request.task is None:
        return competition
    if request.task not in competition.all_task_ids:
        raise UserError(f"--task {request.task}: no such task. Expected one of {', '.join(competition.all_task_ids)}.")
    return competition.only(request.task)


def _phase(competition: Resolved, request: RankRequest) -> DeclaredPhase | None:
    """The phase whose gold counts; None for a table of scores."""
    if request.phase is None:
        return None
    phases = {phase.id: phase for phase in competition.phases}
    if request.phase not in phases:
        raise UserError(f"--phase {request.phase}: no such phase. Expected one of {', '.join(phases)}.")
    phase = phases[request.phase]
    if request.data is None and phase.data_id in competition.synthetic_phases:
        what = f"--data missing: the gold in {competition.data / phase.data_id} is synthetic"
        raise UserError(f"{what}. Expected --data with the real gold, or with this folder for a rehearsal.")
    return phase


BOARD = "leaderboard"
"""The id of the one ranking that there is."""
TEAM = "team"
GivenScores = Mapping[str, Sequence[Mapping[str, object]]]
"""Team → column key → score, once for each task of the platform that its submission was scored for."""


def _rank_foreign(folder: Path, request: RankRequest) -> Ranking:
    """Rank the teams of a table of scores, or of a folder of submissions that `gen-bundle fetch` wrote."""
    options = {"--data": request.data, "--phase": request.phase, "--task": request.task, "--report": request.report}
    given = [f"{option} {value}" for option, value in options.items() if value is not None]
    if given:
        raise UserError(
            f"{', '.join(given)}: {folder / FILE} has programs that are packed as they are, so that teams are ranked "
            "by the scores that these gave. Leave it out."
        )
    if (request.submissions is None) == (request.scores is None):
        raise UserError(
            "expected either --submissions, the folder submissions/ of a phase that gen-bundle fetch wrote, or "
            "--scores FILE."
        )
    project = resolve_foreign(folder, overrides=request.overrides)
    document = CompetitionYaml(datetime.now(UTC), read_yaml(yaml_text(foreign_document(project))))
    board = document.competition.leaderboard
    scores: GivenScores = {}
    notes: list[str] = []
    if request.scores is not None:
        scores = _table_scores(request.scores, board)
    if request.submissions is not None:
        scores, notes = _fetched_scores(request.submissions, request.hide)
    if board.primary is None or not board.visible:
        raise UserError(
            f"leaderboard: no shown column has the index {board.primary_index}. Expected primary_index to be that of "
            "the column that ranks."
        )
    columns = sorted(board.columns, key=lambda column: column is not board.primary)  # the others stay in their order
    values = _values(board, scores, request.baselines)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        with (work / "scores.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.DictWriter(file, [TEAM, *(column.key for column in columns)], restval="")
            rows.writeheader()
            for team, own in values.items():
                rows.writerow({TEAM: team, **own})
        (work / "program.json").write_text(json.dumps(_description(project, board, columns)), encoding="utf-8")
        asked = {"program": str(work / "program.json"), "scores": str(work / "scores.csv"), **request.shown}
        answer = find_package(DECLARED, work).call("rank", asked)
    return Ranking(notes=[*answer.pop("notes"), *notes], tables=_tables(answer), result=answer)


def _fetched_scores(submissions: Path, hide: Collection[str]) -> tuple[GivenScores, list[str]]:
    """The scores of each participant's submission on the leaderboard, the latest of several, and remarks.

    Nothing is said of the participants in `hide`.
    """
    fetched = read_fetched(submissions)
    if fetched is None:
        raise UserError(
            f"--submissions {submissions}: programs that are packed as they are score nothing here. Expected the "
            f"folder {SUBMISSIONS}/ of a phase that gen-bundle fetch wrote, whose scores count, or --scores FILE."
        )
    records = read_records(submissions.resolve().parent)
    there = chosen_on_board(records)
    latest: dict[str, Record] = {}
    parts: dict[int, dict[str, Mapping[str, object]]] = {}
    for record in sorted(records, key=lambda one: (one["created"], one["id"])):
        if record["id"] in there and record["parent"] is None:
            latest[record["owner"]] = record
    for record in records:
        if record["parent"] is not None:
            parts.setdefault(record["parent"], {})[record["task"]] = record["scores"]  # the last queue's
    if not latest:
        raise UserError(f"--submissions {submissions}: none of them is on the leaderboard. Fetch them again.")
    scores: dict[str, list[Mapping[str, object]]] = {}
    remarks, tasks = [*fetched.notes], set[str]()
    for owner, record in latest.items():
        own = parts.get(record["id"], {})
        tasks |= own.keys()
        scores[owner] = list(own.values()) or [record["scores"]]
        folder = PurePosixPath(record["file"] or "").parent.as_posix().removeprefix(f"{SUBMISSIONS}/")
        if folder in fetched.late and owner not in hide:
            remarks.append(f"{owner}: the submission was sent after the end of the phase.")
    if len(tasks) > 1:
        remarks.append(
            "The phase has several tasks: scores are summed over them, by which the platform orders its rows."
        )
    elsewhere = {str(record["owner"]) for record in records} - latest.keys() - {*hide}
    if elsewhere:
        remarks.append(f"Not on the leaderboard, and not ranked: {', '.join(sorted(elsewhere))}.")
    return scores, remarks


def _table_scores(file: Path, board: Leaderboard) -> GivenScores:
    """The rows of a table of scores; an empty cell is no score."""
    keys = [column.key for column in board.columns]
    expected = f"Expected a CSV table with a row for each team: {TEAM}, then columns of {', '.join(keys)}."
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--scores {file}: cannot be read ({error}). {expected}") from error
    found = {}
    for team, row in read_score_table(file, text, TEAM, keys, expected, more=False).items():
        found[team] = [{key: float(cell) for key, cell in row.items() if cell}]
    return found


Values = Mapping[str, Mapping[str, float]]
"""Team → column key → what the platform stores or shows of it."""


def _values(board: Leaderboard, given: GivenScores, baselines: Collection[str]) -> Values:
    """Return what the platform makes of the scores; baselines take no part in ranks that compare teams.

    Raises:
        UserError: it would store no such score.
    """
    everyone = Board(board._replace(submission_rule="Add_And_Delete_Multiple"))
    values: dict[str, dict[str, float]] = {}
    for team, tasks in given.items():
        entry = _stored(everyone, team, tasks)
        values[team] = {}
        for score in entry.scores:
            key = score.column.key
            values[team][key] = values[team].get(key, 0.0) + float(score.value)
        if team not in baselines:
            everyone.add_by_hand(entry)
    try:
        rows = everyone.rows()
    except NoBoardError as error:
        raise UserError(f"leaderboard: {error}") from error
    for row in rows:
        for _, column, text in row.cells:
            if column.computation == AVERAGE_RANK:
                values[row.entry.owner][column.key] = float(text)
    return values


def _stored(board: Board, team: str, tasks: Sequence[Mapping[str, object]]) -> Submitted:
    """A team's submission with what the platform stores of the scores for each task, and computes of them."""
    computed = {column.key for column in board.leaderboard.columns if column.computation}
    whole = board.submit(team, team, [str(task) for task in range(len(tasks))])
    for entry, scores in zip(whole.children or [whole], tasks, strict=True):
        board.finish(entry)
        try:
            board.upload(entry, {key: value for key, value in scores.items() if key not in computed})
        except RefusedError as error:
            raise UserError(f"{team}: the platform stores no such scores: {error}.") from error
    return whole


def _description(project: ForeignProject, board: Leaderboard, columns: Sequence[Column]) -> dict[str, Any]:
    """The program.json by which the scoring kit ranks: all columns are given, and the platform's rule breaks ties."""
    primary, *others = columns
    deciding = [column.key for column in others if not column.hidden and column.computation != AVERAGE_RANK]
    if board.tie_break is not None:
        deciding = list(board.tie_break)
    elif primary.computation == AVERAGE_RANK:
        deciding = []
    return {
        "competition": project.name,
        "package": DECLARED,
        "title": project.declaration.title,
        "version": "",
        "layout": "joint",
        "tasks": [BOARD],
        "all_tasks": [BOARD],
        "task_names": {BOARD: project.declaration.leaderboard.title},
        "options": {},
        "details_min_items": 1,
        "tie_break": deciding,
        "columns": [
            {
                "key": column.key,
                "task": BOARD,
                "title": column.title,
                "sort": column.sorting,
                "precision": column.precision,
                "worst": None,
                "meaning": "",
                "hidden": column.hidden,
            }
            for column in columns
        ],
    }
