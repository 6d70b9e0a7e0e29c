"""gen-bundle convert OLD: from CodaLab 1.5 to Codabench."""

import sys
from pathlib import Path

import click

from gen_bundle.cli.messages import print_json, say, say_each
from gen_bundle.cli.options import PATH, THERE, json_option

EPILOG = """\b
Examples:
  gen-bundle convert old.zip --out new.zip
  gen-bundle check new.zip

\b
Exit status: 0 converted, 1 converted into a bundle that Codabench would refuse or that cannot work, 2 wrong use or a
bundle that cannot be read.
"""


@click.command(epilog=EPILOG)
@click.argument("old", type=THERE)
@click.option("--out", type=PATH, help="Where the new bundle goes; default: OLD-codabench.zip, here.")
@click.option("--force", is_flag=True, help="Replace the file at --out.")
@json_option("Print what became of it as JSON.")
def command(old: Path, out: Path | None, force: bool, as_json: bool) -> None:
    """Turn a CodaLab 1.5 bundle (zip or folder) into a Codabench one, and name what could not be carried over."""
    from gen_bundle.author.convert import convert

    if out is None:
        out = Path(f"{old.resolve().name if old.is_dir() else old.stem}-codabench.zip")
    converted = convert(old, out, force=force)
    say_each(converted.changed, before="note: ")
    say_each(converted.lost, "yellow", before="not carried over: ")
    for finding in converted.faults:
        say(f"to fix: {finding.what}. {finding.consequence} {finding.repair}", "red")
    if converted.faults:
        say(f"{out}: converted, but it cannot be used as it is; once fixed, check it with gen-bundle check", "red")
    else:
        say(f"{out}: converted; look at it with gen-bundle check {out}", "green")
    if as_json:
        faults = [finding.as_dict() for finding in converted.faults]
        found = {"not_carried_over": converted.lost, "changed": converted.changed, "faults": faults}
        print_json({"path": str(out)} | found)
    if converted.faults:
        sys.exit(1)
