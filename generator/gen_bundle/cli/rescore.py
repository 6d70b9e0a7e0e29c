"""gen-bundle rescore BUNDLE: all submissions scored again, and what that changes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gen_bundle.cli.messages import console, progress_bar, say, say_each, table
from gen_bundle.cli.options import PATH, engine_option, python_option, trust_option
from gen_bundle.ground.plain_text import one_line

if TYPE_CHECKING:
    from gen_bundle.after.rescore.outputs import Rescored
    from gen_bundle.after.rescore.rescoring import RescoreRequest

SHOWN = 20
EPILOG = """\b
Examples:
  gen-bundle rescore fixed.zip --submissions downloads/0-test --phase test --against uploaded.zip --out rescored
  gen-bundle rescore fixed.zip --submissions downloads/0-test --phase test \\
      --scores downloads/0-test/submissions.json --out rescored --workers 8
  gen-bundle rescore fixed.zip --submissions teams/ --phase test --out rescored --cluster tcp://head:8786

\b
--submissions is a phase's folder of `gen-bundle fetch`, or what `gen-bundle rank` takes: a zip, folder or file for each
team, those of one team in folders called by their date. Every one of them is scored, not only the latest.
--scores is submissions.json of a fetch, or a CSV table: submission, and columns of the board.

\b
Results are kept below --out and never made twice: after Ctrl-C, the same command goes on where it was. It writes
rescore.json, changes.csv and rescore.html. Many machines: docs/rescore.md.

\b
Exit status: 0 all scored and nothing changed; 1 something changed, a job could not be run, or, without old scores, a
submission failed; 2 wrong use or unreadable input.
"""


@click.command(epilog=EPILOG)
@click.argument("bundle")
@click.option("--submissions", required=True, type=PATH, help="Folder with all submissions to the phase.")
@click.option("--phase", metavar="ID", required=True, help="The phase whose gold they are scored against.")
@click.option("--against", metavar="OLD", help="The bundle with the old program or data, which scores them as well.")
@click.option("--scores", type=PATH, help="A file with the old scores.")
@click.option("--out", required=True, type=PATH, help="Folder for the results.")
@click.option("--data", type=PATH, help="The real data, where BUNDLE is a competition.")
@engine_option
@python_option
@trust_option
@click.option("--gpu", is_flag=True, help="Each job needs a GPU: the engine's, and on a cluster a worker's GPU=1.")
@click.option("--workers", type=click.IntRange(1), default=1, help="Jobs of this machine at a time.")
@click.option(
    "--cluster", metavar="ADDRESS", help="Use the workers of this Dask scheduler (needs the extra `cluster`)."
)
def command(**asked: Any) -> None:
    """Score all submissions again, and show who changes: scores, ranks, and who fails now."""
    from gen_bundle.after.rescore.rescoring import RescoreRequest, rescore

    request = RescoreRequest(**asked)
    with progress_bar("rescoring", "MofNCompleteColumn", "TimeRemainingColumn") as (announce, advance):
        rescored = rescore(request, announce, advance)
    _show(rescored, request)
    sys.exit(int(not rescored.good))


def _show(rescored: Rescored, request: RescoreRequest) -> None:
    say_each([one_line(note) for note in rescored.notes], "yellow", before="note: ")
    comparison, reasons = rescored.comparison, rescored.reasons
    _show_names(comparison.fails_now, "fails now", "red", reasons)
    known = {} if rescored.against else reasons  # those that failed before, too
    _show_names(rescored.others_failed, "failed", "red", known)
    _show_names(comparison.works_now, "failed before, is scored now", "green", {})
    _show_names([*dict.fromkeys(rescored.not_run)], "not run", "red", reasons)
    if rescored.against and comparison.answer:
        style = "" if comparison.reranked else "green"
        say(f"{comparison.answer}.", style)
    if comparison.reranked:
        _show_board(rescored)
    summary = f"{len(rescored.runs)} runs, {len(rescored.failed)} failed, {len(rescored.not_run)} not run"
    if rescored.against:
        summary += f"; {len(comparison.changes)} changes, all of them in changes.csv"
    style = "green" if rescored.good else ""
    say(f"{summary}: {request.out / 'rescore.html'}", style)


def _show_names(names: Sequence[str], what: str, style: str, reasons: Mapping[str, str]) -> None:
    for name in names[:SHOWN]:
        say(f"{one_line(name)}: {what}. {reasons.get(name, '')}".rstrip(), style)
    if len(names) > SHOWN:
        say(f"… and {len(names) - SHOWN} more: {what}", style)


def _show_board(rescored: Rescored) -> None:
    """The scores and ranks that change in the column that ranks."""
    from gen_bundle.after.rescore.outputs import shown, shown_difference

    changes = rescored.comparison.reranked
    lines = []
    for change in changes[:SHOWN]:
        rank = shown(change.rank_old)
        if change.rank_old != change.rank_new:
            rank += f" → {shown(change.rank_new)}"
        lines.append([change.submission, shown(change.old), shown(change.new), shown_difference(change), rank])
    heads = ("submission", "old", "new", "change", "rank")
    console().print(table(f"{changes[0].column} against {rescored.against}", heads, lines, names=1))
    if len(changes) > SHOWN:
        say(f"… and {len(changes) - SHOWN} more in rescore.html")
