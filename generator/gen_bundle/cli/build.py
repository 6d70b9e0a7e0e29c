"""gen-bundle NAME_OR_DIR --out PATH: build a competition's bundle."""

import json
import sys
from pathlib import Path

import click

from gen_bundle.cli.messages import say, spinner, user_errors

EPILOG = """\b
Examples:
  gen-bundle clpsych2025 --out bundle.zip
  gen-bundle clpsych2025 --out bundle.zip --data ~/gold --set docker_image=docker.io/me/clpsych2025:1
  gen-bundle ./my-task --out bundle.zip --set phases.test.end="2025-03-11 AoE"
  gen-bundle seedev2016 --layout separate --out bundles/
  gen-bundle seedev2016 --layout separate --task binary --out binary.zip

\b
Layouts:
  joint     one Codabench task a phase scores all tasks; one row a submission (default)
  tasks     one Codabench task for each task and phase, each with its own program
  separate  one bundle a task, as SemEval does it
"""


LOCAL_IMAGES = "gen-bundle/"  # tags that `gen-bundle image build` makes; they are on this machine alone


@click.command(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.argument("source", metavar="NAME_OR_DIR")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Where the bundle goes.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Folder with the real data: one folder a phase, public/, baselines/.",
)
@click.option("--layout", type=click.Choice(["joint", "tasks", "separate"]), help="How the tasks meet the platform.")
@click.option("--task", metavar="ID", help="With layout separate: build only this task's bundle.")
@click.option(
    "--platform",
    type=click.Choice(["codabench", "codalab"]),
    default="codabench",
    help="codalab writes the older format (version 1.5).",
)
@click.option("--set", "overrides", metavar="K=V", multiple=True, help="Override a value of bundle.yaml; repeatable.")
@click.option("--force", is_flag=True, help="Replace any file at --out; keep a bundle that the check refuses.")
@click.option("--json", "as_json", is_flag=True, help="Print what was built as JSON.")
def command(
    source: str,
    out: Path,
    data: Path | None,
    layout: str | None,
    task: str | None,
    platform: str,
    overrides: tuple[str, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Build the bundle of a competition: one that comes with the tool, or a folder with bundle.yaml."""
    from gen_bundle.build import Request, build

    with user_errors(), spinner("reading the declaration") as status:
        built = build(
            Request(source, out, data, layout, task, overrides, force, platform),
            progress=status,
        )
    for bundle in built:
        for note in bundle.notes:
            say(f"note: {note}", "yellow")
        say(f"{bundle.path}: {bundle.path.stat().st_size / 1e6:.1f} MB, ready to upload", "green")
    image = built[0].competition.declaration.docker_image
    if image.startswith(LOCAL_IMAGES):
        name = built[0].competition.name
        say(f"It is scored in the image {image}, which Codabench must be able to pull. To make and publish it:")
        say(f"  gen-bundle image build {source}")
        say(f"  gen-bundle image push {source} --to REGISTRY/YOU/{name}:TAG")
        say(f"  gen-bundle {source} --out {out} --set docker_image=REGISTRY/YOU/{name}:TAG")
    if as_json:
        bundles = [{"path": str(b.path), "tasks": [t.id for t in b.competition.tasks], "notes": b.notes} for b in built]
        json.dump(bundles, sys.stdout, indent=1, ensure_ascii=False)
        click.echo()
