"""The search for a declaration that scores as a foreign program does.

The original scorer and the declared one score the same submissions: some to choose the metrics by, then the bundle's
own and thirty mutated ones for each task, others than those, to judge the choice by.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, repeat
from operator import attrgetter
from pathlib import Path
from typing import Any

from gen_bundle.author.importing.candidates import (
    ChosenMetric,
    ScorerCode,
    ScoringProposal,
    choose,
    proposals,
    read_code,
)
from gen_bundle.author.importing.comparing import (
    Bench,
    Comparison,
    Files,
    Progress,
    ScoredTwice,
    files_below,
    mutants,
)
from gen_bundle.author.importing.tables import FilePair, FoundTable, pairs_of, read_table
from gen_bundle.author.new.project import placeholder_logo
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.codabench.competition import Column, Competition, Task
from gen_bundle.codabench.runnable import open_bundle, read_competition
from gen_bundle.declaration.read import FILE
from gen_bundle.dry_run.engines import Engine
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.zips.unpacking import BUNDLE, SUBMISSION, ArchiveError, Bounds, unpack

SEARCHED = 12
"""So many mutants are scored to choose metrics."""
RETRIES = 4
FIRST_YEAR = 2090
Choices = Mapping[str, ChosenMetric]
"""For columns by key, what gives them their values."""


@dataclass(frozen=True)
class ScoredTask:
    """A task with what its scorer reads.

    Attributes:
        task: the platform's.
        gold: its reference data.
        tables: those in it.
        own: name of a solution → what is scored of it, first that whose files are in `pairs`.
        pairs: the files of a solution that answer files of the gold.
        is_made: its only solution is made of its gold, since the bundle has none for it.
    """

    task: Task
    gold: Files
    tables: Sequence[FoundTable]
    own: Mapping[str, Files]
    pairs: Sequence[FilePair] = ()
    is_made: bool = False


@dataclass(frozen=True)
class Found:
    """A declaration that was held against the original scorer.

    Attributes:
        decimals: to which scores are rounded; None: not at all.
        columns: the leaderboard's, as the declaration has them, and those that these are made of.
        comparison: all that was scored by both.
        uncompared: why a task says nothing of whether both are equal, a line each.
    """

    proposal: ScoringProposal
    choices: Choices
    decimals: int | None
    columns: Sequence[Mapping[str, Any]]
    comparison: Comparison
    uncompared: Sequence[str]

    def is_nearer(self, other: "Found") -> bool:
        """Whether it gives more columns than another, or as many and agrees better."""
        more = len(self.choices) - len(other.choices)
        fewer = len(other.comparison.differing()) - len(self.comparison.differing())
        return (more, fewer) > (0, 0)


class DeclarationSearch:
    """The search in a foreign competition.

    Attributes:
        columns: those of the leaderboard that its scorer fills.
        takes_code: an ingestion program makes what is scored.
        first: the first task with a solution that can be read.

    Raises:
        UserError: there is not one scorer for all tasks, or none of their gold and solutions can be read.
    """

    def __init__(self, competition: Competition, engine: Engine, work: Path, progress: Progress) -> None:
        self.columns = [column for column in competition.leaderboard.columns if column.computation is None]
        self.takes_code = any(task.file("ingestion_program") is not None for task in competition.used_tasks)
        self._bench = Bench(engine, competition.image, work, progress)
        self._work = work
        programs = {task.file("scoring_program") for task in competition.used_tasks}
        if len(programs) != 1 or None in programs:
            raise UserError("no scoring program that is the same for all tasks: a declaration stands for one")
        self._code = read_code(_unpacked(Path(programs.pop()), work / "scorer", BUNDLE))
        progress("running the bundle's own solutions")
        self._tasks = _scored_tasks(competition, self._code, self._bench, work)
        self.first = next(one for one in self._tasks if one.pairs and not one.is_made)

    def run(self) -> Found:
        """The declaration that comes nearest: of those that give most columns, the one that agrees best.

        Raises:
            UserError: there is none.
        """
        best: Found | None = None
        for turn, (proposal, choices) in enumerate(self._choices()):
            if best is not None and len(choices) < len(best.choices):
                continue
            found = self._compared(proposal, choices, self._work / f"compared-{turn}")
            if best is None or found.is_nearer(best):
                best = found
            is_stricter = any(run.declared.scores is None for run, _ in found.comparison.differing())
            if len(choices) == len(self.columns) and not is_stricter:
                break
        if best is None:
            keys = ", ".join(map(attrgetter("key"), self.columns))
            raise UserError(f"no metric of a declaration gives the values of {keys}")
        return best

    def _choices(self) -> Iterator[tuple[ScoringProposal, Choices]]:
        """What each proposal can give, where that is anything."""
        first, step = self.first, "choosing metrics"
        made = mutants(next(iter(first.own.values())), first.pairs, "search")
        submissions = [*first.own.values(), *islice(made.values(), SEARCHED)]
        originals = self._bench.outcomes(step, first.task, submissions)
        if not any(one.scores for one in originals):
            raise UserError(f"the original scorer gives no scores on this machine: {originals[0].reason}")
        for turn, proposal in enumerate(proposals(first.pairs, self._code)):
            built = self._built(proposal, self._work / f"search-{turn}")
            if built is None:
                continue
            declared = self._bench.outcomes(step, built[self._tasks.index(first)], submissions)
            choices = {}
            for column in self.columns:
                choice = choose(column.key, proposal, originals, declared)
                if choice is not None:
                    choices[column.key] = choice
            if choices:
                yield proposal, choices

    def _built(self, proposal: ScoringProposal, folder: Path) -> list[Task] | None:
        """The tasks of a proposal with all its metrics, but for those that the gold refuses; None: all of it."""
        columns = {key: {"key": key, "title": key, "metric": metric} for key, metric in proposal.metrics.items()}
        for turn in range(RETRIES):
            try:
                return _declared_tasks(self._tasks, proposal, list(columns.values()), folder / str(turn))
            except UserError as error:
                refused = columns.keys() & set(re.findall(r"\bm[0-9]+\b", "\n".join(error.messages)))
                for key in refused:
                    del columns[key]
                if not refused or not columns:
                    return None
        return None

    def _compared(self, proposal: ScoringProposal, choices: Choices, folder: Path) -> Found:
        columns = []
        for column in self.columns:
            if column.key in choices:
                columns += _declared_columns(column, choices[column.key])
        rounded = [one.decimals for one in choices.values() if one.decimals is not None]
        decimals = max(rounded, default=None)
        built = _declared_tasks(self._tasks, proposal, columns, folder, decimals)
        runs: list[ScoredTwice] = []
        uncompared = []
        for place, (one, task) in enumerate(zip(self._tasks, built, strict=True)):
            if not one.pairs:
                what = "nothing to compare by, no solution, and no gold like that of the others"
                uncompared.append(f"task {one.task.name}: {what}")
                continue
            of_task = list(self._runs(one, task, f"compared-{place}"))
            if not any(run.is_scored_by_both for run in of_task):
                uncompared.append(f"task {one.task.name}: nothing to compare by, no submission is scored by both")
            runs += of_task
        return Found(proposal, choices, decimals, columns, Comparison(list(choices), runs), uncompared)

    def _runs(self, one: ScoredTask, declared: Task, seed: str) -> Iterator[ScoredTwice]:
        """The task's solutions, and mutants of the first, scored by both."""
        submissions = {**one.own, **mutants(next(iter(one.own.values())), one.pairs, seed)}
        step, files = f"comparing, task {one.task.name}", submissions.values()
        originals = self._bench.outcomes(f"{step}, by the original", one.task, files)
        ours = self._bench.outcomes(step, declared, files)
        for name, original, outcome in zip(submissions, originals, ours, strict=True):
            own = name in one.own and not one.is_made
            yield ScoredTwice(one.task.name, name, original, outcome, own)


