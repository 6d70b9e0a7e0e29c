"""What a phase's gold can tell apart, asked of the scoring package; all of it, and a sentence for pages."""

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gen_bundle.build.package.client import VerbProgress
from gen_bundle.build.package.programs import write_program
from gen_bundle.build.package.resolve import Resolved
from gen_bundle.declaration.model import DeclaredPhase
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.plain_text import units_word

WHOLE = 1.0
"""The size of the test set as it is."""
FOUND = "8 of 10 test sets"
Tasks = Mapping[str, Mapping[str, Any]]
"""Task → what `scoring_kit.resampling.power` says of it."""


@dataclass(frozen=True, kw_only=True)
class PowerSettings:
    """What is simulated.

    Attributes:
        teams: how many there will be.
        gaps: differences between systems, in the ranking column; none: 1, 2 and 5 % of its scale.
        sizes: of test sets, as multiples of what there is; that itself is always among them.
        level: the better system's score; None: half-way between the best baseline and the gold's own answers.
        common: which share of their errors systems have in common.
        seed: of all random numbers.
    """

    teams: int = 15
    gaps: tuple[float, ...] = ()
    sizes: tuple[float, ...] = (0.5, 1.0, 2.0)
    level: float | None = None
    common: float = 0.7
    seed: int = 0

    def request(self, program: Path, reference: Path, baselines: Path | None) -> dict[str, Any]:
        """The request of the verb `power`."""
        return {
            "program": program,
            "reference": reference,
            "submissions": baselines,
            "teams": self.teams,
            "gaps": sorted({*self.gaps}) or None,
            "sizes": sorted({WHOLE, *self.sizes}),
            "level": self.level,
            "common": self.common,
            "seed": self.seed,
        }


def ask_power(
    competition: Resolved,
    phase: DeclaredPhase,
    reference: Path,
    settings: PowerSettings,
    advance: Callable[[VerbProgress], None] = lambda _: None,
) -> Tasks:
    """What simulated test sets show of a phase, whose prepared gold is in `reference`; raises as `Organiser.call`."""
    folder = competition.data / "baselines" / phase.data_id
    baselines = None
    if not competition.takes_code and any(folder.glob("[!.]*")):
        baselines = folder
    with tempfile.TemporaryDirectory(prefix="gen-bundle-") as work:
        program = write_program(competition, competition.tasks_of(phase), Path(work)) / "program.json"
        found: Tasks = competition.ask("power", settings.request(program, reference, baselines), advance)
    return found


def power_text(competition: Resolved, phases: Sequence[tuple[DeclaredPhase, Path]]) -> str:
    """A sentence for each task of the last of some phases with their gold, for pages.

    Raises:
        UserError: nothing can be said of a task, or no difference that was tried is found so often.
    """
    phase, reference = phases[-1]
    lines, problems = [], []
    for task in ask_power(competition, phase, reference, PowerSettings(gaps=(0.0,), sizes=())).values():
        if task["without"] or task["sizes"][0]["smallest"] is None:
            problems.append(f"power: {task['name']}: {task['without'] or 'no difference that was tried is found.'}")
            continue
        units = f"{task['units']:,} {units_word(task['unit'])}"
        least = f"{difference(task['sizes'][0]['smallest'])} {task['title']}"
        lines.append(f"{task['name']}: these {units} tell two systems apart that differ by {least}, in {FOUND}.")
    if problems:
        raise UserError(*problems)
    return "\n\n".join(lines)


def difference(value: float) -> str:
    """A difference in a column, to two digits that count."""
    if value <= 0:
        return "0"
    decimals = max(0, 1 - math.floor(math.log10(value)))
    return f"{value:.{decimals}f}"
