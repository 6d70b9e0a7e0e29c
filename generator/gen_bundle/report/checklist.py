"""What a challenge report should say (BIAS, Maier-Hein et al. 2020), filled in as far as the declaration knows it."""

import platform
from collections.abc import Iterator
from datetime import UTC
from importlib import metadata

from gen_bundle.declaration.dates import shown
from gen_bundle.declaration.model import DeclaredCompetition, DeclaredPhase
from gen_bundle.report.content import Report
from gen_bundle.report.methods import failures, lateness, missing_rule, unit_words

OPEN = "To be added by the organisers."
RULES = {
    "all": "All submissions are on the leaderboard.",
    "last": "Each participant's last submission is on the leaderboard.",
    "best": "Each participant's best submission is on the leaderboard.",
}


def checklist(report: Report) -> list[tuple[str, str]]:
    """(item, what is known); `OPEN` where nothing is."""
    declared = report.declaration
    dates = "; ".join(_dates(phase) for phase in declared.phases)
    metrics = "; ".join(
        f"{column.title} ({'higher' if column.sort == 'desc' else 'lower'} is better): {column.meaning}"
        for task in declared.tasks
        if task.id in report.tasks
        for column in task.columns
    )
    units = "; ".join(f"{task['name']}: {unit_words(task)}" for task in report.tasks.values())
    chosen = "Participants choose which submission is on the leaderboard."
    limits = [f"{p.name}: {p.max_submissions or 'any number of'} submissions" for p in declared.phases]
    return [
        ("Name of the challenge", declared.title),
        ("Objective", declared.description),
        ("Organisers and contact", declared.contact or OPEN),
        ("Life cycle and dates", dates),
        ("Participation", f"Registration: {declared.registration}. Reward: {declared.reward or 'none declared'}."),
        ("Submission", f"{RULES.get(declared.submission_rule, chosen)} {'; '.join(limits)}."),
        ("Test data: origin, sampling, ethics", OPEN),
        ("Annotation: who, how, agreement", OPEN),
        ("Conflicts of interest", OPEN),
        ("Metrics", metrics),
        ("Why these metrics", OPEN),
        ("Ranking", f"Each task by its first column; {_ties(declared)}"),
        ("Missing results", missing_rule(report)),
        ("Late submissions", lateness(report)),
        ("Failed submissions", failures(report)),
        ("Unit of analysis", units),
        ("Uncertainty of scores and ranks", "Bootstrap intervals; see Methods."),
        ("Significance", "Paired approximate randomisation with Holm's correction; see Methods."),
        ("Robustness of the ranking", "Resampling, other aggregations, other metrics; see above."),
        ("Baselines", ", ".join(report.baselines) or "none named"),
        ("Availability of the scoring program", OPEN),
        ("Software", ", ".join(versions())),
        ("Seed", ", ".join(sorted({str(task["seed"]) for task in report.tasks.values()}))),
        ("Command", report.command),
    ]


def versions() -> Iterator[str]:
    """Versions of what computed and drew the report."""
    yield f"gen-bundle {metadata.version('gen-bundle')}"
    yield f"Python {platform.python_version()}"
    for name in ("numpy", "matplotlib"):
        yield f"{name} {metadata.version(name)}"


def _ties(declared: DeclaredCompetition) -> str:
    board = declared.leaderboard
    if board.ties == "columns":
        return "equal scores are ordered by the following columns."
    return (
        f"equal scores are ordered by {', '.join(board.tie_break)}."
        if board.tie_break
        else "equal scores share a rank."
    )


def _dates(phase: DeclaredPhase) -> str:
    end = shown(phase.end, UTC) if phase.end else "open"
    return f"{phase.name}: {shown(phase.start, UTC)} to {end}"
