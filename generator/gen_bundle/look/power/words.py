"""The results of simulated test sets in words and figures: they say what was looked at, and nothing beyond."""

from collections.abc import Iterator, Mapping
from typing import Any

from gen_bundle.build.package.power import difference
from gen_bundle.ground.plain_text import units_word
from gen_bundle.look.power.simulation import Simulated
from scoring_kit.base.power_settings import FOUND_IN, WHOLE, PowerSettings

Task = Mapping[str, Any]
HEAD = (
    *("Rows", "Difference", "Found", "Found among all", "Teams", "Best is first", "Tau", "Winner too good by"),
    "Intervals",
)
CLEARLY = 0.75
"""A gap of at most so much of the smallest difference that is found is worth saying how many rows it needs."""
MOST_TIMES = 100
"""Of what there is; that many more rows are not foretold."""


def whole(task: Task) -> Mapping[str, Any]:
    """Return what is known of the test set as it is."""
    (found,) = [one for one in task["sizes"] if one["size"] == WHOLE]
    return dict(found)


def smallest(size: Mapping[str, Any], key: str = "smallest") -> str:
    """Return the smallest difference that is found in test sets of a size, or up to which none is."""
    found = size[key]
    return f"none up to {difference(size['curve'][-1]['gap'])}" if found is None else difference(found)


def answer(task: Task, settings: PowerSettings) -> list[str]:
    """About ten lines for a person; where nothing can be said, why."""
    if task["without"]:
        return [f"{task['name']}: nothing can be said. {task['without']}"]
    own, title, units = whole(task), task["title"], units_word(task["unit"])
    lines = [f"{task['name']}, {title}:"]
    if own["smallest"] is None:
        most = difference(own["curve"][-1]["gap"])
        lines.append(f"{own['units']:,} {units} tell no difference of up to {most} {title} apart, in {FOUND_IN}.")
    else:
        lines.append(
            f"{own['units']:,} {units} tell two systems apart that differ by {difference(own['smallest'])} {title}, "
            f"in {FOUND_IN}{_needed(task, own)}."
        )
    among = smallest(own, "smallest_among_teams")
    lines.append(f"Among {settings.teams} teams, where all pairs are compared: {among}.")
    for one in task["sizes"]:
        if one["size"] != WHOLE:
            among = f"among {settings.teams} teams {smallest(one, 'smallest_among_teams')}"
            lines.append(f"With {one['units']:,} {units}: {smallest(one)}; {among}.")
    for one in own["gaps"]:
        if one["gap"]:
            lines.append(_of_teams(one, title))
    lines.append(f"Intervals: {own['intervals'] or 'would be printed.'}")
    baseline = "no baseline"
    if task["baseline"]:
        baseline = f"the best baseline, {task['baseline']['name']}, has {task['baseline']['score']:.4g}"
    lines.append(
        f"Assumed: the better system has {task['level']:.4g} ({baseline}), and {settings.common:.0%} of the errors are "
        "common to all systems. Systems are made of the gold: real ones err elsewhere (docs/power.md)."
    )
    return lines


def _needed(task: Task, own: Mapping[str, Any]) -> str:
    """How many units the smallest gap needs that this test set does not find: errors shrink with the root of them."""
    gaps = [one["gap"] for one in own["gaps"] if 0 < one["gap"] < CLEARLY * own["smallest"]]
    if not gaps:
        return ""
    times = (own["smallest"] / max(gaps)) ** 2
    if times > MOST_TIMES:
        return f"; for {difference(max(gaps))} more than {MOST_TIMES} times as many are needed"
    units = float(f"{times * own['units']:.2g}")
    return f"; for {difference(max(gaps))} you would need about {units:,.0f}"


def _of_teams(gap: Mapping[str, Any], title: str) -> str:
    too_good = "not too good"
    if gap["optimism"] > 0:
        too_good = f"{difference(gap['optimism'])} too good"
    return (
        f"Of {gap['teams']} teams that are {difference(gap['gap'])} {title} apart, the best one is first in "
        f"{gap['first']:.0%}; the score of the one that is first is {too_good} on average."
    )


def rows(task: Task) -> Iterator[list[str]]:
    """Yield a row of texts, under `HEAD`, for each size and gap."""
    for size in task.get("sizes", ()):
        for gap in size["gaps"]:
            tau = "" if gap["tau"] is None else f"{gap['tau']:.2f}"
            yield [
                *(f"{size['units']:,}", difference(gap["gap"])),
                *(f"{gap['power']:.0%}", f"{gap['power_among_teams']:.0%}"),
                *(str(gap["teams"]), f"{gap['first']:.0%}", tau, difference(gap["optimism"])),
                "no" if size["intervals"] else "yes",
            ]


def fails(task: Task, want: float | None) -> Iterator[str]:
    """Yield why the test set is not large enough, or nothing can be said of it."""
    if task["without"]:
        yield f"{task['name']}: nothing can be said."
        return
    own = whole(task)
    if own["intervals"]:
        yield f"{task['name']}: the report would print no intervals."
    if want is not None and (own["smallest"] is None or own["smallest"] > want):
        least = smallest(own)
        yield f"{task['name']}: the smallest difference found in {FOUND_IN} is {least}, and {want:g} is wanted."


def as_record(simulated: Simulated) -> dict[str, Any]:
    """Return what power.json holds."""
    asked = simulated.settings
    return {
        "title": simulated.title,
        "phase": simulated.phase,
        "teams": asked.teams,
        "common": asked.common,
        "seed": asked.seed,
        "tasks": simulated.tasks,
    }
