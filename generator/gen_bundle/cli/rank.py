"""gen-bundle rank NAME_OR_DIR: the final ranking over all participants."""

from typing import Any

import click

from gen_bundle.cli.messages import progress_bar, say, say_each
from gen_bundle.cli.options import PATH, declared_ids, json_option, overrides_option
from gen_bundle.ground.plain_text import one_line

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
Where bundle.yaml has the programs of others (programs:), nothing is scored: the scores that fetch found count, and
--submissions is a phase's folder that it wrote, without --phase and --data.

\b
The rule is the competition's own; by default there is a ranking for each task, by its first column. Equal scores are
ordered as on the leaderboard (`leaderboard: ties`); teams that are still equal share a rank (2=). A team whose
submission cannot be scored is listed with the reason.

\b
--report writes the final report: intervals, tests and ties by resampling, as report.html, report.tex, report.json,
tables and figures (docs/final-report.md; needs the extra `report`). Its folder units/ is for the organisers alone.

\b
Exit status: 0 ranked, 1 some teams could not be scored, 2 something to fix first.
"""


@click.command(epilog=EPILOG)
@click.argument("competition", metavar="NAME_OR_DIR")
@click.option("--submissions", type=PATH, help="Folder with the submissions of all teams.")
@click.option("--data", type=PATH, help="Folder with the real data, as for a build.")
@click.option(
    "--phase", metavar="ID", shell_complete=declared_ids("phases"), help="The phase whose gold they are scored against."
)
@click.option("--scores", type=PATH, help="Rank this table of scores instead.")
@click.option(
    "--task",
    metavar="ID",
    shell_complete=declared_ids("tasks"),
    help="The submissions are those of this task's bundle in layout separate.",
)
@click.option("--hide", metavar="TEAM", multiple=True, help="Show nothing of a team; repeatable.")
@click.option("--hide-figures", metavar="TEAM", multiple=True, help="Show a team's name alone; repeatable.")
@click.option(
    "--baseline",
    "baselines",
    metavar="TEAM",
    multiple=True,
    help="Show a system without a rank; it is left out of sums and invitations. Repeatable.",
)
@click.option("--report", metavar="DIR", type=PATH, help="Write the final report there.")
@click.option(
    "--resamples",
    type=click.IntRange(100, 1_000_000),
    help="For the report.  [default: 10000, more where there are more than 32 teams, fewer where functions are slow]",
)
@click.option("--seed", type=click.IntRange(0), default=0, help="Of the resamples.")
@overrides_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "csv", "json", "markdown", "latex"]),
    default="text",
    help="What to print.",
)
@json_option("The same as --format json.")
def command(form: str, as_json: bool, **asked: Any) -> None:
    """Rank all participants of a competition, and say who is invited where its rules do."""
    from gen_bundle.after.ranking import RankRequest, rank
    from gen_bundle.build.render.rankings import FORMATS

    request = RankRequest(**asked)
    with progress_bar("ranking", "TimeRemainingColumn") as (announce, show):
        ranking = rank(request, lambda now: show(now["step"], now["done"], now["total"]), announce)
    if as_json:
        form = "json"
    click.echo(FORMATS[form](ranking), nl=False)
    say_each([one_line(note) for note in ranking.notes], "yellow", before="note: ")
    if report := request.report:
        say(f"{report / 'report.html'}: written. {report / 'units'} gives gold away: do not publish it.", "green")
    if ranking.unscored:
        where = "all reasons are in report.html" if request.report else "--json has all reasons"
        say(f"not scored: {', '.join(one_line(team) for team in ranking.unscored)} ({where})", "red")
        raise SystemExit(1)