# The tasks of the foreign project


def _scored_tasks(competition: Competition, code: ScorerCode, bench: Bench, work: Path) -> list[ScoredTask]:
    """Every task that a phase runs; what the ingestion program makes of its solutions is made here."""
    found: list[ScoredTask] = []
    for number, task in enumerate(competition.used_tasks):
        found.append(_scored_task(task, competition, code, bench, work / f"task-{number}"))
    first = next((one for one in found if one.pairs), None)
    if not any(map(attrgetter("own"), found)):
        raise UserError("no solution is attached to a task, so that there is nothing to compare by")
    if first is None:
        raise UserError(
            "no file of a solution is a table that answers a table in the reference data: CSV, TSV, JSON, or a value a "
            "line, matched by ids or line by line"
        )
    golds: list[FoundTable] = []
    for one in found:
        golds += one.tables
    for at, one in enumerate(found):
        if not one.pairs:
            one = _made_of_gold(one, first)
        found[at] = replace(one, pairs=[pair.beside(golds) for pair in one.pairs])
    return found


def _scored_task(task: Task, competition: Competition, code: ScorerCode, bench: Bench, work: Path) -> ScoredTask:
    """A task with its solutions, and the pairs of the first one of which a file answers one of the gold."""
    reference = task.file("reference_data")
    gold: Files = {}
    if reference is not None:
        gold = files_below(_unpacked(Path(reference), work / "gold", BUNDLE))
    tables = _tables(gold, code)
    own: dict[str, Files] = {}
    for turn, solution in enumerate(competition.solutions, 1):
        if task.index in solution.tasks:
            path = Path(solution.path)
            handed_in = files_below(_unpacked(path, work / f"solution-{turn}", SUBMISSION))
            own[f"{path.stem}-{turn}"] = bench.predictions(task, handed_in)
    for name, files in own.items():
        pairs = pairs_of(_tables(files, code), tables)
        if pairs:
            return ScoredTask(task, gold, tables, {name: files, **own}, pairs)
    return ScoredTask(task, gold, tables, own)


