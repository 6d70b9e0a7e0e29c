"""gen-bundle diff OLD NEW: what differs between two bundles, and what each difference takes on the platform."""

import sys
from typing import Any

import click

from gen_bundle.cli.messages import spinner, user_errors
from gen_bundle.cli.options import PATH, json_option, trust_option
from gen_bundle.plain_text import in_lines

EPILOG = """\b
Examples:
  gen-bundle diff uploaded.zip bundle.zip
  gen-bundle diff uploaded.zip my-task/ --data ~/gold
  gen-bundle diff their-bundle.zip unpacked/ --json

\b
Each difference carries what it does on the running competition:
  shown  seen at once when it is saved in the competition's editor
  edit   an edit in the editor; holds for what is submitted afterwards
  keep   the task's program or data may be replaced at any time: no score changes
  rerun  the task's program or data must be replaced and its submissions rerun
  fixed  cannot be changed for what is submitted already

\b
Of reference data only the numbers of items are shown. Exit status: 0 the same, 1 different, 2 wrong use or a bundle
that cannot be read.
"""


@click.command(epilog=EPILOG)
@click.argument("old")
@click.argument("new")
@click.option("--data", type=PATH, help="Data with which a declaration is built for it.")
@click.option(
    "--layout", type=click.Choice(["joint", "tasks", "separate"]), help="Layout in which a declaration is built."
)
@trust_option
@json_option("Print the differences as JSON.")
def command(as_json: bool, **asked: Any) -> None:
    """Compare two bundles (zip or folder, anybody's) or declarations in meaning."""
    from gen_bundle.diff import DiffRequest, diff
    from gen_bundle.difference import report

    with user_errors(), spinner("comparing"):
        differences = diff(DiffRequest(**asked))
    text = report.as_json(differences) if as_json else in_lines(report.as_text(differences))
    click.echo(text, nl=False)
    sys.exit(int(bool(differences)))
