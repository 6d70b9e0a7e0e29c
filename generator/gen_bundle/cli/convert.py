"""gen-bundle convert OLD: from CodaLab 1.5 to Codabench."""

import json
import sys
from pathlib import Path

import click

from gen_bundle.cli.messages import say, user_errors

EPILOG = """\b
Examples:
  gen-bundle convert old.zip --out new.zip
  gen-bundle check new.zip
"""


@click.command(epilog=EPILOG)
@click.argument("old", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="Where the new bundle goes; default: OLD-codabench.zip, here."
)
@click.option("--force", is_flag=True, help="Replace what stands at --out.")
@click.option("--json", "as_json", is_flag=True, help="Print what was not carried over as JSON.")
def command(old: Path, out: Path | None, force: bool, as_json: bool) -> None:
    """Turn a CodaLab 1.5 bundle (zip or folder) into a Codabench one, and name what could not be carried over."""
    from gen_bundle.convert import convert

    if out is None:
        out = Path(f"{old.resolve().name if old.is_dir() else old.stem}-codabench.zip")
    with user_errors():
        lost = convert(old, out, force=force)
    for text in lost:
        say(f"not carried over: {text}", "yellow")
    say(f"{out}: converted; look at it with gen-bundle check {out}", "green")
    if as_json:
        json.dump({"path": str(out), "not_carried_over": lost}, sys.stdout, indent=1, ensure_ascii=False)
        click.echo()
