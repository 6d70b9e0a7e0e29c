"""gen-bundle try: from a folder to a board to look at, in one command."""

from __future__ import annotations

import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gen_bundle.cli.build import report_built
from gen_bundle.cli.check import print_reports
from gen_bundle.cli.dry_run import show
from gen_bundle.cli.messages import say, say_error, spinner
from gen_bundle.cli.options import (
    PATH,
    ask_about_strangers,
    engine_option,
    overrides_option,
    python_option,
    trust_option,
)
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import write_whole

if TYPE_CHECKING:
    from gen_bundle.dry_run.engines import Engine

EPILOG = """\b
Examples:
  gen-bundle try my-task
  gen-bundle try my-task --open
  gen-bundle try bundle.zip --out looked-at

\b
In the folder are then the bundle, dry-run/ and preview/index.html; of several bundles in a folder for each. The same
command writes them anew.
Exit status: the highest of its steps. 0 fine, perhaps still a draft; 1 the check refuses it, or a run failed; 2 it
cannot be built or run.
"""


@click.command(epilog=EPILOG)
@click.argument("source", metavar="NAME_OR_DIR_OR_BUNDLE")
@click.option("--out", type=PATH, help="Folder for all that is made; default: NAME-try here.")
@click.option("--data", type=PATH, help="Folder with the real data, as for a build.")
@overrides_option
@engine_option
@python_option
@trust_option
@click.option("--open", "open_it", is_flag=True, help="Open the preview in the browser.")
def command(
    source: str,
    out: Path | None,
    data: Path | None,
    overrides: tuple[str, ...],
    engine: str | None,
    python: Path | None,
    trust: bool,
    open_it: bool,
) -> None:
    """Build, check, dry-run the baselines and write the preview with its board: what to repeat after each change."""
    from gen_bundle.dry_run.engines.choose import choose_engine

    path = Path(source).expanduser()
    name = path.resolve().parent.name if path.name == "bundle.yaml" else path.resolve().stem
    folder = out or Path(f"{name}-try")
    _keep_out_of_git(folder)
    bundles, status = _bundles(source, folder, data, overrides)
    with closing(choose_engine(engine, say, python=python)) as chosen:
        for bundle, room in bundles.items():
            page, of_run = _tried(bundle, room, chosen, trust=trust)
            status = max(status, of_run)
            say(page.resolve().as_uri(), "green")
            if open_it:
                click.launch(page.resolve().as_uri())
    sys.exit(status)


def _keep_out_of_git(folder: Path) -> None:
    """Make the folder, which git passes over: it holds gold.

    Raises:
        UserError: a file is in its place.
    """
    if folder.exists() and not folder.is_dir():
        raise UserError(f"--out {folder}: is a file. Expected a folder.")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / ".gitignore", b"*\n")


def _bundles(source: str, folder: Path, data: Path | None, overrides: tuple[str, ...]) -> tuple[dict[Path, Path], int]:
    """Return each bundle with the folder for what is made of it, and the exit status so far."""
    from gen_bundle.build.building import BuildRequest, build
    from gen_bundle.check import check_path

    path = Path(source).expanduser()
    if path.suffix == ".zip" or (path / "competition.yaml").is_file():
        if data or overrides:
            raise UserError(f"{path}: is a bundle already, which is not built. Leave --data and --set out.")
        report = check_path(path, now=datetime.now(UTC))
        print_reports([report], "text")
        return {path: folder}, int(not report.good)
    request = BuildRequest(source, folder=folder, data=data, overrides=overrides, announce=say)
    with spinner("reading the declaration") as step:
        built = build(request, step)
    report_built(built, request)
    rooms = {}
    for bundle in built:
        rooms[bundle.path] = folder if len(built) == 1 else folder / bundle.path.stem
    return rooms, 0


def _tried(bundle: Path, room: Path, engine: Engine, *, trust: bool) -> tuple[Path, int]:
    """Return the preview's page, with a board if there is anything to run, and the exit status of the dry run."""
    from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
    from gen_bundle.dry_run.report import read_record
    from gen_bundle.look.preview.page import preview_page, write_page
    from gen_bundle.look.preview.reading import read_view

    record, status = None, 2
    ask_about_strangers(bundle, engine, trust=trust)
    try:
        with spinner("dry run") as step:
            results = dry_run(DryRunRequest(bundle, room / "dry-run", on_step=step, trust=trust), engine)
    except UserError as error:  # the pages can be looked at all the same
        say_error(error)
    else:
        show(results)
        record, status = read_record(room / "dry-run"), int(not results.good)
    return write_page(preview_page(read_view(bundle), record), room / "preview"), status
