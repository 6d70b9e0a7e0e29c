"""gen-bundle new NAME: start a competition of one's own."""

from pathlib import Path

import click

from gen_bundle.cli.messages import say, user_errors

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
        folder = new_competition(name, parent, title)
    say(f"{folder}: a competition, ready to build and to change", "green")
    say(f"  gen-bundle {folder} --out bundle.zip")
    say("  gen-bundle dry-run bundle.zip --out dry-run")
    say(f"  python3 -m unittest discover {folder / 'tests'}")
