"""What `gen-bundle new` asks on a terminal: each proposal, to be confirmed or changed."""

from collections.abc import Sequence
from dataclasses import replace

import click

from gen_bundle.cli.messages import say
from gen_bundle.declaration.overrides import nearest
from gen_bundle.errors import UserError
from gen_bundle.new.faults import TYPES
from gen_bundle.new.gold import Gold
from gen_bundle.new.project import Place
from gen_bundle.new.propose import Choices, Proposal, propose
from gen_bundle.new.split import shares

NOTHING = "-"


def asked(place: Place, gold: Gold, choices: Choices, split: str | None) -> tuple[Place, Choices, str]:
    """Ask about everything that was not given as an option; returns what was answered.

    Raises:
        UserError: the answers do not fit the gold.
    """
    say(f"{gold.file}: {len(gold.rows)} rows, columns {', '.join(gold.names)}. Enter takes what is in brackets.")
    if not choices.key and gold.suffix != ".txt":
        try:
            proposed: Sequence[str] = propose(gold, choices).key
        except UserError:
            proposed = ()
        choices = replace(choices, key=_columns("Key: which columns identify a row?", gold, proposed))
    if not choices.answers:
        try:
            proposed = [column.name for column in propose(gold, choices).answers if column.name in gold.names]
        except UserError:
            proposed = ()
        names = _columns("Answers: which columns do participants predict?", gold, proposed)
        choices = replace(choices, answers=[(name, None) for name in names])
    proposal = propose(gold, choices)
    if proposal.item is None:
        choices = replace(choices, answers=[_with_type(proposal, name, kind) for name, kind in choices.answers])
        proposal = propose(gold, choices)
    if not choices.public and (proposal.public or proposal.secret):
        question = f"Public: which columns are participants given? ({NOTHING} for none; the others stay secret)"
        named = _columns(question, gold, proposal.public or (NOTHING,))
        choices = replace(choices, public=named, only_public=True)
    if split is None:
        split = click.prompt("Split into development and test, such as 20:80?", "none", value_proc=_split, err=True)
    if place.title is None:
        place = replace(place, title=click.prompt("Title?", place.answers()["title"], err=True))
    return place, choices, split


def _with_type(proposal: Proposal, name: str, kind: str | None) -> tuple[str, str]:
    found = next(column for column in proposal.answers if column.name == name)
    if kind is not None:
        return name, kind
    shown = f" ({', '.join(found.values[:8])})" if found.values else ""
    return name, click.prompt(f"Type of {name}{shown}?", found.type, type=click.Choice(TYPES), err=True)


def _columns(question: str, gold: Gold, proposed: Sequence[str]) -> list[str]:
    def names(text: str) -> list[str]:
        if text.strip() == NOTHING:
            return []
        if text in gold.names:
            return [text]
        named = [name.strip() for name in text.split(",") if name.strip()]
        unknown = [name for name in named if name not in gold.names]
        if unknown:
            raise click.UsageError(f"no column {unknown[0]!r}. {nearest(unknown[0], list(gold.names))}")
        return named

    return list(click.prompt(question, ", ".join(proposed) or None, value_proc=names, err=True))


def _split(text: str) -> str:
    try:
        shares(text)
    except UserError as error:
        raise click.UsageError(error.messages[0]) from error
    return text
