"""program.json: which competition, tasks, options and columns a scoring program was packed for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoring_kit.errors import OrganiserError


@dataclass(frozen=True)
class Column:
    """A leaderboard column.

    Attributes:
        key: name in scores.json.
        task: id of the task that fills it.
        title: heading on the board.
        sort: `desc` (higher is better) or `asc`.
        precision: decimals shown.
        worst: the score of a submission that does not enter the task, and the bound of every written score.
        computed: filled by the platform from other columns, so never written.
        meaning: one line for readers.
    """

    key: str
    task: str
    title: str
    sort: str
    precision: int
    worst: float
    computed: bool
    meaning: str

    def bounded(self, value: float) -> float:
        """`value`, or `worst` where `value` lies beyond it."""
        return max(value, self.worst) if self.sort == "desc" else min(value, self.worst)


@dataclass(frozen=True)
class Program:
    """A scoring program's own description.

    `tasks` are scored here, `all_tasks` are the competition's; `scores_txt` asks for scores.txt, too (older CodaLab).
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
    columns: tuple[Column, ...]
    details_min_items: int
    scores_txt: bool = False

    @classmethod
    def read(cls, path: Path) -> "Program":
        """Read program.json; raises OrganiserError where the program was not packed as a whole.

        Options that name a file of the program (`files/NAME`) get its path on this machine.
        """
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            data["options"] = _with_paths(data["options"], path.parent)
            columns = tuple(Column(**column) for column in data.pop("columns"))
            data["tasks"], data["all_tasks"] = tuple(data["tasks"]), tuple(data["all_tasks"])
            return cls(columns=columns, **data)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise OrganiserError(
                f"{path.name}: the scoring program's description is missing or damaged ({type(error).__name__}). "
                "Build the bundle anew with gen-bundle and upload its scoring program."
            ) from error


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
