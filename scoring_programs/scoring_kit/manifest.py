"""All that participants may know of a competition: enough to judge a submission, nothing of the gold."""

from dataclasses import dataclass
from typing import Any, Mapping, Tuple


@dataclass(frozen=True)
class Manifest:
    """The frame of a submission.

    Attributes:
        competition: name of the competition, also of its scoring package.
        tasks: ids of the tasks that are scored here.
        all_tasks: ids of all tasks of the competition; files of the others are left alone.
        layout: `joint`, `tasks` or `separate` (then each task stands alone).
        options: the competition's options, for the few that decide how a submission is read.
        expected: what a submission must hold (ids, entities, nodes …), in a form that the package chooses.

    >>> manifest = Manifest("my_task", ("routing",), ("routing",), "joint", options={}, expected={"ids": ["a", "b"]})
    >>> manifest.expected["ids"]
    ['a', 'b']
    """

    competition: str
    tasks: Tuple[str, ...]
    all_tasks: Tuple[str, ...]
    layout: str
    options: Mapping[str, Any]
    expected: Mapping[str, Any]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Manifest":
        tasks, all_tasks = tuple(data["tasks"]), tuple(data["all_tasks"])
        return cls(data["competition"], tasks, all_tasks, data["layout"], data["options"], data["expected"])