def _made_of_gold(one: ScoredTask, first: ScoredTask) -> ScoredTask:
    """A task whose solution is its gold, in files like those of the first one's; nothing where its gold is another."""
    pairs = []
    for pair in first.pairs:
        for gold in one.tables:
            if gold.name == pair.gold.name and pair.fits(gold):
                pairs.append(pair.answered_right(gold))
    if not pairs:
        return one
    files = {pair.answer.name: pair.answer.written() for pair in pairs}
    return replace(one, pairs=pairs, own={"made-of-the-gold": files}, is_made=True)


def _unpacked(path: Path, into: Path, bounds: Bounds) -> Path:
    """A folder itself, or what a zip holds; an empty one where it is no zip."""
    if path.is_dir():
        return path
    into.mkdir(parents=True, exist_ok=True)
    try:
        unpack(path, into, bounds)
    except (ArchiveError, OSError):
        return into
    return into


def _tables(files: Files, code: ScorerCode) -> list[FoundTable]:
    tables = map(read_table, files, files.values(), repeat(code.names))
    return list(filter(None, tables))


# The declaration


def _declared_columns(column: Column, choice: ChosenMetric) -> list[dict[str, Any]]:
    """The column of a declaration, and a hidden one after it that it is an expression of."""
    shown: dict[str, Any] = {"key": column.key, "title": column.title}
    shown["precision"] = 2 if column.precision is None else max(0, min(10, column.precision))
    if column.hidden:
        shown["hidden"] = True
    if choice.form == "{}":
        return [{**shown, "metric": dict(choice.metric)}]
    base = f"{column.key}_itself"
    expression = choice.form.format(base)
    worst = 0 if column.sorting == "desc" else 1e9
    written = {**shown, "expression": expression, "sort": column.sorting, "worst": worst, "meaning": expression}
    return [written, {"key": base, "metric": dict(choice.metric), "hidden": True}]


def scoring_part(proposal: ScoringProposal, columns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a declaration says of scoring."""
    return {**proposal.files, "tasks": [{"id": "scores", "name": "Scores", "columns": list(map(dict, columns))}]}


def _declared_tasks(
    tasks: Sequence[ScoredTask],
    proposal: ScoringProposal,
    columns: Sequence[Mapping[str, Any]],
    folder: Path,
    decimals: int | None = None,
) -> list[Task]:
    """The platform's tasks of a declaration with the gold of `tasks` and nothing else in it, built in `folder`.

    Raises:
        UserError: the gold, or a column, does not fit the declaration.
    """
    files: dict[str, bytes] = {"page.md": b"# Scores\n", "logo.png": placeholder_logo("declared", "Declared")}
    phases = []
    for number, one in enumerate(tasks):
        year, name = FIRST_YEAR + number, f"t{number}"
        phase = {"id": name, "name": name, "start": f"{year}-01-01 UTC", "end": f"{year}-12-01 UTC"}
        phases.append({**phase, "max_submissions": 0, "score_decimals": decimals})
        for path, data in one.gold.items():
            files[f"data/{name}/{path}"] = data
    declaration = {
        "title": "Declared",
        "logo": "logo.png",
        "scoring_program": "declared",
        "pages": [{"title": "Overview", "file": "page.md"}],
        "terms": "page.md",
        "phases": phases,
        **scoring_part(proposal, columns),
    }
    files[FILE] = json.dumps(declaration).encode()  # JSON is YAML
    project, bundle = folder / "project", folder / "bundle.zip"
    for path, data in files.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_bytes(data)
    build(BuildRequest(str(project), bundle, force=True))
    competition = read_competition(open_bundle(bundle, folder / "opened"))
    return [phase.tasks[0] for phase in competition.phases]
