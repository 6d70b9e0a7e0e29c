"""What a dry run reports: `dry-run.json`, put together from its outcomes and boards."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.twin.bundle import Competition
from gen_bundle.twin.cost import verdict
from gen_bundle.twin.outcomes import Measured, Outcome, Run
from gen_bundle.twin.phase_board import BoardRow, Remarks


@dataclass(frozen=True)
class Results:
    """Everything a dry run found.

    Attributes:
        platform_version: The platform's that was replayed.
        findings: What must be fixed before uploading; any makes the dry run end with 1.
        notes: What is worth knowing.
        verdict: Time and memory held against the limits, in sentences.
        commands: The scoring containers as `docker run` lines, where they are asked for.
    """

    engine: str
    platform_version: str = NEWEST.value
    runs: list[Run] = field(default_factory=list)
    board: list[BoardRow] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    verdict: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Every run Finished with valid scores, there is a board, and nothing must be fixed."""
        return bool(self.runs) and all(run.status == "Finished" for run in self.runs) and not self.findings

    def as_json(self) -> bytes:
        """The content of dry-run.json: UTF-8, and half characters that a program may write as escapes."""
        content = asdict(self)
        for row in content["board"]:
            if row["tasks"] is None:
                del row["tasks"]
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
        return f"{text}\n".encode(errors="backslashreplace")


Part = Outcome | Remarks


def report(
    engine: str,
    version: PlatformVersion,
    parts: Sequence[Part],
    competition: Competition,
    teams: int | None,
    per_day: int | None,
) -> Results:
    """The results of a dry run, as far as it came; `parts` are in the order in which they were made.

    `teams` and `per_day`, the submissions of each a day, are for the hours of worker time.
    """
    outcomes = [part for part in parts if isinstance(part, Outcome)]
    measured = [outcome.measured for outcome in outcomes if outcome.measured]
    notes: list[str] = []
    for part in parts:
        notes += part.notes
        if isinstance(part, Outcome):
            notes += [note for note in part.engine_notes if note not in notes]
    return Results(
        engine,
        version.value,
        runs=[outcome.run for outcome in outcomes],
        board=[row for part in parts if isinstance(part, Remarks) for row in part.rows],
        findings=[finding for part in parts for finding in part.findings],
        notes=notes,
        measured=measured,
        verdict=verdict(competition, measured, teams, per_day),
        commands=[outcome.command for outcome in outcomes if outcome.command],
    )
