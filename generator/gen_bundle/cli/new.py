"""gen-bundle new NAME: start a competition of one's own."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gen_bundle.cli import VERBS
from gen_bundle.cli.messages import can_answer, print_json, say, say_each, spinner
from gen_bundle.cli.options import FOLDER, Verb, declared_ids, json_option
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import competitions

if TYPE_CHECKING:
    from gen_bundle.author.new.project import Place
    from gen_bundle.author.new.propose import Choices, Proposal
    from gen_bundle.ground.tables.table import FileTable, NoHeaderError

EPILOG = """\b
Examples:
  gen-bundle new my-task --gold gold.csv --split 20:80
  gen-bundle new my-task --gold dev=dev.csv --gold test=test.csv --train train.csv
  gen-bundle new my-task --gold gold.tsv --columns id,label
  gen-bundle new my-task --gold gold.jsonl --key id --answer label --answer intensity=number --yes
  gen-bundle new my-task --recipe spans
  gen-bundle new organs --gold masks/
  gen-bundle new my-task --recipe classification --code
  gen-bundle new my-task --like semeval2017-4a
  gen-bundle new my-task --from clpsych2025 --tasks a1,a2
  gen-bundle new my-task --package

\b
On a terminal, --gold asks about what it found; --yes, or no terminal, takes the proposals and prints them.
"""
RECIPES = ("classification", "multilabel", "regression", "spans", "tagging", "ranking", "generation")
OF_FILES = ("segmentation", "files")
"""Recipes whose answers are files."""
BEGINNINGS = {"source": "--from", "gold": "--gold", "package": "--package", "recipe": "--recipe", "like": "--like"}
OF_GOLD = (
    *("answers", "at", "cluster", "columns", "delimiter", "encoding"),
    *("keys", "public", "rows", "split", "train", "yes"),
)
OPTIONS = {"answers": "answer", "keys": "key"}
PHASES = ("dev", "test")
NOTHING = "-"
LINE = "line"
RARE = ("at", "cluster", "delimiter", "encoding", "rows", "template")
DEFAULT_SPLIT = "40:60"
"""Of a recipe's data."""


