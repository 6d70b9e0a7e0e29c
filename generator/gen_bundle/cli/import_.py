"""gen-bundle import BUNDLE: a project of a bundle that somebody wrote by hand, or with another tool."""

import shlex
import sys
from contextlib import closing
from pathlib import Path

import click

from gen_bundle.cli.messages import say, say_each, spinner
from gen_bundle.cli.options import PATH, THERE, python_option, trust_option

EPILOG = """\b
Examples:
  gen-bundle import last-year.zip --out this-year
  gen-bundle this-year --out this-year.zip
  gen-bundle diff last-year.zip this-year.zip
  gen-bundle import last-year.zip --out this-year --declare

\b
Exit status: 0 imported, 1 imported into a project that something is missing from, 2 wrong use, or a bundle that
cannot be read: nothing is written.
"""


@click.command(epilog=EPILOG)
@click.argument("bundle", type=THERE)
@click.option("--out", type=PATH, help="The project's folder; default: BUNDLE-project, here.")
@click.option(
    "--declare",
    is_flag=True,
    help="Recognise its scoring program: write the declaration that scores as it does, and let it take the program's "
    "place where every value of the bundle's solutions, and of thirty changed ones, is equal.",
)
@python_option
@trust_option
def command(bundle: Path, out: Path | None, declare: bool, python: Path | None, trust: bool) -> None:
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
    say(f"{folder}: imported; build it with gen-bundle {shlex.quote(place)}", "green")
    if declare:
        _declare(folder, python, trust=trust)
    if imported.absent or imported.faults:
        sys.exit(1)


def _declare(folder: Path, python: Path | None, *, trust: bool) -> None:
    """Look for the declaration of the project's scorer, and say what was found."""
    from gen_bundle.author.importing.declaring import BESIDE, ORIGINAL, declare
    from gen_bundle.dry_run.engines.choose import choose_engine

    with closing(choose_engine("process", say, python=python)) as engine, spinner("recognising the scorer") as show:
        declared = declare(folder, engine, trust=trust, progress=show)
    say_each(declared.recognised, before="recognised: ")
    if declared.compared:
        say(f"compared: {declared.compared}")
    say_each(declared.differs, "red", before="differs: ")
    say_each(declared.stricter, "yellow", before="only the original scores it: ")
    say_each(declared.left, "yellow", before="not declared: ")
    if declared.is_switched:
        say_each(declared.lost, "yellow", before="not taken over: ")
        say(f"{folder}: bundle.yaml declares the scoring now; {ORIGINAL} is what it was, with programs/", "green")
        return
    say(f"{folder}: bundle.yaml stays as it was imported, with the original program", "green")
    if declared.file is not None:
        say_each(declared.lost, "yellow", before=f"{BESIDE} does not take over: ")
        say(f"the declaration is in {BESIDE}; it takes effect under the name bundle.yaml")
