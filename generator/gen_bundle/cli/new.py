"""gen-bundle new NAME: start a competition of one's own."""

import shlex
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from gen_bundle.cli import VERBS
from gen_bundle.cli.messages import can_answer, say, spinner, user_errors
from gen_bundle.errors import UserError

if TYPE_CHECKING:
    from gen_bundle.new.gold import Gold
    from gen_bundle.new.project import Place
    from gen_bundle.new.propose import Choices

EPILOG = """\b
Examples:
  gen-bundle new my-task --gold gold.csv --split 20:80
  gen-bundle new my-task --gold gold.jsonl --key id --answer label --answer intensity=number --yes
  gen-bundle new my-task --recipe spans
  gen-bundle new my-task --recipe classification --code
  gen-bundle new my-task --from clpsych2025 --tasks a1,a2
  gen-bundle new my-task --package

\b
On a terminal, --gold asks about what it found; --yes, or no terminal, takes the proposals and prints them.
"""
RECIPES = ("classification", "multilabel", "regression", "spans", "tagging", "ranking", "generation")
BEGINNINGS = {"source": "--from", "gold": "--gold", "package": "--package", "recipe": "--recipe"}
OF_GOLD = ("answers", "keys", "public", "rows", "split", "yes")
DEFAULT_SPLIT = "40:60"
"""Of a recipe's data."""


@click.command(epilog=EPILOG)
@click.argument("name")
@click.option("--gold", type=click.Path(path_type=Path), help="Gold data to begin with: .csv .tsv .jsonl .json .txt.")
@click.option(
    "--answer", "answers", metavar="COLUMN[=TYPE]", multiple=True, help="Column that participants answer; repeatable."
)
@click.option("--key", "keys", metavar="COLUMN", multiple=True, help="Column that identifies a row; repeatable.")
@click.option("--public", metavar="COLUMN", multiple=True, help="Column that participants are given; repeatable.")
@click.option("--rows", type=click.Choice(["one", "many"]), help="Whether a key has one row, or any number of them.")
@click.option("--split", metavar="DEV:TEST", help="Divide the gold between two phases, such as 20:80; none: one phase.")
@click.option("--recipe", type=click.Choice(RECIPES), help="Begin with made-up data of a kind of task.")
@click.option("--code", is_flag=True, help="With --gold or --recipe: participants hand in code, not predictions.")
@click.option("--from", "source", metavar="NAME", help="Copy a competition that comes with the tool.")
@click.option("--tasks", metavar="ID,…", help="With --from: keep only these tasks.")
@click.option("--package", is_flag=True, help="Begin with a scoring package of your own, in Python.")
@click.option(
    "--template",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Your own cookiecutter template, with --gold or --recipe.",
)
@click.option("--title", help="Title of the competition.")
@click.option(
    "--in", "parent", type=click.Path(path_type=Path, file_okay=False), default=Path(), help="Folder to make it in."
)
@click.option("--yes", is_flag=True, help="Ask nothing: take the proposals.")
@click.pass_context
def command(
    context: click.Context,
    name: str,
    gold: Path | None,
    answers: tuple[str, ...],
    keys: tuple[str, ...],
    public: tuple[str, ...],
    rows: Literal["one", "many"] | None,
    split: str | None,
    recipe: str | None,
    code: bool,
    source: str | None,
    tasks: str | None,
    package: bool,
    template: Path | None,
    title: str | None,
    parent: Path,
    yes: bool,
) -> None:
    """Write a competition that builds and dry-runs at once: from gold data, a recipe, or a competition that exists.

    Without --gold, --recipe, --from or --package it is the recipe classification.
    """
    from gen_bundle.new.project import Place, check_name

    with user_errors():
        if name in VERBS:
            raise UserError(f"{name!r}: `gen-bundle {name}` is a verb already. Choose another name.")
        _check_combination(context.params)
        place = Place(name, parent, title)
        check_name(place)
        if source is not None:
            from gen_bundle.new.copy import copy_competition

            folder = copy_competition(place, source, [task.strip() for task in tasks.split(",")] if tasks else [])
        elif package:
            from gen_bundle.new.package import new_package

            folder = new_package(place)
        elif gold is not None:
            from gen_bundle.new.gold import read_gold
            from gen_bundle.new.propose import Choices

            choices = Choices(keys, [_answer(answer) for answer in answers], public, rows)
            with spinner(f"reading {gold}"):
                found = read_gold(gold)
            folder = _declared(place, found, choices, split, template, code=code, ask=can_answer() and not yes)
        else:
            from gen_bundle.new.recipes import recipe_gold

            folder = _declared(
                place, *recipe_gold(recipe or RECIPES[0]), DEFAULT_SPLIT, template, code=code, ask=False, made_up=True
            )
    say(f"{folder}: a competition, ready to build and to change", "green")
    _say_next(folder, package=package)


def _check_combination(options: Mapping[str, Any]) -> None:
    used = {option for option, value in options.items() if value not in (None, (), False)}
    given = [name for option, name in BEGINNINGS.items() if option in used]
    if len(given) > 1:
        raise UserError(f"{' and '.join(given)}: expected one of them.")
    problems = [
        f"--{option.removesuffix('s') if option in ('answers', 'keys') else option}: works only with --gold."
        for option in OF_GOLD
        if option in used and "gold" not in used
    ]
    problems += ["--tasks: works only with --from."] if "tasks" in used and "source" not in used else []
    problems += [
        f"--{option}: not with --from or --package."
        for option in ("template", "code")
        if option in used and not used.isdisjoint(("source", "package"))
    ]
    if problems:
        raise UserError(*problems)


def _answer(text: str) -> tuple[str, str | None]:
    """A column's name, and its type where one is given."""
    from gen_bundle.new.faults import TYPES

    name, equals, kind = text.rpartition("=")
    if not equals or kind not in TYPES:
        return text, None
    return name, kind


def _declared(
    place: "Place",
    gold: "Gold",
    choices: "Choices",
    split: str | None,
    template: Path | None,
    *,
    code: bool,
    ask: bool,
    made_up: bool = False,
) -> Path:
    """A competition that is scored without Python."""
    from gen_bundle.new.declare import summary
    from gen_bundle.new.project import new_declared
    from gen_bundle.new.propose import propose, taking_code
    from gen_bundle.new.split import divide, is_sorted_by_answer

    if ask:
        from gen_bundle.cli.questions import asked

        place, choices, split = asked(place, gold, choices, split)
    proposal = propose(gold, choices)
    proposal = taking_code(proposal) if code else proposal
    phases = divide(proposal, split or "none")
    for line in summary(proposal, phases):
        say(line)
    if is_sorted_by_answer(proposal):
        done = "gives the answers away; mix the lines of gold and inputs alike"
        if not proposal.of_lines:
            done = "would give the answers away, so the rows were put into another order"
        say(f"note: {gold.file} is sorted by its answers, which {done}", "yellow")
    quiet = ask and template is not None  # the template may have questions of its own
    with nullcontext() if quiet else spinner("writing, and letting the scoring program read the gold"):
        return new_declared(place, proposal, phases, template, ask=ask, check=not made_up)


def _say_next(folder: Path, *, package: bool) -> None:
    commands = [
        ["gen-bundle", str(folder), "--out", "bundle.zip"],
        ["gen-bundle", "dry-run", "bundle.zip", "--out", "dry-run"],
    ]
    if package:
        commands.append([sys.executable, "-m", "unittest", "discover", str(folder / "tests")])
    for command_line in commands:
        say(f"  {shlex.join(command_line)}")
