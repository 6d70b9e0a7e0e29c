"""gen-bundle rank NAME_OR_DIR: the final ranking over all participants."""

from pathlib import Path

import click

from gen_bundle.cli.messages import say, spinner, user_errors
from gen_bundle.plain_text import one_line

EPILOG = """\b
Examples:
  gen-bundle rank process2025 --submissions downloads/ --data ~/gold --phase test
  gen-bundle rank process2025 --scores best.csv --format latex
  gen-bundle rank seedev2016 --submissions downloads/ --data ~/gold --phase test --hide DUTIR --format markdown

\b
--submissions is a folder with a zip, folder or file for each team. Several of one team must lie in subfolders called by
their date (2025-01-31, or 2025-01-31T18-00), of this folder or of one called like the team; the latest counts.
--scores is a CSV table: team, then the scores of its best submission, an empty cell for a task it did not enter (for
process2025: team,f1,rmse).

\b
The rule is the competition's own; by default there is a ranking for each task, by its first column. Equal results share
a rank (2=). Exit status: 0 ranked, 2 something to mend.
"""


@click.command(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.argument("source", metavar="NAME_OR_DIR")
@click.option("--submissions", type=click.Path(path_type=Path), help="Folder with the submissions of all teams.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder with the real data, as for a build.")
@click.option("--phase", metavar="ID", help="The phase whose gold they are scored against.")
@click.option("--scores", type=click.Path(path_type=Path), help="Rank this table of scores instead.")
@click.option("--task", metavar="ID", help="The submissions are those of this task's bundle in layout separate.")
@click.option("--hide", metavar="TEAM", multiple=True, help="Keep a team's row without name and figures; repeatable.")
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
    overrides: tuple[str, ...],
    form: str,
    as_json: bool,
) -> None:
    """Rank all participants of a competition, and say who is invited where its rules do."""
    from gen_bundle.rank import RankRequest, rank
    from gen_bundle.render.rankings import FORMATS

    with user_errors(), spinner("ranking"):
        ranking = rank(RankRequest(source, scores, submissions, data, phase, task, overrides, hide))
    click.echo(FORMATS["json" if as_json else form](ranking), nl=False)
    for note in ranking.notes:
        say(f"note: {one_line(note)}", "yellow")
