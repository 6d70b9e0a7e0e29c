"""gen-bundle verify DETAILS: does scoring again give the published result?"""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from gen_bundle.cli.messages import print_json, say, spinner
from gen_bundle.cli.options import PATH, engine_option, json_option, trust_option

if TYPE_CHECKING:
    from gen_bundle.after.verify import Verdict

EPILOG = """\b
Examples:
  gen-bundle verify details.json --bundle bundle.zip --submission eagle.zip --phase test
  gen-bundle verify line.txt --bundle my-task/ --data ~/gold --submission eagle.zip --phase test

\b
DETAILS is a details.json of a scoring program, or a text such as a line or table of an overview paper (also Markdown
or LaTeX): a signature and figures, `macro_f1 = .53  competition:my-task|tasks:…|reference:…`. Figures in a text are
compared as far as they have digits, others to 1e-6. Numbers that belong to no figure's name, and columns of the
leaderboard that the result leaves out, are listed.

\b
Exit status: 0 equal, 1 different or not scored, 2 nothing to compare, wrong use or unreadable input.
"""
EXPECTED = "Expected figures with their names, such as `macro_f1 = 0.53`, or the details.json of a scored submission."


@click.command(epilog=EPILOG)
@click.argument("details", type=PATH)
@click.option("--bundle", required=True, help="A bundle (zip or folder), or the name or folder of a competition.")
@click.option("--submission", required=True, type=PATH, help="A zip, folder or single file.")
@click.option("--phase", required=True, metavar="ID", help="The phase whose gold it is scored against.")
@click.option("--data", type=PATH, help="The real data, where --bundle is a competition.")
@engine_option
@trust_option
@json_option("Print the verdict as JSON.")
def command(as_json: bool, **asked: Any) -> None:
    """Score a submission again, and compare signature and figures with a published result."""
    from gen_bundle.after.verify import VerifyRequest, verify

    request = VerifyRequest(**asked)
    with spinner("scoring again"):
        verdict = verify(request)
    if as_json:
        print_json({"equal": verdict.equal, **asdict(verdict)})
    if verdict.failed:
        say(f"the submission was not scored: {verdict.failed}", "red")
    _show_changes(verdict)
    if verdict.equal:
        figures = f"all {verdict.compared} figures" if verdict.compared > 1 else "the one figure"
        say(f"equal: the signature and {figures}", "green")
    if verdict.not_taken:
        say(f"not read as figures: {', '.join(verdict.not_taken)}", "yellow")
    if verdict.not_compared and not verdict.failed:
        say(f"not in the published result, so not compared: {', '.join(verdict.not_compared)}", "yellow")
    if not verdict.verified:
        say(f"error: not verified: {request.details} has no figure to compare. {EXPECTED}", "red")
        sys.exit(2)
    sys.exit(int(not verdict.equal))


def _show_changes(verdict: Verdict) -> None:
    for setting in verdict.settings:
        say(f"{setting.meaning} differs: {setting.old or 'nothing'} → {setting.new or 'nothing'}", "red")
    for figure in verdict.figures:
        moved = "not given"
        if figure.new is not None:
            moved = f"{figure.new:g} ({figure.new - figure.old:+.2g})"
        say(f"{figure.name}: {figure.old:g} → {moved}", "red")
    if verdict.settings and verdict.compared and not verdict.figures:
        say("yet every figure is the same")
