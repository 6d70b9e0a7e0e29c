"""gen-bundle verify DETAILS_OR_SCORES: does scoring again give the published result?"""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from gen_bundle.cli.messages import print_json, say, say_each, spinner
from gen_bundle.cli.options import PATH, engine_option, json_option, trust_option

if TYPE_CHECKING:
    from gen_bundle.after.verify import Verdict

EPILOG = """\b
Examples:
  gen-bundle verify details.json --bundle bundle.zip --submission eagle.zip --phase test
  gen-bundle verify ranking.csv --bundle my-task/ --data ~/gold --submission teams/eagle.zip --phase test
  gen-bundle verify --claim macro_f1=0.8123 --signature 'competition:my-task|tasks:…|program:…|reference:…' \\
      --bundle bundle.zip --submission eagle.zip --phase test

\b
The file is details.json or scores.json of a scoring program, or what `rank` prints with --format csv or json, of which
the row of the submission's team is taken; they are compared to 1e-6. KEY is a column's, or TASK/METRIC of details.json;
a claim is compared as far as it has digits, which must be enough for 1 % of its column's range.

\b
Exit status: 0 all that was given and the ranking column of each task were compared, and are equal; 1 different, or not
scored; 2 something was not compared, wrong use or unreadable input.
"""


@click.command(epilog=EPILOG)
@click.argument("published", metavar="[DETAILS_OR_SCORES]", type=PATH, required=False)
@click.option("--claim", "claims", metavar="KEY=VALUE", multiple=True, help="A published figure; repeatable.")
@click.option("--signature", metavar="S", help="Of the claims, or of a file that has none.")
@click.option("--bundle", required=True, help="A bundle (zip or folder), or the name or folder of a competition.")
@click.option("--submission", required=True, type=PATH, help="A zip, folder or single file.")
@click.option("--phase", required=True, metavar="ID", help="Whose gold counts.")
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
        print_json({"equal": verdict.status == 0, **asdict(verdict)})
    _show(verdict)
    if verdict.status == 0:
        what = "and the signature" if verdict.signed else "without a signature: gold and program were not compared"
        say(f"equal: {', '.join(verdict.compared)}; {what}", "green")
    sys.exit(verdict.status)


def _show(verdict: Verdict) -> None:
    if verdict.failed:
        say(f"the submission was not scored: {verdict.failed}", "red")
    for setting in verdict.settings:
        say(f"{setting.meaning} differs: {setting.old or 'nothing'} → {setting.new or 'nothing'}", "red")
    for figure in verdict.figures:
        moved = "undefined"
        if figure.new is not None:
            moved = f"{figure.new:g} ({figure.new - figure.old:+.2g})"
        say(f"{figure.name}: {figure.old:g} → {moved}", "red")
    if verdict.settings and verdict.compared and not verdict.figures:
        say("yet every figure that was compared is the same")
    say_each(verdict.not_compared, "yellow", before="not compared: ")
