"""gen-bundle rescore BUNDLE: all submissions scored again, and what that changes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from gen_bundle.cli.messages import is_terminal, say, user_errors
from gen_bundle.plain_text import one_line

if TYPE_CHECKING:
    from gen_bundle.rescore.outputs import Rescored
    from gen_bundle.rescore.plan import Advance, Announce, RescoreRequest

SHOWN = 20
LOG_CHARACTERS = 200
INTERRUPTED = 130
EPILOG = """\b
Examples:
  gen-bundle rescore fixed.zip --submissions downloads/0-test --phase test --against uploaded.zip --out rescored
  gen-bundle rescore fixed.zip --submissions downloads/0-test --phase test \\
      --scores downloads/0-test/submissions.json --out rescored --workers 8
  gen-bundle rescore fixed.zip --submissions teams/ --phase test --out rescored --cluster tcp://head:8786
  gen-bundle rescore fixed.zip --submissions teams/ --phase test --out rescored --print-jobs > jobs.txt
  gen-bundle rescore --collect --out rescored

\b
--submissions is a phase's folder of `gen-bundle fetch`, or what `gen-bundle rank` takes: a zip, folder or file for each
team, those of one team in folders called by their date. Every one of them is scored, not only the latest.
--scores is submissions.json of a fetch, an earlier rescore.json, or a CSV table: submission, and columns of the board.

\b
Results are kept below --out and never made twice: after Ctrl-C, the same command goes on where it was. It writes
rescore.json, changes.csv and rescore.html. Many machines: docs/rescore.md.

\b
Exit status: 0 all scored and nothing changed; 1 something changed, a job could not be run, or, without old scores, a
submission failed; 2 wrong use or unreadable input.
"""


@click.command(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.argument("bundle", required=False)
@click.option("--submissions", type=click.Path(path_type=Path), help="Folder with all submissions to the phase.")
@click.option("--phase", metavar="ID", help="The phase whose gold they are scored against.")
@click.option("--against", metavar="OLD", help="The bundle with the old program or data, which scores them as well.")
@click.option("--scores", type=click.Path(path_type=Path), help="A file with the old scores.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for the results.")
@click.option("--data", type=click.Path(path_type=Path), help="The real data, where BUNDLE is a competition.")
@click.option(
    "--engine", type=click.Choice(["docker", "process"]), help="Default: docker when an engine answers, else process."
)
@click.option("--gpu", is_flag=True, help="Each job needs a GPU: the engine's, and on a cluster a worker's GPU=1.")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes of this machine.")
@click.option(
    "--cluster", metavar="ADDRESS", help="Use the workers of this Dask scheduler (needs the extra `cluster`)."
)
@click.option("--print-jobs", is_flag=True, help="Score nothing: print a command for each job, for xargs or Slurm.")
@click.option("--job", metavar="NAME", help="Score this submission alone, for --collect; what --print-jobs prints.")
@click.option("--collect", is_flag=True, help="Score nothing: compare what the printed jobs have scored.")
def command(
    bundle: str | None,
    submissions: Path | None,
    phase: str | None,
    against: str | None,
    scores: Path | None,
    out: Path,
    data: Path | None,
    engine: Literal["docker", "process"] | None,
    gpu: bool,
    workers: int,
    cluster: str | None,
    print_jobs: bool,
    job: str | None,
    collect: bool,
) -> None:
    """Score all submissions again, and show who changes: scores, ranks, and who fails now."""
    from gen_bundle.rescore import journey
    from gen_bundle.rescore.plan import RescoreRequest
    from gen_bundle.rescore.printed_jobs import printed_jobs, recorded_request

    if print_jobs + (job is not None) + collect > 1:
        raise click.UsageError("--print-jobs, --job and --collect exclude each other.")
    if collect and bundle is None:
        with user_errors():
            request = recorded_request(out)
    elif bundle is None or submissions is None or phase is None:
        raise click.UsageError("Expected BUNDLE, --submissions and --phase (only --collect can do without).")
    else:
        request = RescoreRequest(
            bundle, submissions, phase, out, against, scores, data, engine, workers, cluster, gpu, job
        )
    with _interruptible(request), user_errors(), _progress_bar() as (announce, advance):
        if print_jobs:
            for line in printed_jobs(request, announce, advance):
                click.echo(line)
            sys.exit(0)
        if job is not None:
            sys.exit(1 if journey.score_only(request, announce, advance) else 0)
        rescored = (journey.collect if collect else journey.rescore)(request, announce, advance)
    _show(rescored, request)
    sys.exit(0 if rescored.good else 1)


@contextmanager
def _interruptible(request: RescoreRequest) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        say(f"Interrupted. What was scored is kept in {request.out}: run the same command again to go on.", "yellow")
        sys.exit(INTERRUPTED)


def _show(rescored: Rescored, request: RescoreRequest) -> None:
    for note in rescored.notes:
        say(f"note: {one_line(note)}", "yellow")
    comparison = rescored.comparison
    messages = {run.submission: run.message for run in reversed(rescored.runs) if run.message}
    for names, what, style, why in (
        (comparison.fails_now, "fails now", "red", messages),
        (rescored.others_failed, "failed", "red", {} if rescored.against else messages),
        (comparison.works_now, "failed before, is scored now", "green", {}),
        (list(dict.fromkeys(run.submission for run in rescored.not_run)), "not run", "red", messages),
    ):
        for name in names[:SHOWN]:
            say(f"{one_line(name)}: {what}. {why.get(name, '')}".rstrip(), style)
        if len(names) > SHOWN:
            say(f"… and {len(names) - SHOWN} more: {what}", style)
    if comparison.changes:
        _show_changes(rescored)
    runs = f"{len(rescored.runs)} runs, {len(rescored.failed)} failed, {len(rescored.not_run)} not run"
    changes = f"; {len(comparison.changes)} changes" if rescored.against else ""
    say(f"{runs}{changes}: {request.out / 'rescore.html'}", "green" if rescored.good else "")


def _show_changes(rescored: Rescored) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from gen_bundle.rescore.outputs import shown, shown_difference

    changes = rescored.comparison.changes
    table = Table(title=f"against {escape(one_line(rescored.against))}", title_justify="left")
    for head in ("submission", "column", "old", "new", "change", "rank"):
        table.add_column(head, overflow="fold", justify="left" if head in ("submission", "column") else "right")
    for change in changes[:SHOWN]:
        moved = f" → {shown(change.rank_new)}" if change.rank_old != change.rank_new else ""
        cells = (change.submission, change.column, shown(change.old), shown(change.new), shown_difference(change))
        table.add_row(*(escape(one_line(cell)) for cell in cells), f"{shown(change.rank_old)}{moved}")
    Console(stderr=True, width=None if is_terminal() else LOG_CHARACTERS).print(table)
    if len(changes) > SHOWN:
        say(f"… and {len(changes) - SHOWN} more in changes.csv")


@contextmanager
def _progress_bar() -> Iterator[tuple[Announce, Advance]]:
    """On a terminal a bar with the time left, and lines above it; else the lines alone."""
    if not is_terminal():
        yield say, lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        shown = bar.add_task("rescoring", total=None)
        yield (
            lambda text: bar.console.print(Text(one_line(text))),
            lambda now: bar.update(shown, description=now.step, completed=now.done, total=now.total or None),
        )
