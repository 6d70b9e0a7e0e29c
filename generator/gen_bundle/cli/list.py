"""gen-bundle list: the competitions that can be built."""

from typing import Any

import click

from gen_bundle.cli import VERBS
from gen_bundle.cli.messages import print_json, say
from gen_bundle.cli.options import json_option
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.plain_text import one_line
from gen_bundle.ground.resources import Known, known_competitions

EPILOG = """\b
Examples:
  gen-bundle list
  gen-bundle list --json
"""


@click.command(epilog=EPILOG)
@json_option("Print as JSON.")
def command(as_json: bool) -> None:
    """List the competitions that can be built by name, with their tasks and phases."""
    rows: list[dict[str, Any]] = []
    for name, known in known_competitions().items():
        try:
            rows.append(_row(name, known))
        except UserError as error:
            say(f"note: {name} is left out: {error}", "yellow")
    if as_json:
        print_json(rows)
        return
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        click.echo(f"{row['name']:{width}}  {one_line(row['title'])}")
        click.echo(f"{'':{width}}  tasks: {', '.join(one_line(one) for one in row['tasks'])}")
        if not row["package"].startswith("gen-bundle"):
            click.echo(f"{'':{width}}  from: {row['package']}")


def _row(name: str, known: Known) -> dict[str, Any]:
    from gen_bundle.declaration.read import read_competition

    if known.fault:
        raise UserError(known.fault)
    if name in VERBS:
        raise UserError(f"{known.package}: {name} is a verb of gen-bundle. Build it by its folder, {known.folder}.")
    declared = read_competition(known.folder)
    return {
        "name": name,
        "package": known.package,
        "title": declared.title,
        "tasks": [task.id for task in declared.tasks],
        "phases": [phase.id for phase in declared.phases],
    }
