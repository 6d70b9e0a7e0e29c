"""The power of a phase's gold, asked of the scoring package: the whole answer, and a sentence for pages."""

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gen_bundle.build.package.client import VerbProgress
from gen_bundle.build.package.programs import write_program
from gen_bundle.build.package.resolve import Resolved
from gen_bundle.declaration.model import DeclaredPhase
from gen_bundle.ground.errors import raise_all
from gen_bundle.ground.plain_text import units_word
from scoring_kit.base.power_settings import FOUND_IN, PowerSettings

Tasks = Mapping[str, Mapping[str, Any]]
"""Task → what `scoring_kit.resampling.power` says of it."""


def ask_power(
    competition: Resolved,
    phase: DeclaredPhase,
    reference: Path,
    settings: PowerSettings,
    advance: Callable[[VerbProgress], None] = lambda _: None,
) -> Tasks:
    """Return what simulated test sets show of a phase, whose gold is in `reference`; raises as `Organiser.call`."""
    folder = competition.data / "baselines" / phase.data_id
    baselines = None
    if not competition.takes_code and any(folder.glob("[!.]*")):
        baselines = folder
    with tempfile.TemporaryDirectory(prefix="gen-bundle-") as work:
        program = write_program(competition, competition.tasks_of(phase), Path(work)) / "program.json"
        found: Tasks = competition.ask("power", power_request(settings, program, reference, baselines), advance)
    return found


def power_request(settings: PowerSettings, program: Path, reference: Path, baselines: Path | None) -> dict[str, Any]:
    """Return the request of the verb `power`: `program` is a program.json, `baselines` a folder of submissions."""
    return {"settings": asdict(settings), "program": program, "reference": reference, "submissions": baselines}


def power_text(competition: Resolved, phases: Sequence[tuple[DeclaredPhase, Path]]) -> str:
    """Return a sentence for each task of the last of some phases with their gold, for pages.

    Raises:
        UserError: nothing can be said of a task, or no difference is found so often.
    """
    phase, reference = phases[-1]
    lines, problems = [], []
    for task in ask_power(competition, phase, reference, PowerSettings(gaps=(0.0,), sizes=())).values():
        if task["without"] or task["sizes"][0]["smallest"] is None:
            problems.append(f"power: {task['name']}: {task['without'] or f'no difference is found in {FOUND_IN}.'}")
            continue
        units = f"{task['units']:,} {units_word(task['unit'])}"
        least = f"{difference(task['sizes'][0]['smallest'])} {task['title']}"
        lines.append(f"{task['name']}: these {units} tell two systems apart that differ by {least}, in {FOUND_IN}.")
    raise_all(problems)
    return "\n\n".join(lines)


def difference(value: float) -> str:
    """Return a difference in a column, to two digits that count."""
    if value <= 0:
        return "0"
    decimals = max(0, 1 - math.floor(math.log10(value)))
    return f"{value:.{decimals}f}"
