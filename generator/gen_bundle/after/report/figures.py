"""The report's figures: scores, ranks and pairs."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
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
    scored = [team for team in one["teams"] if team["score"] is not None]
    names = [team["team"] for team in scored]
    letters = "".join([one["title"], *names])
    if scored:
        caption = f"{one['name']}: {one['title']} of every team"
        if any(team["low"] is not None for team in scored):
            caption += " with their 95 % intervals"
        draw = partial(_scores, one=one, teams=scored)
        yield (
            "scores",
            drawn(f"{task}-scores", f"{caption}{resting_on(one)}.", 1.2 + ROW * (len(scored)), letters, draw),
        )
    ranked = [team for team in scored if team["team"] in one["shares"]]
    if ranked:
        caption = (
            f"{one['name']}: how often each team has each rank in {one['resamples']:,} resamples of the "
            f"{units_word(one['unit'])}. The area of a dot is the share; the bar is the rank interval."
        )
        draw = partial(_ranks, ranked=ranked, shares=one["shares"])
        yield "ranks", drawn(f"{task}-ranks", caption, 1.2 + ROW * (len(ranked)), letters, draw)
    if one["pairs"]:
        caption = (
            f"{one['name']}: differences{resting_on(one)}. Filled: the row's team is significantly better than the "
            f"column's (p after Holm below {ALPHA}); empty: no significant difference."
        )
        yield (
            "pairs",
            drawn(
                f"{task}-pairs", caption, 1.2 + ROW * (len(names) + 7), letters, partial(_pairs, names=names, one=one)
            ),
        )


def _scores(axes: "Axes", one: Mapping[str, Any], teams: Sequence[Mapping[str, Any]]) -> None:
    for row, team in enumerate(teams):
        if team["low"] is not None:
            axes.plot([team["low"], team["high"]], [row, row], color=ACCENT, linewidth=2, solid_capstyle="butt")
        filled = ACCENT if team["rank"] is not None else "none"
        axes.plot(team["score"], row, "o", markersize=6, color=ACCENT, markerfacecolor=filled)
    _name_rows(axes, [team["team"] for team in teams])
    axes.set_xlabel(one["title"], parse_math=False)
    axes.grid(axis="x", color=LINE, alpha=0.4, linewidth=0.6)


def _ranks(axes: "Axes", ranked: Sequence[Mapping[str, Any]], shares: Mapping[str, Sequence[float]]) -> None:
    for row, team in enumerate(ranked):
        axes.plot([team["rank_low"], team["rank_high"]], [row, row], color=ACCENT, alpha=0.3, linewidth=4, zorder=1)
        own = shares[team["team"]]
        places = [place for place, share in enumerate(own, start=1) if share]
        areas = [260 * share for share in own if share]
        axes.scatter(places, [row] * len(places), s=areas, color=ACCENT, zorder=2)
    _name_rows(axes, [team["team"] for team in ranked])
    most = max(map(len, shares.values()))
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
    axes.set_xticks(
        range(len(names)), labels=map(_short, names), rotation=90, fontsize=min(9, size + 2), parse_math=False
    )


def _name_rows(axes: "Axes", names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), labels=map(_short, names), parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)


def _short(name: str) -> str:
    text = one_line(name)
    if len(text) > NAME_LENGTH:
        return f"{text[: NAME_LENGTH - 1]}…"
    return text
