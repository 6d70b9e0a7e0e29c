"""gen-bundle rank NAME_OR_DIR: the final ranking over all participants."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from gen_bundle.cli.messages import is_terminal, say, user_errors
from gen_bundle.package.answers import Progress
from gen_bundle.plain_text import one_line

EPILOG = """\b
Examples:
  gen-bundle rank process2025 --submissions downloads/ --data ~/gold --phase test
  gen-bundle rank process2025 --scores best.csv --format latex
  gen-bundle rank clarity2026 --submissions downloads/ --data ~/gold --phase test --report final/ --baseline Majority
  gen-bundle rank seedev2016 --submissions downloads/ --data ~/gold --phase test --hide-figures DUTIR --format markdown

\b
--submissions is a folder with a zip, folder or file for each team. Several of one team must lie in subfolders called by
their date (2025-01-31, or 2025-01-31T18-00), of this folder or of one called like the team; the latest counts. In a
folder that gen-bundle fetch wrote it is the one on the platform's leaderboard.
--scores is a CSV table: team, then the scores of its best submission in columns of the board, an empty cell for a task
it did not enter (for process2025 also: team,f1,rmse).

\b
The rule is the competition's own; by default there is a ranking for each task, by its first column. Equal results share
a rank (2=). A team whose submission cannot be scored is listed with the reason.

\b
--report writes the final report: intervals, tests and ties by resampling, as report.html, report.tex, report.json,
tables and figures (docs/final-report.md; needs the extra `report`). Its folder units/ is for the organisers alone.

\b
Exit status: 0 ranked, 1 some teams could not be scored, 2 something to fix first.
"""


@click.command(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.argument("source", metavar="NAME_OR_DIR")
@click.option("--submissions", type=click.Path(path_type=Path), help="Folder with the submissions of all teams.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder with the real data, as for a build.")
@click.option("--phase", metavar="ID", help="The phase whose gold they are scored against.")
@click.option("--scores", type=click.Path(path_type=Path), help="Rank this table of scores instead.")
@click.option("--task", metavar="ID", help="The submissions are those of this task's bundle in layout separate.")
@click.option("--hide", metavar="TEAM", multiple=True, help="Show nothing of a team; repeatable.")
@click.option("--hide-figures", metavar="TEAM", multiple=True, help="Show a team's name alone; repeatable.")
@click.option(
    "--baseline",
    "baselines",
    metavar="TEAM",
    multiple=True,
    help="Show a system without a rank; it counts in no sum and no invitation. Repeatable.",
)
@click.option("--report", metavar="DIR", type=click.Path(path_type=Path), help="Write the final report there.")
@click.option(
    "--resamples", type=click.IntRange(100, 1_000_000), default=10_000, show_default=True, help="For the report."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the resamples.")
@click.option("--set", "overrides", metavar="K=V", multiple=True, help="Override a value of bundle.yaml; repeatable.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "csv", "json", "markdown", "latex"]),
    default="text",
    show_default=True,
    help="What to print.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def command(
    source: str,
    submissions: Path | None,
    data: Path | None,
    phase: str | None,
    scores: Path | None,
    task: str | None,
    hide: tuple[str, ...],
    hide_figures: tuple[str, ...],
    baselines: tuple[str, ...],
    report: Path | None,
    resamples: int,
    seed: int,
    overrides: tuple[str, ...],
    form: str,
    as_json: bool,
) -> None:
    """Rank all participants of a competition, and say who is invited where its rules do."""
    from gen_bundle.rank import RankRequest, rank
    from gen_bundle.render.rankings import FORMATS

    request = RankRequest(
        source,
        scores,
        submissions,
        data,
        phase,
        task,
        overrides,
        hide,
        hide_figures,
        baselines,
        report,
        resamples,
        seed,
    )
    with user_errors(), _progress_bar() as advance:
        ranking = rank(request, advance)
    click.echo(FORMATS["json" if as_json else form](ranking), nl=False)
    for note in ranking.notes:
        say(f"note: {one_line(note)}", "yellow")
    if report is not None:
        say(f"{report / 'report.html'}: written. {report / 'units'} gives gold away: do not publish it.", "green")
    for team, reasons in ranking.unscored.items():
        for reason in reasons:
            say(f"not scored: {one_line(team)}: {one_line(reason)}", "red")
    if ranking.unscored:
        raise SystemExit(1)


@contextmanager
def _progress_bar() -> Iterator[Callable[[Progress], None]]:
    """A bar on a terminal; the value takes how far the work is."""
    if not is_terminal():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        shown = bar.add_task("ranking", total=None)
        yield lambda done: bar.update(
            shown, description=done["step"], completed=done["done"], total=done["total"] or None
        )
