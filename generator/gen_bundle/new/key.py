"""Which columns identify a row, and whether a key has one row or many."""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Literal

from gen_bundle.declaration.overrides import nearest
from gen_bundle.errors import UserError
from gen_bundle.new.gold import LINE_END, Gold, raise_all
from gen_bundle.new.look import FEWEST_REPEATS, WHOLE, text_of

Rows = Literal["one", "many"]
Key = tuple[str, ...]
ID_NAME = re.compile(
    r"(?i:(.*[_ .-])?(id|ids|idx|index|uid|uuid|guid|key|file|filename|item|doc|docid|document|query|qid|sentence"
    r"|sent|line|row|nr|no))|.*[a-z](Id|ID)"
)
QUERY_NAME = re.compile(r"(?i)(query|question|topic|q)([_ .-]?(id|no|nr))?")
RELEVANCE = re.compile(r"(?i)(.*[_ .-])?(relevance|rel|qrel|grade|judg(e?)ment)")
"""A ranking's gold: how relevant an item is for a query, with many items a query."""


def key_of(gold: Gold, asked: Sequence[str], rows: Rows | None) -> tuple[Key, bool]:
    """The columns that identify a row, and whether a key may have many rows.

    Args:
        gold: the gold.
        asked: the columns that were named; none: they are proposed.
        rows: the number of rows that was given; None: proposed.

    Raises:
        UserError: no such column, a key that is blank, repeated rows, or nothing that identifies a row.
    """
    unknown = [name for name in asked if name not in gold.names]
    raise_all([f"--key {name}: {gold.file} has no such column. {nearest(name, list(gold.names))}" for name in unknown])
    if asked:
        key = tuple(dict.fromkeys(asked))
        raise_all([fault for name in key for fault in _blanks(gold, name)])
        return key, _is_many(gold, key, rows)
    usable = [name for name in gold.names if next(_blanks(gold, name), None) is None]
    named = [name for name in usable if ID_NAME.fullmatch(name)]
    if rows == "many":
        repeated = [name for name in named or usable if not _is_unique(gold, (name,))]
        if repeated:
            return (repeated[0],), True
        raise UserError(
            f"{gold.file}: every value of every column is unique. Expected a key with several rows: name its column "
            "with --key."
        )
    queries = [name for name in named if QUERY_NAME.fullmatch(name) and not _is_unique(gold, (name,))]
    if queries and any(map(RELEVANCE.fullmatch, gold.names)) and rows is None:
        return (queries[0],), True
    plain = [name for name in usable if name == gold.names[0] or not _is_text(gold, name)]
    alone: list[Key] = [(name,) for name in named]
    for candidates in (alone, list(itertools.combinations(named, 2))):
        if unique := [key for key in candidates if _is_unique(gold, key)]:
            return unique[0], False
    if named:
        return (named[0],), _is_many(gold, (named[0],), rows)
    if unique := [(name,) for name in plain if _is_unique(gold, (name,)) and not _is_measure(gold, name)]:
        return unique[0], False
    raise UserError(
        f"{gold.file}: no column identifies its rows. Expected a column whose values all differ and are never blank; "
        "add one (id), or name the columns that do with --key."
    )


def keys_of(gold: Gold, key: Key) -> list[tuple[str, ...]]:
    """The key of each row, as text."""
    columns = [[text_of(value) or "" for value in gold.column(name)] for name in key]
    return list(zip(*columns, strict=True))


def _blanks(gold: Gold, name: str) -> Iterator[str]:
    """What keeps a column from being part of a key."""
    for at, value in enumerate(gold.column(name)):
        text = text_of(value)
        if text is None or text != text.strip() or not text or LINE_END.search(text):
            yield (
                f"{gold.place(at)}: {name} is blank, has blanks around it, or is not a text on one line. "
                "Expected the id of the row."
            )


def _is_unique(gold: Gold, key: Key) -> bool:
    found = keys_of(gold, key)
    return len(set(found)) == len(found)


def _is_text(gold: Gold, name: str) -> bool:
    return any(" " in (text_of(value) or "") for value in gold.column(name))


def _is_measure(gold: Gold, name: str) -> bool:
    """Whether a column that is not the first, or holds fractions, is of numbers: these differ by chance."""
    texts = [text_of(value) or str(value) for value in gold.column(name)]
    whole = all(map(WHOLE.fullmatch, texts))
    return whole if name != gold.names[0] else not whole and all(re.fullmatch(r"[-+.0-9eE]+", t) for t in texts)


def _is_many(gold: Gold, key: Key, rows: Rows | None) -> bool:
    """Whether a key has many rows; raises UserError where it repeats and that may be a mistake."""
    found = keys_of(gold, key)
    different = len(set(found))
    if rows == "many" or different == len(found):
        return rows == "many"
    if rows is None and len(found) >= FEWEST_REPEATS * different:
        return True
    first: dict[tuple[str, ...], int] = {}
    problems = []
    for at, one in enumerate(found):
        if first.setdefault(one, at) != at:
            problems.append(
                f"{gold.place(at)}: {' and '.join(key)} {', '.join(map(repr, one))} is used already, in "
                f"{gold.place(first[one])}. Expected each key once, or --rows many."
            )
    raise_all(problems)
    return False
