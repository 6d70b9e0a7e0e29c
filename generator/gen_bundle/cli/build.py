"""gen-bundle NAME_OR_DIR: build a competition's bundle."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from gen_bundle.cli.messages import print_json, say, say_each, spinner
from gen_bundle.cli.options import PATH, Verb, declared_ids, json_option, overrides_option

if TYPE_CHECKING:
    from gen_bundle.build.building import BuildRequest, Built
    from gen_bundle.build.draft import Lack

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

\b
Exit status: 0 built, perhaps as a draft; 1 built with --force though the check refuses it, or not built because
--release allows no draft; 2 not built.
"""


@click.command(cls=Verb, advanced=["platform"], epilog=EPILOG)
@click.argument("source", metavar="NAME_OR_DIR")
@click.option(
    "--out",
    type=PATH,
    help="Where the bundle goes; default: NAME.zip here, with layout separate the folder NAME-bundles/.",
)
@click.option("--data", type=PATH, help="Folder with the real data: one folder per phase, public/, baselines/.")
@click.option(
    "--layout", type=click.Choice(["joint", "tasks", "separate"]), help="How tasks become Codabench tasks: below."
)
@click.option(
    "--task",
    metavar="ID",
    shell_complete=declared_ids("tasks"),
    help="With layout separate: build only this task's bundle.",
)
@click.option(
    "--platform",
    type=click.Choice(["codabench", "codalab"]),
    default="codabench",
    help="codalab writes the older format (version 1.5).",
)
@overrides_option
@click.option(
    "--force",
    is_flag=True,
    help="Replace any file at --out; write a bundle even if the check refuses it, or gold leaks.",
)
@click.option("--release", is_flag=True, help="Write nothing if something is missing that keeps the bundle a draft.")
@json_option("Print what was built as JSON.")
def command(as_json: bool, **asked: Any) -> None:
    """Build the bundle of a competition: one that comes with the tool, or a folder with bundle.yaml."""
    from gen_bundle.build.building import BuildRequest, DraftError, build

    request = BuildRequest(**asked, announce=say)
    built: list[Built] = []
    drafts: Sequence[Built] = []
    try:
        with spinner("reading the declaration") as status:
            built = build(request, progress=status)
        report_built(built, request)
    except DraftError as error:
        drafts = error.drafts
        raise
    finally:
        if as_json:
            print_json([_as_dict(bundle, written=bundle in built) for bundle in (*built, *drafts)])
    if any(bundle.errors for bundle in built):
        sys.exit(1)


def report_built(built: "Sequence[Built]", request: "BuildRequest") -> None:
    """Print why bundles are refused, what is missing, what may be of interest, and last what each is good for."""
    missing: dict[Lack, None] = {}
    for bundle in built:
        missing |= dict.fromkeys(bundle.draft)
        say_each(bundle.errors, "red", before="error: ")
    say_each(missing, "yellow", before="missing: ")
    needs_image = {lack.id for lack in missing} & {"local-image", "image-lacks"}
    if needs_image and not any(bundle.errors for bundle in built):
        _say_next_steps(request, built[0].competition.name)
    for bundle in built:
        say_each(bundle.notes, "yellow", before="note: ")
    for bundle in built:
        state, colour = _state(bundle)
        say(f"{bundle.path}: {bundle.path.stat().st_size / 1e6:.1f} MB, {state}", colour)


def _state(bundle: "Built") -> tuple[str, str]:
    """Return what a bundle is good for, and the colour in which that is said."""
    if bundle.leaks:
        return "written because of --force. DO NOT UPLOAD IT: participants would see gold.", "red"
    if bundle.errors:
        return "written because of --force, but with the errors above: not ready to upload.", "red"
    if bundle.draft:
        things = "1 thing is" if len(bundle.draft) == 1 else f"{len(bundle.draft)} things are"
        return f"draft, not ready to publish: {things} missing", "yellow"
    return "ready to upload", "green"


def _as_dict(bundle: "Built", *, written: bool) -> dict[str, Any]:
    return {
        "path": str(bundle.path),
        "written": written,
        "tasks": [task.id for task in bundle.competition.tasks],
        "notes": bundle.notes,
        "errors": bundle.errors,
        "draft": [asdict(lack) for lack in bundle.draft],
    }


def _say_next_steps(request: "BuildRequest", name: str) -> None:
    asked = [word for override in request.overrides for word in ("--set", override)]
    target = f"REGISTRY/YOU/{name}:TAG"
    say("To make and publish the image:")
    say(f"  {shlex.join(['gen-bundle', 'image', 'build', request.source, *asked])}")
    say(f"  {shlex.join(['gen-bundle', 'image', 'push', request.source, *asked, '--to', target])}")
    say(f"and then build the same again with --set docker_image={target}")
