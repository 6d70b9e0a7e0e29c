"""What a submission gave here and on a live site, cell by cell: status, scores, log."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gen_bundle.codabench.board import Board
from gen_bundle.codabench.leaderboard import Leaderboard
from gen_bundle.codabench.stored_scores import RefusedError
from gen_bundle.codabench.versions import DIFFERENCES, PlatformVersion
from gen_bundle.difference.signatures import SIGNATURE
from gen_bundle.live.answers import unsigned
from gen_bundle.live.rehearsal import Rehearsed
from gen_bundle.live.submissions import FINAL, message, scores, state
from gen_bundle.plain_text import one_line
from gen_bundle.twin.outcomes import TOLERANCE, Run

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
class Cell:
    """One thing that was held against the dry run.

    Attributes:
        what: `status`, a column's key, or `log`.
        here: what the dry run gave, as text.
        there: what the live site gave.
    """

    phase: str
    submission: str
    task: str
    what: str
    here: str
    there: str
    equal: bool


@dataclass(frozen=True)
class Scored:
    """What the site made of a submission for one task.

    Attributes:
        row: the answer of `submissions/ID/`.
        logs: the texts of its logs by name; empty where the site has none.
    """

    row: Mapping[str, Any]
    logs: Mapping[str, str]


@dataclass(frozen=True)
class Comparison:
    """What both sides share: the leaderboard, and the version that the site follows."""

    leaderboard: Leaderboard
    version: PlatformVersion

    def cells(self, rehearsed: Rehearsed, task: str, scored: Scored) -> Iterator[Cell]:
        """All cells of a submission for a task, by the task's name."""
        run = rehearsed.runs[task]
        several = len(rehearsed.runs) > 1

        def cell(what: str, here: str, there: str, equal: bool) -> Cell:
            name = rehearsed.submission.name
            return Cell(rehearsed.phase.name, name, task, what, one_line(here), one_line(unsigned(there)), equal)

        status = state(scored.row)
        yield cell(
            "status", _outcome(run.status, run.message), _outcome(status, message(scored.row)), run.status == status
        )
        if status not in FINAL:
            return
        here, there = self._stored(run, several), scores(scored.row)
        for key in self._keys(here, there):
            yield cell(key, _shown(here.get(key)), _shown(there.get(key)), _same(here.get(key), there.get(key)))
        texts = [(_text(rehearsed.logs[task] / name), scored.logs.get(other, "")) for name, other in LOGS.items()]
        yield cell("log", *_logs(texts))

    def _keys(self, *scores: Mapping[str, object]) -> list[str]:
        """The columns in their order that one of both has a score for."""
        given = {key for one in scores for key in one}
        return [column.key for column in self.leaderboard.columns if column.key in given]

    def _stored(self, run: Run, several: bool) -> dict[str, float]:
        """What the server would store; a computed column is made for submissions to a single task alone."""
        board = Board(self.leaderboard, DIFFERENCES[self.version])
        whole = board.submit(run.submission, run.submission, [run.task] if several else [])
        (entry,) = whole.children or [whole]
        with suppress(RefusedError):  # what was stored before stays
            board.upload(entry, run.scores or {})
        return {score.column.key: float(score.value) for score in entry.scores}


def _outcome(status: str, reason: str) -> str:
    return f"{status}: {' '.join(reason.split())}" if status == "Failed" and reason else status


def _same(here: float | None, there: float | str | None) -> bool:
    return isinstance(here, float) and isinstance(there, float) and math.isclose(here, there, abs_tol=TOLERANCE)


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
    lines = [sum(len(text.splitlines()) for text in side) for side in zip(*texts, strict=True)]
    here, there = (f"{number} line{'' if number == 1 else 's'}" if number else "no log" for number in lines)
    return here, there, True


def _unlike(here: str, there: str) -> tuple[str, str] | None:
    """The first line of the site's log that the dry run did not print, after the dry run's line at that place; or None.

    Lines may be missing on the site, but must come in the same order. Numbers are compared only in a signature:
    elsewhere they may be times, and scores are compared by themselves. The worker loses the beginnings of logs, and
    sometimes cuts inside a line, so the first line there may be the end of one here, and the last line the beginning.
    """
    ours, theirs = _lines(here), _lines(there)
    place = 0
    for number, line in enumerate(theirs):
        found = next(
            (
                at
                for at, own in enumerate(ours[place:], place)
                if own == line
                or (number == 0 and own.endswith(line))
                or (number == len(theirs) - 1 and own.startswith(line))
            ),
            None,
        )
        if found is None:
            return (ours[place] if place < len(ours) else ""), line
        place = found + 1
    return None


def _lines(text: str) -> list[str]:
    """The lines that have any text; a letter that was cut in the middle is left out."""
    stripped = (line.strip().strip("\ufffd") for line in text.splitlines())
    return [_without_numbers(line) for line in stripped if line]


def _without_numbers(line: str) -> str:
    return line if SIGNATURE.search(line) else _NUMBER.sub("…", line)
