"""`gen-bundle dry-run`: the platform's twin."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gen_bundle.cli.messages import colour_wanted, console, is_terminal, say, say_each, spinner, table
from gen_bundle.cli.options import (
    PATH,
    Verb,
    ask_about_strangers,
    engine_option,
    json_option,
    platform_version,
    python_option,
    trust_option,
)

if TYPE_CHECKING:
    from rich.console import Console

    from gen_bundle.dry_run.report import BoardRow, Results

LINES_SHOWN = 200
RARE = ("all_details", "debug", "enforce_limits", "image", "network", "print_command", "pull", "python", "version")
CELL_LINES = 3  # characters around a cell

EPILOG = """\b
Examples:
  gen-bundle dry-run bundle.zip --out dry-run
  gen-bundle dry-run bundle.zip --submission team_a.zip --submission team_b.json --phase test --out dry-run
  gen-bundle dry-run bundle.zip --engine process --out dry-run

\b
Exit status: 0 all submissions Finished with valid scores and a board, 1 a failed run or findings,
2 wrong use or an unreadable bundle or submission.
"""


@click.command(cls=Verb, advanced=RARE, epilog=EPILOG)
@click.argument("bundle", type=PATH)
@click.option(
    "--out", type=PATH, default=Path("dry-run"), help="Folder for dry-run.json and the output and logs of each run."
)
@click.option(
    "--submission",
    "submissions",
    multiple=True,
    type=PATH,
    help="A zip, folder or single file, each another participant's. Without any the bundle's own solutions run.",
)
@click.option("--as", "team", metavar="TEAM", help="The one participant that all submissions come from.")
@click.option("--phase", "phases", multiple=True, metavar="ID", help="Only this phase; repeatable.")
@engine_option
@python_option
@trust_option
@click.option("--gpu", is_flag=True, help="Ask the engine for the GPUs, and measure their memory.")
@click.option(
    "--network", is_flag=True, help="Leave the network on, as hosted workers do; else what is isolated has none."
)
@click.option("--image", metavar="NAME", help="Run in this image instead of the bundle's own.")
@click.option("--pull", is_flag=True, help="Fetch the image when the engine does not have it.")
@click.option("--enforce-limits", is_flag=True, help="Apply the phases' dates and quotas.")
@platform_version
@click.option(
    "--debug",
    is_flag=True,
    envvar="SCORING_DEBUG",
    help="Show a failing program's traceback whole, with its message, which may hold gold.",
)
@click.option("--all-details", is_flag=True, help="Results pages and details as organisers see them: all figures.")
@click.option(
    "--print-command",
    is_flag=True,
    help="Print each scoring container as a `docker run` line on stdout; its folders stay in the results.",
)
@json_option("Print dry-run.json to stdout.")
def command(
    engine: str | None,
    python: Path | None,
    trust: bool,
    gpu: bool,
    network: bool,
    pull: bool,
    debug: bool,
    all_details: bool,
    print_command: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Run a bundle's scoring as Codabench would, on the zip itself, and show the board."""
    from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
    from gen_bundle.dry_run.engines.choose import choose_engine

    if print_command:
        from gen_bundle.dry_run.engines.docker import docker_run_line

        asked["command_line"] = partial(docker_run_line, gpu=gpu, network=network)
    environment = {}
    if debug:
        environment["SCORING_DEBUG"] = "1"
    if all_details:
        environment["SCORING_DETAILS"] = "all"
    opened = closing(choose_engine(engine, say, gpu=gpu, network=network, pull=pull, python=python))
    with opened as chosen:
        ask_about_strangers(asked["bundle"], chosen, trust=trust)
        asked |= {"environment": environment, "on_line": _line_printer(), "trust": trust}
        with spinner("dry run") as status:
            results = dry_run(DryRunRequest(**asked, on_step=status), chosen)
    if as_json:
        click.echo(results.as_json(), nl=False)
    else:
        for line in results.commands:
            click.echo(line)
    show(results, board_to_stderr=as_json or print_command)
    say(f"results: {asked['out']}")
    sys.exit(not results.good)


def show(results: "Results", *, board_to_stderr: bool = False) -> None:
    """Print outcomes, boards and findings for people: the boards on stdout, unless that is for programs."""
    say(f"as Codabench {results.platform_version} would run it")
    for run in results.runs:
        if run.status == "Failed":
            say(f"{run.place}: Failed after {run.seconds:.1f} s. {run.message}", "red")
        else:
            colour = "yellow" if run.message else "green"  # its message is among what must be fixed
            say(f"{run.place}: Finished in {run.seconds:.1f} s", colour)
    for phase in dict.fromkeys(row.phase for row in results.board):
        _show_board([row for row in results.board if row.phase == phase], console(err=board_to_stderr))
    say_each(results.verdict)
    say_each(results.notes, "yellow", before="note: ")
    say_each(results.findings, "red", before="to fix: ")


def _show_board(rows: "list[BoardRow]", printer: "Console") -> None:
    """A line for each submission, the best first; columns that do not fit beside each other go on below."""
    from rich.cells import cell_len

    heads = ["#", "submission", *rows[0].cells]
    if rows[0].tasks is not None:
        heads.insert(2, "task")
    names = len(heads) - len(rows[0].cells)
    lines: list[list[str]] = []
    for row in rows:
        for task, cells in (row.tasks or {"": row.cells}).items():
            named = [str(row.rank), row.submission, task][:names]
            lines.append([*named, *cells.values()])
    title = f"phase {rows[0].phase}"
    widths = []
    for column in zip(heads, *lines, strict=True):
        widths.append(max([cell_len(cell) for cell in column]) + CELL_LINES)
    room = printer.width - 1 - sum(widths[:names])
    if room < max(widths[names:]):  # not even one column beside the names: a table for each submission
        for line in lines:
            printer.print(table(title, heads[:1] + line[:1], zip(heads[1:], line[1:], strict=True), names=2))
        return
    for start, end in _blocks(widths[names:], room):
        shown = [line[:names] + line[names + start : names + end] for line in (heads, *lines)]
        printer.print(table(title, shown[0], shown[1:], names=names))
        title = f"phase {rows[0].phase}, further columns"


def _blocks(widths: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
    """Yield columns (start, end) that fit beside each other."""
    start = taken = 0
    for place, width in enumerate(widths):
        if place > start and taken + width > room:
            yield start, place
            start, taken = place, 0
        taken += width
    yield start, len(widths)


def _line_printer() -> Callable[[str], None]:
    """Shows what programs print, as they do; on a terminal only, and the first lines only."""
    left = LINES_SHOWN if is_terminal() else 0

    def line(text: str) -> None:
        nonlocal left
        if left:
            left -= 1
            shown = f"  {text}"
            if not left:
                shown = "  … (the rest is in the logs)"
            if colour_wanted():
                shown = click.style(shown, fg="bright_black")
            # Not click.echo: the spinner makes room for what goes through sys.stderr as it is now.
            sys.stderr.write(f"{shown}\n")

    return line
