"""gen-bundle list: the competitions that can be built."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from gen_bundle.resources import competitions

EPILOG = """\b
Examples:
  gen-bundle list
  gen-bundle list --json
"""


@click.command(epilog=EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(as_json: bool) -> None:
    """List the competitions that come with the tool, with their tasks and phases."""
    rows = [_row(name, folder) for name, folder in competitions().items()]
    if as_json:
        json.dump(rows, sys.stdout, indent=1, ensure_ascii=False)
        click.echo()
        return
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        click.echo(f"{row['name']:{width}}  {row['title']}")
        click.echo(f"{'':{width}}  tasks: {', '.join(row['tasks'])}")


def _row(name: str, folder: Path) -> dict[str, Any]:
    """What is shown of a competition, from its YAML alone: the model that checks it takes longer to import."""
    from gen_bundle.declaration.source import read_source

    declared = read_source(folder / "bundle.yaml").data
    return {
        "name": name,
        "title": declared["title"],
        "tasks": [task["id"] for task in declared["tasks"]],
        "phases": [phase["id"] for phase in declared["phases"]],
    }
