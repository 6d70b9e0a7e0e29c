"""gen-bundle upload BUNDLE: makes a competition of a bundle on a live Codabench site."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gen_bundle.cli.live_options import connected, live_options, transfer_bar
from gen_bundle.cli.messages import can_answer, say, user_errors

if TYPE_CHECKING:
    from gen_bundle.live.upload import Uploaded

EPILOG = """\b
Examples:
  gen-bundle upload bundle.zip
  gen-bundle upload bundle.zip --publish
  gen-bundle upload bundle.zip --server https://codabench.my-university.edu --json

\b
Checks the bundle first, and sends nothing that the site would refuse, that cannot work, that shows gold to participants
or that is a draft (--force sends it nevertheless). Then waits until the site has unpacked it, and compares what it
stored with what the bundle says: settings, pages, phases, dates, limits, columns, and which files there are. The
competition stays unpublished unless --publish is given and nothing differs. When something fails after the site has the
bundle, the message says where the competition may be.
Exit status: 0 uploaded as the bundle says, 1 not uploaded or stored otherwise, 2 wrong use or unreadable input.
"""


@click.command(epilog=EPILOG)
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option("--publish", is_flag=True, help="Publish the competition if it was stored as the bundle says.")
@click.option("--yes", is_flag=True, help="Upload it again, where a competition may have come of it before.")
@click.option("--force", is_flag=True, help="Upload also a draft, or what the check objects to.")
@click.option("--json", "as_json", is_flag=True, help="Print id, address, state and differences as JSON.")
@live_options
def command(
    bundle: Path, publish: bool, yes: bool, force: bool, as_json: bool, server: str, token_file: Path | None
) -> None:
    """Upload a bundle to a live Codabench site."""
    from gen_bundle.live.upload import HandedOverError, upload

    with user_errors(), connected(server, token_file) as connection, transfer_bar(bundle.name) as tick:
        wanted = partial(upload, connection, bundle, publish=publish, force=force, progress=say, tick=tick)
        try:
            done = _uploaded(wanted, yes)
        except HandedOverError as error:
            if as_json:
                found = {"id": error.id, "address": error.address, "may_exist": True, "error": error.messages}
                click.echo(json.dumps(found, indent=1, ensure_ascii=False))
            raise
    for obstacle in done.obstacles:
        say(f"forced: {obstacle}", "yellow")
    for mismatch in done.mismatches:
        say(str(mismatch), "red")
    if as_json:
        click.echo(json.dumps(asdict(done), indent=1, ensure_ascii=False))
    else:
        click.echo(done.address)
    if publish and not done.published:
        say("not published: " + ("it was stored otherwise" if done.mismatches else "the site did not do it"), "red")
    else:
        say("published" if done.published else "not published; participants cannot see it yet", "green")
    sys.exit(1 if done.mismatches or (publish and not done.published) else 0)


def _uploaded(wanted: Callable[..., Uploaded], yes: bool) -> Uploaded:
    """Upload a bundle; ask before it becomes a second competition."""
    from gen_bundle.live.upload import UploadedBeforeError

    try:
        return wanted(again=yes)
    except UploadedBeforeError as before:
        if not can_answer() or not click.confirm(f"{before.messages[0]}. Upload it again?", err=True):
            raise
        return wanted(again=True)
