"""gen-bundle fetch ID --out DIR: all submissions of a live competition, with scores, logs and the board."""

import sys
from typing import TYPE_CHECKING, Any

import click

from gen_bundle.cli.messages import say, say_each
from gen_bundle.cli.options import PATH, competition_id, live_options, live_phase, transfer_bar

if TYPE_CHECKING:
    from gen_bundle.live.connection import Connection

EPILOG = """\b
Examples:
  gen-bundle fetch 1234 --out downloads
  gen-bundle fetch 1234 --out downloads --phase test
  gen-bundle fetch 1234 --out for-publication --pseudonyms
  gen-bundle rank my-task --submissions downloads/1-test/submissions --data ~/gold --phase test

\b
DIR gets a folder for each phase: submissions/ (what was scored, as `rank` reads it), other/ (what failed, was taken
back, or still runs), logs/ (with the page of failed runs), results/,
submissions.json and board.json. Called again, it fetches what is new. ID is the
number in the competition's address.
Exit status: 0 all is here, 1 something that the server does not give, which is named, 2 wrong use or no organiser.
"""


@click.command(epilog=EPILOG)
@competition_id
@click.option("--out", required=True, type=PATH, help="The folder to fill, or to bring up to date.")
@live_phase
@click.option(
    "--max-size",
    type=click.IntRange(1),
    default=2048,
    metavar="MB",
    help="Leave larger files on the site, and name them.",
)
@click.option("--pseudonyms", is_flag=True, help="Replace names, and leave out e-mail addresses, logs and results.")
@live_options
def command(connection: "Connection", max_size: int, **asked: Any) -> None:
    """Fetch all submissions, scores and logs of a live competition."""
    from gen_bundle.live.connection import MEBIBYTE
    from gen_bundle.live.fetch import FetchRequest, fetch

    request = FetchRequest(**asked)
    connection.most_bytes = max_size * MEBIBYTE
    with transfer_bar(connection, "fetching"):
        phases = fetch(connection, request)
    for one in phases:
        unfinished = ""
        if one.unfinished:
            unfinished = f"; {one.unfinished} not finished, or not complete yet: fetch again later"
        say(f"{one.folder}: {one.submissions} submissions, {one.new_files} of them new{unfinished}", "green")
        for reason, numbers in one.failures.items():
            say(f"failed {len(numbers)}×: {reason} ({', '.join(str(one) for one in numbers[:5])})", "yellow")
        say_each(one.lost, "red")
    if request.pseudonyms:
        say("Files are as they were sent, and may name people; dates and scores can be compared with a public board.")
    if any(one.lost for one in phases):
        sys.exit(1)
