"""gen-bundle confirm ID --bundle BUNDLE: whether the live competition gives what the dry run showed."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from gen_bundle.cli.live_options import connected, live_options
from gen_bundle.cli.messages import say, user_errors
from gen_bundle.cli.options import ask_about_strangers, trust_option
from gen_bundle.codabench.versions import PlatformVersion

if TYPE_CHECKING:
    from gen_bundle.live.comparison import Cell
    from gen_bundle.live.confirm import Confirmed

WIDTH = 200  # characters of what is not read on a terminal
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
@click.argument("competition", metavar="ID", type=int)
@click.option(
    "--bundle", required=True, type=click.Path(path_type=Path), help="The bundle that the competition was made from."
)
@click.option(
    "--phase", metavar="NAME", help="Only this phase: its id in the bundle or on the site, its name or index."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=60,
    show_default=True,
    metavar="MINUTES",
    help="How long to wait for the scores.",
)
@click.option("--keep", is_flag=True, help="Leave the submissions on the site, to look at them there.")
@click.option(
    "--engine",
    type=click.Choice(["docker", "process"]),
    help="What runs the dry run. Default: docker when an engine answers, else process.",
)
@trust_option
@click.option(
    "--platform-version",
    type=click.Choice([version.value for version in PlatformVersion]),
    help="The Codabench version of the dry run. Default: the one that the site's answers show.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything that was compared as JSON.")
@live_options
def command(
    timeout: float,
    engine: Literal["docker", "process"] | None,
    trust: bool,
    platform_version: str | None,
    as_json: bool,
    server: str,
    token_file: Path | None,
    **asked: Any,
) -> None:
    """Submit a bundle's own submissions to its live competition, and compare with the dry run."""
    from gen_bundle.live.confirm import ConfirmRequest, confirm
    from gen_bundle.twin.engines.choose import choose_engine

    version = PlatformVersion(platform_version) if platform_version else None
    request = ConfirmRequest(**asked, version=version, patience_s=timeout * 60)
    with user_errors(), connected(server, token_file) as connection, closing(choose_engine(engine, say)) as chosen:
        ask_about_strangers(request.bundle, chosen, trust=trust)
        done = confirm(connection, request, chosen, say)
    _report(done, keep=request.keep, as_json=as_json)
    sys.exit(0 if done.good and (request.keep or not done.left) else 1)


def _report(done: Confirmed, *, keep: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"good": done.good, **asdict(done)}, indent=1, ensure_ascii=False))
    else:
        _print_table(done.cells)
    for note in done.notes:
        say(f"note: {note}")
    for phase in done.closed:
        say(phase, "yellow")
    for problem in done.problems:
        say(problem, "red")
    for one in done.left:
        say(f"left on the site: {one}", "" if keep else "red")
    different = sum(not cell.equal for cell in done.cells)
    if different or not done.cells:
        say(f"{different} of {len(done.cells)} cells differ" if done.cells else "nothing was compared", "red")
    else:
        failed = "" if done.good else "; but see above"
        say(f"all {len(done.cells)} cells are equal{failed}", "green" if done.good else "yellow")


def _print_table(cells: tuple[Cell, ...]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if not cells:
        return
    several = len({(cell.phase, cell.task) for cell in cells}) > len({cell.phase for cell in cells})
    table = Table()
    for head in ("phase", "submission", *(["task"] if several else []), "cell", "here", "there", ""):
        table.add_column(head, overflow="fold")
    for cell in cells:
        place = (cell.phase, cell.submission, *([cell.task] if several else []))
        verdict = "measured, not judged" if cell.measured else ""
        texts = (*place, cell.what, cell.here, cell.there, verdict if cell.equal else "differs")
        table.add_row(*map(escape, texts), style="" if cell.equal else "red")
    Console(width=None if sys.stdout.isatty() else WIDTH).print(table)
