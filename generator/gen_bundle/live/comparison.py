"""What a submission gave here and on a live site, cell by cell: status, scores, log; and what it was here."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gen_bundle.codabench.board import Board, RefusedError
from gen_bundle.codabench.competition import Leaderboard, Phase
from gen_bundle.codabench.versions import DIFFERENCES, PlatformVersion
from gen_bundle.difference.signatures import SIGNATURE
from gen_bundle.live.answers import unsigned
from gen_bundle.live.connection import Row
from gen_bundle.live.submissions import FINAL, message, scores, state
from gen_bundle.plain_text import counted, one_line
from gen_bundle.twin.plan import Planned
from gen_bundle.twin.report import TOLERANCE, Run

NOTHING = "–"
_NUMBER = re.compile(r"(?<![A-Za-z_])\d+(?:[.,:]\d+)*")
LOGS = {
    "stdout.txt": "scoring_stdout",
    "stderr.txt": "scoring_stderr",
    "ingestion-stdout.txt": "scoring_ingestion_stdout",
    "ingestion-stderr.txt": "scoring_ingestion_stderr",
    "prediction-stdout.txt": "prediction_stdout",
    "prediction-stderr.txt": "prediction_stderr",
    "prediction-ingestion-stdout.txt": "prediction_ingestion_stdout",
    "prediction-ingestion-stderr.txt": "prediction_ingestion_stderr",
}
"""The logs that a dry run keeps, and what the site calls them."""


@dataclass(frozen=True)
class Rehearsed:
    """A submission of the bundle, and what came of it here.

    Attributes:
        submission: what is uploaded, under which name, for which tasks.
        runs: the outcome for each task, by the task's name.
        logs: the folder with what the programs printed, likewise.
    """

    phase: Phase
    submission: Planned
    runs: Mapping[str, Run]
    logs: Mapping[str, Path]

    @property
    def label(self) -> str:
        return f"{self.phase.name}/{self.submission.name}"


@dataclass(frozen=True)
class Cell:
    """One thing that was held against the dry run.

    Attributes:
        what: `status`, a column's key, or `log`.
        here: what the dry run gave, as text.
        there: what the live site gave.
        equal: whether both are the same; of a measured column, whether both have a value.
        measured: a column that shows a time, which differs from run to run.
    """

    phase: str
    submission: str
    task: str
    what: str
    here: str
    there: str
    equal: bool
    measured: bool = False


@dataclass(frozen=True)
class Comparison:
    """What both sides share: the leaderboard, the version that the site follows, and the columns that show a time."""

    leaderboard: Leaderboard
    version: PlatformVersion
    measured: Set[str] = frozenset()

    def cells(self, one: Rehearsed, task: str, row: Row, logs: Mapping[str, str]) -> Iterator[Cell]:
        """All cells of a submission for a task.

        Args:
            one: the submission, and what came of it here.
            task: the task's name.
            row: the answer of `submissions/ID/`.
            logs: the texts of its logs by name; empty where the site has none.
        """
        run = one.runs[task]
        place = (one.phase.name, one.submission.name, task)
        status, reason = state(row), unsigned(message(row))
        here, there = _outcome(run.status, run.message), _outcome(status, reason)
        yield Cell(*place, "status", one_line(here), one_line(there), run.status == status)
        if status not in FINAL:
            return
        ours, theirs = self._stored(run, several=len(one.runs) > 1), scores(row)
        for column in self.leaderboard.columns:
            key = column.key
            if key not in ours and key not in theirs:
                continue
            measured = key in self.measured
            equal = _same(ours.get(key), theirs.get(key), math.inf if measured else TOLERANCE)
            yield Cell(*place, key, _shown(ours.get(key)), one_line(_shown(theirs.get(key))), equal, measured)
        texts = [(_text(one.logs[task] / name), logs.get(other, "")) for name, other in LOGS.items()]
        here, there, equal = _logs(texts)
        yield Cell(*place, "log", one_line(here), one_line(unsigned(there)), equal)

    def _stored(self, run: Run, *, several: bool) -> dict[str, float]:
        """What the server would store; a computed column is made for submissions to a single task alone."""
        board = Board(self.leaderboard, DIFFERENCES[self.version])
        whole = board.submit(run.submission, run.submission, [run.task] if several else [])
        (entry,) = whole.children or [whole]
        with suppress(RefusedError):  # what was stored before stays
            board.upload(entry, run.scores or {})
        return {score.column.key: float(score.value) for score in entry.scores}


def _outcome(status: str, reason: str) -> str:
    return f"{status}: {' '.join(reason.split())}" if status == "Failed" and reason else status


def _same(here: float | None, there: float | str | None, tolerance: float) -> bool:
    return isinstance(here, float) and isinstance(there, float) and math.isclose(here, there, abs_tol=tolerance)


def _shown(score: float | str | None) -> str:
    if not isinstance(score, float):
        return NOTHING if score is None else score
    return f"{score:.10f}".rstrip("0").rstrip(".")


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def _logs(texts: Sequence[tuple[str, str]]) -> tuple[str, str, bool]:
    """The cell of the logs: how many lines each side has, or the first ones that differ; and whether they agree.

    The platform often has no log, or loses its beginning, and workers may be set to keep it to themselves: only a
    line that is there and not here is a difference.
    """
    for here, there in texts:
        if pair := _unlike(here, there):
            return (pair[0] or NOTHING, pair[1], False)
    ours, theirs = (_lines_in(side) for side in zip(*texts, strict=True))
    return ours, theirs, True


def _lines_in(texts: Sequence[str]) -> str:
    count = sum(len(text.splitlines()) for text in texts)
    return counted(count, "line") if count else "no log"


def _unlike(here: str, there: str) -> tuple[str, str] | None:
    """The first line of the site's log that the dry run did not print, after the dry run's line at that place; or None.

    Lines may be missing on the site, but must come in the same order. Numbers are compared only in a signature:
    elsewhere they may be times, and scores are compared by themselves. The worker loses the beginnings of logs, and
    sometimes cuts inside a line, so the first line there may be the end of one here, and the last line the beginning.
    """
    ours, theirs = _lines(here), _lines(there)
    place = 0
    for number, line in enumerate(theirs):
        may_begin_inside, may_end_inside = number == 0, number == len(theirs) - 1
        at = place
        while at < len(ours) and not (
            ours[at] == line
            or (may_begin_inside and ours[at].endswith(line))
            or (may_end_inside and ours[at].startswith(line))
        ):
            at += 1
        if at == len(ours):
            return (ours[place] if place < len(ours) else ""), line
        place = at + 1
    return None


def _lines(text: str) -> list[str]:
    """The lines that have any text; a letter that was cut in the middle is left out."""
    stripped = (line.strip().strip("\ufffd") for line in text.splitlines())
    return [_without_numbers(line) for line in stripped if line]


def _without_numbers(line: str) -> str:
    return line if SIGNATURE.search(line) else _NUMBER.sub("…", line)
