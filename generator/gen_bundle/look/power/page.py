"""The folder that `gen-bundle power --out` writes: power.json, and a page with two plots for each task."""

import importlib.util
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gen_bundle.build.render.drawing import LINE, DrawnFigure, drawn
from gen_bundle.build.render.html_page import html_page, is_marked
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import write_whole
from gen_bundle.ground.plain_text import one_line, units_word
from gen_bundle.ground.resources import install_command
from gen_bundle.look.power.simulation import Simulated
from gen_bundle.look.power.words import HEAD, answer, as_record, rows
from scoring_kit.base.power_settings import FOUND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEMPLATE = Path(__file__).resolve().parent / "templates" / "power.html.j2"
PAGE, RECORD = "power.html", "power.json"
MARK = b'<meta name="generator" content="gen-bundle power">'
HEIGHT = 3.4
STYLES = ("-", "--", ":", "-.")
"""Of the lines of sizes, so that they are told apart in print."""


def check_out(folder: Path) -> None:
    """Raise UserError where no page can be drawn, or something else lies in its place."""
    if importlib.util.find_spec("matplotlib") is None:
        raise UserError(
            f"--out: matplotlib is not installed. Expected the extra `report`: {install_command('report')}."
        )
    page = folder / PAGE
    if page.exists() and not (page.is_file() and is_marked(page, MARK)):
        raise UserError(f"--out {folder}: {PAGE} there is none of power's. Choose another folder.")


def write_page(simulated: Simulated, folder: Path) -> Path:
    """Write power.json and the page; returns the page's path."""
    answers, figures, tables = {}, {}, {}
    for id_, task in simulated.tasks.items():
        answers[id_] = answer(task, simulated.settings)
        tables[id_] = list(rows(task))
        if not task["without"]:
            figures[id_] = _figures(id_, task)
    page = html_page(
        TEMPLATE,
        {"line": one_line},
        {
            "simulated": simulated,
            "answers": answers,
            "figures": figures,
            "head": HEAD,
            "rows": tables,
        },
    )
    record = json.dumps(as_record(simulated), indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(folder / RECORD, f"{record}\n".encode())
    write_whole(folder / PAGE, page.encode())
    return folder / PAGE


def _figures(id_: str, task: Mapping[str, Any]) -> Sequence[DrawnFigure]:
    """Power by difference, and how often the best team is first by difference: a line for each size."""
    power = _figure(id_, task, "power", "in which a difference of two systems is significant")
    return power, _figure(id_, task, "first", "in which the best of all teams is first")


def _figure(id_: str, task: Mapping[str, Any], kind: str, found: str) -> DrawnFigure:
    def lines(axes: "Axes") -> None:
        for place, size in enumerate(task["sizes"]):
            curve = size["curve"] if kind == "power" else size["gaps"]
            label = f"{size['units']:,} {units_word(task['unit'])}"
            style = STYLES[place % len(STYLES)]
            axes.plot([one["gap"] for one in curve], [one[kind] for one in curve], style, marker="o", label=label)
        if kind == "power":
            axes.axhline(FOUND, color=LINE, linewidth=0.8)
        axes.set_ylim(0, 1.03)
        axes.set_xlabel(f"Difference in {task['title']}", parse_math=False)
        axes.set_ylabel("Share of test sets")
        axes.legend(frameon=False)
        axes.grid(color=LINE, alpha=0.3, linewidth=0.6)

    caption = f"{task['name']}: share of simulated test sets {found}."
    return drawn(f"{id_}-{kind}", caption, HEIGHT, task["title"], lines)
