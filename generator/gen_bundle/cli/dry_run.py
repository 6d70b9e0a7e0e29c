"""`gen-bundle dry-run`: the platform's twin."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from gen_bundle.worker.results import Results

LINES_SHOWN = 200

EPILOG = """\b
Examples:
  gen-bundle dry-run bundle.zip --out dry-run
  gen-bundle dry-run bundle.zip --submission team_a.zip --submission team_b.json --phase test --out dry-run
  gen-bundle dry-run bundle.zip --engine process --out dry-run

\b
Exit status: 0 all submissions Finished with valid scores and a board, 1 a failed run or findings,
2 wrong use or an unreadable bundle or submission.
"""


@click.command(epilog=EPILOG)
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder for dry-run.json and the output and logs of each run.",
)
@click.option(
    "--submission",
    "submissions",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A zip, folder or single file, each another participant's. Without any the bundle's own solutions run.",
)
@click.option("--as", "team", metavar="TEAM", help="The one participant that all submissions come from.")
@click.option("--phase", "phases", multiple=True, metavar="ID", help="Only this phase; may be repeated.")
@click.option(
    "--engine",
    type=click.Choice(["docker", "process"]),
    help="Default: docker when an engine answers, else process.",
)
@click.option("--json", "as_json", is_flag=True, help="Print dry-run.json to stdout.")
def command(
    bundle: Path,
    out: Path,
    submissions: tuple[Path, ...],
    team: str | None,
    phases: tuple[str, ...],
    engine: str | None,
    as_json: bool,
) -> None:
    """Run a bundle's scoring as Codabench would, on the zip itself, and show the board."""
    from rich.console import Console

    from gen_bundle.dry_run import Wish, dry_run
    from gen_bundle.errors import UserError
    from gen_bundle.worker.engines.choose import choose_engine

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        with console.status("dry run") as status:
            wish = Wish(bundle, out, submissions, team, phases, status.update, _line_printer(console))
            results = dry_run(wish, choose_engine())
    except UserError as error:
        for message in error.messages:
            console.print(message, style="red", markup=False)
        sys.exit(2)
    if as_json:
        click.echo(results.as_json(), nl=False)
    show(results, console)
    console.print(f"results: {out}", markup=False)
    sys.exit(0 if results.good else 1)


def show(results: "Results", console: "Console") -> None:
    """Print outcomes, boards and findings for people."""
    from rich.table import Table

    for run in results.runs:
        good = run.status == "Finished" and not run.message
        console.print(
            f"{run.phase}/{run.task}/{run.submission}: {run.status} in {run.seconds:.1f} s"
            + (f". {run.message}" if run.message else ""),
            style="green" if good else "red",
            markup=False,
        )
    for phase in dict.fromkeys(row.phase for row in results.board):
        rows = [row for row in results.board if row.phase == phase]
        table = Table("#", "submission", *rows[0].cells, title=f"phase {phase}")
        for row in rows:
            table.add_row(str(row.rank), row.submission, *row.cells.values())
        console.print(table)
    for finding in results.findings:
        console.print(f"to mend: {finding}", style="red", markup=False)
    for note in results.notes:
        console.print(f"note: {note}", style="yellow", markup=False)


def _line_printer(console: "Console") -> Callable[[str], None]:
    left = LINES_SHOWN

    def line(text: str) -> None:
        nonlocal left
        left -= 1
        if left >= 0 and console.is_terminal:
            console.print(f"  {text}" if left else "  … (more in the logs)", style="dim", markup=False)

    return line
