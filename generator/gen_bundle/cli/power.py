"""gen-bundle power NAME_OR_DIR_OR_BUNDLE: whether a test set is large enough, before anybody has submitted."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from gen_bundle.cli.messages import console, print_json, progress_bar, say, say_each, table
from gen_bundle.cli.options import FOLDER, PATH, declared_ids, json_option, trust_option
from scoring_kit.base.power_settings import PowerSettings

EPILOG = """\b
Examples:
  gen-bundle power my-task
  gen-bundle power my-task --data ~/gold --phase test --teams 30 --want .03 --out power
  gen-bundle power bundle.zip --gaps .01,.02 --sizes 1,4 --json

\b
Systems are made of the gold alone, compared in simulated test sets with the final report's own test. What this is, and
what it is not: docs/power.md. --out writes power.json and a page with two plots (needs the extra `report`).

\b
Exit status: 0 fine; 1 no interval would be printed of some task, the smallest difference exceeds --want, or nothing can
be said; 2 something to fix first.
"""


def numbers(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[float, ...]:
    """Return numbers of at least 0, separated by commas."""
    try:
        found = tuple(float(part) for part in value.split(",")) if value else ()
    except ValueError:
        found = (-1.0,)
    if not all(0 <= number < 1e6 for number in found):
        raise click.BadParameter(f"{value}: expected numbers separated by commas, such as .01,.02")
    return found


@click.command(epilog=EPILOG)
@click.argument("source", metavar="NAME_OR_DIR_OR_BUNDLE")
@click.option("--data", type=PATH, help="Folder with the real data, as for a build.")
@click.option(
    "--phase",
    metavar="ID",
    shell_complete=declared_ids("phases"),
    help="The phase whose gold it is; default: the last.",
)
@click.option("--teams", type=click.IntRange(2, 100), default=PowerSettings.teams, help="How many there will be.")
@click.option(
    "--gaps",
    callback=numbers,
    metavar="X,…",
    help="Differences in the ranking column.  [default: 1, 2 and 5 % of its scale]",
)
@click.option(
    "--sizes", callback=numbers, default="0.5,1,2", metavar="X,…", help="Test sets of so many times the rows."
)
@click.option(
    "--level", type=float, help="The better system's score.  [default: half-way between the best baseline and the gold]"
)
@click.option(
    "--common",
    type=click.FloatRange(0, 1, max_open=True),
    default=PowerSettings.common,
    help="The share of their errors that systems have in common.",
)
@click.option("--seed", type=click.IntRange(0, 2**32), default=PowerSettings.seed, help="Of all random numbers.")
@click.option("--want", type=click.FloatRange(0, min_open=True), help="The difference that must be found.")
@click.option("--out", type=FOLDER, help="Folder for power.json and power.html.")
@trust_option
@json_option("Print the figures as JSON.")
def command(
    source: str,
    data: Path | None,
    phase: str | None,
    trust: bool,
    want: float | None,
    out: Path | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Foretell what a test set can tell apart: how small a difference, and how often the best team comes first."""
    from gen_bundle.look.power.simulation import simulate
    from gen_bundle.look.power.words import HEAD, answer, as_record, fails, rows

    settings = PowerSettings(**asked)
    if out is not None:
        from gen_bundle.look.power.page import check_out

        check_out(out)
    with progress_bar("reading gold", "TimeRemainingColumn") as (announce, show):

        def advance(now: Mapping[str, Any]) -> None:
            show(now["step"], now["done"], now["total"])

        found = simulate(source, settings, data=data, phase=phase, trust=trust, advance=advance, announce=announce)
    if as_json:
        print_json(as_record(found))
    else:
        for task in found.tasks.values():
            click.echo("\n".join(answer(task, settings)))
            if lines := list(rows(task)):
                console(err=False).print(table("", HEAD, lines, names=0))
    say_each(found.notes, "yellow", before="note: ")
    if out is not None:
        from gen_bundle.look.power.page import write_page

        say(f"{write_page(found, out)}: written.", "green")
    failing = [reason for task in found.tasks.values() for reason in fails(task, want)]
    say_each(failing, "red")
    sys.exit(int(bool(failing)))
