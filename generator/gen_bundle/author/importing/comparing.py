"""Two scorers compared: submissions that they may meet, what each makes of them, and where they differ."""

import os
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

from gen_bundle.author.importing.tables import FilePair, FoundTable, Row, is_number
from gen_bundle.codabench.board import RefusedError, stored_value
from gen_bundle.codabench.competition import Task
from gen_bundle.codabench.versions import DIFFERENCES, NEWEST
from gen_bundle.dry_run.engines import Engine
from gen_bundle.dry_run.jobs import Jobs, JobSetting, run_jobs
from gen_bundle.dry_run.layout import temporary_folder
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.zips.writing import folder_members, write_zip

NEARLY = 1e-9
LONGEST_REASON = 200
OUR_REFUSAL = "The submission cannot be scored"
"""How the line begins after which a declared scorer names the problems."""
AT_ONCE = 4
SECONDS = 600
SCORING = ("scoring_program", "reference_data")
WORKERS_OWN = ("metadata", "metadata.yaml")
Files = Mapping[str, bytes]
"""A submission, or gold: its files by name."""
Progress = Callable[[str], None]

# Thirty submissions made of one


def mutants(files: Files, pairs: Sequence[FilePair], seed: str) -> dict[str, Files]:
    """Name → submission made of one, by chance but the same for a seed; first those that any scorer should take."""
    answers = list(map(AnswerTable, pairs))
    made: dict[str, Files] = {}
    for number, (name, change) in enumerate(CHANGES):
        rng = random.Random(f"{seed}-{number}")  # noqa: S311 - for tests, not for secrets
        changed = [one.table.with_rows(change(one, rng)) for one in answers]
        made[f"{number + 1}-{name}"] = _with_tables(files, changed)
    made["27-another-header"] = _with_tables(files, [one.renamed() for one in answers])
    made["28-no-rows"] = _with_tables(files, [one.table.with_rows([]) for one in answers])
    names = [pair.answer.name for pair in pairs]
    made["29-empty-file"] = {**files, **dict.fromkeys(names, b"")}
    rest = {name: data for name, data in files.items() if name not in names}
    made["30-no-file"] = {"readme.md": b"Nothing else.\n", **rest}
    return made


def _with_tables(files: Files, tables: Sequence[FoundTable]) -> Files:
    return {**files, **{table.name: table.written() for table in tables}}


class AnswerTable:
    """The table of a submission, and what of it may be changed.

    Attributes:
        key: the places of the key in a row.
        places: those of the answers.
        right: the rows with the gold's answers.
        known: place → the different answers, and the right ones.
        bounds: place → the least and the largest answer, where they are numbers of which no few are labels.
    """

    def __init__(self, pair: FilePair) -> None:
        self.table, gold = pair.answer, pair.gold
        self.key = list(map(self.table.columns.index, pair.key))
        self.places = list(map(self.table.columns.index, pair.fields))
        self.right = self._right(pair)
        self.known: dict[int, list[Any]] = {}
        self.bounds: dict[int, tuple[float, float]] = {}
        for place, (mine, theirs) in zip(self.places, pair.fields.items(), strict=True):
            answers = self.table.column(mine)
            self.known[place] = sorted({*answers, *map(itemgetter(place), self.right)}, key=str)
            labels = set(map(str, gold.column(theirs)))
            are_labels = len(labels) <= len(gold.rows) // 2 and labels.issuperset(map(str, answers))
            if all(map(is_number, answers)) and not are_labels:
                numbers = list(map(float, answers))
                self.bounds[place] = (min(numbers), max(numbers))

    def _right(self, pair: FilePair) -> list[Row]:
        golds: Sequence[Row] = pair.gold.rows
        if pair.key:
            by_key = dict(zip(pair.gold.ids(pair.key.values()), golds, strict=True))
            golds = list(map(by_key.__getitem__, self.table.ids(pair.key)))
        wanted = list(map(pair.gold.columns.index, pair.fields.values()))
        rows = []
        for row, gold in zip(self.table.rows, golds, strict=True):
            cells = list(row)
            for place, at in zip(self.places, wanted, strict=True):
                cells[place] = _as(row[place], gold[at])
            rows.append(tuple(cells))
        return rows

    def each(self, change: Callable[[int, Any, Any], Any]) -> list[Row]:
        """The rows with other answers: `change` gets the column, its value, and the right one."""
        rows = []
        for row, right in zip(self.table.rows, self.right, strict=True):
            cells = list(row)
            for place in self.places:
                cells[place] = change(place, row[place], right[place])
            rows.append(tuple(cells))
        return rows

    def renamed(self) -> FoundTable:
        """With another name of the first answer's column; a table without header stays as it is."""
        columns = list(self.table.columns)
        columns[self.places[0]] = f"my_{columns[self.places[0]]}"
        return replace(self.table, columns=tuple(columns))


