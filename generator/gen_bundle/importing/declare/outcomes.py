"""What scoring programs make of submissions, in the dry run's own jobs, and where two of them differ."""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gen_bundle.codabench.board import RefusedError, stored_value
from gen_bundle.codabench.competition import Task
from gen_bundle.codabench.versions import DIFFERENCES, NEWEST
from gen_bundle.importing.declare.mutants import Files
from gen_bundle.twin.engines import Engine
from gen_bundle.twin.jobs import Jobs, JobSetting, run_jobs
from gen_bundle.twin.layout import temporary_folder
from gen_bundle.zips.writing import all_files, write_zip

NEARLY = 1e-9
LONGEST_REASON = 200
OUR_REFUSAL = "The submission cannot be scored"
"""How the line begins after which a declared scorer names the problems."""
AT_ONCE = 4
SECONDS = 600


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
        return None if self.scores is None else self.scores.get(column)


class Bench:
    """Runs submissions through tasks, one by one, in folders below `work`."""

    def __init__(self, engine: Engine, image: str, work: Path) -> None:
        self._setting = JobSetting(engine, image, False, lambda _: None, DIFFERENCES[NEWEST])
        self._work = work

    def outcome(self, task: Task, files: Files) -> Outcome:
        """Score what was predicted already; no ingestion program runs."""
        plain = replace(task, files={role: use for role, use in task.files.items() if role in SCORING})
        with temporary_folder("run-", self._work) as folder:
            jobs = self._run(plain, files, folder)
            return _outcome(jobs)

    def outcomes(self, jobs: Sequence[tuple[Task, Files]]) -> Iterator[Outcome]:
        """Score many submissions, some at once; yields in their order."""
        with ThreadPoolExecutor(min(AT_ONCE, os.cpu_count() or 1)) as pool:
            yield from pool.map(lambda job: self.outcome(*job), jobs)

    def predictions(self, task: Task, files: Files) -> Files:
        """What is scored of a submission: its own files, or what the ingestion program makes of it."""
        if task.file("ingestion_program") is None:
            return files
        with temporary_folder("run-", self._work) as folder:
            jobs = self._run(task, files, folder)
            output = jobs.prediction.folders.output
            made = all_files(output) if output.is_dir() else {}
            return {name: _bytes(file) for name, file in made.items() if name not in ("metadata", "metadata.yaml")}

    def _run(self, task: Task, files: Files, folder: Path) -> Jobs:
        submission = folder / "submission.zip"
        write_zip(submission, files)
        return run_jobs(submission, task, SECONDS, folder, self._setting)


SCORING = ("scoring_program", "reference_data")


def _bytes(content: bytes | Path) -> bytes:
    return content if isinstance(content, bytes) else content.read_bytes()


def _outcome(jobs: Jobs) -> Outcome:
    if jobs.sends_scores and not jobs.failure and isinstance(jobs.scores, dict):
        return Outcome({key: float(value) for key, value in jobs.scores.items() if _is_number(key, value)})
    return Outcome(None, _reason(jobs))


def _is_number(key: str, value: Any) -> bool:
    """Whether the platform would store a score."""
    try:
        stored_value(key, value)
    except RefusedError:
        return False
    return True


def _reason(jobs: Jobs) -> str:
    if jobs.crash:  # the program itself ended well, such as with NaN among its scores
        return jobs.crash[:LONGEST_REASON]
    log = jobs.scoring.folders.log("program", "stderr")
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
    said = [line.strip() for line in lines if line.strip()]
    if not said:
        return (jobs.failure or "no scores")[:LONGEST_REASON]
    problems = [place for place, line in enumerate(said) if line.startswith(OUR_REFUSAL)]
    line = said[problems[0] + 1] if problems else said[-1]
    return line[:LONGEST_REASON]


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


@dataclass(frozen=True)
class Comparison:
    """All that was scored by both, and the columns that are compared."""

    columns: Sequence[str]
    runs: Sequence[ScoredTwice]

    def differing(self) -> list[tuple[ScoredTwice, str]]:
        """Each value of the original, or failure, that the declaration does not have, with its column."""
        found = []
        for run in self.runs:
            columns = [one for one in self.columns if not are_equal(run.original.value(one), run.declared.value(one))]
            found += [(run, column) for column in (columns if run.is_scored_by_both else columns[:1])]
        return found

    def stricter(self) -> list[ScoredTwice]:
        """What the original scores and the declaration refuses."""
        return [run for run in self.runs if run.original.scores is not None and run.declared.scores is None]

    def equal(self) -> tuple[int, int]:
        """How many of the original's values are equal, and how many there are."""
        scored = [run for run in self.runs if run.original.scores is not None]
        pairs = [(run, column) for run in scored for column in self.columns]
        same = [are_equal(run.original.value(column), run.declared.value(column)) for run, column in pairs]
        return sum(same), len(same)

    def refused_by_both(self) -> int:
        return sum(run.original.scores is None and run.declared.scores is None for run in self.runs)

    def agrees_more(self, other: "Comparison") -> bool:
        return len(self.differing()) < len(other.differing())
