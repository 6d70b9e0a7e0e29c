"""The tasks of a foreign project as they are scored: their files, their solutions, and what these answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path as FilePath

from gen_bundle.codabench.competition import Competition, Task
from gen_bundle.errors import UserError
from gen_bundle.importing.declare.mutants import Files
from gen_bundle.importing.declare.outcomes import Bench
from gen_bundle.importing.declare.pairs import FilePair, pairs_of
from gen_bundle.importing.declare.scorer_code import ScorerCode, read_code
from gen_bundle.importing.declare.tables import FoundTable, read_table
from gen_bundle.yaml_document import Path
from gen_bundle.zips.bounds import BUNDLE, SUBMISSION, Bounds
from gen_bundle.zips.unpacking import ArchiveError, unpack
from gen_bundle.zips.writing import JUNK, folder_members


@dataclass(frozen=True)
class ScoredTask:
    """A task with what its scorer reads.

    Attributes:
        task: the platform's.
        gold: its reference data by name.
        own: name of a solution → what is scored of it, first that whose files are in `pairs`.
        pairs: the files of a solution that answer files of the gold.
        is_made: its only solution is made of its gold, since the bundle has none for it.
    """

    task: Task
    gold: Files
    own: Mapping[str, Files]
    pairs: Sequence[FilePair]
    is_made: bool = False


def scorer_of(competition: Competition, work: FilePath) -> ScorerCode:
    """The code of the one scoring program.

    Raises:
        UserError: the tasks have several, or none.
    """
    programs = {str(task.file("scoring_program")) for task in competition.used_tasks}
    if len(programs) != 1 or "None" in programs:
        raise UserError(f"{len(programs)} scoring programs: a declaration stands for one that scores every task")
    return read_code(_folder(FilePath(programs.pop()), work / "scorer", BUNDLE))


def scored_tasks(competition: Competition, code: ScorerCode, bench: Bench, work: FilePath) -> list[ScoredTask]:
    """Every task that a phase runs; what the ingestion program makes of its solutions is made here."""
    found = []
    for number, task in enumerate(competition.used_tasks):
        place = work / f"task-{number}"
        reference = task.file("reference_data")
        gold = _files(_folder(reference, place / "gold", BUNDLE)) if reference is not None else {}
        own: dict[str, Files] = {}
        for turn, solution in enumerate(competition.solutions):
            if task.index in solution.tasks:
                handed_in = _files(_folder(FilePath(solution.path), place / f"solution-{turn}", SUBMISSION))
                own[f"{FilePath(solution.path).stem}-{turn + 1}"] = bench.predictions(task, handed_in)
        found.append(_paired(ScoredTask(task, gold, own, []), code))
    first = next((one for one in found if one.pairs), None)
    if first is None:
        return found
    everywhere = {one.task.at: _tables(one.gold, code) for one in found}
    return [_completed(one, first, everywhere) for one in found]


def _paired(one: ScoredTask, code: ScorerCode) -> ScoredTask:
    """The task with the first solution of which a file answers one of the gold."""
    golds = _tables(one.gold, code)
    for name, files in one.own.items():
        pairs = pairs_of(_tables(files, code), golds)
        if pairs:
            return replace(one, own={name: files, **one.own}, pairs=pairs)
    return one


def _completed(one: ScoredTask, first: ScoredTask, golds: Mapping[Path, Sequence[FoundTable]]) -> ScoredTask:
    """A task with the gold of the others beside its own; one without a solution gets its gold as that."""
    if not one.pairs:
        one = _made_of_gold(one, first, golds[one.task.at])
    tables = list(chain.from_iterable(golds.values()))
    return replace(one, pairs=[pair.beside(tables) for pair in one.pairs])


def _made_of_gold(one: ScoredTask, first: ScoredTask, golds: Sequence[FoundTable]) -> ScoredTask:
    """A task whose solution is its gold, in files like those of the first one's; nothing where its gold is another."""
    pairs = []
    for pair in first.pairs:
        for gold in golds:
            if gold.name == pair.gold.name and pair.fits(gold):
                pairs.append(pair.answered_right(gold))
    files = {pair.answer.name: pair.answer.written() for pair in pairs}
    if not pairs:
        return one
    return replace(one, pairs=pairs, own={"made-of-the-gold": files}, is_made=True)


def _tables(files: Files, code: ScorerCode) -> list[FoundTable]:
    read = [read_table(name, data, code.names) for name, data in files.items()]
    return [table for table in read if table is not None]


def _files(folder: FilePath) -> Files:
    members = folder_members(folder)
    contents = {name: file if isinstance(file, bytes) else file.read_bytes() for name, file in members.items()}
    return {name: data for name, data in contents.items() if JUNK.isdisjoint(name.split("/"))}


def _folder(path: FilePath, into: FilePath, bounds: Bounds) -> FilePath:
    """A folder itself, or what a zip holds; an empty one where it is no zip."""
    if path.is_dir():
        return path
    into.mkdir(parents=True, exist_ok=True)
    try:
        unpack(path, into, bounds)
    except (ArchiveError, OSError):
        return into
    return into
