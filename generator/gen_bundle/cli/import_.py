"""gen-bundle import BUNDLE: a project of a bundle that somebody wrote by hand, or with another tool."""

import shlex
import sys
from pathlib import Path

import click

from gen_bundle.cli.messages import say, say_each, spinner
from gen_bundle.cli.options import PATH, THERE

EPILOG = """\b
Examples:
  gen-bundle import last-year.zip --out this-year
  gen-bundle this-year --out this-year.zip
  gen-bundle diff last-year.zip this-year.zip

\b
Exit status: 0 imported, 1 imported into a project in which something is missing or to be fixed, 2 wrong use, or a
bundle that cannot be read: nothing is written.
"""


@click.command(epilog=EPILOG)
@click.argument("bundle", type=THERE)
@click.option("--out", type=PATH, help="The project's folder; default: BUNDLE-project, here.")
def command(bundle: Path, out: Path | None) -> None:
    """Make a project of any bundle (zip or folder, Codabench or CodaLab 1.5), with its own programs as they are."""
    from gen_bundle.author.importing.importing import import_bundle

    name = bundle.resolve().name if bundle.is_dir() else bundle.stem
    folder = out or Path(f"{name}-project")
    with spinner(f"importing {bundle}"):
        imported = import_bundle(bundle, folder)
    say_each(imported.changed, before="note: ")
    say_each(imported.converted, before="converted: ")
    say_each(imported.lost, "yellow", before="not carried over: ")
    say_each(imported.absent, "yellow", before="not in the bundle: ")
    say_each(imported.faults, "red", before="to fix: ")
    place = str(folder) if folder.is_absolute() else f"./{folder}"  # not the name of a verb
    if imported.absent or imported.faults:
        say(f"{folder}: imported, not whole yet; after that build it with gen-bundle {shlex.quote(place)}", "yellow")
        sys.exit(1)
    say(f"{folder}: imported; build it with gen-bundle {shlex.quote(place)}", "green")
