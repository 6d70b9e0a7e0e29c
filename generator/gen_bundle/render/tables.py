"""The tables of the pages, made from the declaration, so that they cannot drift from what the platform does."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from operator import itemgetter
from zoneinfo import ZoneInfo

from gen_bundle.declaration.dates import AOE, shown
from gen_bundle.declaration.model import DeclaredColumn, DeclaredPhase, DeclaredTask, Milestone

_BLANKS = re.compile(r"[ \t\r\n]+")  # blanks that forbid a line break stay


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; bars in cells are escaped, line ends become blanks."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return _BLANKS.sub(" ", text.replace("|", "\\|").replace("$", "&#36;").strip())


def metrics_table(tasks: Sequence[DeclaredTask], primary: str) -> str:
    """Every column with its meaning, direction and worst value; the primary one is marked."""
    rows = [_metric_row(column, primary) for task in tasks for column in task.columns]
    return markdown_table(["Column", "Key", "Meaning", "Better", "Not entered"], rows)


def tasks_table(tasks: Sequence[DeclaredTask]) -> str:
    """Which columns belong to which task in layout `tasks`, where every task shows all, the others' at their worst.

    The example is the column whose worst value could most easily be read as a result.
    """
    owners = [(task, column) for task in tasks for column in task.columns if column.worst is not None]
    owner, example = max(owners, key=lambda pair: abs(pair[1].worst or 0))
    other = next(task for task in tasks if task != owner)
    rows = [[task.name, _titles(task)] for task in tasks]
    return (
        "The leaderboard repeats every column under every task, and only the column's own task fills it with a result. "
        "Under any other task it shows its value for *Not entered* on every row, whatever was submitted: "
        f"*{_cell(example.title)}* under *{_cell(other.name)}* is always {plain_number(example.worst or 0)}. "
        "Such a value only fills the place; it is not a result. The columns of the tasks are:\n\n"
        + markdown_table(["Task", "Its columns"], rows)
    )


def _titles(task: DeclaredTask) -> str:
    return "; ".join(column.title for column in task.columns)


def _metric_row(column: DeclaredColumn, primary: str) -> list[str]:
    title = f"**{column.title}**" if column.key == primary else column.title
    better = "higher" if column.sort == "desc" else "lower"
    worst = "" if column.worst is None else plain_number(column.worst)
    # A meaning begins with the title where others read it alone; here both are in one row.
    return [title, f"`{column.key}`", column.meaning.removeprefix(f"{column.title}. "), better, worst]


def plain_number(value: float) -> str:
    """A number in digits, large ones in groups of three."""
    return f"{value:,.0f}" if abs(value) >= 1_000_000 else f"{value:g}"


def phases_table(
    phases: Sequence[DeclaredPhase], time_zones: Sequence[str], milestones: Sequence[Milestone] = ()
) -> str:
    """Start and end of every phase, and the milestones, in UTC, anywhere on Earth, and the competition's local times.

    In the order of time; a milestone within a phase comes below it.
    """
    zones: list[tuple[str, tzinfo]] = [("UTC", UTC), ("Anywhere on Earth (AoE)", AOE)]
    zones += [(name.rsplit("/", 1)[-1].replace("_", " "), ZoneInfo(name)) for name in time_zones]

    def row(name: str, edge: str, moment: datetime | None) -> list[str]:
        return [f"**{name}**" if name else "", edge, *(shown(moment, zone) if moment else "open" for _, zone in zones)]

    dated = [(one.start, [row(one.name, "starts", one.start), row("", "ends", one.end)]) for one in phases]
    dated += [(one.date, [row(one.name, "", one.date)]) for one in milestones]
    rows = [line for _, lines in sorted(dated, key=itemgetter(0)) for line in lines]
    return markdown_table(["Phase or date" if milestones else "Phase", "", *(name for name, _ in zones)], rows)


def limits_table(phases: Sequence[DeclaredPhase], tasks: Sequence[DeclaredTask]) -> str:
    """How many submissions each phase takes and how long one may be scored; its tasks where it has not all."""
    header = ["Phase", "Submissions a day", "Submissions in all", "Time to score one"]
    everywhere = all(phase.tasks is None for phase in phases)
    if not everywhere:
        header.append("Tasks")
    rows = []
    for phase in phases:
        limits = (phase.max_submissions_per_day, phase.max_submissions)
        rows.append([phase.name, *map(_limit, limits), f"{phase.execution_time_limit} s"])
        if not everywhere:
            rows[-1].append("; ".join(task.name for task in tasks if task.id in (phase.tasks or [task.id])))
    return markdown_table(header, rows)


def _limit(number: int) -> str:
    return str(number) if number else "no limit"


def details_table(phases: Sequence[DeclaredPhase], min_items: int) -> str:
    """What participants see of a submission in each phase: on its results page, in the files beside it, in the logs."""
    rows = [
        [
            phase.name,
            _on_page(phase, min_items),
            "hidden" if phase.hides_scores else "as on the results page",
            "hidden" if phase.hide_output else "shown",
        ]
        for phase in phases
    ]
    return markdown_table(["Phase", "Results page", "`scores.json`, `details.json`", "Logs"], rows)


def _on_page(phase: DeclaredPhase, min_items: int) -> str:
    columns = "the columns of the leaderboard"
    if phase.shown_details == "none":
        return "that the submission was scored, and no score" if phase.hides_scores else columns
    if phase.shown_details == "headline":
        return f"{columns}, and figures that depend on the submission alone"
    return f"{columns}, and all figures, as far as they are over at least {min_items} scored items"


def utc(moment: datetime) -> str:
    """A moment as competition.yaml holds it: UTC with seconds, to be quoted."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
