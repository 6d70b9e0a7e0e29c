"""The final ranking over all participants of a competition, by the rule of its scoring package."""

import shlex
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gen_bundle.declaration.model import DeclaredPhase
from gen_bundle.declaration.read import FILE, is_foreign
from gen_bundle.errors import UserError
from gen_bundle.fetched import read_fetched
from gen_bundle.foreign.project import resolve_foreign
from gen_bundle.foreign.ranking import TeamsShown, rank_foreign
from gen_bundle.package.client import VerbProgress
from gen_bundle.package.phase_data import checked_reference
from gen_bundle.package.programs import write_program
from gen_bundle.package.resolve import Resolved, announce_own_code, find_competition, resolve
from gen_bundle.render.rankings import Ranking, RankingTable

SEED = 0


@dataclass(frozen=True)
class RankRequest:
    """What is to be ranked: a table of scores, or all submissions to a phase.

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
    def command(self) -> str:
        """The command line that asks for the same, without the teams that are hidden: it stands in the report."""
        options: list[tuple[str, object]] = [
            ("--scores", self.scores),
            ("--submissions", self.submissions),
            ("--data", self.data),
            ("--phase", self.phase),
            ("--task", self.task),
            *(("--set", one) for one in self.overrides),
            *(("--baseline", one) for one in self.baselines),
            ("--report", self.report),
            ("--resamples", self.resamples),
            ("--seed", self.seed),
        ]
        given = [part for name, value in options if value is not None for part in (name, str(value))]
        return shlex.join(["gen-bundle", "rank", self.competition, *given])


def rank(
    request: RankRequest,
    advance: Callable[[VerbProgress], None] = lambda _: None,
    announce: Callable[[str], None] = lambda _: None,
) -> Ranking:
    """Rank all teams of a competition, and write the report where one is asked for.

    Args:
        request: what is to be ranked.
        advance: is called with how far the scoring and the statistics are.
        announce: is called with a line on the code of the competition's folder that is about to run.

    Raises:
        UserError: a wrong request, unusable data, or no submission that can be scored; packages that the report needs
            are not installed, or it cannot be written.
    """
    folder = find_competition(request.competition)
    if is_foreign(folder):
        return _rank_foreign(folder, request)
    _check(request)
    competition = _resolved(folder, request)
    announce_own_code(competition, announce)
    fetched = read_fetched(request.submissions) if request.submissions else None
    with tempfile.TemporaryDirectory() as work, competition.opened() as opened:
        phase = _phase(competition, request)
        tasks = competition.tasks if phase is None else competition.tasks_of(phase)
        units = Path(work) / "units"
        given: dict[str, Any] = {
            "program": str(write_program(competition, tasks, Path(work)) / "program.json"),
            "hide": request.hide,
            "hide_figures": request.hide_figures,
            "baselines": request.baselines,
        }
        if request.report:
            given["report"] = {"resamples": request.resamples, "seed": request.seed, "units": str(units)}
        if request.scores:
            given["scores"] = str(request.scores.resolve())
        elif request.submissions and phase:
            reference, _ = checked_reference(opened, tasks, phase.data_id, Path(work) / "reference")
            given |= {"submissions": str(request.submissions.resolve()), "reference": str(reference)}
        notes: list[str] = []
        if fetched:
            given |= {"on_board": fetched.on_board, "late": fetched.late}
            notes += fetched.notes
        answer = opened.ask("rank", given, advance)
        tables = [RankingTable(**table) for table in answer.pop("tables")]
        statistics = answer.pop("report", None)
        notes = [*answer.pop("notes"), *notes]
        ranking = Ranking(notes=notes, tables=tables, result=answer)
        if request.report:
            from gen_bundle.report.content import FinalReport
            from gen_bundle.report.figures import missing_note
            from gen_bundle.report.write import write_report

            report = FinalReport(
                competition.declaration, phase, ranking, statistics, request.baselines, request.command, fetched
            )
            if note := missing_note(report.teams):
                notes.append(note)
            write_report(report, units, request.report)
    return ranking


def _check(request: RankRequest) -> None:
    from_files = {"--submissions": request.submissions, "--data": request.data, "--phase": request.phase}
    given = [name for name, value in from_files.items() if value is not None]
    if request.scores is not None and given:
        raise UserError(f"--scores does not go together with {', '.join(given)}. Use it alone, or leave it out.")
    missing = [name for name in ("--submissions", "--phase") if name not in given]
    if request.scores is None and missing:
        raise UserError(f"{', '.join(missing)} missing. Expected --submissions and --phase, or --scores FILE.")
    if request.report is not None:
        from gen_bundle.report.write import check_folder, check_packages

        check_packages()
        check_folder(request.report)


def _rank_foreign(folder: Path, request: RankRequest) -> Ranking:
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
    shown = TeamsShown(request.hide, request.hide_figures, request.baselines)
    return rank_foreign(project, table=request.scores, submissions=request.submissions, shown=shown)


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
