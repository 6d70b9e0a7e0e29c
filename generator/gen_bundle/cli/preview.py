"""`gen-bundle preview`: the competition before it exists."""

from pathlib import Path

import click

from gen_bundle.cli.messages import say, say_each, spinner
from gen_bundle.cli.options import FOLDER, THERE, platform_version
from gen_bundle.codabench.versions import PlatformVersion

EPILOG = """\b
Examples:
  gen-bundle preview bundle.zip --open
  gen-bundle preview bundle.zip --dry-run dry-run --out preview
  gen-bundle preview unpacked-bundle/ --serve

\b
Exit status: 0 the page is written, 2 wrong use, or not a Codabench bundle.
"""


@click.command(epilog=EPILOG)
@click.argument("bundle", type=THERE)
@click.option("--out", type=FOLDER, default=Path("preview"), help="Folder for index.html.")
@click.option("--dry-run", type=THERE, help="The results of a dry run, to fill the leaderboard.")
@platform_version
@click.option("--open", "open_it", is_flag=True, help="Open it in the browser.")
@click.option("--serve", "serve_it", is_flag=True, help="Serve it on this machine until Ctrl-C.")
@click.option("--port", type=click.IntRange(0, 65535), help="For --serve; default: a free one.")
def command(
    bundle: Path,
    out: Path,
    dry_run: Path | None,
    version: PlatformVersion,
    open_it: bool,
    serve_it: bool,
    port: int | None,
) -> None:
    """Show a bundle (zip or folder, your own or another's) as participants will meet it, as one static page."""
    from gen_bundle.dry_run.report import read_record
    from gen_bundle.ground.local_server import local_server
    from gen_bundle.look.preview.page import preview_page, write_page
    from gen_bundle.look.preview.reading import read_view

    record = None
    with spinner("reading the bundle"):
        if dry_run:
            record = read_record(dry_run)
        page = preview_page(read_view(bundle, version=version), record)
        file = write_page(page, out)
    if record:
        say_each(record["findings"], "yellow", before="the dry run found: ")
    say(f"{file}: {len(page) / 1e3:.0f} kB", "green")
    if not serve_it:
        if open_it:
            click.launch(file.resolve().as_uri())
        return
    with local_server(out, port or 0) as running:
        address = f"http://127.0.0.1:{running.server_port}/"
        say(f"{address} (Ctrl-C ends it)")
        if open_it:
            click.launch(address)
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            say("ended")
