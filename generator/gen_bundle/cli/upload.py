"""gen-bundle upload BUNDLE: makes a competition of a bundle on a live Codabench site."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gen_bundle.cli.messages import can_answer, print_json, say, say_each
from gen_bundle.cli.options import PATH, json_option, live_options, transfer_bar

if TYPE_CHECKING:
    from gen_bundle.live.connection import Connection
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
@click.argument("bundle", type=PATH)
@click.option("--publish", is_flag=True, help="Publish the competition if it was stored as the bundle says.")
@click.option("--yes", is_flag=True, help="Upload it again, where a competition may have come of it before.")
@click.option("--force", is_flag=True, help="Upload also a draft, or what the check objects to.")
@json_option("Print id, address, state and differences as JSON.")
@live_options
def command(bundle: Path, publish: bool, yes: bool, force: bool, as_json: bool, connection: Connection) -> None:
    """Upload a bundle to a live Codabench site."""
    from gen_bundle.live.upload import HandedOverError, UploadedBeforeError, upload

    try:
        with transfer_bar(connection, bundle.name):
            try:
                done = upload(connection, bundle, publish=publish, force=force, again=yes)
            except UploadedBeforeError as before:
                if not can_answer() or not click.confirm(f"{before.messages[0]}. Upload it again?", err=True):
                    raise
                done = upload(connection, bundle, publish=publish, force=force, again=True)
    except HandedOverError as error:
        if as_json:
            print_json({"id": error.id, "address": error.address, "may_exist": True, "error": error.messages})
        raise
    say_each(done.obstacles, "yellow", before="forced: ")
    say_each(done.mismatches, "red")
    if as_json:
        print_json(asdict(done))
    else:
        click.echo(done.address)
    _say_state(done, publish)
    if done.mismatches or (publish and not done.published):
        sys.exit(1)


def _say_state(done: Uploaded, publish: bool) -> None:
    if done.published:
        say("published", "green")
    elif not publish:
        say("not published; participants cannot see it yet", "green")
    elif done.mismatches:
        say("not published: it was stored otherwise", "red")
    else:
        say("not published: the site did not do it", "red")
