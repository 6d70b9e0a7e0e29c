"""program.json: which competition, tasks, options and columns a scoring program was packed for."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from scoring_kit.base.scoring_keys import FOR_THE_CHECK
from scoring_kit.errors import OrganiserError

STORED = Decimal("1e-10")
AVERAGE_RANK = "avg_rank"
OF_STORED: Mapping[str | None, Callable[[Sequence[Decimal]], Any]] = {
    "min": min,
    "max": max,
    "sum": sum,
    "avg": lambda scores: (sum(scores, Decimal()) / len(scores)).quantize(STORED, ROUND_HALF_UP),
}
"""Computations of the platform: its source is named in `gen_bundle.codabench.board`, which replays it."""


@dataclass(frozen=True)
class ScoreColumn:
    """A leaderboard column.

    Attributes:
        key: name in scores.json.
        task: id of the task that fills it.
        title: heading on the board.
        sort: `desc` (higher is better) or `asc`.
        precision: decimals shown.
        worst: the score of a submission that does not enter the task, and the bound of every written score; None of a
            computed column.
        meaning: one line for readers.
        computation: `sum`, `avg`, `min` or `max`, by which the platform fills the column, or `avg_rank`, by which it
            compares all submissions; None where it is written.
        of: keys of the columns that a computed one is made of.
        hidden: the board does not show it.
        measured: `seconds`: the column shows how long submitted code ran; None of every other column.
    """

    key: str
    task: str
    title: str
    sort: str
    precision: int
    worst: float | None
    meaning: str
    computation: str | None = None
    of: Sequence[str] = ()
    hidden: bool = False
    measured: str | None = None

    @property
    def decimals(self) -> int:
        """Decimals that the board shows; a negative precision rounds to tens and shows none."""
        return max(self.precision, 0)

    def or_worst(self, value: float | None) -> float | None:
        """Return a score, or `worst` where there is none."""
        return self.worst if value is None else value

    def bounded(self, value: float) -> float:
        """`value`, or `worst` where `value` is beyond it."""
        if self.worst is None:
            return value
        return max(value, self.worst) if self.sort == "desc" else min(value, self.worst)


@dataclass(frozen=True)
class Program:
    """A scoring program's own description.

    Attributes:
        tasks: ids of those that are scored here.
        all_tasks: ids of the competition's.
        columns: in the board's order; the first one ranks.
        details_min_items: a detailed figure has at least so many scored items.
        scores_txt: write scores.txt, too (older CodaLab).
        phase: its `id` and `name`; None in a starting kit, where participants score with gold of their own, and where
            organisers rank.
        details: what participants see beside their scores, `none`, `headline` or `full`; `all` for organisers.
        score_decimals: every figure is rounded to so many decimals; None leaves them exact.
        scores_hidden: the platform keeps the scoring output of the phase from participants.
        baselines: name → column key → score, for comparison.
        takes_code: submissions are code, and an ingestion program hands over what they wrote.
        code: digest of the program's files, for the signature; empty where they are not packed.
        tie_break: keys of the columns that order teams of equal scores; None: those that follow on the board. Teams
            that are still equal share a rank.
    """

    competition: str
    package: str
    title: str
    version: str
    layout: str
    tasks: tuple[str, ...]
    all_tasks: tuple[str, ...]
    task_names: Mapping[str, str]
    options: Mapping[str, Any]
    columns: tuple[ScoreColumn, ...]
    details_min_items: int
    scores_txt: bool = False
    phase: Mapping[str, str] | None = None
    details: str = "full"
    score_decimals: int | None = None
    scores_hidden: bool = False
    baselines: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    takes_code: bool = False
    code: str = ""
    tie_break: Sequence[str] | None = None

    @classmethod
    def read(cls, path: Path) -> "Program":
        """Read program.json; raises OrganiserError where the program was not packed as a whole.

        Options that name a file of the program (`files/NAME`) get its path on this machine.
        """
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            data["options"] = _with_paths(data["options"], path.parent)
            columns = tuple(ScoreColumn(**column) for column in data.pop("columns"))
            for name in FOR_THE_CHECK:
                data.pop(name, None)
            data["tasks"], data["all_tasks"] = tuple(data["tasks"]), tuple(data["all_tasks"])
            return cls(columns=columns, **data)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise OrganiserError(
                f"{path.name}: the scoring program's description is missing or damaged ({type(error).__name__}). "
                "Build the bundle again with gen-bundle and upload its scoring program."
            ) from error

    @property
    def keys(self) -> list[str]:
        """The keys of the columns, in the board's order."""
        return [column.key for column in self.columns]

    def columns_of(self, task: str) -> list[ScoreColumn]:
        """Return the columns of a task, in the board's order."""
        return [column for column in self.columns if column.task == task]

    def sources(self, column: ScoreColumn) -> list[ScoreColumn]:
        """Return the columns that a computed one is made of, in the board's order; of a written one, itself."""
        keys = column.of or [column.key]
        return [one for one in self.columns if one.key in keys]

    def rounded(self, value: float) -> float:
        """Return a figure with as many decimals as the phase allows."""
        return value if self.score_decimals is None else round(value, self.score_decimals)

    @property
    def shows_scores(self) -> bool:
        """Whether participants see their scores at all before the organisers publish them."""
        return not (self.scores_hidden and self.details == "none")

    def with_computed(self, scores: Mapping[str, float]) -> dict[str, float]:
        """Return the scores with those that the platform computes of them, to ten decimals as it stores them.

        Average ranks, which depend on all submissions, are not among them: see `scoring_kit.board`. In layout `tasks`
        the platform computes over the rows of all tasks, of which a program knows its own alone.
        """
        board = dict(scores)
        if self.layout == "tasks" and len(self.all_tasks) > 1:
            return board
        for column in self.columns:
            if column.computation not in (None, AVERAGE_RANK):
                stored = [Decimal(scores[key]).quantize(STORED, ROUND_HALF_UP) for key in column.of]
                board[column.key] = float(OF_STORED[column.computation](stored))
        return board


def title_of(path: Path) -> str:
    """Return the competition's title in a program.json; empty where that cannot be read."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["title"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _with_paths(options: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The options, texts such as `files/baseline.tsv` made paths below `folder` where that file exists."""
    placed: dict[str, Any] = {}
    for key, value in options.items():
        if isinstance(value, Mapping):
            placed[key] = _with_paths(value, folder)
        elif isinstance(value, str) and value.startswith("files/") and (folder / value).is_file():
            placed[key] = str(folder / value)
        else:
            placed[key] = value
    return placed
