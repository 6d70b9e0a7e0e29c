"""Bundles to which a competition on the tests' site is brought."""

import copy
from pathlib import Path
from typing import Any

from tests.generator.check.drafts import Draft, Edit, both
from tests.generator.live.conftest import ready_draft
from tests.live_server import Site


def changed(folder: Path, *changes: Edit) -> Path:
    """The bundle of the competition with some changes."""
    draft = ready_draft()
    both(*changes)(draft)
    return written(folder, draft)


def written(folder: Path, draft: Draft) -> Path:
    """A draft as a file."""
    path = folder / "next.zip"
    path.write_bytes(draft.as_zip())
    return path


def held(site: Site) -> Any:
    """What the site holds of competitions and tasks, as it is now."""
    return copy.deepcopy((site.competitions, site.tasks))


def task_of(site: Site) -> dict[str, Any]:
    """The first task."""
    return next(iter(site.tasks.values()))


def competition_of(site: Site) -> dict[str, Any]:
    """The first competition."""
    return next(iter(site.competitions.values()))


def two_phases(draft: Draft) -> None:
    """Give a bundle a second phase with a task and gold of its own."""
    draft.yaml["tasks"].append({"index": 1, "name": "Final", "scoring_program": "scoring", "reference_data": "ref2"})
    first = draft.yaml["phases"][0]
    second = {"index": 1, "name": "Test", "start": "2032-01-01 00:00:00", "end": "2032-12-31 23:59:59", "tasks": [1]}
    draft.yaml["phases"].append(first | second)
    draft.files["ref2/truth.txt"] = b"c\nd\nc\n"
