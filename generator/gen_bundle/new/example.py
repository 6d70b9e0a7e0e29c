"""Made-up data of the same shape as the gold, which may be published: for continuous integration and the pages."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gen_bundle.new.gold import Gold
from gen_bundle.new.look import Column
from gen_bundle.new.propose import Proposal, token_column

KEYS = 8
ROWS_OF_KEY = 3
TOKENS = 5


def example(proposal: Proposal, phases: Sequence[str]) -> tuple[Proposal, dict[str, list[int]]]:
    """The proposal with made-up rows, and the rows of each phase.

    Of the gold only the names of columns, labels and types are taken.
    """
    names = list(dict.fromkeys([*proposal.key, *proposal.public, *_judged(proposal)]))
    tokens = token_column(proposal)
    rows: list[list[Any]] = []
    found: dict[str, list[int]] = {}
    for phase in phases:
        start = len(rows)
        for key in range(KEYS):
            for item in range(ROWS_OF_KEY if proposal.many else 1):
                record = {
                    **{name: _input(proposal.columns[name], key) for name in proposal.public},
                    **({tokens: _tokens(key, is_json=proposal.gold.is_json)} if tokens else {}),
                    **_answers(proposal, key, item),
                    **{name: f"{phase}-{key + 1}" if at == 0 else str(key + 1) for at, name in enumerate(proposal.key)},
                }
                rows.append([record[name] for name in names])
        found[phase] = list(range(start, len(rows)))
    gold = Gold(proposal.gold.file, proposal.gold.suffix, names, rows, range(1, len(rows) + 1), proposal.gold.quoting)
    return replace(proposal, gold=gold, secret=()), found


def _judged(proposal: Proposal) -> list[str]:
    """The columns that only the gold has."""
    if proposal.item is not None:
        return [proposal.item, str(proposal.relevance)]
    return [column.name for column in proposal.answers]


def _answers(proposal: Proposal, key: int, item: int) -> dict[str, Any]:
    is_json = proposal.gold.is_json
    if proposal.item is not None:
        relevance = int(item == key % ROWS_OF_KEY)
        return {proposal.item: f"item-{item + 1}", str(proposal.relevance): relevance if is_json else str(relevance)}
    return {column.name: _answer(column, key + item, is_json=is_json) for column in proposal.answers}


def _input(column: Column, key: int) -> Any:
    if column.type == "label" and column.values:
        return column.values[key % len(column.values)]
    return f"Example {column.name} {key + 1}"


def _tokens(key: int, *, is_json: bool) -> Any:
    tokens = [f"token-{key + 1}-{place + 1}" for place in range(TOKENS)]
    return tokens if is_json else " ".join(tokens)


def _answer(column: Column, at: int, *, is_json: bool) -> Any:
    """A made-up answer, different from row to row."""
    values = column.values or ("one", "two")
    if column.type == "label":
        return values[at % len(values)]
    if column.type == "number":
        number = round((at % KEYS + 1) / (KEYS + 2), 2)
        return number if is_json else f"{number:g}"
    if column.type == "labels":
        chosen = sorted({values[at % len(values)], values[(at // 2) % len(values)]})
        return chosen if is_json else column.separator.join(chosen)
    if column.type == "spans":
        span: list[Any] = [at, at + 4, *([column.values[at % len(column.values)]] if column.values else [])]
        return [span] if is_json else json.dumps([span], ensure_ascii=False)
    if column.type == "tags":
        name = column.values[at % len(column.values)] if column.values else "X"
        tags = [f"B-{name}" if place == at % TOKENS else "O" for place in range(TOKENS)]
        return tags if is_json else " ".join(tags)
    if column.type == "texts":
        texts = [f"example answer {at + 1}", f"another example answer {at + 1}"]
        return texts if is_json else json.dumps(texts, ensure_ascii=False)
    return f"answer-{at + 1}" if column.type == "string" else f"An example answer, number {at + 1}"
