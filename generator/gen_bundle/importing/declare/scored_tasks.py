"""The tasks of a foreign project as they are scored: their files, their solutions, and what these answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gen_bundle.codabench.competition import Competition, Task
from gen_bundle.errors import UserError
from gen_bundle.importing.declare.mutants import Files
from gen_bundle.importing.declare.outcomes import Bench
from gen_bundle.importing.declare.pairs import FilePair, pairs_of
from gen_bundle.importing.declare.scorer_code import ScorerCode, read_code
from gen_bundle.importing.declare.tables import FoundTable, read_table
from gen_bundle.zips.bounds import BUNDLE, SUBMISSION, Bounds
from gen_bundle.zips.unpacking import ArchiveError, unpack
from gen_bundle.zips.writing import JUNK, folder_members


@dataclass(frozen=True)
class ScoredTask:
    """A task with what its scorer reads.

    Attributes:
        task: the platform's.
        gold: its reference data by name.
        own: name of a solution → what is scored of it.
        pairs: the files of the first solution that answer files of the gold.
    """

    task: Task
    gold: Files
    own: Mapping[str, Files]
    pairs: Sequence[FilePair]


def scorer_of(competition: Competition, work: Path) -> ScorerCode:
    """The code of the one scoring program.

    Raises:
        UserError: the tasks have several, or none.
    """
    programs = {str(task.file("scoring_program")) for task in competition.used_tasks}
    if len(programs) != 1 or "None" in programs:
        raise UserError(f"{len(programs)} scoring programs: a declaration stands for one that scores every task")
    return read_code(_folder(Path(programs.pop()), work / "scorer", BUNDLE))


def scored_tasks(competition: Competition, code: ScorerCode, bench: Bench, work: Path) -> list[ScoredTask]:
    """Every task that a phase runs; what the ingestion program makes of its solutions is made here."""
    found = []
    for number, task in enumerate(competition.used_tasks):
        place = work / f"task-{number}"
        reference = task.file("reference_data")
        gold = _files(_folder(reference, place / "gold", BUNDLE)) if reference is not None else {}
        own: dict[str, Files] = {}
        for turn, solution in enumerate(competition.solutions):
            if task.index in solution.tasks:
                handed_in = _files(_folder(Path(solution.path), place / f"solution-{turn}", SUBMISSION))
                own[f"{Path(solution.path).stem}"] = bench.predictions(task, handed_in)
        golds = _tables(gold, code)
        pairs = next((pairs for files in own.values() if (pairs := pairs_of(_tables(files, code), golds))), [])
        found.append(ScoredTask(task, gold, own, pairs))
    return found


def _tables(files: Files, code: ScorerCode) -> list[FoundTable]:
    read = [read_table(name, data, code.names) for name, data in files.items()]
    return [table for table in read if table is not None]


def _files(folder: Path) -> Files:
    members = folder_members(folder)
    contents = {name: file if isinstance(file, bytes) else file.read_bytes() for name, file in members.items()}
    return {name: data for name, data in contents.items() if JUNK.isdisjoint(name.split("/"))}


def _folder(path: Path, into: Path, bounds: Bounds) -> Path:
    """A folder itself, or what a zip holds; an empty one where it is no zip."""
    if path.is_dir():
        return path
    into.mkdir(parents=True, exist_ok=True)
    try:
        unpack(path, into, bounds)
    except (ArchiveError, OSError):
        return into
    return into
