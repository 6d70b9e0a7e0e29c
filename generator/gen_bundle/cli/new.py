"""gen-bundle new NAME: start a competition of one's own."""

import shlex
import sys
from pathlib import Path

import click

from gen_bundle.cli import VERBS
from gen_bundle.cli.messages import say, user_errors
from gen_bundle.errors import UserError

EPILOG = """\b
Examples:
  gen-bundle new my-task
  gen-bundle new my-task --title "Sentiment of reviews" --in ~/tasks
"""


@click.command(epilog=EPILOG)
@click.argument("name")
@click.option("--title", help="Title of the competition.")
@click.option(
    "--in", "parent", type=click.Path(path_type=Path, file_okay=False), default=Path(), help="Folder to make it in."
)
def command(name: str, title: str | None, parent: Path) -> None:
    """Write a small classification task that builds, dry-runs and passes its test at once; change it from there."""
    from gen_bundle.new import new_competition

    with user_errors():
        if name in VERBS:
            raise UserError(f"{name!r}: `gen-bundle {name}` is a verb already. Choose another name.")
        folder = new_competition(name, parent, title)
    say(f"{folder}: a competition, ready to build and to change", "green")
    for command_line in (
        ["gen-bundle", str(folder), "--out", "bundle.zip"],
        ["gen-bundle", "dry-run", "bundle.zip", "--out", "dry-run"],
        [sys.executable, "-m", "unittest", "discover", str(folder / "tests")],
    ):
        say(f"  {shlex.join(command_line)}")
