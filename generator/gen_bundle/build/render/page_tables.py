"""The tables of the pages, made from the declaration, so that they cannot drift from what the platform does."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from gen_bundle.declaration.dates import AOE, shown
from gen_bundle.declaration.model import BETTER, DeclaredPhase, DeclaredTask, Milestone

UNSAFE_ON_PAGES = re.compile(r"[^\w .,:/-]")
_BLANKS = re.compile(r"[ \t\r\n]+")  # blanks that forbid a line break stay


def page_text(text: str) -> str:
    """Return a name for a page: as code, and with nothing in it that Markdown or formulas would take for their own."""
    if UNSAFE_ON_PAGES.search(text):
        shown = UNSAFE_ON_PAGES.sub(lambda found: f"&#{ord(found[0])};", text)
        return f"<code>{shown}</code>"
    return f"`{text}`"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; bars in cells are escaped, line ends become blanks."""
    lines = []
    for row in (header, ["---"] * len(header), *rows):
        cells = " | ".join([_cell(text) for text in row])
        lines.append(f"| {cells} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return _BLANKS.sub(" ", text.replace("|", "\\|").replace("$", "&#36;").strip())


def metrics_table(tasks: Sequence[DeclaredTask], primary: str) -> str:
    """Return every column with its meaning, direction and worst value; the primary one is marked."""
    rows = []
    for task in tasks:
        for column in task.columns:
            title, worst = column.title, ""
            if column.key == primary:
                title = f"**{title}**"
            if column.worst is not None:
                worst = plain_number(column.worst)
            # A meaning begins with the title where others read it alone; here both are in one row.
            meaning = column.meaning.removeprefix(f"{column.title}. ")
            rows.append([title, f"`{column.key}`", meaning, BETTER[column.sort], worst])
    return markdown_table(["Column", "Key", "Meaning", "Better", "Not entered"], rows)


def tasks_table(tasks: Sequence[DeclaredTask]) -> str:
    """Which columns belong to which task in layout `tasks`, where every task shows all, the others' at their worst.

    The example is the column whose worst value could most easily be read as a result.
    """
    rows, owners = [], []
    for task in tasks:
        titles = []
        for column in task.columns:
            titles.append(column.title)
            if column.worst is not None:
                owners.append((task, column))
        rows.append([task.name, "; ".join(titles)])
    owner, example = max(owners, key=lambda pair: abs(pair[1].worst or 0))
    other = next(task for task in tasks if task != owner)
    return (
        "The leaderboard repeats every column under every task, and only the column's own task fills it with a result. "
        "Under any other task it shows its value for *Not entered* on every row, whatever was submitted: "
        f"*{_cell(example.title)}* under *{_cell(other.name)}* is always {plain_number(example.worst or 0)}. "
        "Such a value only fills the place; it is not a result. The columns of the tasks are:\n\n"
        + markdown_table(["Task", "Its columns"], rows)
    )


def plain_number(value: float) -> str:
    """Return a number in digits, large ones in groups of three."""
    if abs(value) >= 1_000_000:
        return f"{value:,.0f}"
    return f"{value:g}"


def phases_table(
    phases: Sequence[DeclaredPhase], time_zones: Sequence[str], milestones: Sequence[Milestone] = ()
) -> str:
    """Start and end of every phase, and the milestones, in UTC, anywhere on Earth, and the competition's local times.

    In the order of time; a milestone within a phase comes below it.
    """
    header = ["Phase", "", "UTC", "Anywhere on Earth (AoE)"]
    if milestones:
        header[0] = "Phase or date"
    zones: list[tzinfo] = [UTC, AOE]
    for name in time_zones:
        header.append(name.rsplit("/", 1)[-1].replace("_", " "))
        zones.append(ZoneInfo(name))
    dated = []
    for phase in phases:
        ends = ["", "ends", *["open"] * len(zones)]
        if phase.end:
            ends = ["", "ends", *_local(phase.end, zones)]
        dated.append((phase.start, [[f"**{phase.name}**", "starts", *_local(phase.start, zones)], ends]))
    for one in milestones:
        dated.append((one.date, [[f"**{one.name}**", "", *_local(one.date, zones)]]))
    rows = []
    for _, lines in sorted(dated, key=lambda one: one[0]):
        rows += lines
    return markdown_table(header, rows)


def _local(moment: datetime, zones: Sequence[tzinfo]) -> list[str]:
    return [shown(moment, zone) for zone in zones]


def limits_table(phases: Sequence[DeclaredPhase], tasks: Sequence[DeclaredTask]) -> str:
    """Return how many submissions each phase takes and how long one may be scored; its tasks where it has not all."""
    header = ["Phase", "Submissions a day", "Submissions in all", "Time to score one"]
    have_all = all(phase.tasks is None for phase in phases)
    if not have_all:
        header.append("Tasks")
    rows = []
    for phase in phases:
        a_day, in_all = phase.max_submissions_per_day or "no limit", phase.max_submissions or "no limit"
        rows.append([phase.name, f"{a_day}", f"{in_all}", f"{phase.execution_time_limit} s"])
        if not have_all:
            rows[-1].append("; ".join([task.name for task in tasks if task.id in (phase.tasks or [task.id])]))
    return markdown_table(header, rows)


def details_table(phases: Sequence[DeclaredPhase], min_items: int) -> str:
    """Return what participants see of a submission in each phase: on its results page, beside it, in the logs."""
    header = ["Phase", "Results page", "`scores.json`, `details.json`", "Logs"]
    columns = "the columns of the leaderboard"
    on_page = {
        "none": columns,
        "headline": f"{columns}, and figures that depend on the submission alone",
        "full": f"{columns}, and all figures, as far as they are over at least {min_items} scored items",
    }
    rows = []
    for phase in phases:
        page, files, logs = on_page[phase.shown_details], "as on the results page", "shown"
        if phase.hides_scores:
            files = "hidden"
            if phase.shown_details == "none":
                page = "that the submission was scored, and no score"
        if phase.hide_output:
            logs = "hidden"
        rows.append([phase.name, page, files, logs])
    return markdown_table(header, rows)
