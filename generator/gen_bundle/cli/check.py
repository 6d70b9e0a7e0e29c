"""gen-bundle check PATH…: whether Codabench would accept a bundle, before it is uploaded."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gen_bundle.cli.messages import colour_wanted, say, say_each, spinner
from gen_bundle.cli.options import PATH, Verb, json_option, platform_version, trust_option
from gen_bundle.codabench.versions import PlatformVersion
from gen_bundle.ground.errors import UserError, bug_report
from gen_bundle.ground.plain_text import one_line

if TYPE_CHECKING:
    from gen_bundle.check import DryRun, Elsewhere, Report

Checked = tuple[Path, str, "Sequence[Elsewhere]"]
"""A bundle, the name to report it under, and gold that is not in it."""
EPILOG = """\b
Examples:
  gen-bundle check bundle.zip
  gen-bundle check bundle.zip unpacked/ my-task/ --json
  gen-bundle check bundle.zip --dry-run dry-run --strict
  gen-bundle check last-year/ --pack last-year.zip
  gen-bundle check --explain phases-overlap

\b
PATH is a bundle's zip, the folder of an unpacked bundle, or a competition's folder with bundle.yaml, which is
built first.
Exit status: 0 fine, 1 a bundle that would be refused, cannot work or shows gold to participants (--strict: or that
has any trap), 2 wrong use or a path that cannot be read, 3 a bug in gen-bundle. Of several, the highest.
"""


@click.command(cls=Verb, advanced=["known_keys", "now", "out", "version"], epilog=EPILOG)
@click.argument("paths", metavar="PATH…", nargs=-1, type=PATH)
@json_option("Print one JSON object a line for each path.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "sarif", "github"]),
    default="text",
    help="Text for people, SARIF, or GitHub annotations.",
)
@click.option(
    "--explain",
    is_flag=False,
    flag_value="",
    metavar="[ID]",
    help="Explain a rule, or list all rules, and do nothing else.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 for traps, too.")
@click.option("--now", metavar="DATE", help="Judge dates against this moment (ISO 8601, UTC); default: today.")
@platform_version
@click.option(
    "--dry-run", type=PATH, help="The results of a dry run of the bundle: its scores are compared with the columns."
)
@click.option(
    "--known-key",
    "known_keys",
    metavar="UUID",
    multiple=True,
    help="A dataset, task, solution or queue that exists on your server; repeatable.",
)
@click.option(
    "--pack",
    "out",
    metavar="OUT.zip",
    type=PATH,
    help="Zip the folder PATH as its competition.yaml means it (X/ where that says X.zip), and check the zip.",
)
@trust_option
def command(
    paths: tuple[Path, ...],
    as_json: bool,
    style: str,
    explain: str | None,
    strict: bool,
    now: str | None,
    version: PlatformVersion,
    dry_run: Path | None,
    known_keys: tuple[str, ...],
    out: Path | None,
    trust: bool,
) -> None:
    """Predict whether Codabench would accept a bundle, and what would happen afterwards: all findings at once."""
    if explain is not None:
        from gen_bundle.check.explain import explain as explained

        click.echo(explained(explain))
        return
    if not paths:
        raise UserError("no PATH. Give a bundle's zip or folder, or --explain ID.")
    if out is not None:
        paths = (_packed(paths, out),)
    moment = _moment(now)
    record = _record(dry_run)
    from gen_bundle.check import check_path

    check = partial(check_path, now=moment, version=version, dry_run=record, known_keys=known_keys)
    reports, unreadable, bugs = _reports(paths, check, trust=trust)
    if as_json:
        style = "json"
    print_reports(reports, style)
    say_each([*unreadable, *bugs], "red")
    if bugs:
        sys.exit(3)
    if unreadable:
        sys.exit(2)
    if not all(report.good and not (strict and report.later == "trap") for report in reports):
        sys.exit(1)


def _packed(paths: tuple[Path, ...], out: Path) -> Path:
    from gen_bundle.check.bundle import pack

    if len(paths) != 1 or not paths[0].is_dir() or (paths[0] / "bundle.yaml").is_file():
        raise UserError(f"--pack {out}: expected one PATH, the folder of an unpacked bundle with competition.yaml.")
    pack(paths[0], out)
    return out


def _moment(text: str | None) -> datetime:
    if text is None:
        return datetime.now(UTC)
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise UserError(f"--now {text}: not a date. Expected ISO 8601, such as 2031-01-31T12:00.") from error


def _record(path: Path | None) -> DryRun | None:
    """Return what a dry run shows of the scoring programs; None without one."""
    if path is None:
        return None
    from gen_bundle.check import DryRun
    from gen_bundle.dry_run.report import read_record

    content = read_record(path)
    try:
        scored = [frozenset(run["scores"]) for run in content["runs"] if isinstance(run.get("scores"), dict)]
        logs = [(int(run["log_lines"]), int(run["log_bytes"])) for run in content.get("measured", ())]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"--dry-run {path}: not the record of a dry run ({error!r}). Make it again.") from error
    return DryRun(scored, logs)


def _reports(
    paths: tuple[Path, ...], check: Callable[..., Report], *, trust: bool
) -> tuple[list[Report], list[str], list[str]]:
    """Return the reports, why other paths cannot be read, and bugs of ours: each path has one of the three."""
    reports: list[Report] = []
    unreadable: list[str] = []
    bugs: list[str] = []
    for path in paths:
        try:
            with tempfile.TemporaryDirectory(prefix="gen-bundle-check-") as folder:
                bundles: list[Checked] = [(path, str(path), ())]
                if (path / "bundle.yaml").is_file():
                    bundles = _built(path, Path(folder), trust=trust)
                for bundle, name, elsewhere in bundles:
                    with spinner(f"checking {name}"):
                        report = check(bundle, elsewhere=elsewhere)
                    reports.append(replace(report, path=name))
        except UserError as error:
            unreadable += error.messages
        except Exception as bug:
            bugs.append(f"{path}: {bug_report(bug)}")
    return reports, unreadable, bugs


def _built(path: Path, folder: Path, *, trust: bool) -> list[Checked]:
    """Return the bundles of a competition's folder, which are built even where the check refuses them."""
    from gen_bundle.build.building import BuildRequest, build

    built = build(BuildRequest(str(path), folder / "bundle.zip", force=True, trust=trust, announce=say))
    single = len(built) == 1
    return [(one.path, str(path) if single else f"{path}: {one.path.name}", one.elsewhere) for one in built]


def print_reports(reports: list[Report], style: str) -> None:
    """Print reports as text, JSON, SARIF or GitHub's annotations."""
    from gen_bundle.check import report as reporting

    if style == "json":
        for report in reports:
            click.echo(report.as_json())
    elif style == "github":
        for report in reports:
            for line in reporting.github(report):
                click.echo(one_line(line))
    elif style == "text":
        for report in reports:
            verdict, *lines = (one_line(one) for one in reporting.text(report))
            alarm = "red" if report.leaks and colour_wanted() else None
            click.secho(verdict, fg=alarm)
            for line in lines:
                click.echo(line)
    else:
        from importlib.metadata import version

        click.echo(reporting.sarif(reports, version("gen-bundle")))
