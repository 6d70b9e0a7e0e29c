"""The report's figures: scores, ranks and pairs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gen_bundle.after.report.content import ALPHA, FinalReport, resting_on
from gen_bundle.build.render.drawing import ACCENT, LINE, DrawnFigure, drawn
from gen_bundle.ground.plain_text import one_line, units_word

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME_LENGTH = 22
ROW = 0.28
"""Inches for each team."""


def figures(report: FinalReport) -> Mapping[str, Mapping[str, DrawnFigure]]:
    """Task → kind (`scores`, `ranks`, `pairs`) → figure, as far as there is anything to draw."""
    return {task: dict(_of_task(task, one)) for task, one in report.tasks.items()}


def _of_task(task: str, one: Mapping[str, Any]) -> Iterator[tuple[str, DrawnFigure]]:
    scored, names, ranked = [], [], []
    intervals = ""
    for team in one["teams"]:
        if team["score"] is None:
            continue
        scored.append(team)
        names.append(team["team"])
        if team["team"] in one["shares"]:
            ranked.append(team)
        if team["low"] is not None:
            intervals = " with their 95 % intervals"
    letters = "".join([one["title"], *names])
    if scored:
        caption = f"{one['name']}: {one['title']} of every team{intervals}{resting_on(one)}."
        height = 1.2 + ROW * len(scored)
        yield (
            "scores",
            drawn(f"{task}-scores", caption, height, letters, lambda axes: _scores(axes, names, scored, one["title"])),
        )
    if ranked:
        height = 1.2 + ROW * len(ranked)
        caption = (
            f"{one['name']}: how often each team has each rank in {one['resamples']:,} resamples of the "
            f"{units_word(one['unit'])}. The area of a dot is the share; the bar is the rank interval."
        )
        yield "ranks", drawn(f"{task}-ranks", caption, height, letters, lambda axes: _ranks(axes, ranked, one))
    if one["pairs"]:
        caption = (
            f"{one['name']}: differences{resting_on(one)}. Filled: the row's team is significantly better than the "
            f"column's (p after Holm below {ALPHA}); empty: no significant difference."
        )
        height = 1.2 + ROW * (len(names) + 7)
        yield "pairs", drawn(f"{task}-pairs", caption, height, letters, lambda axes: _pairs(axes, names, one))


def _scores(axes: "Axes", names: Sequence[str], teams: Sequence[Mapping[str, Any]], title: str) -> None:
    for row, team in enumerate(teams):
        if team["low"] is not None:
            axes.plot([team["low"], team["high"]], [row, row], color=ACCENT, linewidth=2, solid_capstyle="butt")
        filled = ACCENT if team["rank"] is not None else "none"
        axes.plot(team["score"], row, "o", markersize=6, color=ACCENT, markerfacecolor=filled)
    _name_rows(axes, names)
    axes.set_xlabel(title, parse_math=False)
    axes.grid(axis="x", color=LINE, alpha=0.4, linewidth=0.6)


def _ranks(axes: "Axes", ranked: Sequence[Mapping[str, Any]], one: Mapping[str, Any]) -> None:
    names = []
    for row, team in enumerate(ranked):
        names.append(team["team"])
        axes.plot([team["rank_low"], team["rank_high"]], [row, row], color=ACCENT, alpha=0.3, linewidth=4, zorder=1)
        places, areas = [], []
        for place, share in enumerate(one["shares"][team["team"]], start=1):
            if share:
                places.append(place)
                areas.append(260 * share)
        axes.scatter(places, [row] * len(places), s=areas, color=ACCENT, zorder=2)
    _name_rows(axes, names)
    most = len(one["shares"][names[0]])
    axes.set_xlim(0.4, most + 0.6)
    axes.set_xticks(range(1, most + 1, 1 + most // 20))
    axes.set_xlabel("Rank")
    axes.grid(axis="x", color=LINE, alpha=0.4, linewidth=0.6)


def _pairs(axes: "Axes", names: Sequence[str], one: Mapping[str, Any]) -> None:
    size = min(9, 300 / len(names))
    for pair in one["pairs"]:
        better, worse = pair["a"], pair["b"]
        if pair["difference"] and (pair["difference"] > 0) != (one["sort"] == "desc"):
            better, worse = worse, better
        colour, filled = LINE, "none"
        if pair["p_holm"] < ALPHA:
            colour = filled = ACCENT
        axes.plot(names.index(worse), names.index(better), "s", markersize=size, color=colour, markerfacecolor=filled)
    _name_rows(axes, names)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_xticks(range(len(names)), labels=_short(names), rotation=90, fontsize=min(9, size + 2), parse_math=False)


def _name_rows(axes: "Axes", names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), labels=_short(names), parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)


def _short(names: Sequence[str]) -> list[str]:
    """Each name in one line, cut off where it is long."""
    labels = []
    for name in names:
        text = one_line(name)
        if len(text) > NAME_LENGTH:
            text = f"{text[: NAME_LENGTH - 1]}…"
        labels.append(text)
    return labels
