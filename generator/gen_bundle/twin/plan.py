"""The plan of a dry run: which submissions run in which phase, by whom and under which name."""

import stat
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gen_bundle.codabench.competition import Competition, Phase, Task
from gen_bundle.errors import UserError
from scoring_kit.base.submissions import is_zip


@dataclass(frozen=True)
class Planned:
    """A submission to a phase: what is uploaded, under which name, by whom, for which of its tasks."""

    file: Path
    name: str
    owner: str
    tasks: tuple[Task, ...]


@dataclass(frozen=True)
class PhasePlan:
    """A phase with its submissions, in the order in which they are made."""

    phase: Phase
    submissions: tuple[Planned, ...]


def plan(
    competition: Competition, phases: Sequence[str], submissions: Sequence[Path], team: str | None, scratch: Path
) -> list[PhasePlan]:
    """The submissions of each phase.

    Given submissions go to every phase and task, each as another participant's; without any the bundle's own
    solutions go to the tasks that they are attached to.

    Args:
        competition: The bundle.
        phases: Ids or names of the phases to run; none means all.
        submissions: Zips, folders or single files.
        team: One participant for all of them, or None.
        scratch: Folder for the zips that are made here.

    Raises:
        UserError: A phase or a submission does not exist, or there is nothing to run.
    """
    chosen = _chosen_phases(competition, phases)
    planned = _given(chosen, submissions, team, scratch) if submissions else _own(competition, chosen, team, scratch)
    if not any(phase.submissions for phase in planned):
        raise UserError("the bundle has no solution for these phases; give a submission with --submission")
    return planned


def _chosen_phases(competition: Competition, wanted: Sequence[str]) -> list[Phase]:
    phases = competition.phases
    known = {name for phase in phases for name in (phase.id, phase.name)}
    if unknown := [name for name in wanted if name not in known]:
        there = ", ".join(phase.id for phase in phases)
        raise UserError(*(f"--phase {name}: no such phase; the bundle has {there}" for name in unknown))
    return [phase for phase in phases if not wanted or phase.id in wanted or phase.name in wanted]


def _given(phases: Sequence[Phase], submissions: Sequence[Path], team: str | None, scratch: Path) -> list[PhasePlan]:
    if missing := [path for path in submissions if not path.exists()]:
        raise UserError(*(f"--submission {path}: no such file or folder" for path in missing))
    names = _names(submissions)
    files = [as_upload(path, scratch / name) for name, path in zip(names, submissions, strict=True)]
    planned = []
    for phase in phases:
        made = [Planned(file, name, team or name, phase.tasks) for name, file in zip(names, files, strict=True)]
        planned.append(PhasePlan(phase, tuple(made)))
    return planned


def _own(competition: Competition, phases: Sequence[Phase], team: str | None, scratch: Path) -> list[PhasePlan]:
    planned = []
    for phase in phases:
        attached: list[tuple[Path, tuple[Task, ...]]] = []
        for solution in competition.solutions:
            tasks = tuple(task for task in phase.tasks if task.index in solution.tasks)
            if tasks:
                attached.append((solution.path, tasks))
        made = []
        names = _names([path for path, _ in attached])
        for name, (path, tasks) in zip(names, attached, strict=True):
            # The platform zips a folder; a file it takes as it is, whatever it is.
            file = path if path.is_file() else as_upload(path, scratch / phase.id / name)
            made.append(Planned(file, name, team or name, tasks))
        planned.append(PhasePlan(phase, tuple(made)))
    return planned


def with_migrated(planned: PhasePlan, on_board: Sequence[Planned]) -> PhasePlan:
    """A phase with what is run again first, when it begins with `auto_migrate_to_this_phase`.

    Finished submissions on the earlier phase's board, for this phase's tasks. What is submitted to this phase anyway
    is left out, so that nothing runs twice. Source: Codabench `competitions/tasks.py`, `do_phase_migrations`;
    `models.py`, `Phase.check_future_phase_submissions`.
    """
    if not planned.phase.auto_migrate:
        return planned
    coming = {submission.name for submission in planned.submissions}
    again = [replace(earlier, tasks=planned.phase.tasks) for earlier in on_board if earlier.name not in coming]
    return replace(planned, submissions=(*again, *planned.submissions))


def _names(paths: Sequence[Path]) -> list[str]:
    """The stem of each, and `stem-2`, `stem-3` for those that come again."""
    names: list[str] = []
    taken: set[str] = set()
    for path in paths:
        stem = path.resolve().name if path.is_dir() else path.stem
        if not stem.strip("."):
            stem = "submission"  # it becomes a folder's name
        name, count = stem, 1
        while name.casefold() in taken:  # they become folders, also where case does not count
            count += 1
            name = f"{stem}-{count}"
        names.append(name)
        taken.add(name.casefold())
    return names


def as_upload(path: Path, scratch: Path) -> Path:
    """What a participant would upload: a zip as it is, a folder's contents zipped, a single file zipped alone.

    Links in a folder stay links, which nothing unpacks: they would read files of this machine.

    Raises:
        UserError: It cannot be read, or is neither file nor folder.
    """
    try:
        if is_zip(path):
            return path
        scratch.parent.mkdir(parents=True, exist_ok=True)
        upload = scratch.with_name(f"{scratch.name}.zip")
        with zipfile.ZipFile(upload, "w", strict_timestamps=False) as opened:  # it is unpacked at once
            for file, name in _contents(path):
                if file.is_symlink():
                    link = zipfile.ZipInfo(name)
                    link.external_attr = stat.S_IFLNK << 16
                    opened.writestr(link, bytes(file.readlink()))
                else:
                    opened.write(file, name)
    except (OSError, UnicodeError, RecursionError) as error:
        raise UserError(f"--submission {path}: cannot be read: {error}") from error
    return upload


def _contents(path: Path) -> list[tuple[Path, str]]:
    if path.is_file():
        return [(path.resolve(), path.name)]
    if not path.is_dir():
        raise UserError(f"--submission {path}: expected a zip, a folder or a file")
    found = sorted(path.rglob("*"))
    return [(file, file.relative_to(path).as_posix()) for file in found if file.is_file() or file.is_symlink()]