def _as(like: Any, value: Any) -> Any:
    """A value in the JSON type of another."""
    if isinstance(like, str) and not isinstance(value, str):
        return str(value)
    if isinstance(like, int | float) and isinstance(value, str) and is_number(value):
        return float(value)
    return value


def _permuted(answers: AnswerTable, rng: random.Random) -> Sequence[Row]:
    """The answers of other rows."""
    rows = []
    for row, other in zip(answers.table.rows, _shuffled(answers, rng), strict=True):
        cells = list(row)
        for place in answers.places:
            cells[place] = other[place]
        rows.append(tuple(cells))
    return rows


def _shuffled(answers: AnswerTable, rng: random.Random) -> Sequence[Row]:
    return rng.sample(answers.table.rows, len(answers.table.rows))


def _partly_right(answers: AnswerTable, rng: random.Random, share: float) -> Sequence[Row]:
    """So many answers right, the others as they were, or another known one."""

    def change(place: int, value: Any, right: Any) -> Any:
        if rng.random() < share:
            return right
        return value if place in answers.bounds else rng.choice(answers.known[place])

    return answers.each(change)


def _noise(answers: AnswerTable, rng: random.Random, size: float) -> Sequence[Row]:
    """Numbers with noise, within their bounds where these are 0 and 1; other answers changed as often."""

    def change(place: int, value: Any, right: Any) -> Any:
        if place not in answers.bounds:
            known = answers.known[place]
            return rng.choice(known) if rng.random() < size else value
        low, high = answers.bounds[place]
        noisy = float(value) + rng.gauss(0, size * (high - low or 1))
        if low >= 0 and high <= 1:
            noisy = min(max(noisy, 0.0), 1.0)
        return f"{noisy:.6f}" if isinstance(value, str) else noisy

    return answers.each(change)


def _constant(answers: AnswerTable, rng: random.Random, which: int) -> Sequence[Row]:
    return answers.each(lambda place, value, right: answers.known[place][which])


def _dropped(answers: AnswerTable, rng: random.Random, share: float) -> Sequence[Row]:
    """Without so many of the last rows, at least one."""
    rows = answers.table.rows
    return rows[: len(rows) - max(1, round(len(rows) * share))]


def _unknown_row(answers: AnswerTable, rng: random.Random) -> Sequence[Row]:
    row = list(rng.choice(answers.table.rows))
    for place in answers.key:
        row[place] = f"{row[place]}9" if isinstance(row[place], str) else row[place] * 10 + 9
    return [*answers.table.rows, tuple(row)]


def _cell(answers: AnswerTable, rng: random.Random, value: str) -> Sequence[Row]:
    """One answer is something else."""
    rows = list(map(list, answers.table.rows))
    rng.choice(rows)[answers.places[0]] = value
    return list(map(tuple, rows))


CHANGES: Sequence[tuple[str, Callable[[AnswerTable, random.Random], Sequence[Row]]]] = (
    ("rewritten", lambda answers, rng: answers.table.rows),
    ("permuted", _permuted),
    ("permuted", _permuted),
    ("90-percent-right", partial(_partly_right, share=0.9)),
    ("60-percent-right", partial(_partly_right, share=0.6)),
    ("30-percent-right", partial(_partly_right, share=0.3)),
    ("10-percent-right", partial(_partly_right, share=0.1)),
    ("noise", partial(_noise, size=0.02)),
    ("noise", partial(_noise, size=0.1)),
    ("noise", partial(_noise, size=0.3)),
    ("noise", partial(_noise, size=0.6)),
    ("permuted", _permuted),
    ("75-percent-right", partial(_partly_right, share=0.75)),
    ("45-percent-right", partial(_partly_right, share=0.45)),
    ("all-right", partial(_partly_right, share=1.0)),
    ("none-known-right", partial(_partly_right, share=0.0)),
    ("shuffled-rows", _shuffled),
    ("shuffled-rows", _shuffled),
    ("constant", partial(_constant, which=0)),
    ("constant", partial(_constant, which=-1)),
    ("without-last-row", partial(_dropped, share=0)),
    ("first-half", partial(_dropped, share=0.5)),
    ("a-row-twice", lambda answers, rng: [*answers.table.rows, rng.choice(answers.table.rows)]),
    ("row-of-an-unknown-id", _unknown_row),
    ("unknown-answer", partial(_cell, value="no-such-answer")),
    ("answer-nan", partial(_cell, value="nan")),
)
"""The first ones are the search's, and must tell metrics apart; from the 21st on a scorer may refuse them."""


# What becomes of a submission


@dataclass(frozen=True)
class Outcome:
    """What became of a submission.

    Attributes:
        scores: column → value; None where it failed.
        reason: the last line that the program printed of it, where it failed.
    """

    scores: Mapping[str, float] | None
    reason: str = ""

    def value(self, column: str) -> float | None:
        """A column's value; None where there is none."""
        return (self.scores or {}).get(column)


def files_below(folder: Path) -> dict[str, bytes]:
    """The files in a folder by their paths, without junk."""
    found = {}
    for name, content in folder_members(folder).items():
        found[name] = content if isinstance(content, bytes) else content.read_bytes()
    return found


