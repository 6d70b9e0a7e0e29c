"""gen-bundle list: the competitions that can be built."""

import json
import sys

import click

from gen_bundle.cli.messages import user_errors

EPILOG = """\b
Examples:
  gen-bundle list
  gen-bundle list --json
"""


@click.command(epilog=EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(as_json: bool) -> None:
    """List the competitions that come with the tool, with their tasks and phases."""
    from gen_bundle.declaration.read import read_competition
    from gen_bundle.declaration.resolve import competitions

    with user_errors():
        known = {name: read_competition(folder) for name, folder in competitions().items()}
    if as_json:
        rows = [
            {"name": n, "title": c.title, "tasks": [t.id for t in c.tasks], "phases": [p.id for p in c.phases]}
            for n, c in known.items()
        ]
        json.dump(rows, sys.stdout, indent=1, ensure_ascii=False)
        click.echo()
        return
    width = max(map(len, known), default=0)
    for name, competition in known.items():
        click.echo(f"{name:{width}}  {competition.title}")
        click.echo(f"{'':{width}}  tasks: {', '.join(task.id for task in competition.tasks)}")
