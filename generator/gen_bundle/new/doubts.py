"""What of a proposal is a guess, and the option that says it otherwise."""

from collections.abc import Iterator

from gen_bundle.new.column_names import ANSWER_NAME, ID_NAME
from gen_bundle.new.columns import GoldColumn
from gen_bundle.new.propose import Choices, Proposal

MOST_NAMED = 3


def doubts(proposal: Proposal, choices: Choices) -> Iterator[str]:
    """A line for each guess about what was not asked for."""
    if not choices.key and not proposal.of_lines:
        yield from _of_key(proposal, choices)
    if choices.answers or proposal.item is not None:
        answers = [column for column in proposal.answers if (column.name, None) in choices.answers]
    else:
        answers = list(proposal.answers)
        if proposal.secret and not proposal.many and not any(map(_is_named, answers)):
            yield f"that participants answer {_names(answers)} is a guess; another column: --answer COLUMN"
    for column in answers:
        yield from _of_answer(column)


def _of_key(proposal: Proposal, choices: Choices) -> Iterator[str]:
    key = " and ".join(proposal.key)
    if proposal.many and choices.rows is None and proposal.item is None:
        other = f"--key {proposal.key[0]!r} --key COLUMN".replace("'", '"')
        yield f"the rows of a {key} are what participants find; if they get these rows to label them: {other}"
    elif not ID_NAME.fullmatch(proposal.key[-1]) or " " in proposal.gold.shown(proposal.key[-1])[0]:
        yield f"that {key} identifies a row is a guess; another column: --key COLUMN; the number of the row: --key line"


def _is_named(column: GoldColumn) -> bool:
    return any(map(ANSWER_NAME.fullmatch, column.in_gold))


def _names(columns: list[GoldColumn]) -> str:
    return ", ".join(column.name for column in columns)


def _of_answer(column: GoldColumn) -> Iterator[str]:
    """How the values of a column may be meant otherwise."""
    name = column.name
    first = column.in_gold[0]
    listed = ", ".join(column.in_gold[:MOST_NAMED]) + (" …" if len(column.in_gold) > MOST_NAMED else "")
    if column.columns:
        yield f"{listed} are read as one set of labels; an answer each: --answer {first}=label …"
    elif column.annotators:
        yield f"{listed} are read as one answer by several annotators; an answer each: --answer {first}=TYPE …"
    elif column.type == "ordinal":
        lowest, *_, highest = column.values
        yield f"{name} is read as a scale, from {lowest} to {highest}; if it is none: --answer {name}=label"
    elif column.grades:
        others = f"a scale: --answer {name}=ordinal; numbers: --answer {name}=number"
        yield f"{name} is read as labels without an order; {others}"
    elif column.type == "texts":
        yield f"{name} is read as texts of which one is right; a set of labels: --answer {name}=labels"
    elif column.type == "text" and not _is_named(column):
        yield f"{name} is read as a text; labels: --answer {name}=label; another column: --answer COLUMN"
    if column.ignores_case:
        yield f"labels of {name} that differ in case alone count as one (`case: ignore` in bundle.yaml)"
