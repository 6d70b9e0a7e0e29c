"""The search for a declaration that scores as a foreign program does.

The original scorer and the declared one score the same submissions: some to choose the metrics by, then the bundle's
own and thirty mutated ones for each task, others than those, to judge the choice by.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from gen_bundle.codabench.competition import Column, Competition, Task
from gen_bundle.errors import UserError
from gen_bundle.importing.declare.choosing import ChosenMetric, choose, refused_columns, search_columns
from gen_bundle.importing.declare.mutants import Files, Mutant, mutants
from gen_bundle.importing.declare.outcomes import Bench, Comparison, Outcome, ScoredTwice
from gen_bundle.importing.declare.project import declared_tasks
from gen_bundle.importing.declare.proposals import ScoringProposal, proposals
from gen_bundle.importing.declare.scored_tasks import ScoredTask, scored_tasks, scorer_of
from gen_bundle.twin.engines import Engine

SEARCHED = 12
"""So many mutants are scored to choose metrics."""
RETRIES = 4
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Scoring:
    """What a declaration says of scoring: a proposal, and for columns by key what gives them their values."""

    proposal: ScoringProposal
    choices: Mapping[str, ChosenMetric]

    @property
    def decimals(self) -> int | None:
        """To which scores are rounded; None: not at all."""
        return max((one.decimals for one in self.choices.values() if one.decimals is not None), default=None)


@dataclass(frozen=True)
class Found:
    """A declaration that was held against the original scorer.

    Attributes:
        columns: the leaderboard's, as the declaration has them, and those that these are made of.
        comparison: all that was scored by both.
    """

    scoring: Scoring
    columns: Sequence[Mapping[str, Any]]
    comparison: Comparison


class DeclarationSearch:
    """The search in a foreign competition.

    Attributes:
        columns: those of the leaderboard that its scorer fills.
        takes_code: an ingestion program makes what is scored.

    Raises:
        UserError: there is not one scorer for all tasks.
    """

    def __init__(self, competition: Competition, engine: Engine, work: Path, progress: Progress) -> None:
        self.columns = [column for column in competition.leaderboard.columns if column.computation is None]
        self.takes_code = any(task.file("ingestion_program") is not None for task in competition.used_tasks)
        self._bench = Bench(engine, competition.image, work)
        self._work = work
        self._progress = progress
        self._code = scorer_of(competition, work)
        progress("running the bundle's own solutions")
        self._tasks = scored_tasks(competition, self._code, self._bench, work)

    @property
    def first(self) -> ScoredTask:
        """The first task with a solution that can be read.

        Raises:
            UserError: there is none.
        """
        for one in self._tasks:
            if one.pairs and not one.is_made:
                return one
        if not any(one.own for one in self._tasks):
            raise UserError("no solution is attached to a task, so that there is nothing to compare by")
        raise UserError(
            "no file of a solution is a table that answers a table in the reference data: CSV, TSV, JSON, or a value a "
            "line, matched by ids or line by line"
        )

    def run(self) -> Found:
        """The declaration that comes nearest: of those that give most columns, the one that agrees best.

        Raises:
            UserError: there is none.
        """
        best: Found | None = None
        for scoring in self._scorings():
            if best is not None and len(scoring.choices) < len(best.scoring.choices):
                continue
            found = self._compared(scoring)
            if (
                best is None
                or len(scoring.choices) > len(best.scoring.choices)
                or found.comparison.agrees_more(best.comparison)
            ):
                best = found
            if len(scoring.choices) == len(self.columns) and not found.comparison.stricter():
                break
        if best is None:
            keys = ", ".join(column.key for column in self.columns)
            raise UserError(f"no metric of a declaration gives the values of {keys}")
        return best

    @property
    def uncompared(self) -> list[str]:
        """The names of tasks whose gold is no file like the first one's."""
        return [one.task.name for one in self._tasks if not one.pairs]

    # Which metrics

    def _scorings(self) -> Iterator[Scoring]:
        """What each proposal can give, where that is anything."""
        first = self.first
        files = next(iter(first.own.values()))
        made = [mutant.files for mutant in islice(mutants(files, first.pairs, "search"), SEARCHED)]
        submissions = [*first.own.values(), *made]
        originals = self._scored("choosing metrics", [(first.task, one) for one in submissions])
        if not any(one.scores for one in originals):
            raise UserError(f"the original scorer gives no scores on this machine: {originals[0].reason}")
        for turn, proposal in enumerate(proposals(first.pairs, self._code)):
            built = self._built(proposal, self._work / f"search-{turn}")
            if built is None:
                continue
            declared = self._scored("choosing metrics", [(built[self._tasks.index(first)], one) for one in submissions])
            found = {column.key: choose(column.key, proposal, originals, declared) for column in self.columns}
            choices = {key: choice for key, choice in found.items() if choice is not None}
            if choices:
                yield Scoring(proposal, choices)

    def _built(self, proposal: ScoringProposal, folder: Path) -> list[Task] | None:
        """The tasks of a proposal with all its metrics, but for those that the gold refuses; None: all of it."""
        left_out: frozenset[str] = frozenset()
        for turn in range(RETRIES):
            columns = search_columns(proposal, left_out)
            try:
                return declared_tasks(self._tasks, proposal, columns, folder / str(turn)) if columns else None
            except UserError as error:
                refused = refused_columns(error.messages) - left_out
                if not refused:
                    return None
                left_out |= refused
        return None

    def _scored(self, step: str, jobs: Sequence[tuple[Task, Files]]) -> list[Outcome]:
        found: list[Outcome] = []
        for outcome in self._bench.outcomes(jobs):
            found.append(outcome)
            self._progress(f"{step}: {len(found)} of {len(jobs)} scored")
        return found

    # Both scorers

    def _compared(self, scoring: Scoring) -> Found:
        columns = []
        for column in self.columns:
            if column.key in scoring.choices:
                columns += declared_columns(column, scoring.choices[column.key])
        folder = self._work / f"compared-{id(scoring)}"
        built = declared_tasks(self._tasks, scoring.proposal, columns, folder, scoring.decimals)
        runs: list[ScoredTwice] = []
        for place, (one, task) in enumerate(zip(self._tasks, built, strict=True)):
            if one.pairs:
                runs += self._runs(one, task, f"compared-{place}")
        return Found(scoring, columns, Comparison(list(scoring.choices), runs))

    def _runs(self, one: ScoredTask, declared: Task, seed: str) -> Iterator[ScoredTwice]:
        """The task's solutions, and mutants of the first, scored by both."""
        submissions = [Mutant(name, files) for name, files in one.own.items()]
        submissions += mutants(next(iter(one.own.values())), one.pairs, seed)
        jobs = [(scorer, mutant.files) for mutant in submissions for scorer in (one.task, declared)]
        outcomes = self._scored(f"comparing, task {one.task.name}", jobs)
        for number, mutant in enumerate(submissions):
            original, by_declaration = outcomes[2 * number : 2 * number + 2]
            own = number < len(one.own) and not one.is_made
            yield ScoredTwice(one.task.name, mutant.name, original, by_declaration, own=own)


def declared_columns(column: Column, choice: ChosenMetric) -> list[dict[str, Any]]:
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