def _real_tasks(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    from gen_bundle.ground.resources import REAL_TASKS

    return sorted(file.parent.name for file in REAL_TASKS.glob(f"{begun}*/about.yaml"))


def _shipped(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    return [name for name in competitions() if name.startswith(begun)]


@click.command(cls=Verb, advanced=RARE, epilog=EPILOG)
@click.argument("name")
@click.option(
    "--gold",
    "gold",
    metavar="[PHASE=]FILE",
    multiple=True,
    help="Gold data to begin with: .csv .tsv .jsonl .json .txt, or a folder, such as one of masks. Of phases with a "
    "file each: dev=FILE, test=FILE.",
)
@click.option(
    "--train",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A file to train on, which participants are given as it is.",
)
@click.option("--columns", metavar="NAME,…", help="Names of the columns of a gold table without a header line.")
@click.option("--delimiter", metavar="CHARACTER", help="What separates the cells of a gold table.")
@click.option("--at", metavar="NAME.NAME", help="Where the records of gold in JSON are.")
@click.option("--encoding", help="Of gold that is not UTF-8, such as cp1252.")
@click.option(
    "--answer", "answers", metavar="COLUMN[=TYPE]", multiple=True, help="Column that participants answer; repeatable."
)
@click.option("--key", "keys", metavar="COLUMN", multiple=True, help="Column that identifies a row; repeatable.")
@click.option("--public", metavar="COLUMN", multiple=True, help="Column that participants are given; repeatable.")
@click.option(
    "--cluster", metavar="COLUMN", help="Column whose equal values mark rows that belong together; - for none."
)
@click.option("--rows", type=click.Choice(["one", "many"]), help="Whether a key has one row, or any number of them.")
@click.option("--split", metavar="DEV:TEST", help="Divide the gold between two phases, such as 20:80; none: one phase.")
@click.option("--recipe", type=click.Choice((*RECIPES, *OF_FILES)), help="Begin with made-up data of a kind of task.")
@click.option(
    "--like",
    metavar="TASK",
    shell_complete=_real_tasks,
    help="Begin with the declaration of a real shared task, and made-up data.",
)
@click.option("--code", is_flag=True, help="With --gold or --recipe: participants hand in code, not predictions.")
@click.option(
    "--from", "source", metavar="NAME", shell_complete=_shipped, help="Copy a competition that comes with the tool."
)
@click.option(
    "--tasks", metavar="ID,…", shell_complete=declared_ids("tasks"), help="With --from: keep only these tasks."
)
@click.option("--package", is_flag=True, help="Begin with a scoring package of your own, in Python.")
@click.option(
    "--template",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Your own cookiecutter template, with --gold or --recipe.",
)
@click.option("--title", help="Title of the competition.")
@click.option("--in", "parent", type=FOLDER, default=Path(), help="Folder to make it in.")
@click.option("--yes", is_flag=True, help="Ask nothing: take the proposals.")
@json_option("Print the folder, and what was understood of the gold, as JSON.")
@click.pass_context
def command(context: click.Context, /, name: str, title: str | None, parent: Path, as_json: bool, **asked: Any) -> None:
    """Write a competition that builds and dry-runs at once: from gold data, a recipe, or a competition that exists.

    Without --gold, --recipe, --like, --from or --package it is the recipe classification.
    """
    from gen_bundle.author.new.project import Place, check_name, copy_competition, new_like, new_package

    if name in VERBS:
        raise UserError(f"{name!r}: `gen-bundle {name}` is a verb already. Choose another name.")
    found: dict[str, Any] = {"understood": {}, "notes": []}
    _check_combination(context.params)
    place = Place(name, parent, title)
    check_name(place)
    if asked["source"] is not None:
        folder = copy_competition(place, asked["source"], _listed(asked["tasks"]))
    elif asked["like"] is not None:
        folder = new_like(place, asked["like"])
    elif asked["package"]:
        folder = new_package(place)
    elif asked["recipe"] in OF_FILES or _folders(asked["gold"]):
        folder, found["understood"] = _of_files(place, asked)
    else:
        folder, found = _declared(place, asked)
    say(f"{folder}: a competition, ready to build and to change", "green")
    say("  " + shlex.join(["gen-bundle", "try", str(folder)]))
    if asked["package"]:
        say("  " + shlex.join([sys.executable, "-m", "unittest", "discover", str(folder / "tests")]))
    if as_json:
        print_json({"folder": folder, **found})


def _listed(text: str | None) -> list[str]:
    return [name.strip() for name in text.split(",")] if text else []


def _check_combination(options: Mapping[str, Any]) -> None:
    used = [option for option, value in options.items() if value not in (None, (), False, "")]
    given = [name for option, name in BEGINNINGS.items() if option in used]
    if len(given) > 1:
        raise UserError(f"{' and '.join(given)}: expected one of them.")
    problems: list[str] = []
    if "gold" not in used:
        problems += _unread(OF_GOLD, used, "works only with --gold.")
    if "source" not in used:
        problems += _unread(("tasks",), used, "works only with --from.")
    if not {"source", "package", "like"}.isdisjoint(used):
        problems += _unread(("template", "code"), used, "not with --from, --like or --package.")
    if problems:
        raise UserError(*problems)


def _unread(options: Sequence[str], used: Sequence[str], why: str) -> list[str]:
    return [f"--{OPTIONS.get(option, option)}: {why}" for option in options if option in used]


def _files(gold: Sequence[str]) -> dict[str, Path]:
    """Phase → its file; the phase is empty where one file is to be divided."""
    files: dict[str, Path] = {}
    for text in gold:
        phase, equals, name = text.partition("=")
        if not equals or phase not in PHASES:
            phase, name = "", text
        if phase in files or (files and "" in (phase, *files)):
            what = "is the gold of which phase? Expected one file, or one for each"
            raise UserError(f"--gold {text}: {what}: --gold dev=FILE --gold test=FILE")
        files[phase] = Path(name)
    if set(files) == {"dev"}:
        raise UserError("--gold dev=…: there is no phase test. Expected --gold test=FILE as well.")
    return {phase: files[phase] for phase in ("", *PHASES) if phase in files}


def _folders(gold: Sequence[str]) -> dict[str, Path]:
    """Phase → its folder of masks; none where the gold is tables."""
    from gen_bundle.author.new.of_files import is_of_arrays

    files = _files(gold)
    return files if files and all(is_of_arrays(file) for file in files.values()) else {}


def _of_files(place: "Place", asked: Mapping[str, Any]) -> tuple[Path, dict[str, str]]:
    """Write a competition whose answers are files; returns its folder, and what was understood of the gold."""
    from gen_bundle.author.new.of_files import masks_of, new_of_masks, new_of_recipe, summary

    unread = [*OF_GOLD, "code", "template"]
    unread.remove("answers")
    used = [name for name in unread if asked[name] and name != "yes"]
    if used:
        raise UserError(*_unread(unread, used, "not where answers are files. Phases: --gold dev=FOLDER test=FOLDER"))
    if asked["recipe"]:
        return new_of_recipe(place, asked["recipe"]), {}
    folders = {}
    for phase, path in _folders(asked["gold"]).items():
        with spinner(f"reading {path}"):
            folders[phase or "test"] = masks_of(path, *asked["answers"][:1])
    understood = summary(folders)
    _say_understood(understood)
    return new_of_masks(place, folders), understood


def _say_understood(understood: Mapping[str, str]) -> None:
    say_each(f"{name:9} {text}" for name, text in understood.items())


def _gold(asked: Mapping[str, Any], *, ask: bool) -> "FileTable":
    """Return the gold of the files; asks for the columns' names where there is no header, or says what to add."""
    from gen_bundle.author.new.gold_of_phases import joined
    from gen_bundle.ground.tables.forms import as_they_are_meant
    from gen_bundle.ground.tables.reading import read_table
    from gen_bundle.ground.tables.table import NoHeaderError

    delimiter, names = asked["delimiter"], _listed(asked["columns"])
    if delimiter in ("tab", "\\t"):
        delimiter = "\t"
    if delimiter is not None and len(delimiter) != 1:
        raise UserError(f"--delimiter {delimiter}: expected one character, or tab.")

    def read(path: Path) -> "FileTable":
        return read_table(path, names, delimiter=delimiter, at=asked["at"] or "", encoding=asked["encoding"])

    found = {}
    for phase, path in _files(asked["gold"]).items():
        try:
            with spinner(f"reading {path}"):
                found[phase] = read(path)
        except NoHeaderError as error:
            if not ask:
                advice = f"To go on, add: --columns {shlex.quote(','.join(error.names))}"
                raise UserError(*error.messages, advice=advice) from error
            names = _names_of_columns(error)
            found[phase] = read(path)
    return as_they_are_meant(found.get("") or joined(found))  # the phases as one: a few rows alone may mislead


def _names_of_columns(error: "NoHeaderError") -> list[str]:
    """The columns' names, which the first line does not hold; or does it?"""
    say(error.messages[0].partition(" Expected")[0], "yellow")
    if click.confirm(f"Does the first line hold the names ({', '.join(error.first)})?", default=False, err=True):
        return list(error.first)

    def names(text: str) -> list[str]:
        found = _listed(text)
        if len(found) != len(error.first) or not all(found):
            raise click.UsageError(f"expected {len(error.first)} names, separated by commas.")
        return found

    return list(click.prompt("Names of the columns?", ",".join(error.names), value_proc=names, err=True))


def _answer(text: str) -> tuple[str, str | None]:
    """Return a column's name, and its type where one is given."""
    from gen_bundle.author.new.columns import TYPES

    name, equals, kind = text.rpartition("=")
    if not equals or kind not in TYPES:
        return text, None
    return name, kind


def _declared(place: "Place", asked: Mapping[str, Any]) -> tuple[Path, dict[str, Any]]:
    """Write a competition that is scored without Python, of gold, or of the made-up gold of a recipe.

    Returns:
        Its folder, and what was understood of the gold, as `--json` prints it.
    """
    from gen_bundle.author.new.declare import summary
    from gen_bundle.author.new.project import new_declared
    from gen_bundle.author.new.propose import Choices, doubts, propose, taking_code
    from gen_bundle.author.new.recipes import recipe_gold
    from gen_bundle.author.new.split import divide, ids_that_say_answers, is_sorted_by_answer

    split, template, train, ask = asked["split"], asked["template"], asked["train"], False
    if asked["gold"]:
        ask = can_answer() and not asked["yes"]
        gold = _gold(asked, ask=ask)
        answers = [_answer(one) for one in asked["answers"]]
        choices = Choices(asked["keys"], answers, asked["public"], asked["rows"], cluster=asked["cluster"])
    else:
        gold, choices = recipe_gold(asked["recipe"] or RECIPES[0])
        split = DEFAULT_SPLIT
    if ask:
        place, choices, split = _asked(place, gold, choices, split)
    proposal = propose(gold, choices)
    if asked["code"]:
        proposal = taking_code(proposal)
    phases = divide(proposal, split)
    understood = summary(proposal, phases)
    if train is not None:
        understood["train"] = f"{train}, as it is"
    _say_understood(understood)
    notes = [*gold.notes, *doubts(proposal, choices), *ids_that_say_answers(proposal)]
    if is_sorted_by_answer(proposal):
        done = "gives the answers away; mix the lines of gold and inputs alike"
        if not proposal.of_lines:
            done = "would give the answers away, so the rows were put into another order"
        notes.append(f"{gold.file} is sorted by its answers, which {done}")
    say_each(notes, "yellow", before="note: ")
    quiet = ask and template is not None  # the template may have questions of its own
    with nullcontext() if quiet else spinner("writing, and letting the scoring program read the gold"):
        folder = new_declared(place, proposal, phases, template, train=train, ask=ask, check=bool(asked["gold"]))
    return folder, {"understood": understood, "notes": notes}


def _asked(
    place: "Place", gold: "FileTable", choices: "Choices", split: str | None
) -> tuple["Place", "Choices", str | None]:
    """Ask about everything that was not given as an option, each time with a proposal; returns what was answered."""
    from gen_bundle.author.new.propose import propose

    say(f"{gold.file}: {len(gold)} rows, columns {', '.join(gold.names)}. Enter takes what is in brackets.")
    choices = _asked_answers(gold, _asked_key(gold, choices))
    proposal = propose(gold, choices)
    if proposal.item is None and not _is_one_answer(proposal):
        choices = replace(choices, answers=[_with_type(proposal, name, kind) for name, kind in choices.answers])
        proposal = propose(gold, choices)
    if not choices.public and (proposal.public or proposal.secret):
        question = f"Public: which columns are participants given? ({NOTHING} for none; the others stay secret)"
        public = _columns(question, gold, proposal.public or [NOTHING], NOTHING)
        choices = replace(choices, public=public, only_public=True)
        proposal = propose(gold, choices)
    if choices.cluster is None and proposal.cluster is not None:
        question = f"Cluster: rows of which column belong together, such as those of a document? ({NOTHING} for none)"
        cluster = [*_columns(question, gold, [proposal.cluster], NOTHING), NOTHING]
        choices = replace(choices, cluster=cluster[0])
    if split is None and not gold.phases:
        split = click.prompt("Split into development and test, such as 20:80?", "none", value_proc=_split, err=True)
    if place.title is None:
        place = replace(place, title=click.prompt("Title?", place.answers()["title"], err=True))
    return place, choices, split


def _asked_key(gold: "FileTable", choices: "Choices") -> "Choices":
    if choices.key or gold.suffix == ".txt":
        return choices
    proposed = _proposed(gold, choices)
    shown = proposed.key if proposed else ()
    question = f"Key: which columns identify a row? ({LINE} numbers the rows)"
    return replace(choices, key=_columns(question, gold, shown, LINE))


def _asked_answers(gold: "FileTable", choices: "Choices") -> "Choices":
    if choices.answers:
        return choices
    found: list[str] = []
    if (proposed := _proposed(gold, choices)) is not None:
        for column in proposed.answers:
            found += column.in_gold
    shown = [name for name in found if name in gold.names]
    names = _columns("Answers: which columns do participants predict?", gold, shown)
    return replace(choices, answers=[(name, None) for name in names])


def _proposed(gold: "FileTable", choices: "Choices") -> "Proposal | None":
    from gen_bundle.author.new.propose import propose

    try:
        return propose(gold, choices)
    except UserError:
        return None


def _is_one_answer(proposal: "Proposal") -> bool:
    """Return whether several columns that were named are one answer, as the organiser says."""
    (first, *others) = proposal.answers
    if others or first.in_gold == (first.name,):
        return False
    kind = "one set of labels" if first.columns else "one answer by several annotators"
    return click.confirm(f"{', '.join(first.in_gold)}: are these {kind}?", default=True, err=True)


def _with_type(proposal: "Proposal", name: str, kind: str | None) -> tuple[str, str]:
    from gen_bundle.author.new.columns import TYPES, look_at

    if kind is not None:
        return name, kind
    own = [column for column in proposal.answers if column.name == name]
    found = own[0] if own else look_at(proposal.gold, name)
    shown = f" ({', '.join(found.values[:8])})" if found.values else ""
    return name, click.prompt(f"Type of {name}{shown}?", found.type, type=click.Choice(TYPES), err=True)


def _columns(question: str, gold: "FileTable", proposed: Sequence[str], besides: str = "") -> list[str]:
    """Return the columns that are named; none for `-`, where that is the word `besides` them."""
    from gen_bundle.declaration.source import nearest

    def names(text: str) -> list[str]:
        if besides and text.strip() == besides:
            return [] if besides == NOTHING else [besides]
        named = [text] if text in gold.names else [name.strip() for name in text.split(",") if name.strip()]
        unknown = [name for name in named if name not in gold.names]
        if unknown:
            raise click.UsageError(f"no column {unknown[0]!r}. {nearest(unknown[0], list(gold.names))}")
        if not named:
            raise click.UsageError(f"expected a column: {', '.join(gold.names)}.")
        return named

    shown = bool(proposed)  # nothing in brackets where there is no proposal; Enter then says what is expected
    return list(click.prompt(question, ", ".join(proposed), value_proc=names, show_default=shown, err=True))


def _split(text: str) -> str:
    from gen_bundle.author.new.split import shares

    try:
        shares(text)
    except UserError as error:
        raise click.UsageError(error.messages[0]) from error
    return text
