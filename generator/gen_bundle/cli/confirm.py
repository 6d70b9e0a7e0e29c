"""gen-bundle confirm ID --bundle BUNDLE: whether the live competition gives what the dry run showed."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import click

from gen_bundle.cli.messages import console, print_json, say, say_each, table
from gen_bundle.cli.options import (
    PATH,
    ask_about_strangers,
    competition_id,
    engine_option,
    json_option,
    live_options,
    live_phase,
    platform_version_option,
    trust_option,
)

if TYPE_CHECKING:
    from gen_bundle.live.confirm import Cell
    from gen_bundle.live.connection import Connection

EPILOG = """\b
Examples:
  gen-bundle confirm 1234 --bundle bundle.zip
  gen-bundle confirm 1234 --bundle bundle.zip --phase test --keep
  gen-bundle confirm 1234 --bundle bundle.zip --timeout 15 --json

\b
Dry-runs the bundle's solutions and the template in each starting kit, submits the same files to the live competition
as yours, waits for their scores, and compares status, scores and logs; columns that show a time are shown, not judged.
Then it deletes its submissions, and prints what it could not delete. While it runs, its submissions count for your
limits and may be on the leaderboard. ID is the number in the competition's address.
Exit status: 0 all that was submitted is equal and Finished, 1 a difference, a failure, or something left on the site,
2 wrong use or unreadable input. Phases that are closed now are skipped, which is a failure only if all are.
"""


@click.command(epilog=EPILOG)
@competition_id
@click.option("--bundle", required=True, type=PATH, help="The bundle that the competition was made from.")
@live_phase
@click.option(
    "--timeout", type=click.FloatRange(min=0), default=60, metavar="MINUTES", help="How long to wait for the scores."
)
@click.option("--keep", is_flag=True, help="Leave the submissions on the site, to look at them there.")
@engine_option
@trust_option
@platform_version_option("The Codabench version of the dry run. Default: the one that the site's answers show.")
@json_option("Print everything that was compared as JSON.")
@live_options
def command(
    timeout: float,
    engine: Literal["docker", "process"] | None,
    trust: bool,
    as_json: bool,
    connection: Connection,
    **asked: Any,
) -> None:
    """Submit a bundle's own submissions to its live competition, and compare with the dry run."""
    from gen_bundle.dry_run.engines.choose import choose_engine
    from gen_bundle.live.confirm import ConfirmRequest, confirm

    request = ConfirmRequest(**asked, patience_s=timeout * 60)
    with closing(choose_engine(engine, say)) as chosen:
        ask_about_strangers(request.bundle, chosen, trust=trust)
        done = confirm(connection, request, chosen)
    if as_json:
        print_json({"good": done.good, **asdict(done)})
    elif done.cells:
        _print_table(done.cells)
    say_each(done.notes, before="note: ")
    say_each(done.closed, "yellow")
    say_each(done.problems, "red")
    left_style = "" if request.keep else "red"
    say_each(done.left, left_style, before="left on the site: ")
    different = sum(not cell.equal for cell in done.cells)
    if not done.cells:
        say("nothing was compared", "red")
    elif different:
        say(f"{different} of {len(done.cells)} cells differ", "red")
    elif done.good:
        say(f"all {len(done.cells)} cells are equal", "green")
    else:
        say(f"all {len(done.cells)} cells are equal; but see above", "yellow")
    if not done.good or (done.left and not request.keep):
        sys.exit(1)


def _print_table(cells: list[Cell]) -> None:
    heads = ["phase", "submission", "task", "cell", "here", "there", ""]
    lines = []
    for cell in cells:
        verdict = ""
        if not cell.equal:
            verdict = "differs"
        elif cell.measured:
            verdict = "measured, not judged"
        lines.append([cell.phase, cell.submission, cell.task, cell.what, cell.here, cell.there, verdict])
    shown = table("", heads, lines, names=len(heads))
    for row, cell in zip(shown.rows, cells, strict=True):
        if not cell.equal:
            row.style = "red"
    console(err=False).print(shown)