class Bench:
    """Runs submissions in the dry run's own jobs, in folders below `work`.

    Every method raises UserError where this machine, and no program, is at fault.
    """

    def __init__(self, engine: Engine, image: str, work: Path, progress: Progress) -> None:
        self._setting = JobSetting(engine, image, False, lambda _: None, DIFFERENCES[NEWEST])
        self._work = work
        self._progress = progress

    def outcomes(self, step: str, task: Task, submissions: Collection[Files]) -> list[Outcome]:
        """What becomes of what was predicted already, some at once; no ingestion program runs."""
        found: list[Outcome] = []
        with ThreadPoolExecutor(min(AT_ONCE, os.cpu_count() or 1)) as pool:
            for outcome in pool.map(partial(self._outcome, task), submissions):
                found.append(outcome)
                self._progress(f"{step}: {len(found)} of {len(submissions)} scored")
        return found

    def _outcome(self, task: Task, files: Files) -> Outcome:
        scoring = replace(task, files={role: use for role, use in task.files.items() if role in SCORING})
        with temporary_folder("run-", self._work) as folder:
            jobs = self._run(scoring, files, folder)
            if not jobs.sends_scores or jobs.failure or not isinstance(jobs.scores, dict):
                return Outcome(None, _reason(jobs)[:LONGEST_REASON])
            scores: dict[str, float] = {}
            for key, value in jobs.scores.items():
                with suppress(RefusedError):
                    stored_value(key, value)
                    scores[key] = float(value)
            return Outcome(scores)

    def predictions(self, task: Task, files: Files) -> Files:
        """What is scored of a submission: its own files, or what the ingestion program makes of it."""
        if task.file("ingestion_program") is None:
            return files
        with temporary_folder("run-", self._work) as folder:
            output = self._run(task, files, folder).prediction.folders.output
            if not output.is_dir():
                return {}
            made = files_below(output)
            for name in WORKERS_OWN:
                made.pop(name, None)
            return made

    def _run(self, task: Task, files: Files, folder: Path) -> Jobs:
        submission = folder / "submission.zip"
        write_zip(submission, files)
        jobs = run_jobs(submission, task, SECONDS, folder, self._setting)
        if jobs.machine_fault:
            raise UserError(f"the programs cannot be run on this machine: {jobs.failure}")
        return jobs


def _reason(jobs: Jobs) -> str:
    if jobs.crash:  # the program itself ended well, such as with NaN among its scores
        return jobs.crash
    log = jobs.scoring.folders.log("program", "stderr")
    said = []
    if log.is_file():
        said = list(filter(None, map(str.strip, log.read_text(encoding="utf-8", errors="replace").splitlines())))
    for line, following in pairwise(said):
        if line.startswith(OUR_REFUSAL):
            return following
    if said:
        return said[-1]
    return jobs.failure or "no scores"


# Where both differ


def are_equal(one: float | None, other: float | None) -> bool:
    """Whether two values are the same to 1e-9 of the larger, or both are absent."""
    if one is None or other is None:
        return one is other
    return abs(one - other) <= NEARLY * max(1.0, abs(one), abs(other))


@dataclass(frozen=True)
class ScoredTwice:
    """A submission scored by both.

    Attributes:
        name: the submission's.
        own: it is the bundle's own.
    """

    task: str
    name: str
    original: Outcome
    declared: Outcome
    own: bool = False

    @property
    def is_scored_by_both(self) -> bool:
        return self.original.scores is not None and self.declared.scores is not None

    @property
    def is_refused_by_both(self) -> bool:
        return self.original.scores is None and self.declared.scores is None

    def is_equal(self, column: str) -> bool:
        """Whether both give the column the same value, or neither gives one."""
        return are_equal(self.original.value(column), self.declared.value(column))


@dataclass(frozen=True)
class Comparison:
    """All that was scored by both, and the columns that are compared."""

    columns: Sequence[str]
    runs: Sequence[ScoredTwice]

    def differing(self) -> list[tuple[ScoredTwice, str]]:
        """Each value that only one of both gives; of a submission that only one refuses, the first column."""
        found = []
        for run in self.runs:
            columns = [column for column in self.columns if not run.is_equal(column)]
            if not run.is_scored_by_both and not run.is_refused_by_both:
                columns = [*columns, *self.columns][:1]
            found += [(run, column) for column in columns]
        return found

    @property
    def said(self) -> str:
        """How much was compared, and is equal."""
        own = refused = values = equal = 0
        for run in self.runs:
            own += run.own
            refused += run.is_refused_by_both
            if run.original.scores is not None:
                values += len(self.columns)
                equal += sum(map(run.is_equal, self.columns))
        return (
            f"{len(self.runs)} submissions, {own} of the bundle's own and {len(self.runs) - own} mutated: "
            f"{equal:,} of {values:,} values equal; {refused} submissions refused by both"
        )
