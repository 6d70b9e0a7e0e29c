"""gen-bundle diff OLD NEW: what differs between two bundles, and what each difference takes on the platform."""

import sys
import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gen_bundle.cli.messages import spinner
from gen_bundle.cli.options import PATH, json_option, trust_option
from gen_bundle.ground.plain_text import in_lines

if TYPE_CHECKING:
    from gen_bundle.look.difference.changes import Difference

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
    from gen_bundle.look.difference import report

    with spinner("comparing"):
        found = diff(**asked)
    text = report.as_json(found) if as_json else in_lines(report.as_text(found))
    click.echo(text, nl=False)
    sys.exit(int(bool(found)))


def diff(
    old: str, new: str, data: Path | None = None, layout: str | None = None, *, trust: bool = False
) -> "list[Difference]":
    """Everything in which two bundles differ: zips, folders, or the names or folders of declarations, built for it.

    Raises:
        UserError: one of them cannot be read or built.
    """
    from gen_bundle.build.building import finished_bundle
    from gen_bundle.check.bundle import open_readable_bundle
    from gen_bundle.look.difference.report import differences, verdicts

    now = datetime.now(UTC)
    bundles = []
    with ExitStack() as held:
        for source in (old, new):
            work = Path(held.enter_context(tempfile.TemporaryDirectory()))
            path = finished_bundle(source, work, data, layout, trust=trust)
            bundles.append(open_readable_bundle(path, now, held))
        return differences(*bundles) + verdicts(*bundles)
