"""A declared competition that scores what a foreign one scores, with nothing else in it, to be held against that."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gen_bundle.building import BuildRequest, build
from gen_bundle.codabench.competition import Task
from gen_bundle.importing.declare.proposals import ScoringProposal
from gen_bundle.importing.declare.scored_tasks import ScoredTask
from gen_bundle.new.project import placeholder_logo
from gen_bundle.twin.bundle import open_bundle, read_competition

FIRST_YEAR = 2090


def declared_tasks(
    tasks: Sequence[ScoredTask],
    proposal: ScoringProposal,
    columns: Sequence[Mapping[str, Any]],
    folder: Path,
    decimals: int | None = None,
) -> list[Task]:
    """The platform's tasks of a declaration with the gold of `tasks`, built in `folder`.

    Raises:
        UserError: the gold, or a column, does not fit the declaration.
    """
    project = folder / "project"
    for number, one in enumerate(tasks):
        for name, data in one.gold.items():
            file = project / "data" / f"t{number}" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    (project / "page.md").write_text("# Scores\n", encoding="utf-8")
    (project / "logo.png").write_bytes(placeholder_logo("declared", "Declared"))
    declaration = {
        "title": "Declared",
        "logo": "logo.png",
        "scoring_program": "declared",
        "pages": [{"title": "Overview", "file": "page.md"}],
        "terms": "page.md",
        "phases": [_phase(number, decimals) for number in range(len(tasks))],
        **scoring_part(proposal, columns),
    }
    (project / "bundle.yaml").write_text(json.dumps(declaration), encoding="utf-8")  # JSON is YAML
    bundle = folder / "bundle.zip"
    build(BuildRequest(str(project), bundle, force=True))
    competition = read_competition(open_bundle(bundle, folder / "opened"))
    return [phase.tasks[0] for phase in competition.phases]


def scoring_part(proposal: ScoringProposal, columns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a declaration says of scoring."""
    part: dict[str, Any] = {"submission": dict(proposal.submission)}
    if proposal.reference is not None:
        part["reference"] = dict(proposal.reference)
    return part | {"tasks": [{"id": "scores", "name": "Scores", "columns": [dict(column) for column in columns]}]}


def _phase(number: int, decimals: int | None) -> dict[str, Any]:
    year = FIRST_YEAR + number
    phase: dict[str, Any] = {"id": f"t{number}", "name": f"Task {number}"}
    phase |= {"start": f"{year}-01-01 UTC", "end": f"{year}-12-01 UTC", "max_submissions": 0}
    return phase if decimals is None else {**phase, "score_decimals": decimals}
